// Package e2e tests IAM role selectors from end to end: the example
// controller as a process with the rights of its manifests and a web identity, at a
// real API server, in a local AWS with four accounts that evaluates every policy.
// The journal of that AWS tells which role made each call.
package e2e

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
	"github.com/tabard-dev/tabard/internal/testkit"
	base "github.com/tabard-dev/tabard/test/roleselector/world"
)

// program is the example, built.
var program string

// TestMain lets more tests run at once than there are processors: most of their time they
// wait for what a controller does by a timer.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(testkit.RunWithProgram(m, "../../../examples/bucket-controller", &program))
}

// world is a cluster with the example's manifests, and the cloud that it is for.
type world struct {
	*base.World
	aws *cloud
}

// newWorld installs the kinds of selectors unless they are to come later.
func newWorld(t *testing.T, selectorKinds bool) *world {
	t.Helper()
	options := base.Options{Accounts: accounts, Region: region}
	if selectorKinds {
		options.CRDs = []string{testkit.CRDs}
	}
	w := &world{World: base.Start(t, options)}
	w.aws = &cloud{w.AWS, t}
	return w
}

// for another test, which reports to it.
func (w *world) in(t *testing.T) *world {
	return &world{&base.World{Cluster: w.In(t), AWS: w.AWS}, &cloud{w.AWS, t}}
}

func (w *world) namespace(name string, labels, annotations map[string]string) *corev1.Namespace {
	w.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
	w.Make(made)
	return made
}

// selects makes a selector of a role for namespaces of a name.
func (w *world) selects(name, role string, namespaces ...string) *v1alpha1.IAMRoleSelector {
	w.Helper()
	return w.selector(name, role, func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: namespaces}
	})
}

func (w *world) selector(name, role string, change func(*v1alpha1.IAMRoleSelectorSpec)) *v1alpha1.IAMRoleSelector {
	w.Helper()
	made := &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: &v1alpha1.IAMRoleSelectorSpec{ARN: role}}
	change(made.Spec)
	w.Make(made)
	return made
}

// bucket makes a Bucket whose bucket is called NAMESPACE-NAME.
func (w *world) bucket(namespace, name string, change ...func(*bucket.Bucket)) *bucket.Bucket {
	w.Helper()
	made := newBucket(namespace, name)
	for _, c := range change {
		c(made)
	}
	w.Make(made)
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
	w.Helper()
	found := &bucket.Bucket{}
	err := w.Get(w.Context(), client.ObjectKeyFromObject(b), found)
	if client.IgnoreNotFound(err) != nil {
		w.Fatal(err)
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
	w.Helper()
	w.Await(func() error {
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
	w.Helper()
	var found *bucket.Bucket
	w.Await(func() error {
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
	w.Helper()
	w.Await(func() error {
		if found := w.reread(b); found != nil {
			return fmt.Errorf("%s/%s is there, with\n%s", b.Namespace, b.Name, conditions(found))
		}
		return nil
	})
}
