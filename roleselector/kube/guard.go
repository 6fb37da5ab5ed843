package kube

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/roleselector"
)

// errForgotten is why nothing is done for a resource that is gone.
var errForgotten = errors.New("the resource is not known any longer")

// Guard says, whenever it is asked, whether what follows from a situation still does, by
// the selectors, choices and namespaces that are known at that moment: nil, or why not.
// A pass takes as long as AWS does, and its role may be taken away meanwhile: hand the
// guard to awsauth.Guarded, with the configuration of one pass. What the resource itself
// says is as of the last Decide. It looks things up in memory, in two microseconds or so.
func (s *Selectors) Guard(kind schema.GroupVersionKind, object client.Object, situation roleselector.Situation) func() error {
	ref := refOf(kind, client.ObjectKeyFromObject(object))
	course := roleselector.Proceed(situation)
	return func() error {
		query, entered := s.objects.Query(ref)
		if !entered {
			return errForgotten
		}
		now := situation
		now.Decision, now.LastUsed = s.index.Decide(query), s.index.LastUsed(query, situation.Recorded)
		if now.Decision.Equal(situation.Decision) && now.LastUsed == situation.LastUsed {
			return nil
		}
		if follows := roleselector.Proceed(now); !course.IsSameAs(follows) {
			return fmt.Errorf("the decision on the resource has changed: %s: %s", follows.Reason, follows.Message)
		}
		return nil
	}
}
