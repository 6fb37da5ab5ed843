package rights

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// asks are a team's two requests; their status is as the controller writes it.
const asks = `kubectl apply -n NAMESPACE -f - <<'END'
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: fits, finalizers: [identity.tabard.dev/credentials]}
spec:
  storage: {serviceAccount: {namespace: NAMESPACE, name: app}}
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["s3:GetObject"], resource: "arn:aws:s3:::x/*"}]}
---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: waits}
spec:
  storage: {serviceAccount: {namespace: NAMESPACE, name: app}}
  providerSpec: {apiVersion: cloudcredential.openshift.io/v1, kind: AWSProviderSpec, statementEntries: [{effect: Allow, action: ["s3:*"], resource: "*"}]}
END
kubectl patch -n NAMESPACE credentialsrequest fits --subresource=status --type=merge -p '{"status":{"provisioned":true,"lastSyncGeneration":1,
  "providerStatus":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderStatus","user":"lab-fits","policy":"lab-fits-policy"}}}'
kubectl patch -n NAMESPACE credentialsrequest waits --subresource=status --type=merge -p '{"status":{"provisioned":false,"lastSyncGeneration":1,
  "conditions":[{"type":"CredentialsProvisionFailure","status":"True","reason":"CredentialsProvisionFailure","lastProbeTime":"2026-05-04T12:00:00Z",
    "lastTransitionTime":"2026-05-04T12:00:00Z","message":"failed to grant creds: Accepted: s3:* on * is beyond the ceiling"}]}}'
`

// member makes a ServiceAccount of a namespace that has a ClusterRole there, and waits until
// it may read the requests.
func (w world) member(namespace, role string) client.Client {
	w.Helper()
	w.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role}}, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: role}},
	})
	who := w.as(namespace, role)
	w.Await(func() error {
		return who.List(w.Context(), listOf("cloudcredential.openshift.io/v1", "CredentialsRequest"), client.InNamespace(namespace))
	})
	return who
}

func listOf(version, kind string) *unstructured.UnstructuredList {
	out := &unstructured.UnstructuredList{}
	out.SetAPIVersion(version)
	out.SetKind(kind + "List")
	return out
}

// credentials runs "tabard credentials" with the rights of a member of a team.
func (w world) credentials(namespace, account string, args ...string) (code int, out, said string) {
	w.Helper()
	command := exec.CommandContext(w.Context(), testkit.Tabard(w), append([]string{"credentials"}, args...)...)
	command.Env = []string{"HOME=" + w.TempDir(), "KUBECONFIG=" + w.Kubeconfig(w.Account(namespace, account))}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		return exit.ExitCode(), stdout.String(), stderr.String()
	}
	must.Do(w, err)
	return 0, stdout.String(), stderr.String()
}

// TestATeamReadsItsRequests: with nothing but Kubernetes' own role view in its namespace.
func TestATeamReadsItsRequests(t *testing.T) {
	w := world{shared(t)}
	namespace := w.NewNamespace()
	w.Shell(strings.ReplaceAll(asks, "NAMESPACE", namespace))
	w.member(namespace, "view")

	code, out, said := w.credentials(namespace, "view", "list", "-n", namespace, "-o", "json")
	var list struct {
		Items []struct{ Name, State, Reason, Role, Actor string }
	}
	must.Do(t, json.Unmarshal([]byte(out), &list))
	want := "[{fits Ready  lab-fits Tabard} {waits Waiting CredentialsProvisionFailure  Unknown}]"
	if got := fmt.Sprint(list.Items); code != 1 || got != want {
		t.Errorf("exit code %d, %s, want %s", code, got, want)
	}
	const right = "list credentialsgrants.identity.tabard.dev in the cluster"
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, right) {
		t.Errorf("said %q, want one line that names the right to %s", said, right)
	}
	for name, wants := range map[string][]string{
		"fits":  {"State:         Ready\n", "Role:          lab-fits\n"},
		"waits": {"State:         Waiting: CredentialsProvisionFailure\n", "Waits for:     failed to grant creds: Accepted: s3:* on * is beyond the ceiling\n"},
	} {
		code, out, said := w.credentials(namespace, "view", "describe", name, "-n", namespace)
		for _, text := range wants {
			if !strings.Contains(out, text) || (code == 0) != (name == "fits") || !strings.Contains(said, right) {
				t.Errorf("exit code %d, %q and %q, want %q", code, out, said, text)
			}
		}
	}
	if code, out, said := w.credentials(namespace, "view", "list", "-A"); code != 1 || out != "" || !strings.Contains(said, "type -n NAMESPACE") {
		t.Errorf("all namespaces: exit code %d, %q and %q", code, out, said)
	}
}

// TestOnlyAnAdministratorLetsATeamMakeRequests: Kubernetes' own roles read requests. A Cloud
// Credential Operator that mints knows no boundary: whoever may make requests gets keys of it.
func TestOnlyAnAdministratorLetsATeamMakeRequests(t *testing.T) {
	w := world{shared(t)}
	namespace := w.NewNamespace()
	w.Shell(strings.ReplaceAll(asks, "NAMESPACE", namespace))
	const writers = "tabard-credentialsrequests-edit"
	request := func() client.Object {
		out := reference("cloudcredential.openshift.io/v1", "CredentialsRequest", namespace, "fits")()
		must.Do(t, w.Get(t.Context(), client.ObjectKeyFromObject(out), out))
		out.SetName("new")
		out.SetUID("")
		out.SetResourceVersion("")
		return out
	}
	for _, role := range []string{"view", "edit", "admin", writers} {
		who := w.member(namespace, role)
		got := client.NewDryRunClient(who).Create(t.Context(), request())
		if role == writers && got != nil || role != writers && !apierrors.IsForbidden(got) {
			t.Errorf("a request that %s makes: %v", role, got)
		}
		if err := who.List(t.Context(), listOf("identity.tabard.dev/v1alpha1", "CredentialsGrant")); !apierrors.IsForbidden(err) {
			t.Errorf("%s reads the CredentialsGrants: %v", role, err)
		}
		fits := reference("cloudcredential.openshift.io/v1", "CredentialsRequest", namespace, "fits")()
		status := client.NewDryRunClient(who).Status().Patch(t.Context(), fits, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"provisioned":true}}`)))
		if !apierrors.IsForbidden(status) {
			t.Errorf("%s writes the status: %v", role, status)
		}
	}
	if err := w.as(namespace, "view").List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)); !apierrors.IsForbidden(err) {
		t.Errorf("view reads Secrets: %v", err)
	}
}
