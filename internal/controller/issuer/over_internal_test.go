package issuer

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/controller"
)

// unlisted is a cluster that lists nothing.
type unlisted struct{ client.Reader }

var errUnlisted = errors.New("there is no list")

func (unlisted) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errUnlisted
}

// TestAnIssuerThatLeavesAllNeedsNoRivals: who else has its URL counts only for what is made
// or removed in AWS.
func TestAnIssuerThatLeavesAllNeedsNoRivals(t *testing.T) {
	gone := &metav1.Time{Time: time.Unix(1, 0)}
	tests := map[string]struct {
		deleted *metav1.Time
		policy  v1alpha1.DeletionPolicy
		needs   bool
	}{
		"it lives":                     {nil, v1alpha1.DeletionPolicyRetain, true},
		"it goes with what it made":    {gone, v1alpha1.DeletionPolicyDelete, true},
		"it goes and leaves all":       {gone, v1alpha1.DeletionPolicyRetain, false},
		"it goes, by the usual policy": {gone, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			issuer := &v1alpha1.OIDCIssuer{Spec: v1alpha1.OIDCIssuerSpec{DeletionPolicy: test.policy}}
			issuer.DeletionTimestamp = test.deleted
			c := &Controller{Kit: controller.Kit{Live: unlisted{}}}
			if _, err := c.rivals(t.Context(), issuer); errors.Is(err, errUnlisted) != test.needs {
				t.Errorf("the pass says %v", err)
			}
		})
	}
}
