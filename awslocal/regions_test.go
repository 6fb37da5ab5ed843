package awslocal

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const otherAccount = "111122223333"

func TestKeysAreUnknownInADisabledRegion(t *testing.T) {
	server := newServer(t, Options{Accounts: []string{DefaultAccount, otherAccount}})
	admin := server.Admin()
	refused := map[string]string{
		"ec2": "AuthFailure", "eks": "UnrecognizedClientException", "iam": "", "s3": "InvalidAccessKeyId", "sts": "InvalidClientTokenId",
	}
	want := func(when, account, region string, codes map[string]string) {
		t.Helper()
		for service, probe := range probes(region, server.Administrator(account)) {
			if _, last := send(server, probe); last.Error != codes[service] || last.Region != region {
				t.Errorf("%s, account %s: %s in %s answers %q, want %q; the journal says %s", when, account, service, region, last.Error, codes[service], last.Region)
			}
		}
	}
	want("at first", DefaultAccount, "af-south-1", nil)
	if err := admin.DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	want("disabled", DefaultAccount, "af-south-1", refused)
	want("disabled", DefaultAccount, "us-east-1", nil)
	want("disabled", DefaultAccount, "ap-east-1", nil)
	want("disabled", otherAccount, "af-south-1", nil)
	if err := admin.EnableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	want("enabled", DefaultAccount, "af-south-1", nil)
	if err := admin.DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	admin.Reset()
	want("after a reset", DefaultAccount, "af-south-1", nil)
}

func TestTheKeysOfASessionAreTheAccounts(t *testing.T) {
	w := newWorld(t)
	key, token := sessionKey(t, w.server, w.key, "app")
	ask := func(region string) string {
		_, last := send(w.server, signedFor(region, key, token, "ec2", "POST", "/", "Action=DescribeRegions"))
		return last.Error
	}
	if got := ask("af-south-1"); got != "UnauthorizedOperation" {
		t.Errorf("at first %q, want only the permission to be missing", got)
	}
	if err := w.server.Admin().DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	if got := ask("af-south-1") + " " + ask("us-east-1"); got != "AuthFailure UnauthorizedOperation" {
		t.Errorf("disabled: %q", got)
	}
}

// A region must be enabled in both accounts: the caller's, whose keys are unknown
// there otherwise, and the role's.
func TestSTSMakesNoSessionsInADisabledRegion(t *testing.T) {
	server := newServer(t, Options{Accounts: []string{DefaultAccount, otherAccount}, Region: "af-south-1"})
	admin := server.Admin()
	key, other := server.Administrator(DefaultAccount), server.Administrator(otherAccount)
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"AWS":"arn:aws:iam::` + otherAccount + `:root"}}]}`
	do(t, server, signed(key, "", "iam", "POST", "/", queryBody(iamVersion, "CreateRole", "RoleName", "app", "AssumeRolePolicyDocument", trust)))
	assume := func(region string) string {
		w, last := send(server, signedFor(region, other, "", "sts", "POST", "/", queryBody(stsVersion, "AssumeRole", "RoleArn", arn("app"), "RoleSessionName", "one")))
		if last.Error == "RegionDisabledException" && (w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "STS is not activated in this region for account:"+DefaultAccount+".")) {
			t.Errorf("the refusal is %d %s", w.Code, w.Body)
		}
		return last.Error
	}
	// The token is none: it is looked at only where the region is enabled.
	webIdentity := func(host string) string {
		ask(server, "POST", "/", queryBody(stsVersion, "AssumeRoleWithWebIdentity", "RoleArn", arn("app"), "RoleSessionName", "one", "WebIdentityToken", "none"), func(r *http.Request) { form(r); r.Host = host })
		journal := admin.Journal()
		return journal[len(journal)-1].Error
	}
	if err := admin.DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string][2]string{
		"into an account that lacks the region":    {assume("af-south-1"), "RegionDisabledException"},
		"from another region":                      {assume("us-east-1"), ""},
		"by a token, in the server's region":       {webIdentity("127.0.0.1"), "RegionDisabledException"},
		"by a token, at the region's endpoint":     {webIdentity("sts.af-south-1.amazonaws.com"), "RegionDisabledException"},
		"by a token, at another region's endpoint": {webIdentity("sts.us-east-1.amazonaws.com"), "InvalidIdentityToken"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", what, got[0], got[1])
		}
	}
	if err := admin.EnableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	if got := assume("af-south-1") + webIdentity("127.0.0.1"); got != "InvalidIdentityToken" {
		t.Errorf("enabled again: %q, want a session, and the token looked at", got)
	}
	if err := admin.DisableRegion(otherAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	if got := assume("af-south-1"); got != "InvalidClientTokenId" {
		t.Errorf("from an account that lacks the region: %q, want InvalidClientTokenId", got)
	}
}

func TestRegionsByTheAdminAPI(t *testing.T) {
	server := newServer(t, Options{Accounts: []string{DefaultAccount, otherAccount}})
	const off = `{"account":"111122223333","region":"af-south-1","optInStatus":"not-opted-in"}`
	steps := []struct {
		method, body string
		status       int
		says, lacks  string
	}{
		{"GET", "", 200, `[{"account":"111122223333","region":"af-south-1","optInStatus":"opted-in"},{`, "not-opted-in"},
		{"GET", "", 200, `{"account":"123456789012","region":"us-east-1","optInStatus":"opt-in-not-required"}`, ""},
		{"POST", `{"account":"111122223333","region":"af-south-1","enabled":false}`, 200, off, `{"account":"123456789012","region":"af-south-1","optInStatus":"not-opted-in"}`},
		{"POST", `{"account":"111122223333","region":"us-east-1","enabled":false}`, 400, "us-east-1 needs no opt-in", ""},
		{"POST", `{"account":"111122223333","region":"us-east-1","enabled":true}`, 400, "us-east-1 needs no opt-in", ""},
		{"POST", `{"account":"111122223333","region":"cn-north-1","enabled":false}`, 400, `"cn-north-1" is no region of the partition aws`, ""},
		{"POST", `{"account":"999999999999","region":"af-south-1","enabled":false}`, 400, `the account "999999999999" is none of`, ""},
		{"POST", `{"region":"af-south-1","enabled":false}`, 400, `the account "" is none of`, ""},
		{"POST", `{"account":"111122223333","region":"af-south-1"}`, 400, "enabled is not given", ""},
		{"POST", `{"account":"111122223333","region":"af-south-1","enable":false}`, 400, `unknown field "enable"`, ""},
		{"GET", "", 200, off, ""},
		{"POST", `{"account":"111122223333","region":"af-south-1","enabled":true}`, 200, `"opted-in"`, "not-opted-in"},
	}
	for _, step := range steps {
		got := ask(server, step.method, "/_awslocal/regions", step.body, nil)
		body := got.Body.String()
		if got.Code != step.status || !strings.Contains(body, step.says) || step.lacks != "" && strings.Contains(body, step.lacks) {
			t.Errorf("%s %s answers %d %s, want %d with %s and without %q", step.method, step.body, got.Code, body, step.status, step.says, step.lacks)
		}
	}
	one := newServer(t, Options{})
	if got := ask(one, "POST", "/_awslocal/regions", `{"region":"af-south-1","enabled":false}`, nil); got.Code != 200 || !strings.Contains(got.Body.String(), "not-opted-in") {
		t.Errorf("the only account need not be named: %d %s", got.Code, got.Body)
	}
}

func TestStatesHoldTheRegions(t *testing.T) {
	first, second := newServer(t, Options{}), newServer(t, Options{})
	if text := string(dump(t, first)); strings.Contains(text, "disabledRegions") {
		t.Errorf("nothing is disabled, and the state is %s", text)
	}
	before := first.changes.Load()
	if err := first.Admin().DisableRegion(DefaultAccount, "mx-central-1"); err != nil {
		t.Fatal(err)
	}
	if first.changes.Load() == before {
		t.Error("a file of the state would not be written")
	}
	var state struct {
		DisabledRegions []struct{ Account, Region string }
	}
	if err := json.Unmarshal(dump(t, first), &state); err != nil || len(state.DisabledRegions) != 1 || state.DisabledRegions[0].Region != "mx-central-1" {
		t.Errorf("the state holds %+v, %v", state, err)
	}
	if err := second.Admin().DisableRegion(DefaultAccount, "af-south-1"); err != nil {
		t.Fatal(err)
	}
	if err := second.Admin().Load(dump(t, first)); err != nil {
		t.Fatal(err)
	}
	for _, one := range second.Admin().Regions() {
		if isOff := one.OptInStatus == "not-opted-in"; isOff != (one.Region == "mx-central-1") {
			t.Errorf("after the state was loaded: %+v", one)
		}
	}
}
