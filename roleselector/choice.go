package roleselector

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// Choice is a compiled IAMRoleChoice. It is immutable.
type Choice struct {
	namespace, name string
	selector        string
	uid             types.UID // the one selector that is meant; empty for any of the name
	types           []resourceType
	terms           []term
	problems        []Problem
}

// CompileChoice makes a Choice of an object, which it does not keep. What cannot
// be evaluated counts as if it selected, and blocks. Nil is one without a name, of no
// namespace.
func CompileChoice(object *identityv1alpha1.IAMRoleChoice) *Choice {
	if object == nil {
		object = &identityv1alpha1.IAMRoleChoice{}
	}
	spec := object.Spec
	c := &Choice{namespace: object.Namespace, name: object.Name, selector: spec.SelectorRef.Name, uid: spec.SelectorRef.UID}
	if c.selector == "" {
		c.problems = append(c.problems, invalid("spec.selectorRef.name", "it names no IAMRoleSelector"))
	}
	var problems []Problem
	c.types, problems = compileTypes("spec.resourceTypeSelector", spec.ResourceTypeSelector)
	c.problems = append(c.problems, problems...)
	c.terms, problems = compileLabels("spec.resourceLabelSelector", spec.ResourceLabelSelector)
	c.problems = append(c.problems, problems...)
	for i := range c.problems {
		if c.problems[i].Blocks() {
			c.problems[i].Reason = ReasonChoiceInvalid
		}
	}
	return c
}

// Namespace is the one whose resources it is for.
func (c *Choice) Namespace() string { return c.namespace }

// Name is its name there.
func (c *Choice) Name() string { return c.name }

// Problems are what is wrong with the object; it must not be changed.
func (c *Choice) Problems() []Problem { return c.problems }

// selects says whether the choice is for a resource of its namespace. It gives
// nothing, so it needs not name a group.
func (c *Choice) selects(q *Query) bool {
	return anyTypeSelects(c.types, q, false) && allHold(c.terms, q.Labels)
}

// specificity orders choices: labels and type, labels, type, none.
func (c *Choice) specificity() int {
	rank := 0
	if len(c.terms) > 0 {
		rank += 2
	}
	if len(c.types) > 0 {
		rank++
	}
	return rank
}

// mostSpecific is the choice for the query, nil for none, and the other one that
// is as specific, nil for none.
func mostSpecific(choices []*Choice, q *Query) (best, tied *Choice) {
	for _, c := range choices {
		switch {
		case !c.selects(q):
		case best == nil || c.specificity() > best.specificity():
			best, tied = c, nil
		case c.specificity() == best.specificity() && tied == nil:
			tied = c
		}
	}
	return best, tied
}

func byChoiceName(a, b *Choice) int { return strings.Compare(a.name, b.name) }

// choicesByNamespace has each namespace's choices, sorted by name. Of two with one
// namespace and name it has the later.
func choicesByNamespace(choices []*Choice) map[string][]*Choice {
	byNamespace := map[string][]*Choice{}
	for _, c := range choices {
		if c == nil {
			continue
		}
		list := byNamespace[c.namespace]
		at, found := slices.BinarySearchFunc(list, c, byChoiceName)
		if found {
			list[at] = c
		} else {
			byNamespace[c.namespace] = slices.Insert(list, at, c)
		}
	}
	return byNamespace
}
