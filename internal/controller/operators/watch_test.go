package operators

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestANamespaceWaitsForItsNextPass, and another one does not wait for it.
func TestANamespaceWaitsForItsNextPass(t *testing.T) {
	c := &Controller{options: Options{Pace: time.Hour}, namespaces: map[string]*memory{}}
	if _, rest := c.turn("a"); rest != 0 {
		t.Errorf("the first pass waits for %s", rest)
	}
	if _, rest := c.turn("a"); rest <= 0 || rest > time.Hour {
		t.Errorf("the second pass waits for %s, want almost an hour", rest)
	}
	if _, rest := c.turn("b"); rest != 0 {
		t.Errorf("another namespace waits for %s", rest)
	}
	c.namespaces["a"].began = time.Now().Add(-time.Hour)
	if _, rest := c.turn("a"); rest != 0 {
		t.Errorf("after its time the pass waits for %s", rest)
	}
}

// TestTheCacheHasLittleOfAnObject, whatever somebody writes into its metadata.
func TestTheCacheHasLittleOfAnObject(t *testing.T) {
	object := metadataOf(operator.KindPlan)
	object.ObjectMeta = metav1.ObjectMeta{
		Namespace: "ns", Name: "a", UID: "u", ResourceVersion: "7", Labels: map[string]string{"long": "x", copied: "y"}, Annotations: map[string]string{"long": "x"},
		Finalizers: []string{"long"}, OwnerReferences: []metav1.OwnerReference{{Name: "long"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "long"}},
	}
	got, is := must.Get(trim(object))(t).(*metav1.PartialObjectMetadata)
	if !is || got.Kind != "InstallPlan" || got.Namespace != "ns" || got.Name != "a" || got.UID != "u" || got.ResourceVersion != "7" || got.Labels[copied] != "y" {
		t.Errorf("it lacks what the controller goes by: %+v", got)
	}
	if len(got.Labels) != 1 || len(got.Annotations)+len(got.Finalizers)+len(got.OwnerReferences)+len(got.ManagedFields) != 0 {
		t.Errorf("it has more than the controller goes by: %+v", got)
	}
}
