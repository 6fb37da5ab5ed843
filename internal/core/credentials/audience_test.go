package credentials_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	addsOpenShift = `kubectl patch oidcissuer issuer1.example --type=json -p '[{"op":"add","path":"/spec/providers/0/audiences/-","value":"openshift"}]'`
	addsInAWS     = "aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn arn:aws:iam::111122223333:oidc-provider/issuer1.example --client-id openshift"
)

// knows has the first issuer as "tabard issuer init" makes it, but for its audiences.
func knows(audiences ...string) func(*model) {
	return func(m *model) {
		i := &m.issuers[0]
		i.Audiences, i.Wanted, i.AudiencesField = audiences, audiences, "/spec/providers/0/audiences"
	}
}

// TestAudiencesServed: what the pods of a request are known to ask for, against what the provider
// of the cluster's issuer knows. What is missing stops nothing that was given before.
func TestAudiencesServed(t *testing.T) {
	const yes, no, unknown, absent = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown, metav1.ConditionStatus("")
	tests := map[string]struct {
		shape  byte
		change []func(*model)
		status metav1.ConditionStatus
		says   []string
		// reason is where the status has two.
		reason credentials.Reason
		// refused says that Accepted is False.
		refused bool
	}{
		"a Secret, both": {shape: 2, status: yes, says: []string{"oidc-provider/issuer1.example", "openshift, sts.amazonaws.com"}},
		"a Secret, the default of issuer init": {shape: 2, change: with(knows("sts.amazonaws.com")), status: no,
			says: []string{"knows the audiences sts.amazonaws.com;", credentials.DefaultTokenPath, "ask for openshift", ": " + addsOpenShift}},
		"a Secret, for whose pods openshift is enough": {shape: 2, change: with(knows("openshift")), status: yes, says: []string{"does not know sts.amazonaws.com"}},
		"a Secret, nothing that it needs":              {shape: 2, change: with(knows("vault")), status: no, says: []string{"vault", addsOpenShift}, refused: true},
		"a Secret at a path of its own": {shape: 2, change: with(knows("sts.amazonaws.com"), at("/tmp/token")), status: unknown,
			says: []string{"/tmp/token", "not known", "if they ask for openshift", addsOpenShift}},
		"a Secret at the usual path, by name":         {shape: 2, change: with(knows("sts.amazonaws.com"), at(credentials.DefaultTokenPath)), status: no, says: []string{addsOpenShift}},
		"a Secret at a path of its own, both":         {shape: 2, change: with(at("/tmp/token")), status: yes},
		"a Secret at a path of its own, none of both": {shape: 2, change: with(knows("vault"), at("/tmp/token")), status: no, says: []string{`"value":"sts.amazonaws.com"`}, refused: true},
		"a provider of somebody else's": {shape: 2, change: with(knows("sts.amazonaws.com"), func(m *model) { m.issuers[0].AudiencesField, m.issuers[0].Wanted = "", nil }), status: no,
			says: []string{": " + addsInAWS}},
		"the OIDCIssuer names it, AWS does not know it yet": {shape: 2, change: with(knows("sts.amazonaws.com"), func(m *model) { m.issuers[0].Wanted = []string{"sts.amazonaws.com", "openshift"} }), status: no, reason: credentials.ReasonAudiencePending,
			says: []string{"names openshift besides", "kubectl describe oidcissuer issuer1.example"}},
		"a role that somebody else made":             {shape: 4, change: with(knows("sts.amazonaws.com")), status: no, says: []string{addsOpenShift}},
		"a role of another account":                  {shape: 4, change: with(knows("sts.amazonaws.com"), otherAccount), status: absent, refused: true},
		"a ServiceAccount":                           {shape: 0, change: with(knows("sts.amazonaws.com")), status: absent},
		"a ServiceAccount, the webhook's is missing": {shape: 0, change: with(knows("openshift")), status: no, says: []string{"the webhook", `"value":"sts.amazonaws.com"`}, refused: true},
		"a ServiceAccount, one of two issuers": {shape: 0, change: with(knows("openshift"), issuerTwo), status: no,
			says: []string{"oidc-provider/issuer1.example", `"value":"sts.amazonaws.com"`}},
		"the cluster's own issuer counts alone":    {shape: 2, change: with(knows("sts.amazonaws.com"), issuerTwo, ownIssuer(2)), status: yes, says: []string{"oidc-provider/issuer2.example"}},
		"the cluster's own issuer is the one":      {shape: 2, change: with(knows("sts.amazonaws.com"), issuerTwo, ownIssuer(1)), status: no, says: []string{addsOpenShift}},
		"the cluster's own issuer is not there":    {shape: 2, change: with(knows("sts.amazonaws.com"), ownIssuer(3)), status: absent, refused: true},
		"one that leaves counts for nothing":       {shape: 2, change: with(knows("sts.amazonaws.com"), issuerTwo, func(m *model) { m.issuers[0].Retired = true }), status: yes},
		"one that is deleted counts for nothing":   {shape: 2, change: with(knows("sts.amazonaws.com"), issuerTwo, func(m *model) { m.issuers[0].Deleting = true }), status: yes},
		"one without a provider":                   {shape: 2, change: with(func(m *model) { m.issuers[0].Registered = false }), status: absent, refused: true},
		"no issuer":                                {shape: 2, change: with(func(m *model) { m.issuers = nil }), status: absent, refused: true},
		"AWS does not say":                         {shape: 2, change: with(func(m *model) { m.fault = &fault.Fault{Class: fault.Denied, Service: "STS"} }), status: absent, refused: true},
		"the request is refused for another cause": {shape: 2, change: with(knows("sts.amazonaws.com"), func(m *model) { m.request.Spec.ServiceAccountNames = nil }), status: no, says: []string{addsOpenShift}, refused: true},
		"the target is none":                       {shape: 2, change: with(knows("sts.amazonaws.com"), func(m *model) { m.request.Spec.SecretRef.Name = "" }), status: absent, refused: true},
		"another cloud": {shape: 2, change: with(knows("sts.amazonaws.com"), func(m *model) {
			m.request.Spec.ProviderSpec.Raw = []byte(`{"kind":"AzureProviderSpec"}`)
		}), status: absent, refused: true},
	}
	reasons := map[metav1.ConditionStatus]credentials.Reason{yes: credentials.ReasonAudiencesServed, no: credentials.ReasonAudienceMissing, unknown: credentials.ReasonAudiencesUnknown}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(test.shape)
			for _, change := range test.change {
				change(m)
			}
			plan := m.next()
			v, reason := says(plan, credentials.TypeAudiencesServed), cmp.Or(test.reason, reasons[test.status])
			if v.Status != test.status || v.Reason != reason {
				t.Fatalf("AudiencesServed is %+v, want %q %s", v, test.status, reason)
			}
			for _, want := range test.says {
				if !strings.Contains(v.Message, want) {
					t.Errorf("it says %q, want %q", v.Message, want)
				}
			}
			if accepted := says(plan, credentials.TypeAccepted); accepted.Status == no != test.refused {
				t.Errorf("Accepted is %+v, want it False: %t", accepted, test.refused)
			}
		})
	}
}

// TestAMissingAudienceStopsNothing: with the default of "tabard issuer init" the role and the Secret
// are made as ever, the condition turns True with the audience, and only while the OIDCIssuer has
// it and AWS does not is there an early look.
func TestAMissingAudienceStopsNothing(t *testing.T) {
	m := newModel(2)
	knows("sts.amazonaws.com")(m)
	must.Do(t, crash.Settle(m))
	missing := m.next()
	if ready := says(missing, credentials.TypeReady); !ready.IsTrue() || len(missing.Steps) > 0 || missing.Again != credentials.LookAgain || len(m.objects) == 0 {
		t.Errorf("Ready is %+v, the steps are %s, the next look is in %s, the objects are %v", ready, kinds(missing.Steps), missing.Again, m.objects)
	}
	m.issuers = slices.Clone(m.issuers)
	m.issuers[0].Wanted = []string{"sts.amazonaws.com", "openshift"}
	if plan := m.next(); plan.Again != 5*time.Minute || says(plan, credentials.TypeReady) != says(missing, credentials.TypeReady) {
		t.Errorf("while it is pending the next look is in %s, Ready is %+v", plan.Again, says(plan, credentials.TypeReady))
	}
	m.issuers[0].Audiences = m.issuers[0].Wanted
	must.Do(t, crash.Settle(m))
	if v := says(m.next(), credentials.TypeAudiencesServed); !v.IsTrue() || !strings.Contains(m.roles[roleName()].Trust, `"openshift"`) {
		t.Errorf("AudiencesServed is %+v, the trust is %s", v, m.roles[roleName()].Trust)
	}
}

func with(changes ...func(*model)) []func(*model) { return changes }

func at(path string) func(*model) {
	return func(m *model) { m.request.Spec.CloudTokenPath = path }
}

func ownIssuer(n int) func(*model) {
	return func(m *model) { m.platform.Issuer = testIssuer(n).URL }
}

func issuerTwo(m *model) { m.issuers = append(m.issuers, testIssuer(2)) }

func otherAccount(m *model) {
	raw := &m.request.Spec.ProviderSpec.Raw
	*raw = []byte(strings.ReplaceAll(string(*raw), testAccount, "999988887777"))
	m.boundary = nil
}
