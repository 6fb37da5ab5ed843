package issuer

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// maxRemembered is how many keys status holds; the kind's schema allows no more.
const maxRemembered = 300

// remembered are the keys of status that can be what a pass has written. Others may
// be allowed to write a status, so what is there adds no key to the document: it only
// tells how long a key of the document stays. What is no key, has an ID that is not
// its own, or was last seen in the future is not believed.
func remembered(w World, now metav1.Time) []v1alpha1.SigningKey {
	var out []v1alpha1.SigningKey
	published := publishedKeys(w.Bucket.Keys.Body)
	for _, stored := range w.Issuer.Status.Keys {
		key, err := readJWK(json.RawMessage(stored.JWK), "a stored key")
		if err != nil || key.ID != stored.KeyID {
			continue
		}
		if !isNamedByKubernetes(key) && !slices.Contains(published, key) && isBucketKnown(w) {
			continue // an ID that somebody chose proves nothing of the key
		}
		stored.Algorithm, stored.JWK = key.Algorithm, key.JWK
		out = append(out, notAhead(stored, now))
	}
	return out
}

// isNamedByKubernetes says that the key's ID is the one that is computed of it.
func isNamedByKubernetes(key Key) bool {
	public, id, err := publicKey(json.RawMessage(key.JWK), "a key")
	if err != nil {
		return false
	}
	computed, err := KeyID(public)
	return err == nil && computed == id
}

// isBucketKnown says that the bucket was looked at.
func isBucketKnown(w World) bool { return w.Caller.Fault == nil && w.Bucket.Fault == nil }

// notAhead takes back times that lie ahead: they were written by a clock that was
// wrong, or by somebody else.
func notAhead(key v1alpha1.SigningKey, now metav1.Time) v1alpha1.SigningKey {
	for _, at := range []*metav1.Time{&key.FirstSeen, &key.LastSeen} {
		if at.After(now.Time) {
			*at = now
		}
	}
	for _, at := range []**metav1.Time{&key.ReadableSince, &key.RetiringSince} {
		if *at != nil && (*at).After(now.Time) {
			*at = &now
		}
	}
	return key
}

// forget drops the keys that are of no more use: those that neither the source shows,
// nor the spec names, nor the bucket's document holds.
func (r ring) forget(inBucket []Key) ring {
	r.keys = slices.DeleteFunc(slices.Clone(r.keys), func(k v1alpha1.SigningKey) bool {
		return !r.isNamed(k) && !hasKey(inBucket, k.KeyID)
	})
	return r
}

// isNamed says that the source or the spec has the key.
func (r ring) isNamed(k v1alpha1.SigningKey) bool {
	return hasKey(r.read, k.KeyID) || hasKey(r.additional, k.KeyID) || k.State == v1alpha1.KeyRevoked
}

// bounded keeps as many keys as status can hold, those that are of use before others.
func (r ring) bounded() ring {
	for i := len(r.keys) - 1; i >= 0 && len(r.keys) > maxRemembered; i-- {
		if !hasKey(r.read, r.keys[i].KeyID) && !hasKey(r.additional, r.keys[i].KeyID) {
			r.keys = slices.Delete(slices.Clone(r.keys), i, i+1)
		}
	}
	return r
}
