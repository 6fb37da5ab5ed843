package credentials_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// TestASecretBesideALiveOperator has who writes the Secret of a request that names its
// ServiceAccount by annotation.
func TestASecretBesideALiveOperator(t *testing.T) {
	const named = `{"kind":"AWSProviderSpec","stsIAMRoleARN":"` + givenARN + `"}`
	ours := mine(func(s *credentials.TargetState) {
		delete(s.Labels, cloudv1.RequestKey)
		delete(s.Annotations, cloudv1.RequestKey)
	})
	both := mine(func(s *credentials.TargetState) { keys(s, "aws_access_key_id", "aws_secret_access_key") })
	dies := func(w *credentials.World) { w.Request.DeletionTimestamp = &metav1.Time{Time: noon} }
	held := func(w *credentials.World) { w.Request.Finalizers = append(w.Request.Finalizers, cloudv1.Finalizer) }
	for name, tt := range map[string]struct {
		provider string
		facts    platform.Facts
		secret   credentials.TargetState
		more     []func(*credentials.World)
		steps    string
		says     string
	}{
		"a role is to be made, and there is no Secret": {
			provider: statements, facts: openshift(platform.Manual), steps: "WriteServiceAccount WriteSecret",
		},
		"the request names its role: the operator makes the Secret": {
			provider: named, facts: openshift(platform.Manual), steps: "WriteServiceAccount",
		},
		"the request names its role, and the operator has made the Secret": {
			provider: named, facts: openshift(platform.Manual), secret: both, steps: "WriteServiceAccount",
		},
		"the request names its role, and no operator is live": {
			provider: named, facts: kubernetes(), steps: "WriteServiceAccount WriteSecret",
		},
		"the operator has minted into it": {
			provider: statements, facts: openshift(platform.Manual), secret: both, steps: "WriteServiceAccount", says: "left to it",
		},
		"an operator had minted into it": {
			provider: statements, facts: kubernetes(), secret: both, steps: "WriteServiceAccount WriteSecret",
		},
		"it is Tabard's, and the request comes to name a role": {
			provider: named, facts: openshift(platform.Manual), secret: ours, steps: "WriteServiceAccount",
		},
		"it is Tabard's, and the request is deleted": {
			provider: statements, facts: openshift(platform.Manual), secret: ours, more: []func(*credentials.World){dies, held}, steps: "ClearSecret",
		},
		"the operator has minted into it, and the request is deleted": {
			provider: statements, facts: openshift(platform.Manual), secret: both, more: []func(*credentials.World){dies, held},
		},
		"the operator has minted into it and holds the deleted request no more": {
			provider: statements, facts: openshift(platform.Manual), secret: both, more: []func(*credentials.World){dies}, steps: "ClearSecret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(3)
			m.platform = tt.facts
			m.request.Spec.ProviderSpec = &runtime.RawExtension{Raw: []byte(tt.provider)}
			m.grant = &v1alpha1.CredentialsGrant{
				Spec:   v1alpha1.CredentialsGrantSpec{Request: v1alpha1.RequestRef{Namespace: "team", Name: "app", UID: m.request.UID}},
				Status: v1alpha1.CredentialsGrantStatus{Targets: []v1alpha1.GrantedTarget{{Kind: credentials.KindSecret, Namespace: "team", Name: "creds", Created: true}}},
			}
			w := m.Observe()
			for i := range w.Targets {
				if w.Targets[i].Kind == credentials.KindSecret && tt.secret.Exists {
					w.Targets[i] = tt.secret
				}
			}
			for _, change := range tt.more {
				change(&w)
			}
			w.Role.Seen, w.Role.Live = true, true
			plan := credentials.Decide(w)
			var steps []string
			for _, step := range strings.Fields(kinds(plan.Steps)) {
				if strings.HasSuffix(step, "ServiceAccount") || strings.HasSuffix(step, "Secret") {
					steps = append(steps, step)
				}
			}
			if got := strings.Join(steps, " "); got != tt.steps {
				t.Errorf("the steps are %q, want %q; the grant says %+v", got, tt.steps, plan.Grant.Conditions)
			}
			if message := says(plan, credentials.TypeDelivered).Message; !strings.Contains(message, tt.says) {
				t.Errorf("Delivered says %q, want %q", message, tt.says)
			}
		})
	}
}
