package tokensecret_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/tokensecret"
)

const (
	file     = "/var/run/secrets/openshift/serviceaccount/token"
	role     = "arn:aws:iam::123456789012:role/tabard/shop-checkout"
	audience = "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/pool/providers/cluster"
	account  = "shop@project.iam.gserviceaccount.com"
)

var azure = tokensecret.Azure{ClientID: "client", TenantID: "tenant", Region: "westeurope", SubscriptionID: "subscription"}

func TestDataToTheByte(t *testing.T) {
	cases := map[string]struct {
		make func() (map[string]string, error)
		want map[string]string
	}{
		"AWS is four lines": {func() (map[string]string, error) { return tokensecret.AWS(role, file) }, map[string]string{
			"credentials": "[default]\nsts_regional_endpoints = regional\nrole_arn = " + role + "\nweb_identity_token_file = " + file,
		}},
		"Azure is five keys": {func() (map[string]string, error) { return azure.Data(file) }, map[string]string{
			"azure_client_id": "client", "azure_tenant_id": "tenant", "azure_region": "westeurope",
			"azure_subscription_id": "subscription", "azure_federated_token_file": file,
		}},
		"Google is an external account": {func() (map[string]string, error) {
			return tokensecret.Google{ServiceAccountEmail: account, Audience: audience}.Data(file)
		}, map[string]string{"service_account.json": `{"type":"external_account","audience":"` + audience + `","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` +
			`"token_url":"https://sts.googleapis.com/v1/token","service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/` + account + `:generateAccessToken",` +
			`"credential_source":{"file":"` + file + `","format":{"type":"text"}}}`}},
		"another universe has its own hosts, and is named": {func() (map[string]string, error) {
			return tokensecret.Google{ServiceAccountEmail: account, Audience: audience, Universe: "apis.example"}.Data(file)
		}, map[string]string{"service_account.json": `{"type":"external_account","audience":"` + audience + `","subject_token_type":"urn:ietf:params:oauth:token-type:jwt",` +
			`"token_url":"https://sts.apis.example/v1/token","service_account_impersonation_url":"https://iamcredentials.apis.example/v1/projects/-/serviceAccounts/` + account + `:generateAccessToken",` +
			`"credential_source":{"file":"` + file + `","format":{"type":"text"}},"universe_domain":"apis.example"}`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatWouldBreakAFileIsRefused(t *testing.T) {
	lacking := azure
	lacking.TenantID, lacking.Region = "", ""
	google := func(account, audience string) error {
		_, err := tokensecret.Google{ServiceAccountEmail: account, Audience: audience}.Data(file)
		return err
	}
	cases := map[string]struct {
		err  error
		want string
	}{
		"a path with a line more":       {tokensecret.CheckTokenPath("/a\ncredential_process = /bin/sh"), "the token's path"},
		"a path with a blank":           {tokensecret.CheckTokenPath("/a b"), "the token's path"},
		"a path with a comment":         {tokensecret.CheckTokenPath("/a;b"), "the token's path"},
		"a relative path":               {tokensecret.CheckTokenPath("token"), "absolute"},
		"a path that climbs":            {tokensecret.CheckTokenPath("/var/../etc/shadow"), "the token's path"},
		"no path":                       {tokensecret.CheckTokenPath(""), "the token's path"},
		"a role with a line more":       {second(tokensecret.AWS(role+"\nregion = x", file)), "expected an ARN"},
		"half of Azure, by name":        {second(lacking.Data(file)), "azureTenantID, azureRegion"},
		"Azure with a line more":        {second(tokensecret.Azure{ClientID: "a\nb", TenantID: "t", Region: "r", SubscriptionID: "s"}.Data(file)), "azureClientID"},
		"an audience with https":        {google(account, "https:"+audience), "no https: before it"},
		"an audience of a region":       {google(account, strings.Replace(audience, "global", "eu", 1)), "expected //iam.googleapis.com"},
		"no audience":                   {google(account, ""), "audience"},
		"a Google account with a slash": {google("a/b@c", audience), "serviceAccountEmail"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
				t.Errorf("got %v, expected an error with %q", c.err, c.want)
			}
		})
	}
}

func second(_ map[string]string, err error) error { return err }

// FuzzData: whatever is asked for, the files have the lines and members that they are to
// have, and no others.
func FuzzData(f *testing.F) {
	f.Add(role, file, account, audience, "")
	f.Add("a", "/b\nc", "d@e", audience+"\"", "x.y")
	f.Fuzz(func(t *testing.T, role, file, account, audience, universe string) {
		if data, err := tokensecret.AWS(role, file); err == nil {
			lines := strings.FieldsFunc(data[tokensecret.KeyAWS], func(r rune) bool { return r == '\n' || r == '\r' })
			if len(lines) != 4 || lines[2] != "role_arn = "+role || lines[3] != "web_identity_token_file = "+file {
				t.Errorf("the lines are %q", lines)
			}
		}
		data, err := tokensecret.Google{ServiceAccountEmail: account, Audience: audience, Universe: universe}.Data(file)
		if err != nil {
			return
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(data[tokensecret.KeyGoogle]), &got); err != nil {
			t.Fatal(err)
		}
		source := got["credential_source"].(map[string]any)
		if got["audience"] != audience || source["file"] != file || got["type"] != "external_account" {
			t.Errorf("the file is %s", data[tokensecret.KeyGoogle])
		}
	})
}
