package chain_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	issuerURL = "https://prod-oidc-4f1c00aa77.s3.eu-central-1.amazonaws.com"
	bare      = "prod-oidc-4f1c00aa77.s3.eu-central-1.amazonaws.com"
	account   = "111122223333"
	roleARN   = "arn:aws:iam::" + account + ":role/checkout"
	provider  = "arn:aws:iam::" + account + ":oidc-provider/" + bare
	subject   = "system:serviceaccount:shop:checkout"
	audience  = "sts.amazonaws.com"
	tokenFile = "/var/run/secrets/eks.amazonaws.com/serviceaccount/token" //nolint:gosec // a path, and no secret
)

// The keys of the API server, and one that it has no more.
var (
	keyOne = issuer.UsableKey{ID: "one", Thumbprint: "1"}
	keyTwo = issuer.UsableKey{ID: "two", Thumbprint: "2"}
	keyOld = issuer.UsableKey{ID: "old", Thumbprint: "0"}
)

var noon = metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))

// world is a workload and its role, of which all is well.
func world() chain.Evidence {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "checkout-6d9c-x2k4p", CreationTimestamp: metav1.NewTime(noon.Add(time.Hour)), Labels: map[string]string{"pod-template-hash": "6d9c"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "checkout-6d9c", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "checkout",
			Containers: []corev1.Container{{
				Name: "app", Env: []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: roleARN}, {Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: tokenFile}},
				VolumeMounts: []corev1.VolumeMount{{Name: "aws-iam-token", MountPath: "/var/run/secrets/eks.amazonaws.com/serviceaccount"}},
			}},
			Volumes: []corev1.Volume{{Name: "aws-iam-token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: audience, Path: "token"}}},
			}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	of := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "checkout", Annotations: map[string]string{"eks.amazonaws.com/role-arn": roleARN},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "helm", Time: &noon, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:eks.amazonaws.com/role-arn":{}}}}`)}},
	}}
	return chain.Evidence{
		Subject: chain.Subject{Namespace: "shop", Pod: pod.Name},
		Pod:     chain.Seen[corev1.Pod]{Value: chain.Prune(pod)}, Account: chain.Seen[metav1.PartialObjectMetadata]{Value: of},
		Issuer: chain.Seen[string]{Value: new(issuerURL)}, Role: chain.Seen[chain.Role]{Value: &chain.Role{ARN: roleARN, Trust: trusting(provider, audience, subject)}},
		Provider: chain.Seen[chain.OIDCProvider]{Value: &chain.OIDCProvider{ARN: provider, Audiences: []string{audience}}},
		Policies: chain.Seen[chain.Policies]{Value: &chain.Policies{
			Inline:   []chain.Policy{{Name: "orders", Document: seen(permits(call, object))}},
			Attached: []chain.Policy{{Name: "arn:aws:iam::" + account + ":policy/queues", Document: seen(permits("sqs:*", "*"))}},
		}},
		Signing: chain.Seen[chain.Signing]{Value: &chain.Signing{Keys: []issuer.UsableKey{keyOne, keyTwo}}},
		Published: chain.Seen[chain.Published]{Value: &chain.Published{
			Discovery: chain.Answer{At: issuerURL + "/.well-known/openid-configuration", Status: 200},
			Keys:      chain.Answer{At: issuerURL + "/keys.json", Status: 200}, Held: []issuer.UsableKey{keyOld, keyOne, keyTwo},
		}},
		NewPod: chain.Seen[corev1.Pod]{Value: chain.Prune(newPod(pod))}, Hooks: chain.Seen[[]chain.Hook]{Value: &[]chain.Hook{hook()}},
		NamespaceLabels: chain.Seen[map[string]string]{Value: &map[string]string{"kubernetes.io/metadata.name": "shop"}},
	}
}

// newPod is what the API server makes of a new pod of the ServiceAccount: the webhook gives it the same.
func newPod(like *corev1.Pod) *corev1.Pod {
	pod := like.DeepCopy()
	pod.Name, pod.OwnerReferences, pod.Status.Phase, pod.Spec.Containers[0].Name = "tabard-explain-x", nil, corev1.PodPending, "none"
	return pod
}

// hook is Tabard's, which is asked about all pods that do not ask it to leave them out.
func hook() chain.Hook {
	return chain.Hook{
		Configuration: "tabard-webhook", Name: "pod-identity.tabard.dev", Path: "/mutate", Namespace: "tabard-system", Service: "tabard-webhook", FailurePolicy: "Ignore",
		Bundle: true, Until: &metav1.Time{Time: noon.AddDate(10, 0, 0)},
		Objects: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "eks.amazonaws.com/skip-pod-identity-webhook", Operator: metav1.LabelSelectorOpDoesNotExist}}},
	}
}

// silent is a new pod that comes back as it was sent, and what is changed of the hook.
func silent(change func(*chain.Hook)) func(*chain.Evidence) {
	return func(e *chain.Evidence) {
		e.NewPod.Value.Spec.Containers[0].Env, e.NewPod.Value.Spec.Volumes = nil, nil
		if change != nil && e.Hooks.Value != nil && len(*e.Hooks.Value) > 0 {
			change(&(*e.Hooks.Value)[0])
		}
	}
}

const (
	call   = "s3:GetObject"
	object = "arn:aws:s3:::orders/today.csv"
	limit  = "arn:aws:iam::" + account + ":policy/limit"
)

func seen(text string) chain.Seen[string] { return chain.Seen[string]{Value: &text} }

// permits is a policy that allows one call.
func permits(action, resource string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"` + action + `","Resource":"` + resource + `"}]}`
}

// denies is a policy that allows one call, and denies it.
func denies(action, resource string) string {
	return strings.Replace(permits(action, resource), "[", `[{"Sid":"Stop","Effect":"Deny","Action":"`+action+`","Resource":"`+resource+`"},`, 1)
}

// asks sets the calls that are asked about.
func asks(e *chain.Evidence, resource string, actions ...string) {
	e.Subject.Actions, e.Subject.Resource = actions, resource
}

// limits sets a permissions boundary.
func limits(e *chain.Evidence, document string) {
	e.Role.Value.Boundary, e.Policies.Value.Boundary = limit, seen(document)
}

// trusting is a trust policy as Tabard writes it.
func trusting(provider, audience string, subjects ...string) string {
	return string(must.Get(json.Marshal(iampolicy.Document{iampolicy.WebIdentity(provider, audience, subjects...)}))(&testing.T{}))
}

// copyOf is evidence that was written and read: what a test changes of it changes no other.
func copyOf(t *testing.T, e chain.Evidence) (out chain.Evidence) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(json.Marshal(e))(t), &out))
	return out
}

// app is the container of the evidence's pod.
func app(e *chain.Evidence) *corev1.Container { return &e.Pod.Value.Spec.Containers[0] }

// trust sets the trust policy.
func trust(document string) func(*chain.Evidence) {
	return func(e *chain.Evidence) { e.Role.Value.Trust = document }
}

// conditioned is a statement for the provider with a condition.
func conditioned(condition string) string {
	return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"` + provider + `"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":` + condition + `}]}`
}
