package issuer

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
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

// verdict is what one condition is to say.
type verdict struct {
	status  metav1.ConditionStatus
	reason  Reason
	message string
}

func (v verdict) isTrue() bool { return v.status == metav1.ConditionTrue }

func yes(reason Reason, format string, args ...any) verdict {
	return verdict{metav1.ConditionTrue, reason, fmt.Sprintf(format, args...)}
}

func no(reason Reason, format string, args ...any) verdict {
	return verdict{metav1.ConditionFalse, reason, fmt.Sprintf(format, args...)}
}

func unknown(reason Reason, format string, args ...any) verdict {
	return verdict{metav1.ConditionUnknown, reason, fmt.Sprintf(format, args...)}
}

// verdicts are what a pass found, one for each condition.
type verdicts struct {
	published, keys, provider, ready verdict
	// blocked is nil for a living issuer.
	blocked *verdict
}

// conditions turns verdicts into the list to store. A transition time moves
// only when the status flips.
func (v verdicts) conditions(w World) []metav1.Condition {
	out := []metav1.Condition{
		v.published.condition(w, TypePublished),
		v.keys.condition(w, TypeKeysInSync),
		v.provider.condition(w, TypeProviderReady),
		v.ready.condition(w, TypeReady),
	}
	if v.blocked != nil {
		out = append(out, v.blocked.condition(w, TypeDeletionBlocked))
	}
	return out
}

func (v verdict) condition(w World, kind string) metav1.Condition {
	since := instant(w.Now)
	if old := meta.FindStatusCondition(w.Issuer.Status.Conditions, kind); old != nil && old.Status == v.status {
		since = old.LastTransitionTime
	}
	return metav1.Condition{
		Type:               kind,
		Status:             v.status,
		ObservedGeneration: w.Issuer.Generation,
		LastTransitionTime: since,
		Reason:             string(v.reason),
		Message:            v.message,
	}
}

// verdictsOf reads verdicts back from a plan's status.
func verdictsOf(status v1alpha1.OIDCIssuerStatus) verdicts {
	read := func(kind string) verdict {
		c := meta.FindStatusCondition(status.Conditions, kind)
		if c == nil {
			return unknown(ReasonNotReached, "not looked at yet")
		}
		return verdict{c.Status, Reason(c.Reason), c.Message}
	}
	out := verdicts{
		published: read(TypePublished),
		keys:      read(TypeKeysInSync),
		provider:  read(TypeProviderReady),
		ready:     read(TypeReady),
	}
	if meta.FindStatusCondition(status.Conditions, TypeDeletionBlocked) != nil {
		blocked := read(TypeDeletionBlocked)
		out.blocked = &blocked
	}
	return out
}

// readiness derives Ready: the first link of the chain that is broken, then
// what is not known, then whether a fresh token of each API server verifies.
func readiness(w World, v verdicts) verdict {
	if mismatch := w.Cluster.unlike(w.Issuer.Spec.URL); mismatch != nil {
		return *mismatch
	}
	links := []struct {
		kind string
		verdict
	}{{TypePublished, v.published}, {TypeKeysInSync, v.keys}, {TypeProviderReady, v.provider}}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, link := range links {
			if link.status == status {
				return verdict{status, link.reason, link.kind + ": " + link.message}
			}
		}
	}
	return w.Cluster.proof(w.Issuer.Spec.URL)
}

// instant is a time as the API server keeps it: whole seconds.
func instant(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }

// socket is the changing part of a network error: the own end of a connection.
var socket = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^\s"]+->`) })

// steady takes from an error's text what changes from attempt to attempt.
func steady(text string) string { return socket().ReplaceAllString(text, "") }
