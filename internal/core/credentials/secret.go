package credentials

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/tokensecret"
)

// secretWant is what a Secret is to hold, and whose marks it is to bear.
type secretWant struct {
	data map[string]string
	// cco says that it bears the Cloud Credential Operator's label and annotation too.
	cco bool
}

// decideSecret writes the Secret. One that holds something else, or is another
// request's, stays as it is.
func decideSecret(w World, target Target, want secretWant) found {
	s, request := stateOf(w, target), RequestName(w.Request.Namespace, w.Request.Name)
	if why := unreachable(s); why != nil {
		return found{verdict: *why}
	}
	write := WriteSecret{Target: target, Request: request, Data: ValuesOf(want.data), Create: !s.Exists, CCO: want.cco}
	if !s.Exists {
		return found{verdict: delivering(target), steps: []Step{write}, events: secretDrift(w, s, want), going: true}
	}
	if why := conflict(w, s, request); why != nil {
		return found{verdict: *why}
	}
	write.Remove = strings.Join(surplus(s, want), ",")
	if write.Remove == "" && len(differing(s, want)) == 0 && isMarked(s, request, want) {
		return found{verdict: condition.Yes(ReasonDelivered, "%s has the token configuration", target)}
	}
	if s.Immutable && (write.Remove != "" || len(differing(s, want)) > 0) {
		return found{verdict: condition.No(ReasonSecretImmutable, "%s is immutable and holds something else than is wanted: delete it, then it is made anew", target)}
	}
	return found{verdict: delivering(target), steps: []Step{write}, events: secretDrift(w, s, want), going: true}
}

// conflict says why a Secret that exists is not the request's to write; nil if it is.
func conflict(w World, s TargetState, request string) *condition.Verdict {
	named, cco := s.Annotations[RequestAnnotation], s.Annotations[cloudv1.RequestKey]
	adopted := w.Grant != nil && w.Grant.Spec.Adopted
	var out condition.Verdict
	switch {
	case named != "" && named != request:
		out = condition.No(ReasonTargetOfAnother, "%s is that of CredentialsRequest %s, expected one request for each Secret: delete one of the two, or name another Secret", s.Target, named)
	case s.Type != "" && s.Type != "Opaque":
		out = condition.No(ReasonSecretConflict, "%s has the type %s, expected Opaque, and types cannot be changed: delete it, then it is made anew", s.Target, s.Type)
	case isOperators(w, s):
		out = condition.No(ReasonSecretConflict, "%s was written by the Cloud Credential Operator, which is live (keys %s), so it is left to it: once its mode is Manual and the request names no role, delete the Secret, then it is made anew", s.Target, keysOf(s))
	case named == request || cco == request && adopted:
		return nil
	case cco != "" && cco != request:
		out = condition.No(ReasonTargetOfAnother, "%s is that of CredentialsRequest %s by the annotation %s: delete it, or name another Secret", s.Target, cco, cloudv1.RequestKey)
	case len(s.Digests) == 0:
		return nil
	case cco == request:
		out = condition.No(ReasonSecretConflict, "%s was written by a Cloud Credential Operator (keys %s): run tabard credentials adopt to have Tabard take it over, or delete it", s.Target, keysOf(s))
	default:
		out = condition.No(ReasonSecretConflict, "%s is there, is not the request's and holds the keys %s: delete it, name another Secret, or annotate it %s=%s to give it to the request", s.Target, keysOf(s), RequestAnnotation, request)
	}
	return &out
}

// isOperators says that a Secret is that of a Cloud Credential Operator that is live:
// beside one Tabard writes none of its marks, so that one wrote the Secret, if only after
// Tabard. Whoever wrote to it then would write the same fields.
func isOperators(w World, s TargetState) bool {
	return s.Kind == KindSecret && w.Platform.Operator.Live && s.Annotations[cloudv1.RequestKey] != ""
}

func keysOf(s TargetState) string {
	return strings.Join(slices.Sorted(maps.Keys(s.Digests)), ", ")
}

// differing are the wanted keys whose values are missing or other ones, sorted.
func differing(s TargetState, want secretWant) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want.data)) {
		if s.Digests[key] != DataDigest(want.data[key]) {
			out = append(out, key)
		}
	}
	return out
}

// DataDigest is the form in which a World has a Secret's value.
func DataDigest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// surplus are the keys to take out, sorted: those of Tabard's that are not wanted, and
// static keys once they may go. Keys of others stay.
func surplus(s TargetState, want secretWant) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s.Digests)) {
		_, wanted := want.data[key]
		if !wanted && (slices.Contains(tokensecret.Keys(), key) || slices.Contains(tokensecret.StaticKeys, key) && hold(s) == "") {
			out = append(out, key)
		}
	}
	return out
}

// hold says what keeps static keys in a Secret; empty if they may go.
func hold(s TargetState) string {
	_, minted := s.Annotations[cloudv1.MintedPolicyAnnotation]
	switch {
	case !minted:
		return "no Cloud Credential Operator minted them (the annotation " + cloudv1.MintedPolicyAnnotation + " is missing), so they are left: remove them by hand if no workload needs them"
	case s.Annotations[RemoveStaticKeysAnnotation] != "true":
		return "annotate the Secret " + RemoveStaticKeysAnnotation + "=true to have them removed"
	case len(s.KeyUsers) > 0:
		return "they are removed once these pods no longer use them by name: " + strings.Join(slices.Sorted(slices.Values(s.KeyUsers)), ", ")
	}
	return ""
}

// isMarked says that a Secret bears the marks by which it is found.
func isMarked(s TargetState, request string, want secretWant) bool {
	marked := s.Annotations[RequestAnnotation] == request && s.Labels[ManagedLabel] == "true"
	cco := s.Annotations[cloudv1.RequestKey] == request && s.Labels[cloudv1.RequestKey] == "true"
	return marked && (cco || !want.cco)
}

// staticVerdict tells of static keys in a Secret of the request; nil for none.
func staticVerdict(s TargetState) *condition.Verdict {
	var have []string
	for _, key := range tokensecret.StaticKeys {
		if _, there := s.Digests[key]; there {
			have = append(have, key)
		}
	}
	if len(have) == 0 {
		return nil
	}
	why := hold(s)
	if why == "" {
		why = "they are being removed"
	}
	out := condition.Yes(ReasonStaticKeys, "%s holds %s, which do not expire: %s", s.Target, strings.Join(have, " and "), why)
	return &out
}

func secretDrift(w World, s TargetState, want secretWant) []Event {
	if !wasDelivered(w, s.Target) {
		return nil
	}
	text := fmt.Sprintf("%s was deleted: it is made anew", s.Target)
	if keys := differing(s, want); s.Exists && len(keys) > 0 {
		text = fmt.Sprintf("%s: the keys %s differed: they are put back", s.Target, strings.Join(keys, ", "))
	} else if s.Exists {
		text = fmt.Sprintf("%s: its label, annotation or surplus keys are put in order", s.Target)
	}
	return []Event{{Warning: true, Reason: "TargetDrift", Text: text}}
}

// clearSecret deletes a Secret that Tabard made, or takes Tabard's keys out of one that
// was there or that others put something in; nothing for one that is not the request's.
func clearSecret(s TargetState, request string, created bool) []Step {
	if !s.isOf(request) || s.Deleting {
		return nil
	}
	var ours []string
	whole := created && s.Labels[ManagedLabel] == "true"
	for _, key := range slices.Sorted(maps.Keys(s.Digests)) {
		if slices.Contains(tokensecret.Keys(), key) {
			ours = append(ours, key)
		} else {
			whole = false
		}
	}
	if whole {
		ours = nil
	}
	return []Step{ClearSecret{Target: s.Target, Request: request, Delete: whole, Remove: strings.Join(ours, ",")}}
}
