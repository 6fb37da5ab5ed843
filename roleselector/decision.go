package roleselector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Outcome is what is done with a resource.
type Outcome string

// The outcomes. AWS may be called for Use and NoSelector alone.
const (
	// Use: the role of the decision's selector is assumed.
	Use Outcome = "Use"
	// Conflict: several selectors select the resource and nothing decides.
	Conflict Outcome = "Conflict"
	// Denied: something stands against any role.
	Denied Outcome = "Denied"
	// Invalid: something that cannot be evaluated is aimed at the resource.
	Invalid Outcome = "Invalid"
	// NotYetKnown: not all that decides has been seen.
	NotYetKnown Outcome = "NotYetKnown"
	// NoSelector: none applies, and the controller's own role is used.
	NoSelector Outcome = "NoSelector"
)

// Reason says why, in a word fit for a condition.
type Reason string

// The reasons.
const (
	ReasonSelected   Reason = "Selected"
	ReasonNoSelector Reason = "NoSelector"
	ReasonConflict   Reason = "Conflict"
	// ReasonDenied: a selector with effect Deny selects the resource.
	ReasonDenied Reason = "Denied"
	// ReasonChoiceNotPermitted: the choice names what is not offered.
	ReasonChoiceNotPermitted Reason = "ChoiceNotPermitted"
	// ReasonAmbiguousChoice: two IAMRoleChoices are equally specific.
	ReasonAmbiguousChoice Reason = "AmbiguousChoice"
	// ReasonNoSelectorPolicy: no selector applies and the policy is Deny.
	ReasonNoSelectorPolicy Reason = "NoSelectorPolicy"
	// ReasonSelectorInvalid: a part of a selector cannot be evaluated.
	ReasonSelectorInvalid Reason = "SelectorInvalid"
	// ReasonAssumeRoleInputInvalid: STS would not take what a selector asks for.
	ReasonAssumeRoleInputInvalid Reason = "AssumeRoleInputInvalid"
	// ReasonChoiceInvalid: a part of an IAMRoleChoice cannot be evaluated.
	ReasonChoiceInvalid Reason = "ChoiceInvalid"
	// ReasonTypeUnknown: the query lacks its group, version or kind.
	ReasonTypeUnknown Reason = "TypeUnknown"
	// ReasonNotSynced: the selectors, namespaces or choices are not all there yet.
	ReasonNotSynced Reason = "NotSynced"
	// ReasonNamespaceUnknown: it depends on labels of a namespace not seen yet.
	ReasonNamespaceUnknown Reason = "NamespaceUnknown"
)

// DecidedBy says what led to a role.
type DecidedBy string

// What leads to a role.
const (
	// Unique: only one selector applies.
	Unique DecidedBy = "Unique"
	// ResourceChoice: the resource's annotation chose.
	ResourceChoice DecidedBy = "ResourceChoice"
	// NamespaceChoice: an IAMRoleChoice chose.
	NamespaceChoice DecidedBy = "NamespaceChoice"
	// AdminDefault: nobody chose, and one selector is the default.
	AdminDefault DecidedBy = "AdminDefault"
	// DefaultRole: none applies, and the policy is to use the controller's role.
	DefaultRole DecidedBy = "DefaultRole"
)

// Decision is which role a resource is managed with, and why. Compare decisions
// with Equal.
type Decision struct {
	Outcome Outcome
	Reason  Reason
	// DecidedBy is set for Use and NoSelector.
	DecidedBy DecidedBy
	// Selector is the one whose role is assumed; set for Use alone.
	Selector Reference
	// OnAccountChange is that selector's; Refuse unless it says otherwise.
	OnAccountChange v1alpha1.AccountChange
	// Detail adds to the reason what only this decision has, for a person.
	Detail string

	// names are those of all selectors that took part, sorted, with slashes
	// between, which no name holds: the decision is comparable, and needs no memory
	// of its own for one name.
	names string
	// used is the selector of Use.
	used *Selector
}

// Names are the selectors that took part, sorted by their bytes: for Use those
// that select the resource, for a block those that cause it.
func (d Decision) Names() []string {
	if d.names == "" {
		return nil
	}
	return strings.Split(d.names, "/")
}

// Used is the selector whose role is assumed, nil unless the outcome is Use.
func (d Decision) Used() *Selector { return d.used }

// MayCallAWS says that the outcome is one that lets the controller call AWS.
func (d Decision) MayCallAWS() bool { return d.Outcome == Use || d.Outcome == NoSelector }

// Equal says whether two decisions mean the same to a resource. The resource
// version does not count: it changes with labels and annotations of the selector
// too, the generation only with what it says.
func (d Decision) Equal(other Decision) bool {
	d.used, other.used = nil, nil
	d.Selector.ResourceVersion = other.Selector.ResourceVersion
	return d == other
}

// mostNames is how many names a message lists.
const mostNames = 10

// Message says the decision in a sentence for a condition. It is the same as
// long as the decision is.
func (d Decision) Message() string {
	switch d.Outcome {
	case Use:
		return fmt.Sprintf("The role %s of the IAMRoleSelector %s is used.", d.Selector.ARN, d.Selector.Name)
	case NoSelector:
		return "No IAMRoleSelector applies; the controller's own role is used."
	case Conflict:
		return "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [" + d.listed() + "]"
	}
	text := explanations[d.Reason]
	if d.names != "" {
		text += " IAMRoleSelectors: [" + d.listed() + "]."
	}
	if d.Detail != "" {
		text += " " + d.Detail
	}
	return text
}

// explanations are the sentences of the reasons that block.
var explanations = map[Reason]string{
	ReasonDenied:                 "No role may be used for this resource.",
	ReasonChoiceNotPermitted:     "The IAMRoleSelector that was chosen may not be chosen here.",
	ReasonAmbiguousChoice:        "Several IAMRoleChoices are equally specific.",
	ReasonNoSelectorPolicy:       "No IAMRoleSelector applies, and the administrator does not allow the controller's own role.",
	ReasonSelectorInvalid:        "An IAMRoleSelector that is meant for this resource cannot be evaluated.",
	ReasonAssumeRoleInputInvalid: "An IAMRoleSelector that is meant for this resource asks for what STS would refuse.",
	ReasonChoiceInvalid:          "An IAMRoleChoice that is meant for this resource cannot be evaluated.",
	ReasonTypeUnknown:            "The resource's group, version or kind is not set.",
	ReasonNotSynced:              "The IAMRoleSelectors, IAMRoleChoices and namespaces have not all been read yet.",
	ReasonNamespaceUnknown:       "The labels of the resource's namespace have not been read yet.",
}

// listed are the names for a message, at most ten.
func (d Decision) listed() string {
	names := d.Names()
	if len(names) > mostNames {
		rest := len(names) - mostNames
		names = append(names[:mostNames:mostNames], fmt.Sprintf("... and %d more", rest))
	}
	return strings.Join(names, ", ")
}

// joinNames is what a decision keeps of selectors.
func joinNames(selectors []*Selector) string {
	if len(selectors) == 1 {
		return selectors[0].reference.Name
	}
	names := make([]string, len(selectors))
	for i, s := range selectors {
		names[i] = s.reference.Name
	}
	slices.Sort(names)
	return strings.Join(names, "/")
}
