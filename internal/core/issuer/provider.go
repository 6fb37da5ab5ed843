package issuer

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// registration is the outcome of looking at L2, for one account or for all.
type registration struct {
	steps   []Step
	status  []v1alpha1.ProviderStatus
	verdict condition.Verdict
}

// decideProviders registers the issuer where it is wanted, once anybody can
// fetch its documents, and takes it back where it no longer is.
func decideProviders(w World, published bool) registration {
	if len(w.Issuer.Spec.Providers) == 0 && len(w.Issuer.Status.Providers) == 0 {
		return registration{verdict: condition.Yes(ReasonNotRequested, "spec.providers is empty: the issuer is published and not registered")}
	}
	if w.Caller.Fault != nil {
		return registration{status: w.Issuer.Status.Providers, verdict: callerTrouble(w)}
	}
	var out registration
	var all []condition.Verdict
	taken := map[string]bool{}
	for _, state := range w.Providers {
		one := decideProvider(w, state, published, taken)
		out.steps = append(out.steps, one.steps...)
		out.status = append(out.status, one.status...)
		one.verdict.Message = "account " + state.AccountID + ": " + one.verdict.Message
		all = append(all, one.verdict)
	}
	out.verdict = worst(all)
	if out.verdict.IsTrue() {
		out.verdict = settled(w, out.status)
	}
	return out
}

// settled is the verdict when all is as wanted. It names the accounts that still
// know the issuer though the spec no longer names them.
func settled(w World, known []v1alpha1.ProviderStatus) condition.Verdict {
	out := condition.Yes(ReasonRegistered, "every wanted account knows the issuer with its audiences")
	if len(w.Issuer.Spec.Providers) == 0 {
		out = condition.Yes(ReasonNotRequested, "spec.providers is empty: the issuer is published and not registered")
	}
	var left []string
	for _, entry := range known {
		if !slices.ContainsFunc(w.Providers, func(s ProviderState) bool { return s.Want != nil && s.AccountID == entry.AccountID }) {
			left = append(left, entry.AccountID)
		}
	}
	if len(left) > 0 {
		out.Message += "; no longer in spec.providers, and not seen to be gone: account " + strings.Join(left, ", ")
	}
	return out
}

// decideProvider looks at one account. taken are the accounts of the entries
// before it.
func decideProvider(w World, state ProviderState, published bool, taken map[string]bool) registration {
	if state.Want == nil {
		return decideLeftover(w, state)
	}
	if taken[state.AccountID] {
		return registration{verdict: condition.No(ReasonDuplicateAccount, "two entries of spec.providers lead to this account: make one of them, with the audiences of both")}
	}
	taken[state.AccountID] = true
	before := statusOf(w, state)
	if state.Fault != nil {
		return registration{status: before, verdict: providerFault(state, *state.Fault)}
	}
	now := []v1alpha1.ProviderStatus{{
		AccountID: state.AccountID, ARN: state.ARN, AssumeRoleARN: state.Want.AssumeRoleARN,
		Created: state.Exists && state.Owner == w.Issuer.Spec.URL,
	}}
	switch {
	case state.Exists:
		out := reconcileAudiences(w, state)
		out.status = now
		return out
	case !published:
		return registration{status: before, verdict: condition.Unknown(ReasonWaitingForPublication, "the issuer is registered once its documents can be fetched: see %s", TypePublished)}
	}
	return registration{
		steps:   []Step{CreateProvider{Identity: state.Identity, ARN: state.ARN, URL: w.Issuer.Spec.URL, Audiences: strings.Join(wantedAudiences(state), ","), Owner: w.Issuer.Spec.URL}},
		status:  now,
		verdict: condition.No(ReasonProviderNotRegistered, "there is no %s: it is being registered", state.ARN),
	}
}

// reconcileAudiences changes the client IDs of a provider of ours; of somebody
// else's it only says what is missing.
func reconcileAudiences(w World, state ProviderState) registration {
	want := wantedAudiences(state)
	missing, surplus := without(want, state.Audiences), without(state.Audiences, want)
	if state.Owner != w.Issuer.Spec.URL {
		if len(missing) == 0 {
			return registration{verdict: condition.Yes(ReasonRegistered, "knows the issuer with every wanted audience")}
		}
		var commands []string
		for _, audience := range missing {
			commands = append(commands, fmt.Sprintf("aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s", state.ARN, audience))
		}
		return registration{verdict: condition.No(ReasonProviderNotOurs,
			"%s was not made by Tabard (its tag %s is %q) and does not know the audience %s: run %s", state.ARN, OwnerTag, state.Owner, strings.Join(missing, ", "), strings.Join(commands, " && "))}
	}
	if len(missing)+len(surplus) == 0 {
		return registration{verdict: condition.Yes(ReasonRegistered, "knows the issuer with every wanted audience")}
	}
	out := registration{verdict: condition.No(ReasonAudiencesDiffer, "%s knows the audiences %s, expected %s: they are being changed", state.ARN, quoted(state.Audiences), quoted(want))}
	for _, audience := range missing {
		out.steps = append(out.steps, AddAudience{Identity: state.Identity, ARN: state.ARN, Audience: audience})
	}
	for _, audience := range surplus {
		out.steps = append(out.steps, RemoveAudience{Identity: state.Identity, ARN: state.ARN, Audience: audience})
	}
	return out
}

// decideLeftover takes back a registration that the spec no longer wants. It is
// forgotten only when it is seen to be gone: while it is there, whoever had the
// bucket's name could become the roles of its account.
func decideLeftover(w World, state ProviderState) registration {
	before := statusOf(w, state)
	deletes := w.Issuer.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete
	switch {
	case state.Fault != nil && deletes:
		return registration{status: before, verdict: providerFault(state, *state.Fault)}
	case state.Fault == nil && !state.Exists:
		return registration{verdict: condition.Yes(ReasonRegistered, "is no longer wanted, and gone")}
	case !deletes || state.Owner != w.Issuer.Spec.URL:
		return registration{status: before, verdict: condition.Yes(ReasonRegistered, "is no longer wanted, and stays")}
	case len(trusting(w, state)) > 0:
		return registration{status: before, verdict: condition.No(ReasonProviderTrusted, "is no longer wanted, but the trust policies of these roles mention %s: %s; change them first", state.ARN, strings.Join(trusting(w, state), ", "))}
	}
	return registration{
		steps:   []Step{DeleteProvider{Identity: state.Identity, ARN: state.ARN, Owner: w.Issuer.Spec.URL}},
		status:  before,
		verdict: condition.No(ReasonProviderUnwanted, "%s is no longer wanted: it is being removed", state.ARN),
	}
}

// trusting are the roles, other than the operator's own, whose trust policy
// mentions the provider. The operator's own role goes with the issuer: the one
// that it runs as, and the one that bootstrap makes, since a person may look too.
func trusting(w World, state ProviderState) []string {
	var own []string
	if state.AccountID == w.Caller.AccountID {
		own = []string{roleOfSession(w.Caller.ARN), RoleName(w.Issuer.Name, w.Issuer.Spec.URL)}
	}
	var out []string
	for _, role := range state.TrustedBy {
		if !slices.Contains(own, role) {
			out = append(out, role)
		}
	}
	slices.Sort(out)
	return out
}

// statusOf is what status remembers of an account: one entry or none.
func statusOf(w World, state ProviderState) []v1alpha1.ProviderStatus {
	for _, entry := range w.Issuer.Status.Providers {
		if entry.AccountID == state.AccountID {
			return []v1alpha1.ProviderStatus{entry}
		}
	}
	return nil
}

// worst joins verdicts: the first that is False gives the reason, else the
// first that is Unknown; the message holds all that are not True.
func worst(all []condition.Verdict) condition.Verdict {
	out := condition.Yes(ReasonRegistered, "every wanted account knows the issuer with its audiences")
	var messages []string
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for _, v := range all {
			if v.Status != status {
				continue
			}
			if out.IsTrue() {
				out = v
			}
			messages = append(messages, v.Message)
		}
	}
	if !out.IsTrue() {
		out.Message = strings.Join(messages, "; ")
	}
	return out
}

func wantedAudiences(state ProviderState) []string {
	out := slices.Clone(state.Want.Audiences)
	slices.Sort(out)
	return slices.Compact(out)
}

// without are the elements of a that b lacks, sorted.
func without(a, b []string) []string {
	var out []string
	for _, element := range a {
		if !slices.Contains(b, element) {
			out = append(out, element)
		}
	}
	slices.Sort(out)
	return out
}

func quoted(list []string) string {
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return fmt.Sprintf("%q", sorted)
}
