package issuer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// seenGranularity keeps lastSeen from changing at every look.
const seenGranularity = 10 * time.Minute

// ring is the set of keys after a look at the key source.
//
//	         read            gone, settled look         retireKeysAfter over
//	(new) ---------> Active ----------------------> Retiring ----------------> expired
//	                   ^             read again        |                         |
//	                   +-------------------------------+   gone from the bucket: dropped
type ring struct {
	// keys are those to keep in status, expired ones included: an expired key is
	// forgotten only after it was seen gone from the document, since what status
	// does not know is somebody else's.
	keys []v1alpha1.SigningKey
	// expired are the IDs that are no longer wanted.
	expired []string
	// read are the keys that the source shows, additional those that the spec names
	// beside them.
	read, additional []Key
	// unusable says why the spec's additional keys are not used.
	unusable *Refusal
	// refused says why the source is not used; then keys are as stored.
	refused *Refusal
	// unreachable are the API servers that did not answer, with their errors.
	unreachable []string
	// settled says that the look shows the keys and the signing key of every API
	// server, at a time that their tokens confirm. Only then does a key begin to
	// retire, or expire.
	settled bool
	// record is the time for which looks were settled without a gap.
	record v1alpha1.KeyRecord
}

// active are the keys that must be published for tokens to verify.
func (r ring) active() []Key {
	return r.pick(func(k v1alpha1.SigningKey) bool { return k.State == v1alpha1.KeyActive })
}

func (r ring) pick(wanted func(v1alpha1.SigningKey) bool) []Key {
	var out []Key
	for _, k := range r.keys {
		if wanted(k) {
			out = append(out, Key{ID: k.KeyID, Algorithm: k.Algorithm, JWK: k.JWK})
		}
	}
	return out
}

func (r ring) knows(id string) bool {
	return slices.ContainsFunc(r.keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == id })
}

// readable notes the keys that anybody can read now.
func (r ring) readable(published []Key, now metav1.Time) ring {
	r.keys = slices.Clone(r.keys)
	for i := range r.keys {
		if r.keys[i].ReadableSince == nil && hasKey(published, r.keys[i].KeyID) {
			r.keys[i].ReadableSince = &now
		}
	}
	return r
}

// turnRing reads the key source and the spec's keys, and moves each key along its
// life.
func turnRing(w World) ring {
	now := condition.Instant(w.Now)
	out := ring{keys: remembered(w, now), record: w.Issuer.Status.KeyRecord}
	var err error
	out.additional, err = readAdditional(w.Issuer.Spec.Keys.Additional)
	out.unusable = refusalOf(err)
	out.read, out.unreachable, err = readSource(w)
	if out.refused = refusalOf(err); out.refused != nil {
		out.name(w, now)
		return out
	}
	out.settled = len(out.unreachable) == 0 && out.unusable == nil && w.Cluster.isDated(w.Now)
	if out.settled {
		out.record = prolong(out.record, now)
	}
	for _, key := range out.read {
		out.keys = seen(out.keys, key, now)
	}
	for i := range out.keys {
		out.retire(&out.keys[i], w, now)
	}
	out.name(w, now)
	for _, key := range out.keys {
		if out.isExpired(key, w) {
			out.expired = append(out.expired, key.KeyID)
		}
	}
	slices.SortFunc(out.keys, func(a, b v1alpha1.SigningKey) int { return cmp.Compare(a.KeyID, b.KeyID) })
	return out
}

// refusalOf is the refusal that an error is; nil for none.
func refusalOf(err error) *Refusal {
	if err == nil {
		return nil
	}
	if refusal, is := errors.AsType[*Refusal](err); is {
		return refusal
	}
	return refuse(ReasonKeyUnreadable, "%v", err)
}

// seen notes that the source shows a key.
func seen(keys []v1alpha1.SigningKey, key Key, now metav1.Time) []v1alpha1.SigningKey {
	at := slices.IndexFunc(keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == key.ID })
	if at < 0 {
		return append(keys, v1alpha1.SigningKey{
			KeyID: key.ID, Algorithm: key.Algorithm, JWK: key.JWK,
			State: v1alpha1.KeyActive, FirstSeen: now, LastSeen: now,
		})
	}
	known := &keys[at]
	known.Algorithm, known.JWK, known.State, known.RetiringSince = key.Algorithm, key.JWK, v1alpha1.KeyActive, nil
	if now.Sub(known.LastSeen.Time) > seenGranularity {
		known.LastSeen = now
	}
	return keys
}

// retire marks a key that every server has forgotten. Its time does not run while
// one signs with it, whatever the source says.
func (r ring) retire(key *v1alpha1.SigningKey, w World, now metav1.Time) {
	if hasKey(r.read, key.KeyID) || hasKey(r.additional, key.KeyID) {
		return
	}
	signs := w.Cluster.signs(key.KeyID)
	if signs && now.Sub(key.LastSeen.Time) > seenGranularity {
		key.LastSeen = now
	}
	switch {
	case !r.settled:
		return
	case signs:
		key.RetiringSince = nil
	case key.RetiringSince == nil || key.State == v1alpha1.KeyActive || key.State == v1alpha1.KeyAdditional:
		key.RetiringSince = &now
	}
	key.State = v1alpha1.KeyRetiring
}

// isExpired says that every token signed with the key has expired.
func (r ring) isExpired(key v1alpha1.SigningKey, w World) bool {
	return r.settled && key.State == v1alpha1.KeyRetiring && key.RetiringSince != nil && w.Now.After(r.endOf(*key.RetiringSince, w))
}

// readSource unites the keys of all API servers, or reads the ConfigMap. The
// second result names the servers that did not answer.
func readSource(w World) ([]Key, []string, error) {
	if w.Issuer.Spec.Keys.Source == v1alpha1.KeySourceConfigMap {
		keys, err := readConfigMap(w)
		return keys, nil, err
	}
	var sets [][]Key
	var unreachable []string
	for _, server := range w.Cluster.APIServers {
		if server.Error != "" {
			unreachable = append(unreachable, server.Address+" ("+condition.Steady(server.Error)+")")
			continue
		}
		keys, err := ReadJWKS(server.JWKS)
		if err != nil {
			return nil, nil, err
		}
		sets = append(sets, keys)
	}
	keys, err := unite(sets...)
	if err == nil && len(keys) == 0 && len(unreachable) == 0 {
		err = refuse(ReasonNoKeys, "the API server shows no key at /openid/v1/jwks, expected at least one: check its --service-account-signing-key-file")
	}
	return keys, unreachable, err
}

func readConfigMap(w World) ([]Key, error) {
	ref, source := w.Issuer.Spec.Keys.ConfigMap, w.Cluster.ConfigMap
	name := ref.Namespace + "/" + ref.Name
	switch {
	case source == nil:
		return nil, refuse(ReasonKeySourceUnreadable, "the ConfigMap %s was not read", name)
	case source.Missing:
		return nil, refuse(ReasonKeySourceMissing, "there is no ConfigMap %s, expected one with PEM public keys: create it or correct spec.keys.configMap", name)
	case source.Error != "":
		return nil, refuse(ReasonKeySourceUnreadable, "the ConfigMap %s could not be read (%s): grant the operator get on it", name, condition.Steady(source.Error))
	case len(source.Data) == 0:
		return nil, refuse(ReasonNoKeys, "the ConfigMap %s is empty, expected PEM public keys", name)
	}
	return ReadPEM(source.Data)
}

// keysVerdict is the condition KeysInSync.
func (r ring) keysVerdict(w World, shelf shelf) condition.Verdict {
	if r.refused != nil {
		return condition.No(r.refused.Reason, "%s; what is published stays as it is", r.refused.Text)
	}
	if strange := r.strangeSigners(w.Cluster); strange != nil {
		return *strange
	}
	if shelf.tooMany {
		return condition.No(ReasonTooManyKeys, "own keys and keys of others make more than %d, which AWS does not accept in one document: take out those that nobody needs (tabard issuer bootstrap --drop-foreign-keys)", MaxKeys)
	}
	if missing := shelf.missing(w, r.active()); len(missing) > 0 {
		return condition.No(ReasonKeyNotPublished, "%s", r.unpublished(w.Cluster, missing))
	}
	if revoked := r.revokedVerdict(w, shelf); revoked != nil {
		return *revoked
	}
	if r.unusable != nil {
		return condition.No(r.unusable.Reason, "%s; meanwhile none of the list is added, and no key is taken out", r.unusable.Text)
	}
	if len(r.unreachable) > 0 {
		return condition.Unknown(ReasonAPIServerUnreachable, "these API servers did not tell their keys: %s; known keys stay published and none is retired until all answer", someOf(r.unreachable))
	}
	if apart := w.Cluster.apart(w.Now); len(apart) > 0 {
		return condition.Unknown(ReasonClockDiffers, "a token requested just now from %s was issued more than %s from now by this clock: one of the two clocks is wrong, and no key is retired meanwhile; set both by NTP", w.Cluster.name(apart), clockSkew)
	}
	if len(shelf.foreign) > 0 && !w.DropForeignKeys {
		return r.foreignVerdict(w, shelf.foreign)
	}
	if !shelf.known && !shelf.publicKnown {
		return condition.Unknown(ReasonNotReachableFromHere, "neither the bucket nor %s could be read, so it is not known which keys are published", w.Issuer.Spec.URL)
	}
	return condition.Yes(ReasonInSync, "every key that the cluster signs with is published: %s", r.stages(w))
}

// isActive says that a key is held as active although this look did not show
// it: its server did not answer.
func (r ring) isActive(id string) bool { return hasKey(r.active(), id) }

// keyNames joins key IDs for a message.
func keyNames(keys []Key) string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, printable(cmp.Or(key.ID, "(a key without ID)")))
	}
	return someOf(names)
}

// printable is a key ID that somebody else may have chosen, as a message can hold it.
func printable(id string) string {
	const most = 64
	if len(id) > most || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("%.80q", id[:min(len(id), most)])
	}
	return id
}
