package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is what the reference says of the conditions of one kind. The pages for people
// are generated from it.
type Kind struct {
	// Name is the kind's, e.g. OIDCIssuer.
	Name string
	// Types are its condition types, in the order in which they are looked at.
	Types []Type
	// Reasons explains every reason that they give.
	Reasons []Explanation
}

// Type is what the reference says of one condition type.
type Type struct {
	Name string
	// Holds is what it means if it is True.
	Holds string
}

// Explanation is what the reference says of one reason.
type Explanation struct {
	Reason Reason
	// Conditions are the condition types that give the reason, joined by ", ". One that
	// sums up others and repeats their reasons is left out.
	Conditions string
	// Meaning is one sentence on what was seen.
	Meaning string
	// Remedy is one sentence on what to do; for what heals by itself, when.
	Remedy string
}

// Explain is the Explanation of a reason: a line of a kind's list.
func Explain(reason Reason, conditions, meaning, remedy string) Explanation {
	return Explanation{Reason: reason, Conditions: conditions, Meaning: meaning, Remedy: remedy}
}

// Check says what is wrong with a kind's reference, given the reasons that its code
// declares: each is explained once, in sentences, for types that there are, and none is
// explained that is not declared.
func (k Kind) Check(declared []Reason) error {
	var found []error
	add := func(format string, args ...any) { found = append(found, fmt.Errorf(k.Name+": "+format, args...)) }
	explained := map[Reason]bool{}
	for _, e := range k.Reasons {
		if explained[e.Reason] {
			add("%s is explained twice", e.Reason)
		}
		explained[e.Reason] = true
		if !slices.Contains(declared, e.Reason) {
			add("%s is explained and not declared", e.Reason)
		}
		if !strings.HasSuffix(e.Meaning, ".") || !strings.HasSuffix(e.Remedy, ".") {
			add("%s: meaning %q, remedy %q: expected both, as sentences", e.Reason, e.Meaning, e.Remedy)
		}
		for name := range strings.SplitSeq(e.Conditions, ", ") {
			if !slices.ContainsFunc(k.Types, func(t Type) bool { return t.Name == name }) {
				add("%s: there is no condition %q", e.Reason, name)
			}
		}
	}
	for _, reason := range declared {
		if !explained[reason] {
			add("%s is declared and not explained", reason)
		}
	}
	return errors.Join(found...)
}
