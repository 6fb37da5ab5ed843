package credentials_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhatWasBeforeGoesAfterTheNewOneWorks follows requests that change.
func TestWhatWasBeforeGoesAfterTheNewOneWorks(t *testing.T) {
	tests := map[string]struct {
		from, to byte
		want     []string
	}{
		"another ServiceAccount":              {0, 1, []string{"Record SetTrust WriteServiceAccount", "ClearServiceAccount", "Record SetTrust"}},
		"a Secret instead of an account":      {0, 2, []string{"Record SetTrust WriteSecret", "ClearServiceAccount", ""}},
		"an account instead of a Secret":      {2, 0, []string{"Record SetTrust WriteServiceAccount", "ClearSecret", ""}},
		"another Secret, other statements":    {2, 6, []string{"Record SetTrust PutPolicy WriteSecret", "ClearSecret", "Record SetTrust"}},
		"a role that is there":                {0, 5, []string{"WriteServiceAccount", "DeleteRole", ""}},
		"a role of its own":                   {5, 0, []string{"Record CreateRole PutPolicy WriteServiceAccount", "", ""}},
		"a role that is there, in a Secret":   {0, 4, []string{"Record WriteSecret", "ClearServiceAccount DeleteRole", ""}},
		"nothing that could be given":         {0, 7, []string{"", "", ""}},
		"by annotation what was by the field": {0, 3, []string{"Record WriteSecret", "", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, test.from)
			m.shape(test.to)
			var got []string
			for range 3 {
				must.Get(crash.Pass(m, crash.None))(t)
				got = append(got, kinds(m.plan.Steps))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the steps of three passes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBothSubjectsAreTrustedMeanwhile(t *testing.T) {
	m := settled(t, 0)
	m.shape(1)
	must.Get(crash.Pass(m, crash.None))(t)
	for _, subject := range []string{"system:serviceaccount:apps:app", "system:serviceaccount:apps:other"} {
		if trust := m.roles[roleName()].Trust; !strings.Contains(trust, subject) {
			t.Errorf("the trust is %s, want %s in it", trust, subject)
		}
	}
	must.Do(t, crash.Settle(m))
	if trust := m.roles[roleName()].Trust; strings.Contains(trust, "apps:app\"") {
		t.Errorf("at rest the trust is %s, want the former subject to be out", trust)
	}
}

func TestABoundRoleWinsAndIsUndone(t *testing.T) {
	m := settled(t, 0)
	m.grant.Spec.Bound = &v1alpha1.BoundIdentity{RoleARN: givenARN}
	must.Do(t, crash.Settle(m))
	if got := m.account().annotations[credentials.RoleAnnotation]; got != givenARN || m.roles[roleName()] != nil {
		t.Errorf("the ServiceAccount has the role %s, the role that was made is %+v", got, m.roles[roleName()])
	}
	m.grant.Spec.Bound = nil
	must.Do(t, crash.Settle(m))
	if got := m.account().annotations[credentials.RoleAnnotation]; got == givenARN || m.roles[roleName()] == nil {
		t.Errorf("the ServiceAccount has the role %s, the role that was made is %+v", got, m.roles[roleName()])
	}
}

func TestAFailedStepIsTold(t *testing.T) {
	denied := fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "PutRolePolicy", Code: "AccessDenied"}
	busy := fault.Fault{Class: fault.Throttled, Service: "IAM", Operation: "PutRolePolicy", Code: "Throttling"}
	gone := func(operation, text string) fault.Fault {
		return fault.Fault{Class: fault.Gone, Service: "IAM", Operation: operation, Code: "NoSuchEntity", Message: text}
	}
	tests := map[string]struct {
		step   credentials.Step
		fault  fault.Fault
		kind   string
		reason credentials.Reason
		again  time.Duration
		status string
	}{
		"a policy is denied":          {credentials.PutPolicy{}, denied, credentials.TypeRolePresent, credentials.ReasonAccessDenied, 15 * time.Second, "not provisioned, InsufficientCloudCreds True CloudCredsInsufficient"},
		"AWS is busy":                 {credentials.PutPolicy{}, busy, credentials.TypeRolePresent, credentials.ReasonAWSUnavailable, 30 * time.Second, "not provisioned"},
		"a role is there by now":      {credentials.CreateRole{}, fault.Fault{Class: fault.Exists}, credentials.TypeRolePresent, credentials.ReasonRoleNotOurs, 15 * time.Second, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"no boundary at creation":     {credentials.CreateRole{Want: credentials.RoleWant{Boundary: testBound}}, gone("CreateRole", "Scope ARN: "+testBound+" does not exist or is not attachable."), credentials.TypeRolePresent, credentials.ReasonPermissionsBoundaryMissing, 15 * time.Second, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"no boundary to put back":     {credentials.SetBoundary{Boundary: testBound}, gone("PutRolePermissionsBoundary", "Scope ARN: "+testBound+" does not exist or is not attachable."), credentials.TypeRolePresent, credentials.ReasonPermissionsBoundaryMissing, 15 * time.Second, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"no role to be bounded":       {credentials.SetBoundary{Boundary: testBound}, gone("PutRolePermissionsBoundary", "The role with name r cannot be found."), credentials.TypeRolePresent, credentials.ReasonAWSUnavailable, 30 * time.Second, "not provisioned"},
		"a role seen, then gone":      {credentials.CreateRole{Want: credentials.RoleWant{Boundary: testBound}}, gone("GetRole", "The role with name r cannot be found."), credentials.TypeRolePresent, credentials.ReasonAWSUnavailable, 30 * time.Second, "not provisioned"},
		"no role for its policy yet":  {credentials.PutPolicy{}, gone("PutRolePolicy", "The role with name r cannot be found."), credentials.TypeRolePresent, credentials.ReasonAWSUnavailable, 30 * time.Second, "not provisioned"},
		"the API server refuses":      {credentials.WriteServiceAccount{}, fault.Fault{Class: fault.Denied, Service: "Kubernetes"}, credentials.TypeDelivered, credentials.ReasonTargetRefused, 15 * time.Second, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"the API server is away":      {credentials.WriteServiceAccount{}, fault.Fault{Class: fault.Retry, Service: "Kubernetes"}, credentials.TypeDelivered, credentials.ReasonTargetUnreadable, 30 * time.Second, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"somebody wrote in between":   {credentials.WriteServiceAccount{}, fault.Fault{Class: fault.Changed}, credentials.TypeDelivered, credentials.ReasonDelivering, 2 * time.Second, "not provisioned"},
		"the grant cannot be written": {credentials.Record{}, fault.Fault{Class: fault.Retry}, credentials.TypeRolePresent, credentials.ReasonRoleMissing, 30 * time.Second, "not provisioned"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(0)
			plan := credentials.Failed(m.next(), test.step, test.fault, m.seen)
			if v := says(plan, test.kind); v.Reason != test.reason || plan.Again != test.again || status(plan.Project) != test.status {
				t.Errorf("%s is %+v, the next look is in %s, the status is %s, want %s, %s, %s", test.kind, v, plan.Again, status(plan.Project), test.reason, test.again, test.status)
			}
		})
	}
}

func TestWhatNoRepetitionMendsIsToldWithWhatToDo(t *testing.T) {
	tests := map[string]struct {
		step credentials.Step
		code string
		want []string
	}{
		"a quota":                  {credentials.CreateRole{}, "LimitExceeded", []string{"Cannot exceed", "quota of IAM raised"}},
		"a policy AWS refuses":     {credentials.PutPolicy{}, "MalformedPolicyDocument", []string{"Cannot exceed", "statementEntries"}},
		"something yet unheard of": {credentials.PutPolicy{}, "Unheard", []string{"Unheard: Cannot exceed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(0)
			plan := credentials.Failed(m.next(), test.step, fault.Fault{Class: fault.Invalid, Service: "IAM", Operation: "PutRolePolicy", Code: test.code, Message: "Cannot exceed"}, m.seen)
			v := says(plan, credentials.TypeRolePresent)
			for _, want := range test.want {
				if v.Reason != credentials.ReasonAWSRefused || !strings.Contains(v.Message, want) || plan.Again != 15*time.Second {
					t.Errorf("the role is %+v, the next look is in %s, want %s in the text", v, plan.Again, want)
				}
			}
		})
	}
}

func TestAFailedStepOfADeletionIsTold(t *testing.T) {
	m := settled(t, 0)
	m.delete()
	plan := credentials.Failed(m.next(), credentials.DeleteRole{}, fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "DeleteRole"}, m.seen)
	v, want := says(plan, credentials.TypeDeletionBlocked), "provisioned, CredentialsDeprovisionFailure True CloudCredDeprovisionFailure"
	if !v.IsTrue() || v.Reason != credentials.ReasonAccessDenied || status(plan.Project) != want {
		t.Errorf("DeletionBlocked is %+v, the status is %s, want AccessDenied and %s", v, status(plan.Project), want)
	}
}

// TestWhatWaitsForAPersonIsLookedAtSoonAtFirst: a request that is refused, a role that AWS refuses
// and a deletion that somebody stands in the way of.
func TestWhatWaitsForAPersonIsLookedAtSoonAtFirst(t *testing.T) {
	for name, test := range map[string]struct {
		begin func(*model)
		next  func(*model) credentials.Plan
	}{
		"refused": {func(m *model) { m.issuers[0].Registered = false }, (*model).next},
		"a step is denied": {func(*model) {}, func(m *model) credentials.Plan {
			return credentials.Failed(m.next(), credentials.PutPolicy{}, fault.Fault{Class: fault.Denied}, m.seen)
		}},
		"a deletion is blocked": {func(m *model) {
			m.roles[roleName()].Attached = []string{"arn:aws:iam::aws:policy/ReadOnlyAccess"}
			m.drift = credentials.DriftReport
			m.delete()
		}, (*model).next},
	} {
		t.Run(name, func(t *testing.T) {
			for _, look := range []struct{ age, want time.Duration }{
				{0, 15 * time.Second}, {20 * time.Second, 15 * time.Second}, {40 * time.Second, 20 * time.Second},
				{2 * time.Minute, time.Minute}, {9 * time.Minute, 270 * time.Second}, {time.Hour, 5 * time.Minute},
			} {
				m := settled(t, 0)
				test.begin(m)
				m.grant.Status = test.next(m).Grant
				m.now = m.now.Add(look.age)
				if plan := test.next(m); plan.Again != look.want {
					t.Errorf("after %s the next look is in %s, want %s", look.age, plan.Again, look.want)
				}
			}
		})
	}
}

func TestWhatWasMadeStaysWhenSomebodyElseActs(t *testing.T) {
	tests := map[string]struct {
		change func(*model)
		reason credentials.Reason
	}{
		"an operator comes that mints":                {func(m *model) { m.platform = openshift("Mint") }, credentials.ReasonCCOWouldMint},
		"an operator comes in an unknown mode":        {func(m *model) { m.platform = openshift("Unknown") }, credentials.ReasonCCOModeUnknown},
		"the request names a Secret of an operator's": {func(m *model) { m.platform = openshift("Manual"); m.shape(2) }, credentials.ReasonCCOLive},
		"an operator that is gone had it": {func(m *model) {
			m.request.Finalizers = append(m.request.Finalizers, "cloudcredential.openshift.io/deprovision")
		}, credentials.ReasonNotAdopted},
		"the request is of another cloud by now": {func(m *model) { m.request.Spec.ProviderSpec.Raw = []byte(`{"kind":"X"}`) }, credentials.ReasonIgnored},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			test.change(m)
			plan := m.next()
			if v := says(plan, credentials.TypeReady); v.Reason != test.reason || v.IsTrue() || len(plan.Steps) > 0 || plan.Grant.Role == nil || len(plan.Grant.Targets) != 1 {
				t.Errorf("Ready is %+v, the steps are %s, the grant %+v", v, kinds(plan.Steps), plan.Grant)
			}
		})
	}
}

// TestANarrowerBoundaryTakesNothingBack, which is told, until the request is deleted.
func TestANarrowerBoundaryTakesNothingBack(t *testing.T) {
	for name, narrower := range map[string]func(*v1alpha1.CredentialsBoundarySpec){
		"rights": func(s *v1alpha1.CredentialsBoundarySpec) {
			s.AWS.Ceiling = strings.ReplaceAll(s.AWS.Ceiling, "data/*", "other/*")
		},
		"targets":   func(s *v1alpha1.CredentialsBoundarySpec) { s.TargetNamespaces = []string{"team"} },
		"no longer": func(s *v1alpha1.CredentialsBoundarySpec) { s.Namespaces = []string{"another"} },
	} {
		t.Run(name, func(t *testing.T) {
			m := settled(t, 0)
			before := *m.roles[roleName()]
			m.boundary = narrower
			must.Do(t, crash.Settle(m))
			if v := says(m.plan, credentials.TypeAccepted); v.IsTrue() || v.Message == "" {
				t.Errorf("Accepted is %+v", v)
			}
			if role := m.roles[roleName()]; role == nil || credentials.Digest(*role) != credentials.Digest(before) || m.account().annotations[credentials.RoleAnnotation] == "" {
				t.Errorf("the role is %+v, the ServiceAccount's annotations are %v", role, m.account().annotations)
			}
			m.delete()
			must.Do(t, crash.Settle(m))
			if left := m.account(); len(m.roles) != 0 || m.grant != nil || left != nil && left.annotations[credentials.RoleAnnotation] != "" {
				t.Errorf("after the deletion there are the roles %v, the grant %+v and the ServiceAccount %v", m.roles, m.grant, left)
			}
		})
	}
}
