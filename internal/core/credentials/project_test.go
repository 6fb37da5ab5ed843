package credentials_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// status is the request's status in a few words.
func status(s *cloudv1.CredentialsRequestStatus) string {
	if s == nil {
		return "not written"
	}
	out := map[bool]string{true: "provisioned", false: "not provisioned"}[s.Provisioned]
	for _, c := range s.Conditions {
		out += ", " + string(c.Type) + " " + string(c.Status) + " " + c.Reason
	}
	return out
}

func TestTheRequestsStatusIsInTheOperatorsForm(t *testing.T) {
	denied := func(m *model) { m.fault = &fault.Fault{Class: fault.Denied, Service: "STS", Operation: "x"} }
	const insufficient = ", InsufficientCloudCreds True CloudCredsInsufficient"
	tests := map[string]struct {
		variety byte
		change  func(*model)
		want    string
	}{
		"fulfilled":                       {0, func(*model) {}, "provisioned"},
		"the namespace is missing":        {0, func(m *model) { m.gone["apps"] = true }, "not provisioned, MissingTargetNamespace True NamespaceMissing"},
		"the controller lacks a right":    {0, denied, "not provisioned" + insufficient},
		"AWS is busy":                     {0, func(m *model) { m.fault = &fault.Fault{Class: fault.Throttled} }, "provisioned"},
		"the ServiceAccount is another's": {0, func(m *model) { m.account().annotations[credentials.RequestAnnotation] = "b/c" }, "not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"the target cannot be read":       {0, func(m *model) { m.unread = "forbidden" }, "provisioned"},
		"nor could it be before": {0, func(m *model) { m.unread, m.request.Status.Provisioned = "forbidden", false },
			"not provisioned, CredentialsProvisionFailure True CredentialsProvisionFailure"},
		"it is being written":              {0, func(m *model) { delete(m.account().annotations, credentials.RoleAnnotation) }, "not provisioned"},
		"another cloud's":                  {0, func(m *model) { m.request.Spec.ProviderSpec.Raw = []byte(`{"kind":"VSphereProviderSpec"}`) }, "provisioned, Ignored True InfrastructureMismatch"},
		"beside an operator in Manual":     {0, func(m *model) { m.platform = openshift("Manual") }, "not written"},
		"beside an operator that mints":    {0, func(m *model) { m.platform = openshift("Mint") }, "not written"},
		"deleted":                          {0, (*model).delete, "provisioned"},
		"deleted, and the right is denied": {0, func(m *model) { m.delete(); denied(m) }, "provisioned, CredentialsDeprovisionFailure True CloudCredDeprovisionFailure"},
		"deleted, beside an operator":      {0, func(m *model) { m.delete(); denied(m); m.platform = openshift("Manual") }, "not written"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := settled(t, test.variety)
			test.change(m)
			if got := status(m.next().Project); got != test.want {
				t.Errorf("the status is %s, want %s", got, test.want)
			}
		})
	}
}

func TestConditionsOfTheRequestKeepTheOperatorsRules(t *testing.T) {
	m := settled(t, 0)
	synced := m.request.Status.LastSyncTimestamp
	other := cloudv1.CredentialsRequestCondition{Type: cloudv1.StaleCredentials, Status: metav1.ConditionTrue, Reason: "x"}
	m.request.Status.Conditions = append(m.request.Status.Conditions, other)
	m.gone["apps"] = true
	m.now = noon.Add(time.Hour)
	m.request.Status = *m.next().Project
	missing := m.request.Status.Conditions[1]
	if missing.LastTransitionTime != metav1.NewTime(noon.Add(time.Hour)) || missing.LastProbeTime != missing.LastTransitionTime {
		t.Errorf("the condition is %+v, want both times to be those of the pass", missing)
	}
	m.now = noon.Add(2 * time.Hour)
	if diff := cmp.Diff(m.request.Status, *m.next().Project); diff != "" {
		t.Errorf("the same trouble changes the status (-was +is):\n%s", diff)
	}
	m.gone, m.objects = map[string]bool{}, map[credentials.Target]*object{}
	m.request.Status = *m.next().Project
	if got := status(&m.request.Status); got != "not provisioned, StaleCredentials True x, MissingTargetNamespace False NamespaceExists" {
		t.Errorf("the status is %s", got)
	}
	was := m.request.Status.Conditions[1]
	if was.LastTransitionTime != metav1.NewTime(m.now) {
		t.Errorf("the condition is %+v, want the time of the transition", was)
	}
	if synced.Equal(m.request.Status.LastSyncTimestamp) == false {
		t.Errorf("a request that is not fulfilled was synced at %s, want %s as before", m.request.Status.LastSyncTimestamp, synced)
	}
}

func TestTheRequestsProviderStatusNamesRoleAndPolicy(t *testing.T) {
	m := settled(t, 0)
	want := `{"kind":"AWSProviderStatus","apiVersion":"cloudcredential.openshift.io/v1","user":"infra-app-e46f7d74783804fa","policy":"infra-app-e46f7d74783804fa-policy"}`
	if got := string(m.request.Status.ProviderStatus.Raw); got != want {
		t.Errorf("the provider status is %s, want %s", got, want)
	}
	reordered := `{"user":"infra-app-e46f7d74783804fa","policy":"infra-app-e46f7d74783804fa-policy","kind":"AWSProviderStatus","apiVersion":"cloudcredential.openshift.io/v1"}`
	m.request.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(reordered)}
	if got := string(m.next().Project.ProviderStatus.Raw); got != reordered {
		t.Errorf("the API server's order of keys was changed to %s", got)
	}
}

func TestAnotherGenerationIsAnotherSync(t *testing.T) {
	m := settled(t, 0)
	m.now = noon.Add(time.Hour)
	m.request.Generation++
	got := m.next().Project
	if !got.LastSyncTimestamp.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) || got.LastSyncGeneration != m.request.Generation {
		t.Errorf("synced at %s for generation %d, want now and %d", got.LastSyncTimestamp, got.LastSyncGeneration, m.request.Generation)
	}
}
