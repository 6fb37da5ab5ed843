package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// stored are requests that the shipped schema took: good ones, and one of each oddity
// that ours refuses in a new request.
var stored = map[string]string{
	"payload": `spec:
  secretRef: {name: a, namespace: b}
  serviceAccountNames: [one, two]
  cloudTokenPath: /var/run/secrets/openshift/serviceaccount/token
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries: [{effect: Allow, action: ["s3:GetObject"], resource: "*", policyCondition: {StringEquals: {"aws:RequestedRegion": [a, b]}}}]
    fieldOfTomorrow: {deep: [1, true, {x: y}]}`,
	"all-seven-fields":   `spec: {secretRef: {apiVersion: v1, kind: Secret, name: a, namespace: b, uid: u, resourceVersion: "1", fieldPath: p}, providerSpec: {kind: VSphereProviderSpec}}`,
	"empty-secret-ref":   `spec: {secretRef: {}, providerSpec: {kind: AWSProviderSpec}}`,
	"no-namespace":       `spec: {secretRef: {name: a}, providerSpec: {}}`,
	"no-provider-spec":   `spec: {secretRef: {name: a, namespace: b}}`,
	"names-as-none-is":   `spec: {secretRef: {name: "A B", namespace: "*"}, providerSpec: {kind: AWSProviderSpec}, serviceAccountNames: [""]}`,
	"neither-nor":        `spec: {secretRef: {}}`,
	"under-the-operator": `{metadata: {finalizers: [cloudcredential.openshift.io/deprovision], annotations: {a: b}}, spec: {secretRef: {name: a, namespace: b}, providerSpec: {kind: AWSProviderSpec}}}`,
}

// shippedStatus is a status as the operator writes it.
var shippedStatus = map[string]any{
	"provisioned": true, "lastSyncGeneration": int64(1), "lastSyncTimestamp": "2026-08-01T00:00:00Z",
	"lastSyncCloudCredsSecretResourceVersion": "12", "lastSyncInfrastructureResourceVersion": "13",
	"providerStatus": map[string]any{"kind": "AWSProviderStatus", "apiVersion": "cloudcredential.openshift.io/v1", "user": "u", "policy": "p", "more": "x"},
	"conditions": []any{
		map[string]any{"type": "CredentialsProvisionFailure", "status": "False", "reason": "CredentialsProvisionSuccess", "message": "m", "lastProbeTime": "2026-08-01T00:00:00Z", "lastTransitionTime": "2026-08-01T00:00:00Z"},
		map[string]any{"type": "CredentialsProvisionFailure", "status": "True"},
		map[string]any{"type": "", "status": "whatever"},
	},
}

const (
	noProvider = "providerSpec is required"
	noTarget   = "a target is required"
)

// edits are changes of stored requests under our schema, and the refusal each earns.
var edits = map[string]struct {
	of   string
	do   func(map[string]any)
	want string
}{
	"another path beside an empty secretRef":       {"empty-secret-ref", set("/t", "spec", "cloudTokenPath"), ""},
	"a finalizer on a request without a target":    {"neither-nor", set([]any{"a/b"}, "metadata", "finalizers"), ""},
	"an empty secretRef left out":                  {"empty-secret-ref", set(nil, "spec", "secretRef"), ""},
	"an empty secretRef put right":                 {"empty-secret-ref", set(map[string]any{"name": "a", "namespace": "b"}, "spec", "secretRef"), ""},
	"an empty secretRef, a ServiceAccount besides": {"empty-secret-ref", set(map[string]any{"serviceAccount": map[string]any{"namespace": "a", "name": "b"}}, "spec", "storage"), ""},
	"another name beside no namespace":             {"no-namespace", set("c", "spec", "secretRef", "name"), ""},
	"another kind beside no namespace":             {"no-namespace", set("Secret", "spec", "secretRef", "kind"), ""},
	"other names beside no providerSpec":           {"no-provider-spec", set([]any{"a"}, "spec", "serviceAccountNames"), ""},
	"a providerSpec, set at last":                  {"no-provider-spec", set(map[string]any{"kind": "AWSProviderSpec"}, "spec", "providerSpec"), ""},
	"a path where all is missing":                  {"neither-nor", set("/t", "spec", "cloudTokenPath"), ""},
	"odd names of ServiceAccounts changed":         {"names-as-none-is", set([]any{"", "*"}, "spec", "serviceAccountNames"), ""},
	"the providerSpec taken away":                  {"payload", set(nil, "spec", "providerSpec"), noProvider},
	"the target taken away":                        {"payload", set(nil, "spec", "secretRef"), noTarget},
	"the target made empty":                        {"payload", set(map[string]any{}, "spec", "secretRef"), noTarget},
	"a ServiceAccount in place of a Secret":        {"payload", set(map[string]any{"serviceAccount": map[string]any{"namespace": "a", "name": "b"}}, "spec", "storage"), ""},
	"the operator's finalizer removed":             {"under-the-operator", set(nil, "metadata", "finalizers"), ""},
}

// testUpgrade: what the shipped schema stored is read as before under ours, can be
// labelled and get a status whatever it is, and be put right.
func (c *cluster) testUpgrade() {
	t := c.t
	before := map[string]map[string]any{}
	for _, name := range sorted(stored) {
		must.Get(c.of(requests).Create(t.Context(), object(t, requests, name, stored[name]), metav1.CreateOptions{}))(t)
		if err := c.change(t, requests, name, set(shippedStatus, "status"), metav1.UpdateOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		before[name] = must.Get(c.of(requests).Get(t.Context(), name, metav1.GetOptions{}))(t).Object
	}
	c.server.InstallCRDs(t)
	c.untilServed(t)
	for _, name := range sorted(stored) {
		t.Run(name, func(t *testing.T) {
			now := must.Get(c.of(requests).Get(t.Context(), name, metav1.GetOptions{}))(t).Object
			if diff := cmp.Diff(before[name], now); diff != "" {
				t.Errorf("it is read otherwise (-before +now):\n%s", diff)
			}
			judge(t, c.change(t, requests, name, set("here", "metadata", "labels", "seen"), metav1.UpdateOptions{}), "")
			judge(t, c.change(t, requests, name, set(int64(2), "status", "lastSyncGeneration"), metav1.UpdateOptions{}, "status"), "")
			now = must.Get(c.of(requests).Get(t.Context(), name, metav1.GetOptions{}))(t).Object
			if diff := cmp.Diff(before[name]["spec"], now["spec"]); diff != "" {
				t.Errorf("a label changed the spec (-before +now):\n%s", diff)
			}
			set(int64(1), "status", "lastSyncGeneration")(now)
			if diff := cmp.Diff(before[name]["status"], now["status"]); diff != "" {
				t.Errorf("one field of the status changed others (-before +now):\n%s", diff)
			}
		})
	}
	for _, name := range sorted(edits) {
		t.Run(name, func(t *testing.T) {
			dry := metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}
			judge(t, c.change(t, requests, edits[name].of, edits[name].do, dry), edits[name].want)
		})
	}
}
