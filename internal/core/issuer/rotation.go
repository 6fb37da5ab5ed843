package issuer

import (
	"fmt"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// cloudsKeepKeys is how long a key should be readable before tokens are signed with
// it: clouds keep the documents that they have fetched. AWS does not say for how
// long; an hour is long for a document that may change at any time.
const cloudsKeepKeys = time.Hour

// maxStages is how many keys KeysInSync tells of; a rotation is of two or three.
const maxStages = 20

// unpublished explains keys that the published document lacks: a key that signs
// already was not published first.
func (r ring) unpublished(c Cluster, missing []string) string {
	names := someOf(missing)
	signers := c.those(func(s APIServer) bool { return s.Token.Error == "" && slices.Contains(missing, s.Token.KeyID) })
	if len(signers) == 0 {
		return fmt.Sprintf("the API server shows %s, which the keys document does not hold yet: do not sign with it before it is published", names)
	}
	text := fmt.Sprintf("%s signs tokens with %s, which the keys document does not hold: clouds refuse these tokens until it is written and fetched", c.name(signers), signers[0].Token.KeyID)
	if others := slices.DeleteFunc(r.active(), func(k Key) bool { return slices.Contains(missing, k.ID) }); len(others) > 0 {
		text += fmt.Sprintf("; sign with %s again (--service-account-signing-key-file) until this condition lists the new key as safe to sign with", keyNames(others))
	}
	return text
}

// stages tells for each key how far its rotation is.
func (r ring) stages(w World) string {
	texts := make([]string, 0, len(r.keys))
	for _, key := range r.keys {
		if !slices.Contains(r.expired, key.KeyID) && key.State != v1alpha1.KeyRevoked {
			texts = append(texts, printable(key.KeyID)+" "+r.stage(key, w))
		}
	}
	if len(w.Issuer.Spec.Keys.Revoked) > 0 {
		texts = append(texts, r.revokedStages(w))
	}
	return some(texts, maxStages, "; ")
}

func (r ring) stage(key v1alpha1.SigningKey, w World) string {
	signs := w.Cluster.signs(key.KeyID)
	switch {
	case key.State == v1alpha1.KeyRetiring && key.RetiringSince == nil:
		return "is no longer shown by the API server, and its time does not run yet"
	case key.State == v1alpha1.KeyRetiring:
		return "has gone from the API server and is published until " + r.endOf(*key.RetiringSince, w).UTC().Format(time.RFC3339)
	case key.ReadableSince == nil && signs:
		return "signs"
	case key.ReadableSince == nil:
		return "was not read back from the URL yet, do not sign with it"
	}
	since, safe := key.ReadableSince.UTC(), key.ReadableSince.Add(cloudsKeepKeys).UTC()
	isEarly := w.Now.Before(safe) && r.hasElder(key)
	switch {
	case signs && isEarly:
		return fmt.Sprintf("signs, although it can be read only since %s: a cloud that keeps an older document may refuse its tokens until %s", since.Format(time.RFC3339), safe.Format(time.RFC3339))
	case signs:
		return "signs"
	case isEarly:
		return fmt.Sprintf("can be read since %s, sign with it after %s, when no cloud keeps an older document", since.Format(time.RFC3339), safe.Format(time.RFC3339))
	}
	return "is safe to sign with"
}

// hasElder says that another key was there before a key: it came by a rotation and
// not with the cluster, of which no cloud can have an older document.
func (r ring) hasElder(key v1alpha1.SigningKey) bool {
	return slices.ContainsFunc(r.keys, func(k v1alpha1.SigningKey) bool { return k.FirstSeen.Time.Before(key.FirstSeen.Time) })
}
