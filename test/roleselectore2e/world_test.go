// Package roleselectore2e tests IAM role selectors from end to end: the example
// controller as a process with the rights of its manifests and a web identity, at a
// real API server, in a local AWS with four accounts that evaluates every policy.
// The journal of that AWS tells which role made each call.
package roleselectore2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// program is the example, built.
var program string

func TestMain(m *testing.M) {
	os.Exit(testkit.RunWithProgram(m, "../../examples/bucket-controller", &program))
}

// world is a cluster with the example's manifests, and the cloud that it is for.
type world struct {
	client.WithWatch
	t   *testing.T
	dir string
	api *testkit.APIServer
	aws *cloud
}

// newWorld installs the kinds of selectors unless they are to come later.
func newWorld(t *testing.T, selectorKinds bool) *world {
	t.Helper()
	api, roots := testkit.StartIssuer(t)
	w := &world{t: t, dir: t.TempDir(), api: api}
	if selectorKinds {
		api.InstallCRDs(t)
	}
	api.InstallCRDsFrom(t, filepath.Join(testkit.Root(), "examples/bucket-controller/manifests/crd.yaml"))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, bucket.AddToScheme, v1alpha1.AddToScheme, identityv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if w.WithWatch, err = client.NewWithWatch(api.Config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	w.apply("rights.yaml")
	w.apply("deployment.yaml") // which nobody runs here
	w.aws = newCloud(t, roots, api.Issuer())
	return w
}

// apply makes the objects of a manifest of the example.
func (w *world) apply(file string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(testkit.Root(), "examples/bucket-controller/manifests", file))
	if err != nil {
		w.t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			w.t.Fatalf("%s: %v", file, err)
		}
		w.create(object)
	}
}

// for another test, which reports to it.
func (w *world) in(t *testing.T) *world {
	inner := *w
	inner.t = t
	return &inner
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	testkit.Create(w.t, w, objects...)
}

// change edits an object as a person does, by a merge patch.
func (w *world) change(object client.Object, patch string) {
	w.t.Helper()
	if err := w.Patch(w.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		w.t.Fatalf("change %T %s: %v", object, object.GetName(), err)
	}
}

func (w *world) remove(object client.Object) {
	w.t.Helper()
	if err := w.Delete(w.t.Context(), object); err != nil {
		w.t.Fatalf("delete %T %s: %v", object, object.GetName(), err)
	}
}

func (w *world) namespace(name string, labels, annotations map[string]string) *corev1.Namespace {
	w.t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
	w.create(made)
	return made
}

// selects makes a selector of a role for namespaces of a name.
func (w *world) selects(name, role string, namespaces ...string) *v1alpha1.IAMRoleSelector {
	w.t.Helper()
	return w.selector(name, role, func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: namespaces}
	})
}

func (w *world) selector(name, role string, change func(*v1alpha1.IAMRoleSelectorSpec)) *v1alpha1.IAMRoleSelector {
	w.t.Helper()
	made := &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: &v1alpha1.IAMRoleSelectorSpec{ARN: role}}
	change(made.Spec)
	w.create(made)
	return made
}

// bucket makes a Bucket whose bucket is called NAMESPACE-NAME.
func (w *world) bucket(namespace, name string, change ...func(*bucket.Bucket)) *bucket.Bucket {
	w.t.Helper()
	made := newBucket(namespace, name)
	for _, c := range change {
		c(made)
	}
	w.create(made)
	return made
}

func newBucket(namespace, name string) *bucket.Bucket {
	return &bucket.Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       bucket.Spec{Name: namespace + "-" + name, Tagging: &bucket.Tagging{TagSet: []bucket.Tag{{Key: "of", Value: name}}}},
	}
}

// reread is a Bucket as it is stored now; nil if it is gone.
func (w *world) reread(b *bucket.Bucket) *bucket.Bucket {
	w.t.Helper()
	found := &bucket.Bucket{}
	err := w.Get(w.t.Context(), client.ObjectKeyFromObject(b), found)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return found
}

// conditions are a Bucket's, as TYPE=STATUS REASON: MESSAGE.
func conditions(b *bucket.Bucket) string {
	if b == nil {
		return "the Bucket is gone"
	}
	var lines []string
	for _, c := range b.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(lines, "\n")
}

// awaitCondition waits until a condition of a Bucket begins so, and returns the
// Bucket.
func (w *world) awaitCondition(b *bucket.Bucket, begin string) (found *bucket.Bucket) {
	w.t.Helper()
	w.await(func() error {
		found = w.reread(b)
		if strings.Contains("\n"+conditions(found), "\n"+begin) {
			return nil
		}
		return fmt.Errorf("%s/%s has the conditions\n%s\nwant\n%s", b.Namespace, b.Name, conditions(found), begin)
	})
	return found
}

// awaitReady waits until a Bucket's bucket is there and the status says where, and
// by which selector; an empty one is none.
func (w *world) awaitReady(b *bucket.Bucket, account, selector string) *bucket.Bucket {
	w.t.Helper()
	var found *bucket.Bucket
	w.await(func() error {
		if found = w.reread(b); found == nil {
			return fmt.Errorf("%s/%s is gone", b.Namespace, b.Name)
		}
		r := found.Recorded()
		isThere := strings.Contains(conditions(found), "Ready=True") && r.Account == account && r.Selector == selector
		if !isThere || w.aws.accountOf(b.Spec.Name) != account {
			return fmt.Errorf("%s/%s is recorded as %+v, the bucket is in %q, want %s by %q, and\n%s",
				b.Namespace, b.Name, r, w.aws.accountOf(b.Spec.Name), account, selector, conditions(found))
		}
		return nil
	})
	return found
}

func (w *world) awaitGone(b *bucket.Bucket) {
	w.t.Helper()
	w.await(func() error {
		if found := w.reread(b); found != nil {
			return fmt.Errorf("%s/%s is there, with\n%s", b.Namespace, b.Name, conditions(found))
		}
		return nil
	})
}

// await waits until what it is asked about holds; nil says so.
func (w *world) await(what func() error) {
	w.t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, 90*time.Second, true, func(context.Context) (bool, error) {
		last = what()
		return last == nil, nil
	})
	if err != nil {
		w.t.Fatal(last)
	}
}
