package selectorreport

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTrimKeepsLittle of an object that is as long as an API server takes.
func TestTrimKeepsLittle(t *testing.T) {
	long := strings.Repeat("x", 250<<10)
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: "a", Annotations: map[string]string{"other": long, services.ChoiceAnnotation: long}, Labels: map[string]string{},
		ManagedFields: []metav1.ManagedFieldsEntry{{FieldsV1: &metav1.FieldsV1{}}},
	}}
	for i := range 60 {
		o.Labels[fmt.Sprintf("example.com/label-%d", i)] = "a value of an ordinary length"
	}
	kept := must.Get(trim(o))(t)
	if len(kept.Labels) != 60 || len(kept.Annotations) != 1 || kept.Size() > 8<<10 {
		t.Errorf("kept %d labels and %d bytes, want 60 and 8 KiB at most", len(kept.Labels), kept.Size())
	}
	for i := range 10_000 {
		o.Labels[fmt.Sprintf("label-%d", i)] = "a value of an ordinary length"
	}
	if kept := must.Get(trim(o))(t); kept.Size() > 8<<10 {
		t.Errorf("kept %d bytes of an object with 10,060 labels", kept.Size())
	}
}
