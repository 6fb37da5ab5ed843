package issuer

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// trustHolds is how long a look at who trusts the issuer holds, as long as nothing is
// removed: it lists all roles of an account.
const trustHolds = 10 * time.Minute

// Trust remembers who was seen to trust issuers. It only spares looks that lead to
// nothing: see Decide. Its zero value is ready for use; it is not safe for concurrent
// use.
type Trust struct{ looks map[types.UID]trustLook }

// trustLook is one look at the roles of all accounts that one issuer is registered in.
type trustLook struct {
	at time.Time
	// generation and annotations are those of the object that was looked for.
	generation  int64
	annotations map[string]string
	// roles are the names of those that mention a provider, by its ARN.
	roles map[string][]string
	// refused says that what was decided by this look was tried, and that a person must
	// act before it can succeed.
	refused bool
}

// recall takes the roles of a recent look over into a world, and says whether it could.
// It cannot if the object was changed since.
func (t *Trust) recall(w *World) bool {
	look, known := t.looks[w.Issuer.UID]
	if !known || look.generation != w.Issuer.Generation || !maps.Equal(look.annotations, w.Issuer.Annotations) ||
		w.Now.Before(look.at) || !w.Now.Before(look.at.Add(trustHolds)) {
		return false
	}
	w.Providers = slices.Clone(w.Providers)
	for i, state := range w.Providers {
		if !state.NeedsTrust(w.Issuer) {
			continue
		}
		roles, seen := look.roles[state.ARN]
		if !seen {
			return false
		}
		w.Providers[i].TrustedBy = slices.Clone(roles)
	}
	return true
}

// Remember notes what a look has seen, and forgets what holds no longer. A look that
// failed is not remembered.
func (t *Trust) Remember(w World) {
	maps.DeleteFunc(t.looks, func(uid types.UID, look trustLook) bool {
		return uid == w.Issuer.UID || !w.Now.Before(look.at.Add(trustHolds))
	})
	roles := map[string][]string{}
	for _, state := range w.Providers {
		switch {
		case state.Fault != nil:
			return
		case state.NeedsTrust(w.Issuer):
			roles[state.ARN] = slices.Clone(state.TrustedBy)
		}
	}
	if len(roles) == 0 {
		return
	}
	if t.looks == nil {
		t.looks = map[types.UID]trustLook{}
	}
	t.looks[w.Issuer.UID] = trustLook{
		at: w.Now, generation: w.Issuer.Generation, annotations: maps.Clone(w.Issuer.Annotations), roles: roles,
	}
}

// Refuse notes that what was decided by the last look failed, until a person acts.
func (t *Trust) Refuse(w World) {
	if look, known := t.looks[w.Issuer.UID]; known {
		look.refused = true
		t.looks[w.Issuer.UID] = look
	}
}

// Decide decides by a look of a pass before, if that holds and there is nothing to do:
// before a step there is a look of the same pass. A deletion that was refused waits for
// the time of the next look, or for a change of the object.
func (t *Trust) Decide(w World) (plan Plan, ok bool) {
	if !t.recall(&w) {
		return Plan{}, false
	}
	plan = Decide(w)
	if len(plan.Steps) > 0 && t.looks[w.Issuer.UID].refused && !w.Issuer.DeletionTimestamp.IsZero() {
		return Plan{Status: *w.Issuer.Status.DeepCopy(), Again: LookAgain}, true
	}
	return plan, len(plan.Steps) == 0
}
