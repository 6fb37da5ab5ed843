package issuer

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// Finalizer holds an OIDCIssuer while something of it may exist in AWS.
const Finalizer = "identity.tabard.dev/oidcissuer"

const (
	// LookAgain is when to look next at a world that is as wanted, or that waits
	// for a person: neither keys nor documents announce their changes.
	LookAgain = 30 * time.Second
	// lookSoon is when to look at what a plan has changed.
	lookSoon = 2 * time.Second
)

// Decide compares the world with what its issuer wants. It is the whole
// decision: for a living issuer and a dying one, in the operator and in a
// person's bootstrap.
func Decide(w World) Plan {
	if !w.Issuer.DeletionTimestamp.IsZero() {
		return decideDeletion(w)
	}
	if err := Validate(w.Issuer.Spec); err != nil {
		return refused(w, condition.No(ReasonInvalidSpec, "%v; nothing is done until it is corrected", err))
	}
	if rival := olderRival(w); rival != nil {
		return refused(w, *rival)
	}
	r := turnRing(w)
	s := stock(w, r)
	p := decidePublication(w, r, s)
	if p.verdict.IsTrue() {
		r = r.readable(publishedKeys(s.keys), condition.Instant(w.Now))
	}
	g := decideProviders(w, p.verdict.IsTrue())
	v := verdicts{published: p.verdict, keys: r.keysVerdict(w, s), provider: g.verdict}
	if s.known {
		r = r.forget(s.published)
	}
	r = r.bounded()
	v.ready = readiness(w, v)
	v.ready.Message += aside(r.keys)
	return compose(w, slices.Concat(p.steps, g.steps), v1alpha1.OIDCIssuerStatus{
		ObservedGeneration: w.Issuer.Generation,
		Conditions:         v.conditions(w),
		Keys:               r.keys,
		KeyRecord:          r.record,
		Publication:        p.status,
		Providers:          g.status,
	})
}

// refused is a pass that does nothing, because of the object itself.
func refused(w World, why condition.Verdict) Plan {
	waiting := condition.Unknown(ReasonNotReached, "not looked at: see %s", TypePublished)
	v := verdicts{published: why, keys: waiting, provider: waiting, ready: why}
	status := *w.Issuer.Status.DeepCopy()
	status.ObservedGeneration, status.Conditions = w.Issuer.Generation, v.conditions(w)
	return Plan{Status: status, Again: LookAgain}
}

// compose puts before the outside steps what makes them safe: the finalizer,
// and a status from which all that they make can be found again.
func compose(w World, outside []Step, status v1alpha1.OIDCIssuerStatus) Plan {
	plan := Plan{Status: status, Again: LookAgain}
	switch {
	case !slices.Contains(w.Issuer.Finalizers, Finalizer):
		plan.Steps = []Step{HoldFinalizer{}, Record{}}
	case len(outside) > 0 && isNews(w.Issuer.Status, status):
		plan.Steps = []Step{Record{}}
	}
	if plan.Steps = append(plan.Steps, outside...); len(plan.Steps) > 0 {
		plan.Again = lookSoon
	}
	return plan
}

// isNews says that a status must be stored before the steps: it remembers
// something new, or tells of a key that is not published. Other conditions wait
// for the end of the pass, so that a step that keeps failing does not make them
// change twice a pass.
func isNews(stored, status v1alpha1.OIDCIssuerStatus) bool {
	was, is := verdictsOf(stored).keys, verdictsOf(status).keys
	if is.Reason == ReasonKeyNotPublished && was != is {
		return true
	}
	stored.Conditions, status.Conditions = nil, nil
	stored.ObservedGeneration, status.ObservedGeneration = 0, 0
	return !equality.Semantic.DeepEqual(stored, status)
}

// olderRival finds an issuer that was first with the URL or the location. The
// younger of two does nothing, so that they never undo each other's work.
func olderRival(w World) *condition.Verdict {
	mine := w.Issuer
	for i := range w.Rivals {
		rival := &w.Rivals[i]
		if rival.Name == mine.Name || !isOlder(rival, mine) {
			continue
		}
		a, b := mine.Spec.Publication.S3, rival.Spec.Publication.S3
		switch {
		case rival.Spec.URL == mine.Spec.URL:
			out := condition.No(ReasonDuplicateURL, "OIDCIssuer %s has the URL %s already, expected one issuer a URL: delete one of the two", rival.Name, mine.Spec.URL)
			return &out
		case a.Bucket == b.Bucket && a.Prefix == b.Prefix:
			out := condition.No(ReasonDuplicateLocation, "OIDCIssuer %s publishes to bucket %s, prefix %q already, expected a location for each: set another bucket or prefix", rival.Name, a.Bucket, a.Prefix)
			return &out
		}
	}
	return nil
}

// isOlder orders issuers by age, then by name.
func isOlder(a, b *v1alpha1.OIDCIssuer) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}
