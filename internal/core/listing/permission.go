package listing

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// The states of what an operator asks the cloud for.
const (
	// StateDeclared means that the author declares it, also where that is nothing.
	StateDeclared = "declared"
	// StateUnknown means that nothing that declares it can be read.
	StateUnknown = "unknown"
)

// Asked is what an operator asks the cloud for, in numbers.
type Asked struct {
	// State is StateDeclared or StateUnknown.
	State string `json:"state"`
	// Count counts what is asked for, and Sensitive what of that is.
	Count     int `json:"count"`
	Sensitive int `json:"sensitive"`
	// Incomplete says that a part of what is declared could not be read, so that there may be more.
	Incomplete bool `json:"incomplete,omitempty"`
	// Why says why it is unknown.
	Why string `json:"why,omitempty"`

	// nothing says that it is declared that nothing is asked for.
	nothing bool
}

// AskedBy counts what a bundle of a package asks for.
func AskedBy(p *catalogue.Package, b catalogue.Bundle) Asked {
	set := permission.OfBundle(p.Name, b, nil)
	if _, known := set.Requests(); !known {
		return Asked{State: StateUnknown, Why: WhyUnknown(set, b)}
	}
	out := Asked{State: StateDeclared, Incomplete: set.Incomplete, nothing: set.AsksNothing()}
	for _, atom := range set.Atoms() {
		out.Count++
		if len(atom.Marks()) > 0 {
			out.Sensitive++
		}
	}
	return out
}

// String is what is asked for, for people. It is of what AskedBy returns: that nothing is asked for
// is not in the document for programs.
func (a Asked) String() string {
	switch {
	case a.State == StateUnknown:
		return StateUnknown
	case a.nothing:
		return "declared: nothing"
	}
	text := fmt.Sprintf("declared: %d", a.Count)
	if a.Incomplete {
		text += " or more"
	}
	if a.Sensitive > 0 {
		text += fmt.Sprintf(", %d sensitive", a.Sensitive)
	}
	return text
}

// WhyUnknown says why nothing is known of what a bundle asks for; empty where something is.
func WhyUnknown(s permission.Set, b catalogue.Bundle) string {
	if _, known := s.Requests(); known {
		return ""
	}
	if slices.ContainsFunc(s.Findings, func(f permission.Finding) bool { return f.Code == permission.CodeOtherCloud && f.Path == "" }) {
		return "all requests are to other clouds"
	}
	if b.Metadata == nil {
		return "the catalogue has no metadata of this version that can be used"
	}
	if _, ok := b.Metadata.Annotations[permission.Annotation]; !ok {
		return "the author does not declare it: the annotation " + permission.Annotation + " is absent"
	}
	return "what the author declares cannot be used: the findings say why"
}

// Instructions are the code blocks of a bundle's long description, or of its short one. Strangers
// wrote them: they are shown, and never run or evaluated.
func Instructions(b catalogue.Bundle) catalogue.Instructions {
	if b.Metadata == nil {
		return catalogue.Instructions{}
	}
	if own := b.Metadata.Instructions; len(own.Lines) > 0 {
		return own
	}
	return catalogue.InstructionsOf(b.Metadata.Annotations[catalogue.Description])
}
