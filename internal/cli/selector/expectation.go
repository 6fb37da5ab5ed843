package selector

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/roleselector"
)

// expectAnnotation is what a resource in a file says of the decision on it.
const expectAnnotation = "selector.tabard.dev/expect"

// words are the outcomes and reasons that can be expected. A selector's name is
// in lower case, so that it is none of them.
var words = []string{
	string(roleselector.Use), string(roleselector.Conflict), string(roleselector.Denied),
	string(roleselector.Invalid), string(roleselector.NotYetKnown), string(roleselector.NoSelector),
	string(roleselector.ReasonChoiceNotPermitted), string(roleselector.ReasonAmbiguousChoice),
	string(roleselector.ReasonNoSelectorPolicy), string(roleselector.ReasonSelectorInvalid),
	string(roleselector.ReasonAssumeRoleInputInvalid), string(roleselector.ReasonChoiceInvalid),
	string(roleselector.ReasonNamespaceUnknown),
}

// expectation is the name of a selector, or one of the words; empty is none.
func expectation(r resource) (string, error) {
	text, says := r.object.GetAnnotations()[expectAnnotation]
	if !says || slices.Contains(words, text) {
		return text, nil
	}
	if len(validation.IsDNS1123Subdomain(text)) > 0 {
		return "", fmt.Errorf("%s: %s is %q, which is neither the name of an IAMRoleSelector nor one of %s",
			r, expectAnnotation, text, strings.Join(words, ", "))
	}
	return text, nil
}

// meets says whether a decision is what was expected.
func (d decision) meets(expected string) bool {
	if d.Outcome == roleselector.Use && d.Selector == expected {
		return true
	}
	return expected == string(d.Outcome) || expected == string(d.Reason)
}
