package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// gauge is the value of a metric without labels, or -1.
func (f *fixture) gauge(name string) float64 {
	f.Helper()
	for _, family := range must.Get(f.registry.Gather())(f) {
		if family.GetName() == name && len(family.GetMetric()) == 1 {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return -1
}

// TestMetricsSayHowFullTheAccountIs, and nothing while AWS does not say it.
func TestMetricsSayHowFullTheAccountIs(t *testing.T) {
	f := newFixture(t)
	check := func(when string, roles, quota float64) {
		t.Helper()
		if got := f.gauge("tabard_credentials_account_roles"); got != roles {
			t.Errorf("%s: %v roles, want %v", when, got, roles)
		}
		if got := f.gauge("tabard_credentials_account_roles_quota"); got != quota {
			t.Errorf("%s: a quota of %v, want %v", when, got, quota)
		}
	}
	check("before the first reading", -1, -1)
	must.Do(t, f.controller.ReadUsage(t.Context()))
	check("no role", 0, 1000)
	request := f.request("counted", "counted")
	f.Make(request)
	f.until(request, isReady)
	must.Do(t, f.controller.ReadUsage(t.Context()))
	check("a role", 1, 1000)
	f.aws.Admin().Inject(awslocal.Fault{Service: "iam", Operation: "GetAccountSummary", Code: "AccessDenied", Count: 1})
	if err := f.controller.ReadUsage(t.Context()); err == nil || !strings.Contains(err.Error(), "IAM GetAccountSummary: AccessDenied") {
		t.Errorf("when AWS refuses, the error is %v", err)
	}
	check("when AWS refuses", -1, -1)
}
