package operator_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/operator"
)

func TestValuesOfAWS(t *testing.T) {
	for name, c := range map[string]struct{ arn, partition, account, says string }{
		"a role":              {arn, "aws", "111122223333", ""},
		"with a path":         {"arn:aws:iam::111122223333:role/a/b/c", "", "", ""},
		"a session":           {"arn:aws:sts::111122223333:assumed-role/r/s", "", "", "session"},
		"a wrong partition":   {"arn:aws-cn:iam::111122223333:role/r", "aws", "", "of the partition aws-cn, expected the partition aws"},
		"eleven digits":       {"arn:aws:iam::11112222333:role/r", "", "", "twelve digits"},
		"a blank":             {arn + " ", "", "", "blank"},
		"a long name":         {"arn:aws:iam::111122223333:role/" + strings.Repeat("a", 65), "", "", "64"},
		"of another account":  {arn, "", "444455556666", "444455556666"},
		"nothing":             {"", "", "", "expected"},
		"a policy":            {"arn:aws:iam::111122223333:policy/r", "", "", "expected"},
		"a role with newline": {arn + "\n", "", "", "blank"},
	} {
		got, err := operator.ForAWS(c.arn, c.partition, c.account)
		if c.says == "" && (err != nil || cmp.Diff(map[string]string{"ROLEARN": c.arn}, got) != "") || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if errors.Is(err, operator.ErrOtherAccount) != (name == "of another account") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHasRole(t *testing.T) {
	role, both := map[string]string{"ROLEARN": arn}, map[string]string{"ROLEARN": arn, "REGION": "westeurope"}
	for name, c := range map[string]struct {
		env, values map[string]string
		want        bool
	}{
		"the role":                {role, role, true},
		"beside a region":         {both, role, true},
		"with a region":           {both, both, true},
		"without the region":      {role, both, false},
		"another role":            {map[string]string{"ROLEARN": arn + "x"}, role, false},
		"beside another cloud's":  {map[string]string{"ROLEARN": arn, "CLIENTID": "c"}, role, false},
		"no role":                 {nil, role, false},
		"beside another variable": {map[string]string{"ROLEARN": arn, "LEVEL": "debug"}, role, true},
	} {
		if got := operator.HasRole(operator.Subscription{Env: c.env}, c.values); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestValuesOfAzure(t *testing.T) {
	const id = "11111111-2222-3333-4444-555555555555"
	whole := operator.Azure{Client: id, Tenant: id, Subscription: id, ResourceGroup: "rg.one", Region: "westeurope"}
	got, err := operator.ForAzure(whole)
	if diff := cmp.Diff(map[string]string{"CLIENTID": id, "TENANTID": id, "SUBSCRIPTIONID": id, "RESOURCEGROUP": "rg.one", "REGION": "westeurope"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if got, err := operator.ForAzure(operator.Azure{Client: id, Tenant: id, Subscription: id}); err != nil || len(got) != 3 {
		t.Errorf("%v %v", got, err)
	}
	for says, change := range map[string]func(*operator.Azure){
		"client id":       func(a *operator.Azure) { a.Client = "x" },
		"tenant id":       func(a *operator.Azure) { a.Tenant = "00000000-0000-0000-0000-000000000000" },
		"subscription id": func(a *operator.Azure) { a.Subscription = "" },
		"resource group":  func(a *operator.Azure) { a.ResourceGroup = "rg." },
		"region":          func(a *operator.Azure) { a.Region = "West Europe" },
	} {
		wrong := whole
		change(&wrong)
		if _, err := operator.ForAzure(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestValuesOfGoogleCloud(t *testing.T) {
	const audience = "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/pool/providers/provider"
	for _, text := range []string{audience, "https:" + audience} {
		g, err := operator.GoogleFrom(text)
		if err != nil || g.Audience() != audience {
			t.Fatalf("%v %v", g, err)
		}
		g.ServiceAccount = "keeper@project-one.iam.gserviceaccount.com"
		got, err := operator.ForGoogle(g)
		want := map[string]string{"PROJECT_NUMBER": "123", "POOL_ID": "pool", "PROVIDER_ID": "provider", "SERVICE_ACCOUNT_EMAIL": g.ServiceAccount, "AUDIENCE": audience}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
	}
	for _, text := range []string{"", "http:" + audience, audience + "/", "//iam.googleapis.com/projects/1"} {
		if g, err := operator.GoogleFrom(text); err == nil {
			t.Errorf("%q is %v", text, g)
		}
	}
	whole := operator.Google{Project: "123", Pool: "pool", Provider: "provider", ServiceAccount: "keeper@project-one.iam.gserviceaccount.com"}
	for says, change := range map[string]func(*operator.Google){
		"number":          func(g *operator.Google) { g.Project = "project-one" },
		"pool":            func(g *operator.Google) { g.Pool = "gcp-pool" },
		"provider":        func(g *operator.Google) { g.Provider = "p" },
		"service account": func(g *operator.Google) { g.ServiceAccount = "keeper@example.com" },
	} {
		wrong := whole
		change(&wrong)
		if _, err := operator.ForGoogle(wrong); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestMayApprove(t *testing.T) {
	ours := operator.Subscription{Name: "p", CurrentCSV: first}
	other := operator.Subscription{Name: "q", CurrentCSV: "q.v2", InstalledCSV: "q.v1"}
	for name, c := range map[string]struct {
		csvs, dependencies []string
		says               string
	}{
		"the wanted one":            {[]string{first}, nil, ""},
		"with its dependency":       {[]string{first, "d.v1"}, []string{"d.v1"}, ""},
		"with something else":       {[]string{first, "d.v1"}, nil, "installs d.v1 too"},
		"with another upgrade":      {[]string{first, "q.v2"}, []string{"q.v2"}, "upgrades q.v1 of the Subscription q"},
		"another version":           {[]string{second}, nil, "installs p.v1.1.0 too"},
		"a dependency alone":        {[]string{"d.v1"}, []string{"d.v1"}, "does not install p.v1.0.0"},
		"nothing that it says":      {nil, nil, "does not say"},
		"the wanted one and itself": {[]string{first, first}, nil, ""},
	} {
		err := operator.MayApprove(operator.Plan{CSVs: c.csvs}, first, c.dependencies, []operator.Subscription{ours, other})
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, operator.ErrNoApproval) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An upgrade of our own is no install.
	ours.InstalledCSV = "p.v0.9.0"
	if err := operator.MayApprove(operator.Plan{CSVs: []string{first}}, first, nil, []operator.Subscription{ours}); err == nil {
		t.Error("an upgrade of the operator itself is approved as an install")
	}
}
