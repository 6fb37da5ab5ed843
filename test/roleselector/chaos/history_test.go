package chaos

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// key names an object; selectors and namespaces have no namespace.
type key struct{ namespace, name string }

// resource is what decides on the role of a Bucket.
type resource struct {
	key
	uid types.UID
	// bucket is the name in AWS.
	bucket string
	labels map[string]string
	// choice is the annotation's.
	choice   string
	deleting bool
	// retain is its deletion policy; announced is the change of account that its
	// status announces, empty for none.
	retain    bool
	announced string
	recorded  recorded
}

// recorded is what the status of a Bucket says of the last calls that went well.
type recorded struct {
	account, selector string
	selectorUID       types.UID
	role              string
}

// namespace is what decides of a namespace.
type namespace struct{ labels map[string]string }

// version is an object as it was stored, or that it was deleted. It was stored not
// before earliest and not after latest.
type version[T any] struct {
	key              key
	revision         uint64
	earliest, latest time.Time
	object           *T // nil: deleted
}

// stamp is when a version was stored, whatever its kind.
type stamp struct {
	revision         uint64
	earliest, latest *time.Time
}

// history is all that was stored, in no order until it is settled.
type history struct {
	selectors  []version[v1alpha1.IAMRoleSelector]
	choices    []version[identityv1alpha1.IAMRoleChoice]
	namespaces []version[namespace]
	resources  []version[resource]
}

// settle sorts each kind by revision and narrows the times: revisions grow with
// time, over all kinds, so that nothing was stored before what has a lower one.
func (h *history) settle() {
	stamps := slices.Concat(sorted(h.selectors), sorted(h.choices), sorted(h.namespaces), sorted(h.resources))
	slices.SortStableFunc(stamps, func(a, b stamp) int { return cmp.Compare(a.revision, b.revision) })
	for i := 1; i < len(stamps); i++ {
		if before := *stamps[i-1].earliest; stamps[i].earliest.Before(before) {
			*stamps[i].earliest = before
		}
	}
	for i := len(stamps) - 2; i >= 0; i-- {
		if after := *stamps[i+1].latest; stamps[i].latest.After(after) {
			*stamps[i].latest = after
		}
	}
}

// sorted sorts versions by revision and returns their stamps.
func sorted[T any](versions []version[T]) []stamp {
	slices.SortStableFunc(versions, func(a, b version[T]) int { return cmp.Compare(a.revision, b.revision) })
	var stamps []stamp
	for i := range versions {
		v := &versions[i]
		stamps = append(stamps, stamp{v.revision, &v.earliest, &v.latest})
	}
	return stamps
}

// state is what was stored of some objects from one version to the next.
type state[T any] struct {
	// from is the earliest time at which it can have begun, until the latest at
	// which it can have ended, if it has.
	from, until time.Time
	ended       bool
	objects     map[key]*T
}

// statesOf are the states that versions, sorted by revision, have led through. The
// first is that nothing is there.
func statesOf[T any](versions []version[T]) []state[T] {
	states := []state[T]{{objects: map[key]*T{}}}
	for _, v := range versions {
		last := &states[len(states)-1]
		last.until, last.ended = v.latest, true
		objects := maps.Clone(last.objects)
		delete(objects, v.key)
		if v.object != nil {
			objects[v.key] = v.object
		}
		states = append(states, state[T]{from: v.earliest, objects: objects})
	}
	return states
}

// within are the states that may have been so at some time from begin to end, the
// latest first.
func within[T any](states []state[T], begin, end time.Time) []state[T] {
	var found []state[T]
	for _, s := range slices.Backward(states) {
		if !s.from.After(end) && (!s.ended || !s.until.Before(begin)) {
			found = append(found, s)
		}
	}
	return found
}

// only are the versions of which a condition holds.
func only[T any](versions []version[T], holds func(key) bool) []version[T] {
	var found []version[T]
	for _, v := range versions {
		if holds(v.key) {
			found = append(found, v)
		}
	}
	return found
}
