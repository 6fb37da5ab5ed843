package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/credentials/cco"
)

// operated is the host cluster and an AWS with the stand-in in a mode.
type operated struct {
	*testkit.Cluster
	*cco.StandIn
	iam       *iam.Client
	namespace string
}

// TestTheStandInDoesAsTheOperator where the schema is the release's: ours refuses some of
// what the operator writes.
func TestTheStandInDoesAsTheOperator(t *testing.T) {
	w := newWorld(t)
	defer newCluster(t, w.host).ship()()
	for _, part := range []struct {
		name string
		mode cco.Mode
		test func(*operated)
	}{
		{"a role is written to the Secret, and the Secret goes with the request", cco.Manual, (*operated).testRole},
		{"what others write to the status is put back", cco.Manual, (*operated).testStatus},
		{"a request without a role is written until its Secret is there", cco.Manual, (*operated).testWithoutRole},
		{"a user is minted by the name in the status", cco.Mint, (*operated).testMint},
		{"passthrough copies the root keys", cco.Passthrough, (*operated).testPassthrough},
		{"a key stays when the mode becomes manual", cco.Mint, (*operated).testSwitch},
		{"a Secret that carries its label goes with the request", cco.Manual, (*operated).testLabel},
		{"a missing namespace is told", cco.Manual, (*operated).testMissingNamespace},
		{"a request without providerSpec ends it", cco.Manual, (*operated).testDeath},
		{"storage is erased", cco.Manual, (*operated).testErasure}, // it changes the schema
	} {
		t.Run(part.name, func(t *testing.T) {
			o := &operated{Cluster: w.host.In(t), iam: w.aws.IAM(account)}
			o.namespace = o.NewNamespace()
			o.StandIn = cco.Start(t, o.Dynamic, o.iam, part.mode)
			part.test(o)
		})
	}
}

// ask makes a request of the world's namespace.
func (w *operated) ask(name, spec string) {
	w.Helper()
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest",
		"metadata": {"namespace": %q, "name": %q}, "spec": %s}`, w.namespace, name, spec)
	must.Do(w, object.UnmarshalJSON([]byte(text)))
	w.Make(object)
}

// spec is a request for a Secret, with more of the providerSpec.
func (w *operated) spec(more string) string {
	return fmt.Sprintf(`{"secretRef": {"namespace": %q, "name": "creds"}, "providerSpec": {"kind": "AWSProviderSpec",
		"statementEntries": [{"effect": "Allow", "action": ["s3:GetObject"], "resource": "*"}]%s}}`, w.namespace, more)
}

const role = `, "stsIAMRoleARN": "arn:aws:iam::123456789012:role/whatever"`

func (w *operated) get(name string) *cloudv1.CredentialsRequest {
	w.Helper()
	found := &cloudv1.CredentialsRequest{}
	must.Do(w, w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, found))
	return found
}

func (w *operated) patch(name, patch string, sub ...string) {
	w.Helper()
	_, err := w.Dynamic.Resource(requests).Namespace(w.namespace).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, sub...)
	must.Do(w, err)
}

func (w *operated) secret(name string) map[string]string {
	var found corev1.Secret
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &found); err != nil {
		return nil
	}
	out := map[string]string{}
	for key, value := range found.Data {
		out[key] = string(value)
	}
	return out
}

func (w *operated) until(what string, is func() bool) {
	w.Helper()
	w.Await(func() error {
		if !is() {
			return errors.New(what + ": not yet")
		}
		return nil
	})
}

func (w *operated) testRole() {
	w.ask("a", w.spec(role))
	w.until("the Secret has the role", func() bool { return strings.Contains(w.secret("creds")["credentials"], "role/whatever") })
	w.Remove(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"namespace": w.namespace, "name": "a"},
	}})
	w.until("the Secret is gone", func() bool { return w.secret("creds") == nil })
}

// testErasure: where a schema lets fields be that the operator does not know, its
// update erases them.
func (w *operated) testErasure() {
	w.keepUnknownFields()
	w.ask("a", `{"storage": {"serviceAccount": {"namespace": "x", "name": "y"}}, "providerSpec": {"kind": "AWSProviderSpec"}}`)
	w.until("its finalizer is there and storage is not", func() bool {
		found, err := w.Dynamic.Resource(requests).Namespace(w.namespace).Get(w.Context(), "a", metav1.GetOptions{})
		if err != nil || len(found.GetFinalizers()) == 0 {
			return false
		}
		_, storage, _ := unstructured.NestedMap(found.Object, "spec", "storage")
		_, ref, _ := unstructured.NestedMap(found.Object, "spec", "secretRef")
		return !storage && ref
	})
}

// keepUnknownFields has the schema of requests keep fields that it does not know.
func (w *operated) keepUnknownFields() {
	w.Helper()
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	const patch = `[{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-preserve-unknown-fields", "value": true},
		{"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required", "value": []}]`
	_, err := w.Dynamic.Resource(definitions).Patch(w.Context(), "credentialsrequests.cloudcredential.openshift.io", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	must.Do(w, err)
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"namespace": w.namespace, "name": "probe"},
		"spec": map[string]any{"secretRef": map[string]any{}, "unknown": "x"},
	}}
	w.until("unknown fields are kept", func() bool {
		found, err := w.Dynamic.Resource(requests).Namespace(w.namespace).Create(w.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return false
		}
		_, kept, _ := unstructured.NestedString(found.Object, "spec", "unknown")
		return kept
	})
}

func (w *operated) testStatus() {
	w.ask("a", w.spec(role))
	w.until("provisioned", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"status": {"provisioned": false}}`, "status")
	w.until("provisioned again", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"metadata": {"finalizers": null}}`)
	w.until("its finalizer is there again", func() bool { return len(w.get("a").Finalizers) == 1 })
}

func (w *operated) testWithoutRole() {
	w.ask("a", w.spec(""))
	w.until("many writes", func() bool { return w.Writes(w.namespace+"/a") > 5 })
	w.Make(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "creds"}})
	w.until("two looks without a write", func() bool {
		before := w.Writes(w.namespace + "/a")
		for range 3 {
			w.get("a")
		}
		return before == w.Writes(w.namespace+"/a")
	})
}

func (w *operated) testMint() {
	w.ask("a", w.spec(role))
	w.until("a key is minted in spite of the role", func() bool { return w.secret("creds")["aws_access_key_id"] != "" })
	w.until("its status is written", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"status": {"providerStatus": {"user": "of-somebody-else"}}}`, "status")
	w.until("a user of that name", func() bool {
		_, err := w.iam.GetUser(w.Context(), &iam.GetUserInput{UserName: aws.String("of-somebody-else")})
		return err == nil
	})
}

func (w *operated) testPassthrough() {
	w.ask("a", w.spec(role))
	w.until("the root keys are there", func() bool { return w.secret("creds")["aws_access_key_id"] == "root-key-id" })
	if r := w.get("a"); r.Status.ProviderStatus != nil {
		w.Errorf("the status names the user %+v, want none", r.Status.ProviderStatus)
	}
}

func (w *operated) testSwitch() {
	w.ask("a", w.spec(role))
	w.until("a key is minted, and the pass has ended", func() bool { return w.secret("creds")["aws_access_key_id"] != "" && w.get("a").Status.Provisioned })
	key := w.secret("creds")["aws_access_key_id"]
	w.Switch(cco.Manual)
	w.patch("a", `{"spec": {"cloudTokenPath": "/elsewhere/token"}}`)
	w.until("it has looked at the new spec", func() bool { return w.get("a").Status.LastSyncGeneration == w.get("a").Generation })
	if got := w.secret("creds"); got["aws_access_key_id"] != key || strings.Contains(got["credentials"], "role_arn") {
		w.Errorf("the Secret has the keys %v, expected the minted key and no role", got)
	}
}

func (w *operated) testLabel() {
	labelled := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "creds", Labels: map[string]string{"cloudcredential.openshift.io/credentials-request": "true"}},
		Data:       map[string][]byte{"theirs": []byte(base64.StdEncoding.EncodeToString([]byte("x")))},
	}
	w.Make(labelled)
	w.ask("a", w.spec(""))
	w.until("its finalizer is there", func() bool { return len(w.get("a").Finalizers) == 1 })
	must.Do(w, w.Dynamic.Resource(requests).Namespace(w.namespace).Delete(w.Context(), "a", metav1.DeleteOptions{}))
	w.until("the Secret is gone", func() bool { return w.secret("creds") == nil })
}

func (w *operated) testMissingNamespace() {
	w.ask("a", `{"secretRef": {}, "providerSpec": {"kind": "AWSProviderSpec"}}`)
	w.until("MissingTargetNamespace", func() bool {
		s := w.get("a").Status
		return !s.Provisioned && len(s.Conditions) == 1 && s.Conditions[0].Type == "MissingTargetNamespace"
	})
}

func (w *operated) testDeath() {
	w.ask("a", fmt.Sprintf(`{"secretRef": {"namespace": %q, "name": "creds"}}`, w.namespace))
	w.until("it has died", w.Died)
	// Another one would die of it too.
	must.Do(w, w.Dynamic.Resource(requests).Namespace(w.namespace).Delete(w.Context(), "a", metav1.DeleteOptions{}))
}
