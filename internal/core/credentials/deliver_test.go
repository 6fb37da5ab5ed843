package credentials_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// obstacles are what keeps a target from being written.
var obstacles = map[string]struct {
	shape  byte
	stand  func(*model)
	clear  func(*model)
	reason credentials.Reason
}{
	"the ServiceAccount has a role of others": {
		0, func(m *model) {
			m.objects[theAccount] = having(credentials.RoleAnnotation, "arn:aws:iam::111122223333:role/theirs")
		}, without(theAccount), credentials.ReasonServiceAccountHasRole,
	},
	"the ServiceAccount is another request's": {
		0, func(m *model) { m.objects[theAccount] = having(credentials.RequestAnnotation, "team/other") }, without(theAccount), credentials.ReasonTargetOfAnother,
	},
	"the Secret is somebody else's": {
		2, func(m *model) { m.objects[theSecret] = &object{data: map[string]string{"password": "x"}} }, without(theSecret), credentials.ReasonSecretConflict,
	},
	"the namespace is missing":    {2, func(m *model) { m.gone["apps"] = true }, func(m *model) { m.gone["apps"] = false }, credentials.ReasonTargetNamespaceMissing},
	"the target cannot be read":   {0, func(m *model) { m.unread = "forbidden" }, func(m *model) { m.unread = "" }, credentials.ReasonTargetUnreadable},
	"the target is being deleted": {0, func(m *model) { m.objects[theAccount] = &object{deleting: true} }, without(theAccount), credentials.ReasonTargetDeleting},
}

var (
	theAccount = credentials.Target{Kind: credentials.KindServiceAccount, Namespace: "apps", Name: "app"}
	theSecret  = credentials.Target{Kind: credentials.KindSecret, Namespace: "apps", Name: "creds"}
)

func having(annotation, value string) *object {
	return &object{labels: map[string]string{}, annotations: map[string]string{annotation: value}}
}

// passes makes passes, with nobody who clears anything away, and is the plan of one more.
func (m *model) passes(t *testing.T, n int) credentials.Plan {
	t.Helper()
	for range n {
		must.Get(crash.Pass(m, crash.None))(t)
	}
	return m.next()
}

func without(target credentials.Target) func(*model) {
	return func(m *model) { delete(m.objects, target) }
}

// TestNoRoleIsMadeThatWorkloadsCouldNotFind: until its target can be written a request has no
// role, and no finalizer. Ready says what stands in the way, and once that is gone it goes on.
func TestNoRoleIsMadeThatWorkloadsCouldNotFind(t *testing.T) {
	for name, test := range obstacles {
		t.Run(name, func(t *testing.T) {
			m := newModel(test.shape)
			test.stand(m)
			if got := kinds(m.next().Steps); got != "MakeGrant" {
				t.Errorf("the steps are %s, want MakeGrant alone", got)
			}
			plan := m.passes(t, 3)
			if len(m.roles) != 0 || plan.Grant.Role != nil || len(m.request.Finalizers) != 0 {
				t.Errorf("there are the roles %v, the grant remembers %+v, the finalizers are %v", m.roles, plan.Grant.Role, m.request.Finalizers)
			}
			if v := says(plan, credentials.TypeReady); v.Reason != test.reason || v.IsTrue() {
				t.Errorf("Ready is %+v, want %s", v, test.reason)
			}
			if v := says(plan, credentials.TypeRolePresent); v.Status != "Unknown" || v.Reason != credentials.ReasonNotReached || v.Message != "no role is made before workloads can find it: see Delivered" {
				t.Errorf("RolePresent is %+v", v)
			}
			if v := says(plan, credentials.TypeDelivered); v.Reason != test.reason {
				t.Errorf("Delivered is %+v, want %s", v, test.reason)
			}
			test.clear(m)
			must.Do(t, crash.Settle(m))
			if v := says(m.next(), credentials.TypeReady); !v.IsTrue() || len(m.roles) != 1 {
				t.Errorf("with nothing in the way Ready is %+v, the roles are %v", v, m.roles)
			}
		})
	}
}

// TestARoleThatWasMadeIsKeptInOrderWhateverBecomesOfItsTarget: what stands in the way of the
// target later does not keep others' changes in the role.
func TestARoleThatWasMadeIsKeptInOrderWhateverBecomesOfItsTarget(t *testing.T) {
	for name, test := range obstacles {
		t.Run(name, func(t *testing.T) {
			m := settled(t, test.shape)
			test.stand(m)
			m.roles[roleName()].Policies["added"] = "{}"
			plan := m.passes(t, 3)
			role, ready := m.roles[roleName()], says(plan, credentials.TypeReady)
			if role == nil || role.Policies["added"] != "" || plan.Grant.Role == nil {
				t.Errorf("the role is %+v, the grant remembers %+v", role, plan.Grant.Role)
			}
			if v := says(plan, credentials.TypeRolePresent); !v.IsTrue() || ready.Reason != test.reason {
				t.Errorf("RolePresent is %+v, Ready %+v", v, ready)
			}
		})
	}
}

// TestOneTargetOfTwoIsEnoughForARole: the other one says what stands in its way.
func TestOneTargetOfTwoIsEnoughForARole(t *testing.T) {
	for name, test := range map[string]struct {
		target credentials.Target
		other  *object
		steps  string
		reason credentials.Reason
	}{
		"the ServiceAccount has a role of others": {
			theAccount, having(credentials.RoleAnnotation, "arn:aws:iam::111122223333:role/theirs"), "Hold MakeGrant Record CreateRole PutPolicy WriteSecret", credentials.ReasonServiceAccountHasRole,
		},
		"the Secret is somebody else's": {
			credentials.Target{Kind: credentials.KindSecret, Namespace: "team", Name: "creds"}, &object{data: map[string]string{"password": "x"}},
			"Hold MakeGrant Record CreateRole PutPolicy WriteServiceAccount", credentials.ReasonSecretConflict,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(3)
			m.objects[test.target] = test.other
			if plan := m.next(); kinds(plan.Steps) != test.steps {
				t.Errorf("the steps are %s, want %s", kinds(plan.Steps), test.steps)
			}
			if v := says(m.passes(t, 3), credentials.TypeReady); v.Reason != test.reason || len(m.roles) != 1 {
				t.Errorf("Ready is %+v, the roles are %v", v, m.roles)
			}
		})
	}
}
