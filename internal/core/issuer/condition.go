package issuer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// Condition types. The first four are set on every pass.
const (
	// TypePublished: the documents can be fetched by anybody (L1).
	TypePublished = "IssuerPublished"
	// TypeKeysInSync: what the cluster signs with is published (L0, L1).
	TypeKeysInSync = "KeysInSync"
	// TypeProviderReady: the wanted accounts know the issuer (L2).
	TypeProviderReady = "ProviderReady"
	// TypeReady sums up the others and a fresh token.
	TypeReady = "Ready"
	// TypeDeletionBlocked is set on a dying issuer only.
	TypeDeletionBlocked = "DeletionBlocked"
)

// verdicts are what a pass found, one for each condition.
type verdicts struct {
	published, keys, provider, ready condition.Verdict
	// blocked is nil for a living issuer.
	blocked *condition.Verdict
}

// links are the conditions that Ready waits for, in the order of the chain.
func (v verdicts) links() []condition.Named {
	return []condition.Named{{Type: TypePublished, Verdict: v.published}, {Type: TypeKeysInSync, Verdict: v.keys}, {Type: TypeProviderReady, Verdict: v.provider}}
}

// conditions turns verdicts into the list to store.
func (v verdicts) conditions(w World) []metav1.Condition {
	all := append(v.links(), condition.Named{Type: TypeReady, Verdict: v.ready})
	if v.blocked != nil {
		all = append(all, condition.Named{Type: TypeDeletionBlocked, Verdict: *v.blocked})
	}
	return condition.List(w.Issuer.Status.Conditions, w.Issuer.Generation, w.Now, all...)
}

// verdictsOf reads verdicts back from a plan's status.
func verdictsOf(status v1alpha1.OIDCIssuerStatus) verdicts {
	read := func(kind string) condition.Verdict {
		if found, ok := condition.Read(status.Conditions, kind); ok {
			return found
		}
		return condition.Unknown(ReasonNotReached, "not looked at yet")
	}
	out := verdicts{published: read(TypePublished), keys: read(TypeKeysInSync), provider: read(TypeProviderReady), ready: read(TypeReady)}
	if blocked, ok := condition.Read(status.Conditions, TypeDeletionBlocked); ok {
		out.blocked = &blocked
	}
	return out
}

// readiness derives Ready: the first link of the chain that is broken, then
// what is not known, then whether a fresh token of each API server verifies.
func readiness(w World, v verdicts) condition.Verdict {
	if mismatch := w.Cluster.unlike(w.Issuer.Spec.URL); mismatch != nil {
		return *mismatch
	}
	if broken, ok := condition.Broken(v.links()...); ok {
		return broken
	}
	return w.Cluster.proof(w.Issuer.Spec.URL)
}
