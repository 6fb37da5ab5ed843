package overview

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// Issuer is what an OIDCIssuer has recorded.
type Issuer struct {
	URL string
	// Providers are the ARNs of the OIDC providers that were seen or made.
	Providers  []string
	Conditions []metav1.Condition
}

// IssuerOf reads an OIDCIssuer as the cluster has stored it.
func IssuerOf(stored map[string]any) (Issuer, error) {
	var object v1alpha1.OIDCIssuer
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored, &object); err != nil {
		return Issuer{}, err
	}
	out := Issuer{URL: object.Spec.URL, Conditions: object.Status.Conditions}
	for _, provider := range object.Status.Providers {
		out.Providers = append(out.Providers, provider.ARN)
	}
	return out, nil
}

// since is when a link came to be as it is, by a condition that says the same of it; nil where none does. Of
// conditions that hold together the last counts.
func (s Seen) since(of State) *time.Time {
	var conditions []metav1.Condition
	var types []string
	switch of.Link {
	case chain.Publication:
		conditions = s.issuer().Conditions
		types = publicationTypes(of)
	case chain.Provider:
		if recorded := s.issuer(); slices.Contains(recorded.Providers, s.Chain.Provider) {
			conditions, types = recorded.Conditions, []string{issuer.TypeProviderReady}
		}
	case chain.Webhook:
		// The Deployment's condition says nothing of the hook, which somebody may have mended a minute ago.
		if of.Finding != nil && of.Finding.Code == chain.CodeNoAnswer {
			conditions, types = s.Webhook, []string{"Available"}
		}
	}
	wanted := metav1.ConditionTrue
	switch of.State {
	case chain.Sound:
	case chain.Broken:
		wanted = metav1.ConditionFalse
	case chain.Unseen, chain.Unreached, chain.Unasked:
		return nil
	}
	var last *time.Time
	for _, kind := range types {
		c := meta.FindStatusCondition(conditions, kind)
		if c == nil || c.Status != wanted || c.LastTransitionTime.IsZero() {
			return nil
		}
		if last == nil || c.LastTransitionTime.After(*last) {
			last = new(c.LastTransitionTime.Time)
		}
	}
	return last
}

// publicationTypes are the conditions that say of L1 what the state does: that the documents are there and have
// the keys, or which of these is not so.
func publicationTypes(of State) []string {
	if of.Finding == nil {
		return []string{issuer.TypePublished, issuer.TypeKeysInSync}
	}
	switch of.Finding.Code {
	case chain.CodeNotPublic, chain.CodeDocument:
		return []string{issuer.TypePublished}
	case chain.CodeKeyMissing, chain.CodeKeysDiffer:
		return []string{issuer.TypeKeysInSync}
	}
	return nil
}

// issuer is what was recorded of the issuer that the API server signs as.
func (s Seen) issuer() Issuer {
	at := slices.IndexFunc(s.Issuers, func(i Issuer) bool { return i.URL != "" && i.URL == s.Chain.Issuer })
	if at < 0 {
		return Issuer{}
	}
	return s.Issuers[at]
}
