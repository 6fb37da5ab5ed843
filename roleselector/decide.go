package roleselector

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// NoSelectorPolicy is what is done with a resource that no selector applies to.
type NoSelectorPolicy string

// The policies. Whatever is neither of them counts as Deny.
const (
	// PolicyDefaultRole uses the controller's own role. It is the default.
	PolicyDefaultRole NoSelectorPolicy = "DefaultRole"
	// PolicyDeny uses none.
	PolicyDeny NoSelectorPolicy = "Deny"
)

// chosen is what a user's choice names.
type chosen struct {
	name string // empty: nobody chose
	uid  types.UID
	by   DecidedBy
}

// names says whether the choice means a selector.
func (c chosen) names(s *Selector) bool {
	return c.name == s.reference.Name && (c.uid == "" || c.uid == s.reference.UID)
}

// permittedBy says whether a selector may be chosen in the way that the choice
// was made.
func (c chosen) permittedBy(s *Selector) bool {
	if c.by == ResourceChoice {
		return s.byAnnotation
	}
	return s.byNamespace
}

// decide takes the steps from the selectors that select a resource, and the
// choices of its namespace, to the decision. It reorders the selectors.
func decide(q *Query, selecting []*Selector, choices []*Choice, policy NoSelectorPolicy) Decision {
	if denying := those(selecting, (*Selector).Denies); len(denying) > 0 {
		return Decision{Outcome: Denied, Reason: ReasonDenied, names: joinNames(denying)}
	}
	nameless := those(selecting, (*Selector).namesNothing)
	d := decideAmong(q, selecting[len(nameless):], choices, policy)
	if len(nameless) > 0 && d.isWithoutSelector() {
		return brokenSelectors(nameless)
	}
	return d
}

// isWithoutSelector says that none was found to use. One that names nothing may have been
// meant: then the controller's own role is no answer.
func (d Decision) isWithoutSelector() bool {
	return d.Outcome == NoSelector || d.Reason == ReasonNoSelectorPolicy || d.Reason == ReasonChoiceNotPermitted
}

// decideAmong leaves out selectors that deny and those that name nothing: they neither
// give a role nor are in conflict with others.
func decideAmong(q *Query, selecting []*Selector, choices []*Choice, policy NoSelectorPolicy) Decision {
	if broken := those(selecting, (*Selector).isBroken); len(broken) > 0 {
		return brokenSelectors(broken)
	}
	choice, blocked := choose(q, choices)
	switch exclusive := len(those(selecting, (*Selector).isExclusive)); {
	case blocked != nil:
		blocked.names = joinNames(selecting)
		return *blocked
	case exclusive > 0 && len(selecting) > 1:
		return Decision{Outcome: Conflict, Reason: ReasonConflict, names: joinNames(selecting)}
	case exclusive == 1:
		return useExclusive(selecting, choice)
	case choice.name != "":
		return useChosen(selecting, choice)
	}
	return useOffered(selecting, policy)
}

// those moves the selectors that have a property to the front and returns them.
func those(selectors []*Selector, has func(*Selector) bool) []*Selector {
	n := 0
	for i, s := range selectors {
		if has(s) {
			selectors[n], selectors[i] = s, selectors[n]
			n++
		}
	}
	return selectors[:n]
}

func (s *Selector) isBroken() bool { return firstBlocking(s.problems) != nil }

func (s *Selector) isExclusive() bool { return !s.selectable }

// brokenSelectors blocks because of the first by name, so that the decision does
// not depend on their order.
func brokenSelectors(broken []*Selector) Decision {
	slices.SortFunc(broken, byName)
	problem := firstBlocking(broken[0].problems)
	return Decision{
		Outcome: Invalid, Reason: problem.Reason, names: joinNames(broken),
		Detail: broken[0].reference.Name + ": " + problem.String(),
	}
}

// choose is the user's choice: the resource's annotation, or else the most
// specific IAMRoleChoice; or the decision that there can be none.
func choose(q *Query, choices []*Choice) (chosen, *Decision) {
	if q.Choice != "" {
		return chosen{name: q.Choice, by: ResourceChoice}, nil
	}
	best, tied := mostSpecific(choices, q)
	if best == nil {
		return chosen{}, nil
	}
	if tied != nil {
		return chosen{}, &Decision{
			Outcome: Denied, Reason: ReasonAmbiguousChoice,
			Detail: fmt.Sprintf("IAMRoleChoices: [%s, %s].", best.name, tied.name),
		}
	}
	if problem := firstBlocking(best.problems); problem != nil {
		return chosen{}, &Decision{Outcome: Invalid, Reason: ReasonChoiceInvalid, Detail: best.name + ": " + problem.String()}
	}
	return chosen{name: best.selector, uid: best.uid, by: NamespaceChoice}, nil
}

// useExclusive uses the only selector there is, which no choice overrides.
func useExclusive(selecting []*Selector, choice chosen) Decision {
	if choice.name != "" && !choice.names(selecting[0]) {
		return notPermitted(selecting, choice)
	}
	return use(selecting[0], selecting, Unique)
}

// useChosen uses the chosen one of selectable selectors, or none: it never falls
// back to another. With no selector at all there is nothing to choose.
func useChosen(selecting []*Selector, choice chosen) Decision {
	for _, s := range selecting {
		if choice.names(s) && choice.permittedBy(s) {
			return use(s, selecting, choice.by)
		}
	}
	return notPermitted(selecting, choice)
}

// useOffered decides between selectable selectors when nobody has chosen.
func useOffered(selecting []*Selector, policy NoSelectorPolicy) Decision {
	offered := those(selecting, func(s *Selector) bool { return !s.requireChoice })
	switch len(offered) {
	case 0:
		return noSelector(policy)
	case 1:
		return use(offered[0], selecting, Unique)
	}
	if defaults := those(offered, func(s *Selector) bool { return s.isDefault }); len(defaults) == 1 {
		return use(defaults[0], selecting, AdminDefault)
	}
	return Decision{Outcome: Conflict, Reason: ReasonConflict, names: joinNames(offered)}
}

func noSelector(policy NoSelectorPolicy) Decision {
	if policy == "" || policy == PolicyDefaultRole {
		return Decision{Outcome: NoSelector, Reason: ReasonNoSelector, DecidedBy: DefaultRole}
	}
	return Decision{Outcome: Denied, Reason: ReasonNoSelectorPolicy}
}

func use(s *Selector, selecting []*Selector, by DecidedBy) Decision {
	d := Decision{
		Outcome: Use, Reason: ReasonSelected, DecidedBy: by, Selector: s.reference,
		OnAccountChange: v1alpha1.Refuse, names: joinNames(selecting), used: s,
	}
	if s.recreate {
		d.OnAccountChange = v1alpha1.Recreate
	}
	return d
}

func notPermitted(selecting []*Selector, choice chosen) Decision {
	detail := fmt.Sprintf("Chosen: %s.", shortened(choice.name))
	if choice.uid != "" {
		detail = fmt.Sprintf("Chosen: %s with the UID %s.", shortened(choice.name), shortened(string(choice.uid)))
	}
	return Decision{Outcome: Denied, Reason: ReasonChoiceNotPermitted, names: joinNames(selecting), Detail: detail}
}
