package credentials_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// trusts are the issuers that the role trusts, by their numbers.
func (m *model) trusts() string {
	out := ""
	for n := range 4 {
		if strings.Contains(m.roles[roleName()].Trust, testIssuer(n).ProviderARN) {
			out += string(rune('0' + n))
		}
	}
	return out
}

// TestRotatingTheIssuer follows a role from one issuer to the next.
func TestRotatingTheIssuer(t *testing.T) {
	leave := map[string]func(*credentials.Issuer){
		"deleted": func(i *credentials.Issuer) { i.Deleting = true },
		"retired": func(i *credentials.Issuer) { i.Retired = true },
	}
	for name, mark := range leave {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			m.issuers = []credentials.Issuer{testIssuer(2), testIssuer(1)}
			must.Do(t, crash.Settle(m))
			if got := m.trusts(); got != "12" {
				t.Fatalf("with two issuers the role trusts %s", got)
			}
			if got := m.grant.Status.Issuers[0].URL; got != testIssuer(2).URL {
				t.Errorf("the wanted issuer is %s", got)
			}
			mark(&m.issuers[1])
			plan := m.next()
			if kinds(plan.Steps) != "" || plan.Again > credentials.LookAgain {
				t.Errorf("the steps are %s, the next look is in %s", kinds(plan.Steps), plan.Again)
			}
			must.Get(crash.Pass(m, crash.None))(t)
			left := m.grant.Status.Issuers[1].RetireAfter
			m.now = m.now.Add(25*time.Hour - 10*time.Minute)
			if plan := m.next(); kinds(plan.Steps) != "" || plan.Again > 10*time.Minute || !plan.Grant.Issuers[1].RetireAfter.Equal(left) {
				t.Errorf("before the time the steps are %s, the next look is in %s, the time is %s, was %s", kinds(plan.Steps), plan.Again, plan.Grant.Issuers[1].RetireAfter, left)
			}
			m.now = m.now.Add(20 * time.Minute)
			must.Do(t, crash.Settle(m))
			if got := m.trusts(); got != "2" {
				t.Errorf("after its time the role trusts %s", got)
			}
		})
	}
}

func TestIssuersThatComeBackAndGo(t *testing.T) {
	tests := map[string]struct {
		change func(*model)
		want   string
	}{
		"one that is retired no more stays":              {func(m *model) { m.issuers[0].Retired = false }, "12"},
		"one that is gone is trusted until its time":     {func(m *model) { m.issuers = slices.Clone(m.issuers[1:]) }, "12"},
		"all are on their way out: nothing is changed":   {func(m *model) { m.issuers[1].Deleting = true; m.now = m.now.Add(100 * time.Hour) }, "12"},
		"the wanted one is not registered: no change":    {func(m *model) { m.issuers[1].Registered = false; m.now = m.now.Add(100 * time.Hour) }, "12"},
		"a third that leaves was never trusted":          {func(m *model) { third := testIssuer(3); third.Deleting = true; m.issuers = append(m.issuers, third) }, "12"},
		"a third joins":                                  {func(m *model) { m.issuers = append(m.issuers, testIssuer(3)) }, "123"},
		"the time of one that was gone by force is over": {func(m *model) { m.issuers = slices.Clone(m.issuers[1:]); m.now = m.now.Add(26 * time.Hour) }, "2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			m.issuers = []credentials.Issuer{testIssuer(1), testIssuer(2)}
			must.Do(t, crash.Settle(m))
			m.issuers = slices.Clone(m.issuers)
			m.issuers[0].Retired = true
			must.Get(crash.Pass(m, crash.None))(t)
			test.change(m)
			for range 3 {
				must.Get(crash.Pass(m, crash.None))(t)
			}
			if got := m.trusts(); got != test.want {
				t.Errorf("the role trusts %s, want %s", got, test.want)
			}
		})
	}
}

// TestWithoutTheClustersOwnIssuerARequestIsNotReady, whatever other issuers are registered: the
// cluster issues tokens of its own one, which the role would not trust.
func TestWithoutTheClustersOwnIssuerARequestIsNotReady(t *testing.T) {
	for name, test := range map[string]struct {
		own    func(*credentials.Issuer)
		reason credentials.Reason
		says   string
	}{
		"it is not registered":       {func(i *credentials.Issuer) { i.Registered = false }, credentials.ReasonIssuerNotRegistered, "the issuer https://issuer2.example has no provider"},
		"it lacks the audience":      {func(i *credentials.Issuer) { i.Audiences = []string{"other"} }, credentials.ReasonAudienceMissing, "oidc-provider/issuer2.example knows the audiences"},
		"it is registered":           {func(*credentials.Issuer) {}, credentials.ReasonAccepted, ""},
		"a person says that it goes": {func(i *credentials.Issuer) { i.Registered, i.Retired = false, true }, credentials.ReasonAccepted, ""},
	} {
		m := newModel(0)
		own := testIssuer(2)
		test.own(&own)
		m.issuers = []credentials.Issuer{own, testIssuer(1)}
		m.platform.Issuer = own.URL
		plan := m.next()
		v := says(plan, credentials.TypeAccepted)
		if v.Reason != test.reason || !strings.Contains(v.Message, test.says) {
			t.Errorf("%s: Accepted is %+v, want %s saying %q", name, v, test.reason, test.says)
		}
		if refused := test.reason != credentials.ReasonAccepted; refused && (plan.Project == nil || plan.Project.Provisioned || strings.Contains(kinds(plan.Steps), "Role")) {
			t.Errorf("%s: the steps are %s, the status %+v", name, kinds(plan.Steps), plan.Project)
		}
	}
}
