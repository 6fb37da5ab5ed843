package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testShipped keeps the fixture honest: all that is said of
// old objects stands on it.
func (u *user) testShipped() {
	for _, name := range sorted(rows) {
		u.t.Run(name, func(t *testing.T) {
			stored, err := u.try(selectors, rows[name].text, metav1.FieldValidationIgnore)
			judge(t, err, rows[name].shipped)
			if err != nil {
				return
			}
			written := object(t, selectors, "probe", rows[name].text)
			if same := cmp.Equal(stored.Object["spec"], written.Object["spec"]); same == rows[name].pruned {
				t.Errorf("stored %v of %v, want a loss: %t", stored.Object["spec"], written.Object["spec"], rows[name].pruned)
			}
		})
	}
}
