package issuer

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// revocation is the spec's entry that names a key, by the ID that it is published
// under or by the one that is computed of it; nil for none.
func revocation(w World, key Key) *v1alpha1.RevokedKey {
	revoked := w.Issuer.Spec.Keys.Revoked
	if len(revoked) == 0 {
		return nil
	}
	computed := computedID(key)
	for i, entry := range revoked {
		if entry.KeyID == key.ID || entry.KeyID == computed {
			return &revoked[i]
		}
	}
	return nil
}

// computedID is the ID that Kubernetes gives to the key, whatever it is published
// under; empty for what is no key.
func computedID(key Key) string {
	public, _, err := publicKey(json.RawMessage(key.JWK), "a key")
	if err != nil {
		return ""
	}
	id, err := KeyID(public)
	if err != nil {
		return ""
	}
	return id
}

func (r ring) isRevoked(w World, key Key) bool { return revocation(w, key) != nil }

// staysRevoked says that a revoked key that is published has to stay for now: without
// it the operator would be refused by AWS, and could not publish the next one.
func (r ring) staysRevoked(w World, key Key) bool {
	entry := revocation(w, key)
	return entry != nil && !entry.Force && r.needed(w, key.ID) != ""
}

// needed says why AWS must go on to accept a key; empty if it need not.
func (r ring) needed(w World, id string) string {
	signers := w.Cluster.those(func(s APIServer) bool { return s.Token.Error == "" && s.Token.KeyID == id })
	switch {
	case len(signers) > 0:
		return w.Cluster.name(signers) + " signs with it"
	case w.Caller.TokenKeyID == id:
		return "the operator's own token for AWS is signed with it: start the operator's pod anew"
	case !r.isTrusted(id) || w.isProved():
		return ""
	}
	return "an API server may sign with it, as not every one has given a token that verifies against the published documents"
}

// isTrusted says that some API server may sign with a key: it shows it, or did when it
// was last asked.
func (r ring) isTrusted(id string) bool {
	if hasKey(r.read, id) {
		return true
	}
	return !r.settled && slices.ContainsFunc(r.keys, func(k v1alpha1.SigningKey) bool {
		return k.KeyID == id && k.RetiringSince == nil && k.State != v1alpha1.KeyAdditional
	})
}

// isProved says that a fresh token of every API server verifies against the documents
// that anybody sees.
func (w World) isProved() bool {
	bad := w.Cluster.those(func(s APIServer) bool { return s.Token.Error != "" || s.Token.PublicError != "" })
	return len(w.Cluster.APIServers) > 0 && len(bad) == 0 &&
		w.Public.Keys.Status == statusOK && w.Public.Discovery.Status == statusOK
}

// isNamedRevoked says that status has a key as revoked.
func (r ring) isNamedRevoked(id string) bool {
	return slices.ContainsFunc(r.keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == id && k.State == v1alpha1.KeyRevoked })
}

// revokedVerdict tells of revoked keys that are not done with; nil if there are none.
func (r ring) revokedVerdict(w World, s shelf) *condition.Verdict {
	var texts []string
	for _, entry := range w.Issuer.Spec.Keys.Revoked {
		if text := r.pending(w, s, entry); text != "" {
			texts = append(texts, "revoked key "+entry.KeyID+" "+text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	out := condition.No(ReasonKeyRevoked, "%s", someOf(texts))
	return &out
}

// pending says what is still to be done about a revoked key.
func (r ring) pending(w World, s shelf, entry v1alpha1.RevokedKey) string {
	names := func(k Key) bool { return k.ID == entry.KeyID || computedID(k) == entry.KeyID }
	signers := w.Cluster.those(func(srv APIServer) bool { return srv.Token.Error == "" && srv.Token.KeyID == entry.KeyID })
	at := slices.IndexFunc(s.published, names)
	switch {
	case at >= 0 && r.staysRevoked(w, s.published[at]):
		return fmt.Sprintf("is still published: %s; sign with another key on every API server, or set force, which locks all pods and the operator out of AWS", r.needed(w, s.published[at].ID))
	case at >= 0 && s.trouble == nil:
		return "is being taken out of the keys document"
	case len(signers) > 0:
		return fmt.Sprintf("is out, and %s signs with it: AWS refuses these tokens, the operator's own among them; sign with another key, then run tabard issuer bootstrap -f FILE with an AWS session of your own", w.Cluster.name(signers))
	case slices.ContainsFunc(r.read, names):
		return "is out, but API servers still accept it for themselves: take it out of --service-account-key-file on each, and start it anew"
	case w.Caller.Fault != nil && slices.ContainsFunc(s.public, names):
		return "is still published, and the operator cannot take it out: run tabard issuer bootstrap -f FILE with an AWS session of your own"
	}
	return ""
}

// revokedStages tells of the revoked keys with which all is done.
func (r ring) revokedStages(w World) string {
	var texts []string
	for _, entry := range w.Issuer.Spec.Keys.Revoked {
		known := slices.ContainsFunc(r.keys, func(k v1alpha1.SigningKey) bool {
			return k.KeyID == entry.KeyID || computedID(Key{JWK: k.JWK}) == entry.KeyID
		})
		text := entry.KeyID + " is revoked and published nowhere"
		if !known {
			text += "; nothing is known of such a key, compare the ID"
		}
		texts = append(texts, text)
	}
	return someOf(texts)
}
