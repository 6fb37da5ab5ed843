package issuer

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// wanted is the key set to publish. What comes in comes from the key source and from
// the spec, never from status, which others may write. What is published already
// stays until its time is over.
func (r ring) wanted(w World, published []Key) []Key {
	dropForeign := r.dropsForeign(w)
	var out []Key
	if r.refused == nil {
		out = slices.Concat(r.read, r.additional)
	}
	out = slices.DeleteFunc(out, func(k Key) bool {
		return r.isRevoked(w, k) && !(r.staysRevoked(w, k) && hasKey(published, k.ID))
	})
	for _, key := range published {
		own, known := r.own(key.ID)
		switch {
		case hasKey(r.read, key.ID) || hasKey(r.additional, key.ID):
			// as the source or the spec has it
		case r.isRevoked(w, key) && !r.staysRevoked(w, key):
			// out at once, whosever it is
		case known && !slices.Contains(r.expired, key.ID):
			out = append(out, own)
		case !known && !dropForeign:
			out = append(out, key)
		}
	}
	return out
}

// leaving are those of a document's keys whose time is over.
func (r ring) leaving(w World, s shelf) []Key {
	out := slices.DeleteFunc(slices.Clone(s.published), func(k Key) bool { return !slices.Contains(r.expired, k.ID) })
	if r.dropsForeign(w) && !w.DropForeignKeys {
		out = append(out, s.foreign...)
	}
	return out
}

// own is the key of an ID as status remembers it.
func (r ring) own(id string) (Key, bool) {
	for _, k := range r.keys {
		if k.KeyID == id {
			return Key{ID: k.KeyID, Algorithm: k.Algorithm, JWK: k.JWK}, true
		}
	}
	return Key{}, false
}

// foreign are the keys of a document that are neither the cluster's, nor the spec's,
// nor revoked.
func (r ring) foreign(w World, published []Key) []Key {
	return slices.DeleteFunc(slices.Clone(published), func(k Key) bool {
		return r.knows(k.ID) || hasKey(r.additional, k.ID) || r.isRevoked(w, k)
	})
}

// foreignUntil is when keys of others leave a document in a bucket of ours: when the
// record reaches as far back as any token that lives, so that a key which it does not
// know cannot be one of the cluster's.
func (r ring) foreignUntil(w World) time.Time {
	if r.record.Since == nil {
		return r.endOf(condition.Instant(w.Now), w)
	}
	return r.endOf(*r.record.Since, w)
}

// dropsForeign says that the time of foreign keys is over. In a bucket that Tabard did
// not make they are never touched.
func (r ring) dropsForeign(w World) bool {
	return w.DropForeignKeys || r.settled && isMadeForThis(w) && w.Now.After(r.foreignUntil(w))
}

// isMadeForThis says that Tabard made the bucket for this issuer.
func isMadeForThis(w World) bool { return w.Bucket.Exists && w.Bucket.Owner == w.Issuer.Spec.URL }

// foreignVerdict tells of keys of others.
func (r ring) foreignVerdict(w World, foreign []Key) condition.Verdict {
	const text = "the keys document holds %s, which this cluster never had: whoever holds such a key can become anybody; "
	names := keyNames(foreign)
	switch {
	case r.dropsForeign(w):
		return condition.No(ReasonForeignKey, text+"it is being taken out", names)
	case isMadeForThis(w):
		return condition.No(ReasonForeignKey, text+"it is taken out at %s: add it to spec.keys.additional if somebody needs it, or drop it now with tabard issuer bootstrap --drop-foreign-keys",
			names, r.foreignUntil(w).UTC().Format(time.RFC3339))
	}
	return condition.No(ReasonForeignKey, text+"it is left there, as Tabard did not make the bucket: add it to spec.keys.additional if somebody needs it, or drop it with tabard issuer bootstrap --drop-foreign-keys", names)
}

// name notes the keys that the spec names: revoked ones, whoever has them, and those
// that it adds to the source's.
func (r *ring) name(w World, now metav1.Time) {
	for _, key := range r.additional {
		if hasKey(r.read, key.ID) {
			continue
		}
		r.keys = seen(r.keys, key, now)
		at := slices.IndexFunc(r.keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == key.ID })
		r.keys[at].State = v1alpha1.KeyAdditional
	}
	for i, key := range r.keys {
		if r.isRevoked(w, Key{ID: key.KeyID, JWK: key.JWK}) {
			r.keys[i].State = v1alpha1.KeyRevoked
		}
	}
}

// aside is what Ready adds: keys that are published although the cluster does not sign
// with them any more, and what a revoked key means for pods.
func aside(keys []v1alpha1.SigningKey) string {
	var retiring int
	var revoked []string
	for _, key := range keys {
		switch key.State {
		case v1alpha1.KeyRetiring:
			retiring++
		case v1alpha1.KeyRevoked:
			revoked = append(revoked, key.KeyID)
		}
	}
	var out strings.Builder
	if retiring > 0 {
		out.WriteString("; " + line.Count(retiring, "retiring key is", "retiring keys are") + " published beside those that the cluster has: see status.keys")
	}
	if len(revoked) > 0 {
		out.WriteString("; AWS refuses tokens signed with the revoked " + someOf(revoked) + ": pods that hold one are refused until they are started anew (kubectl rollout restart deployment,daemonset,statefulset -n NAMESPACE)")
	}
	return out.String()
}
