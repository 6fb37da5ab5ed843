package operators

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/olm"
)

// installedOperator are the objects of an operator that is installed with its role, and to which an
// upgrade waits.
func installedOperator() (out []runtime.Object) {
	var objects []map[string]any
	if err := json.Unmarshal(installedJSON, &objects); err != nil {
		panic(err)
	}
	for _, object := range objects {
		out = append(out, &unstructured.Unstructured{Object: object})
	}
	return out
}

// connectOLM makes a client of the cluster, which has the Secrets of its CredentialsRequests. Of them
// it has the metadata alone.
func (c openshift4) connectOLM(kubeconfig *command.Kubeconfig) (olm.Client, error) {
	objects, err := c.connect(kubeconfig)
	objects.(*dynamicfake.FakeDynamicClient).PrependReactor("create", "selfsubjectaccessreviews", func(kubetesting.Action) (bool, runtime.Object, error) {
		return true, &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"allowed": true}}}, nil
	})
	if c.made != nil {
		objects.(*dynamicfake.FakeDynamicClient).PrependReactor("create", "*", func(action kubetesting.Action) (bool, runtime.Object, error) {
			if action.GetResource().Resource != "selfsubjectaccessreviews" {
				c.made(action.(kubetesting.CreateAction).GetObject().(*unstructured.Unstructured))
			}
			return false, nil, nil
		})
	}
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		return olm.Client{}, err
	}
	secret := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: metav1.ObjectMeta{Namespace: "my-operator", Name: "my-operator-aws"}}
	return olm.Client{Objects: objects, Metadata: metadatafake.NewSimpleMetadataClient(scheme, secret)}, err
}

// withOperator is a cluster with the operator.
func withOperator() openshift4 {
	out := onAWS()
	out.objects = append(out.objects, installedOperator()...)
	return out
}

func TestStatusOfWhatIsInstalled(t *testing.T) {
	got := withOperator().run(t, "", "status", "-A")
	if got.code != 0 {
		t.Errorf("exit code %d: %s", got.code, got.errOut)
	}
	says(t, got.out, "my-operator  my-operator   my-operator.v1  my-operator.v2  10/10 credentials  done")
	says(t, withOperator().run(t, "", "status", "my-operator", "-n", "my-operator").out, "10/10 done     credentials", "An upgrade to my-operator.v2 waits", "tabard operators approve my-operator -n my-operator")
}

func TestFlagsOfCommandsForWhatIsInstalled(t *testing.T) {
	for want, args := range map[string][]string{
		"--timeout is -1s, expected more than 0": {"approve", "my-operator", "-n", "my-operator", "--timeout", "-1s"},
		"--issuer: the issuer is \"http://a\"":   {"approve", "my-operator", "-n", "my-operator", "--issuer", "http://a"},
		"the issuer is \"a\", expected a URL":    {"upgrade-diff", "my-operator", "-n", "my-operator", "--issuer", "a"},
		"--role-documents and --issuer are of":   {"upgrade-diff", "my-operator", "--issuer", "https://a.example.com", "--from", "1", "--to", "2"},
	} {
		got := withOperator().run(t, "", args...)
		if got.code != 2 {
			t.Errorf("%q: exit code %d", args, got.code)
		}
		says(t, got.errOut, want)
	}
}

func TestApproveWhatAsksForTheSame(t *testing.T) {
	got := withOperator().run(t, "", "approve", "my-operator", "-n", "my-operator")
	if got.code != 0 {
		t.Errorf("exit code %d: %s", got.code, got.errOut)
	}
	says(t, got.out, "my-operator.v2: NoChange", "approved InstallPlan my-operator/install-b")
}
