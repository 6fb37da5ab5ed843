package credentials_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// kinds are the types of steps, in order.
func kinds(steps []credentials.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", s), "credentials."))
	}
	return strings.Join(out, " ")
}

// next decides on the model's world, with a look at the role if that is asked for.
func (m *model) next() credentials.Plan {
	m.Decide(m.Observe())
	return m.plan
}

// says is what a plan's grant says by a condition.
func says(plan credentials.Plan, kind string) condition.Verdict {
	out, _ := condition.Read(plan.Grant.Conditions, kind)
	return out
}

// settled is a model at rest.
func settled(t *testing.T, variety byte) *model {
	t.Helper()
	m := newModel(variety)
	must.Do(t, crash.Settle(m))
	return m
}

func TestOrderOfALife(t *testing.T) {
	tests := map[string]struct{ shape byte }{"a ServiceAccount": {0}, "a Secret": {2}, "a ServiceAccount by annotation": {3}, "a Secret for a role that is there": {4}, "a ServiceAccount for a role that is there": {5}}
	want := map[byte]string{
		0: "Hold MakeGrant Record CreateRole PutPolicy WriteServiceAccount",
		2: "Hold MakeGrant Record CreateRole PutPolicy WriteSecret",
		3: "Hold MakeGrant Record CreateRole PutPolicy WriteServiceAccount WriteSecret",
		4: "Hold MakeGrant Record WriteSecret",
		5: "Hold MakeGrant Record WriteServiceAccount",
	}
	end := map[byte]string{
		0: "ClearServiceAccount DeleteRole Release DeleteGrant",
		2: "ClearSecret DeleteRole Release DeleteGrant",
		3: "ClearServiceAccount ClearSecret DeleteRole Release DeleteGrant",
		4: "ClearSecret Release DeleteGrant",
		5: "ClearServiceAccount Release DeleteGrant",
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := kinds(newModel(test.shape).next().Steps); got != want[test.shape] {
				t.Errorf("the steps are %s, want %s", got, want[test.shape])
			}
			m := settled(t, test.shape)
			plan := m.next()
			if ready := says(plan, credentials.TypeReady); len(plan.Steps) > 0 || !ready.IsTrue() || plan.Again != credentials.LookAgain {
				t.Errorf("at rest there are the steps %s, Ready is %+v, and the next look is in %s", kinds(plan.Steps), ready, plan.Again)
			}
			m.delete()
			if got := kinds(m.next().Steps); got != end[test.shape] {
				t.Errorf("the last steps are %s, want %s", got, end[test.shape])
			}
		})
	}
}

func TestTheRoleIsNamedTaggedAndBound(t *testing.T) {
	m := newModel(0)
	m.platform.ResourceTags = map[string]string{"cost": "x"}
	var got credentials.RoleWant
	for _, step := range m.next().Steps {
		if create, is := step.(credentials.CreateRole); is {
			got = create.Want
		}
	}
	got.Trust, got.Policy = "", ""
	want := credentials.RoleWant{
		Name: "infra-app-e46f7d74783804fa", Path: "/tabard/", ARN: "arn:aws:iam::111122223333:role/tabard/infra-app-e46f7d74783804fa", Owner: "team/app/uid1",
		PolicyName: "infra-app-e46f7d74783804fa-policy", Boundary: testBound, MaxSession: time.Hour,
		Tags: credentials.ValuesOf(map[string]string{
			"cost": "x", "kubernetes.io/cluster/infra": "owned", "tabard.dev/cluster": "infra", "tabard.dev/credentials-request": "team/app/uid1",
		}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the role (-want +got):\n%s", diff)
	}
}

func TestDriftIsPutBackAndTold(t *testing.T) {
	tests := map[string]struct {
		change  func(*credentials.Role)
		variety byte
		steps   string
		told    string
	}{
		"another trust":          {func(r *credentials.Role) { r.Trust = `{"Statement":[]}` }, 0, "SetTrust", `trust policy differed: was {"Statement":[]}, wanted {"Statement":{`},
		"no boundary":            {func(r *credentials.Role) { r.Boundary = "" }, 0, "SetBoundary", "boundary was none, wanted " + testBound},
		"another boundary":       {func(r *credentials.Role) { r.Boundary = "arn:p" }, 0, "SetBoundary", "boundary was arn:p, wanted " + testBound},
		"a tag is gone":          {func(r *credentials.Role) { delete(r.Tags, credentials.ClusterTag) }, 0, "SetTags", "tags differed: " + credentials.ClusterTag},
		"a longer session":       {func(r *credentials.Role) { r.MaxSession = 12 * time.Hour }, 0, "SetSession", "longest session was 12h0m0s, wanted 1h0m0s"},
		"no inline policy":       {func(r *credentials.Role) { r.Policies = nil }, 0, "PutPolicy", "inline policy infra-app-e46f7d74783804fa-policy was removed"},
		"a wider inline policy":  {func(r *credentials.Role) { r.Policies["infra-app-e46f7d74783804fa-policy"] = "{}" }, 0, "PutPolicy", "inline policy infra-app-e46f7d74783804fa-policy differed: was {}, wanted {"},
		"a second inline policy": {func(r *credentials.Role) { r.Policies["q"] = "{}" }, 0, "RemovePolicy", "inline policy q was added"},
		"an attached policy":     {func(r *credentials.Role) { r.Attached = []string{"arn:q"} }, 0, "Detach", "policy arn:q was attached"},
		"reported, not enforced": {func(r *credentials.Role) { r.Attached, r.Policies["q"] = []string{"arn:q"}, "{}" }, 8, "", "has policies that others gave it: inline policy q was added; policy arn:q was attached"},
		"a tag of others":        {func(r *credentials.Role) { r.Tags["theirs"] = "x" }, 0, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, test.variety)
			test.change(m.roles[roleName()])
			plan := m.next()
			told := ""
			for _, e := range plan.Events {
				told += e.Text
			}
			if kinds(plan.Steps) != test.steps || (told == "") != (test.told == "") || !strings.Contains(told, test.told) {
				t.Errorf("the steps are %s and it tells %q, want %s and %q", kinds(plan.Steps), told, test.steps, test.told)
			}
			if again := m.next(); again.LookLive || !cmp.Equal(again.Events, plan.Events) {
				t.Error("another look tells something else")
			}
		})
	}
}

func TestARoleThatIsNotTheRequestsIsLeft(t *testing.T) {
	tests := map[string]credentials.Role{
		"of nobody's request":            {Path: "/tabard/"},
		"of a request before it":         {Path: "/tabard/", Tags: map[string]string{credentials.OwnerTag: "team/app/uid0"}},
		"of a request with a longer UID": {Path: "/tabard/", Tags: map[string]string{credentials.OwnerTag: "team/app/uid12"}},
		"with a path of its own":         {Path: "/", Tags: map[string]string{credentials.OwnerTag: "team/app/uid1"}},
	}
	for name, role := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(0)
			m.roles[roleName()] = &role
			plan := m.next()
			if v := says(plan, credentials.TypeRolePresent); v.Reason != credentials.ReasonRoleNotOurs || kinds(plan.Steps) != "MakeGrant" {
				t.Errorf("RolePresent is %+v, the steps are %s, want RoleNotOurs and a grant alone", v, kinds(plan.Steps))
			}
		})
	}
}

func TestFaultsOfAWSAreTold(t *testing.T) {
	tests := map[string]struct {
		class  fault.Class
		reason credentials.Reason
		again  time.Duration
	}{
		"throttled":       {fault.Throttled, credentials.ReasonAWSUnavailable, 30 * time.Second},
		"denied":          {fault.Denied, credentials.ReasonAccessDenied, 15 * time.Second},
		"unauthenticated": {fault.Unauthenticated, credentials.ReasonNotAuthenticated, 30 * time.Second},
		"refused":         {fault.Invalid, credentials.ReasonAWSRefused, 15 * time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			m.fault = &fault.Fault{Class: test.class, Service: "STS", Operation: "GetCallerIdentity"}
			plan := m.next()
			if v := says(plan, credentials.TypeReady); v.Reason != test.reason || plan.Again != test.again || len(plan.Steps) > 0 || plan.Grant.Role == nil {
				t.Errorf("Ready is %+v, the next look is in %s, the steps are %s", v, plan.Again, kinds(plan.Steps))
			}
			m.delete()
			plan = m.next()
			if v := says(plan, credentials.TypeDeletionBlocked); v.Reason != test.reason || kinds(plan.Steps) != "ClearServiceAccount" {
				t.Errorf("DeletionBlocked is %+v, the steps are %s, want the reason %s", v, kinds(plan.Steps), test.reason)
			}
		})
	}
}

func TestADeletionIsNotHeldUpForEver(t *testing.T) {
	attach := func(m *model) { m.roles[roleName()].Attached = []string{"arn:q"} }
	tests := map[string]struct {
		variety byte
		change  func(*model)
		steps   string
		blocked credentials.Reason
	}{
		"policies of others are detached":      {0, attach, "ClearServiceAccount Detach DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"policies of others are only reported": {8, attach, "ClearServiceAccount SetTrust", credentials.ReasonForeignPolicies},
		"the reported role trusts no one by now": {8, func(m *model) {
			attach(m)
			must.Get(crash.Pass(m, crash.None))(t)
		}, "", credentials.ReasonForeignPolicies},
		"the role is gone":                      {0, func(m *model) { m.roles = nil }, "ClearServiceAccount Release DeleteGrant", credentials.ReasonDeleting},
		"the role is another's by now":          {0, func(m *model) { m.roles[roleName()].Tags = nil }, "ClearServiceAccount Release DeleteGrant", credentials.ReasonDeleting},
		"the ServiceAccount is gone":            {0, func(m *model) { m.objects = nil }, "DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"the namespace is gone":                 {0, func(m *model) { m.gone["apps"] = true }, "DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"the request is gone by force":          {0, func(m *model) { m.request = nil }, "ClearServiceAccount DeleteRole DeleteGrant", credentials.ReasonDeleting},
		"there is another of the name":          {0, func(m *model) { m.create(0) }, "ClearServiceAccount DeleteRole DeleteGrant", credentials.ReasonDeleting},
		"an operator is live by now, and mints": {0, func(m *model) { m.platform = openshift("Mint") }, "ClearServiceAccount DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"the issuer is gone":                    {0, func(m *model) { m.issuers = nil }, "ClearServiceAccount DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"the controller is in another account":  {0, func(m *model) { m.grant.Status.Role.AccountID = "999988887777" }, "ClearServiceAccount", credentials.ReasonAccountChanged},
		"the annotation is another request's":   {0, func(m *model) { m.account().annotations[credentials.RequestAnnotation] = "b/c" }, "DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"the ServiceAccount has more to it":     {0, func(m *model) { m.account().extended = true }, "ClearServiceAccount DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
		"a request that got nothing":            {7, func(*model) {}, "DeleteGrant", credentials.ReasonDeleting},
		"the grant has lost its target":         {0, func(m *model) { m.grant.Status.Targets = nil }, "ClearServiceAccount DeleteRole Release DeleteGrant", credentials.ReasonDeleting},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, test.variety)
			m.delete()
			test.change(m)
			plan := m.next()
			if v := says(plan, credentials.TypeDeletionBlocked); kinds(plan.Steps) != test.steps || v.Reason != test.blocked {
				t.Errorf("the steps are %s, DeletionBlocked is %+v, want %s for %s", kinds(plan.Steps), v, test.steps, test.blocked)
			}
		})
	}
}

func (m *model) account() *object {
	return m.objects[credentials.Target{Kind: credentials.KindServiceAccount, Namespace: "apps", Name: "app"}]
}
