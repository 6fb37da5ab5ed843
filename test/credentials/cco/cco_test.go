package cco

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
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

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const account = "123456789012"

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// The schema is the release's: ours refuses some of what the operator writes.
var shared = testkit.SharedCluster(testkit.ClusterOptions{CRDs: []string{"test/credentials/api/testdata/shipped.yaml"}})

// world is a cluster and an AWS with the stand-in in a mode.
type world struct {
	*testkit.Cluster
	*StandIn
	iam       *iam.Client
	namespace string
}

func newWorld(t *testing.T, mode Mode) *world {
	t.Helper()
	lab := awstest.Start(t, awslocal.Options{Accounts: []string{account}})
	w := &world{Cluster: shared(t), iam: lab.IAM(account)}
	w.namespace = w.NewNamespace()
	w.StandIn = Start(t, w.Dynamic, w.iam, mode)
	return w
}

// ask makes a request of the world's namespace.
func (w *world) ask(name, spec string) {
	w.Helper()
	object := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest",
		"metadata": {"namespace": %q, "name": %q}, "spec": %s}`, w.namespace, name, spec)
	must.Do(w, object.UnmarshalJSON([]byte(text)))
	w.Make(object)
}

// spec is a request for a Secret, with more of the providerSpec.
func (w *world) spec(more string) string {
	return fmt.Sprintf(`{"secretRef": {"namespace": %q, "name": "creds"}, "providerSpec": {"kind": "AWSProviderSpec",
		"statementEntries": [{"effect": "Allow", "action": ["s3:GetObject"], "resource": "*"}]%s}}`, w.namespace, more)
}

const role = `, "stsIAMRoleARN": "arn:aws:iam::123456789012:role/whatever"`

func (w *world) get(name string) *request {
	w.Helper()
	found, err := w.Dynamic.Resource(requests).Namespace(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
	must.Do(w, err)
	return must.Get(decode(found))(w)
}

func (w *world) patch(name, patch string, sub ...string) {
	w.Helper()
	_, err := w.Dynamic.Resource(requests).Namespace(w.namespace).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, sub...)
	must.Do(w, err)
}

func (w *world) secret(name string) map[string]string {
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

func (w *world) until(what string, is func() bool) {
	w.Helper()
	w.Await(func() error {
		if !is() {
			return errors.New(what + ": not yet")
		}
		return nil
	})
}

func TestARoleIsWrittenToTheSecretAndTheSecretGoesWithTheRequest(t *testing.T) {
	w := newWorld(t, Manual)
	w.ask("a", w.spec(role))
	w.until("the Secret has the role", func() bool { return strings.Contains(w.secret("creds")["credentials"], "role/whatever") })
	w.Remove(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cloudcredential.openshift.io/v1", "kind": "CredentialsRequest", "metadata": map[string]any{"namespace": w.namespace, "name": "a"},
	}})
	w.until("the Secret is gone", func() bool { return w.secret("creds") == nil })
}

// TestStorageIsErased: where a schema lets fields be that the operator does not know, its
// update erases them.
func TestStorageIsErased(t *testing.T) {
	w := newWorld(t, Manual)
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
func (w *world) keepUnknownFields() {
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

func TestWhatOthersWriteToTheStatusIsPutBack(t *testing.T) {
	w := newWorld(t, Manual)
	w.ask("a", w.spec(role))
	w.until("provisioned", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"status": {"provisioned": false}}`, "status")
	w.until("provisioned again", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"metadata": {"finalizers": null}}`)
	w.until("its finalizer is there again", func() bool { return len(w.get("a").Finalizers) == 1 })
}

func TestARequestWithoutARoleIsWrittenUntilItsSecretIsThere(t *testing.T) {
	w := newWorld(t, Manual)
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

func TestAUserIsMintedByTheNameInTheStatus(t *testing.T) {
	w := newWorld(t, Mint)
	w.ask("a", w.spec(role))
	w.until("a key is minted in spite of the role", func() bool { return w.secret("creds")["aws_access_key_id"] != "" })
	w.until("its status is written", func() bool { return w.get("a").Status.Provisioned })
	w.patch("a", `{"status": {"providerStatus": {"user": "of-somebody-else"}}}`, "status")
	w.until("a user of that name", func() bool {
		_, err := w.iam.GetUser(w.Context(), &iam.GetUserInput{UserName: aws.String("of-somebody-else")})
		return err == nil
	})
}

func TestPassthroughCopiesTheRootKeys(t *testing.T) {
	w := newWorld(t, Passthrough)
	w.ask("a", w.spec(role))
	w.until("the root keys are there", func() bool { return w.secret("creds")["aws_access_key_id"] == "root-key-id" })
	if r := w.get("a"); r.Status.ProviderStatus != nil {
		t.Errorf("the status names the user %+v, want none", r.Status.ProviderStatus)
	}
}

func TestAKeyStaysWhenTheModeBecomesManual(t *testing.T) {
	w := newWorld(t, Mint)
	w.ask("a", w.spec(role))
	w.until("a key is minted, and the pass has ended", func() bool { return w.secret("creds")["aws_access_key_id"] != "" && w.get("a").Status.Provisioned })
	key := w.secret("creds")["aws_access_key_id"]
	w.Switch(Manual)
	w.patch("a", `{"spec": {"cloudTokenPath": "/elsewhere/token"}}`)
	w.until("it has looked at the new spec", func() bool { return w.get("a").Status.LastSyncGeneration == w.get("a").Generation })
	if got := w.secret("creds"); got["aws_access_key_id"] != key || strings.Contains(got["credentials"], "role_arn") {
		t.Errorf("the Secret has the keys %v, expected the minted key and no role", got)
	}
}

func TestASecretThatCarriesItsLabelGoesWithTheRequest(t *testing.T) {
	w := newWorld(t, Manual)
	labelled := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "creds", Labels: map[string]string{requestKey: "true"}},
		Data:       map[string][]byte{"theirs": []byte(base64.StdEncoding.EncodeToString([]byte("x")))},
	}
	w.Make(labelled)
	w.ask("a", w.spec(""))
	w.until("its finalizer is there", func() bool { return len(w.get("a").Finalizers) == 1 })
	must.Do(t, w.Dynamic.Resource(requests).Namespace(w.namespace).Delete(t.Context(), "a", metav1.DeleteOptions{}))
	w.until("the Secret is gone", func() bool { return w.secret("creds") == nil })
}

func TestAMissingNamespaceIsTold(t *testing.T) {
	w := newWorld(t, Manual)
	w.ask("a", `{"secretRef": {}, "providerSpec": {"kind": "AWSProviderSpec"}}`)
	w.until("MissingTargetNamespace", func() bool {
		s := w.get("a").Status
		return !s.Provisioned && len(s.Conditions) == 1 && s.Conditions[0].Type == "MissingTargetNamespace"
	})
}

func TestARequestWithoutProviderSpecEndsIt(t *testing.T) {
	w := newWorld(t, Manual)
	w.ask("a", fmt.Sprintf(`{"secretRef": {"namespace": %q, "name": "creds"}}`, w.namespace))
	w.until("it has died", w.Died)
	// Another one would die of it too.
	must.Do(t, w.Dynamic.Resource(requests).Namespace(w.namespace).Delete(t.Context(), "a", metav1.DeleteOptions{}))
}
