package hub

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// addOnNamespace is where add-ons are on a cluster unless they say otherwise.
const addOnNamespace = "open-cluster-management-agent-addon"

// registersAddOns gives a Klusterlet the driver of add-ons that "tabard hub join" writes for awsirsa, by the
// patch of docs/hub.md. The registration agent starts anew.
func registersAddOns(spoke *testkit.Cluster) {
	spoke.Helper()
	page := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "hub.md")))(spoke))
	for _, block := range testkit.Blocks(page, "sh") {
		if parts := strings.Split(block, "'"); strings.HasPrefix(block, "kubectl patch klusterlet klusterlet --type merge -p '") && len(parts) == 3 {
			spoke.Merge(ocm.New(ocm.Klusterlet, "", "klusterlet"), parts[1])
			return
		}
	}
	spoke.Fatal("the page has no patch of a Klusterlet")
}

// wantAddOn says that an add-on arrives on a cluster whose Klusterlet is as registersAddOns makes it, and
// reaches the hub with a token of its own, which lives for a day and has the add-on's rights alone. It returns the add-on and how that reaches the hub.
func wantAddOn(t *testing.T, hub, spoke *testkit.Cluster, name string) (addOn *unstructured.Unstructured, own *rest.Config) {
	t.Helper()
	hub.MakeFiles("test/hub/testdata/addon.yaml")
	addOn = ocm.New(ocm.ManagedClusterAddOn, name, "hello")
	addOn.Object["spec"] = map[string]any{}
	hub.Make(addOn)
	secret := awaitAddOnSecret(t, spoke)
	wantADay(t, secret.Data["token"])
	own = asAddOn(t, secret, awaitAddOnPods(t, spoke, name))
	if own.Host != hub.Config.Host {
		t.Errorf("the kubeconfig of the add-on leads to %s, want %s", own.Host, hub.Config.Host)
	}
	reviews := must.Get(kubernetes.NewForConfig(own))(t).AuthenticationV1().SelfSubjectReviews()
	review := must.Get(reviews.Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}))(t)
	if got, want := review.Status.UserInfo.Username, "system:serviceaccount:"+name+":hello-agent"; got != want {
		t.Errorf("at the hub the add-on is %s, want %s", got, want)
	}
	wantAddOnsRights(t, hub, hub.ClientFor(own), name)
	return addOn, own
}

// wantAddOnGoes says that what an add-on has on its cluster goes with it, and that its token, which has
// not run out, is of no use any more.
func wantAddOnGoes(t *testing.T, hub, spoke *testkit.Cluster, addOn *unstructured.Unstructured, own *rest.Config) {
	t.Helper()
	hub.Remove(addOn)
	hub.Await(func() error {
		err := hub.ClientFor(own).List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(addOn.GetNamespace()))
		if !apierrors.IsUnauthorized(err) {
			return fmt.Errorf("to the token of an add-on that is gone, the hub answers %s, want Unauthorized", fmt.Sprint(err))
		}
		return nil
	})
	for _, object := range []client.Object{
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: "hello"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: "hello-hub-kubeconfig"}},
	} {
		spoke.Await(func() error {
			err := spoke.Get(t.Context(), client.ObjectKeyFromObject(object), object)
			if err == nil {
				return fmt.Errorf("the add-on is gone, and its %T %s is there", object, object.GetName())
			}
			return client.IgnoreNotFound(err)
		})
	}
}

// awaitAddOnSecret waits for the Secret by which the add-on reaches the hub.
func awaitAddOnSecret(t *testing.T, spoke *testkit.Cluster) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	spoke.Await(func() error {
		if err := spoke.Get(t.Context(), client.ObjectKey{Namespace: addOnNamespace, Name: "hello-hub-kubeconfig"}, secret); err != nil {
			return err
		}
		if len(secret.Data["kubeconfig"]) == 0 || len(secret.Data["token"]) == 0 {
			return fmt.Errorf("the Secret %s has no kubeconfig or no token yet", secret.Name)
		}
		return nil
	})
	return secret
}

// wantADay says that a token of a ServiceAccount lives for a day.
func wantADay(t *testing.T, token []byte) {
	t.Helper()
	parts := strings.Split(string(token), ".")
	if len(parts) != 3 {
		t.Fatalf("the token of the add-on has %d parts, want 3", len(parts))
	}
	var claims struct{ Iat, Exp int64 }
	must.Do(t, json.Unmarshal(must.Get(base64.RawURLEncoding.DecodeString(parts[1]))(t), &claims))
	if got := time.Duration(claims.Exp-claims.Iat) * time.Second; got != 24*time.Hour {
		t.Errorf("the token of the add-on lives for %s, want a day", got)
	}
}

// awaitAddOnPods waits for the add-on's Deployment, which arrives by a ManifestWork, and returns the path
// at which its pods find the kubeconfig that is in the Secret.
func awaitAddOnPods(t *testing.T, spoke *testkit.Cluster, name string) (path string) {
	t.Helper()
	var deployment appsv1.Deployment
	spoke.Await(func() error {
		return spoke.Get(t.Context(), client.ObjectKey{Namespace: addOnNamespace, Name: "hello"}, &deployment)
	})
	pod := deployment.Spec.Template.Spec
	const where = "/managed/hub-kubeconfig"
	if diff := cmp.Diff([]string{"/hello", "--cluster=" + name, "--hub=" + where + "/kubeconfig"}, pod.Containers[0].Args); diff != "" {
		t.Errorf("the arguments of the add-on (-want +got):\n%s", diff)
	}
	mounted := map[string]string{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name && volume.Secret != nil {
				mounted[mount.MountPath] = volume.Secret.SecretName
			}
		}
	}
	if diff := cmp.Diff(map[string]string{where: "hello-hub-kubeconfig"}, mounted); diff != "" {
		t.Errorf("the Secrets of the add-on's pods by their paths (-want +got):\n%s", diff)
	}
	return where + "/kubeconfig"
}

// asAddOn is how a pod with the Secret reaches the hub: by the kubeconfig at this path, which names the
// Secret's other files.
func asAddOn(t *testing.T, secret *corev1.Secret, path string) *rest.Config {
	t.Helper()
	dir := t.TempDir()
	for name, value := range secret.Data {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), value, 0o600))
	}
	return must.Get(clientcmd.BuildConfigFromFlags("", filepath.Join(dir, filepath.Base(path))))(t)
}

// wantAddOnsRights says that the add-on may read the ConfigMaps of its cluster at the hub, and no more.
func wantAddOnsRights(t *testing.T, hub *testkit.Cluster, own client.Client, name string) {
	t.Helper()
	var configs corev1.ConfigMapList
	hub.Await(func() error { return own.List(t.Context(), &configs, client.InNamespace(name)) })
	works := &unstructured.UnstructuredList{}
	works.SetGroupVersionKind(ocm.ManifestWork)
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	for what, err := range map[string]error{
		"read the ConfigMaps of all clusters":   own.List(t.Context(), &configs),
		"read ConfigMaps elsewhere":             own.List(t.Context(), &configs, client.InNamespace("default")),
		"write a ConfigMap":                     own.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "made"}}),
		"read the Secrets of its cluster":       own.List(t.Context(), &corev1.SecretList{}, client.InNamespace(name)),
		"read the ManifestWorks of its cluster": own.List(t.Context(), works, client.InNamespace(name)),
		"read its ManagedCluster":               own.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("when the add-on is to %s, the hub answers %v, want Forbidden", what, err)
		}
	}
}
