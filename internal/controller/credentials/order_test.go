package credentials_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// TestOneThatIsTooManyHasItsTurnWhenAnotherGoes on a real API server.
func TestOneThatIsTooManyHasItsTurnWhenAnotherGoes(t *testing.T) {
	f := newFixture(t)
	f.Merge(&v1alpha1.CredentialsBoundary{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}, `{"spec":{"maxRequests":1}}`)
	goes, waits := f.request("goes", "goes"), f.request("waits", "waits")
	f.Make(goes)
	f.until(goes, isReady)
	f.Make(waits)
	f.until(waits, has(core.TypeReady, metav1.ConditionFalse, string(core.ReasonTooManyRequests)))
	f.Remove(goes)
	f.until(goes, isGone)
	f.until(waits, isReady)
}
