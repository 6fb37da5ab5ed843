package roleselector

import (
	"fmt"
	"strings"
)

// Explanation is a decision with what each selector has to do with it.
type Explanation struct {
	Decision Decision
	// Selectors are all there are, sorted by name.
	Selectors []SelectorExplanation
}

// SelectorExplanation is why one selector selects a resource, or does not.
type SelectorExplanation struct {
	Selector Reference
	// Denies says that the selector's effect is Deny.
	Denies bool
	// Selects is the least of what the criteria say.
	Selects Verdict
	// Criteria are all four, always in the same order.
	Criteria [4]Criterion
	// Problems are what is wrong with the selector.
	Problems []Problem
}

// Criterion is one part of a selector, held against a resource.
type Criterion struct {
	// Name is NamespaceName, NamespaceLabels, Type or ResourceLabels.
	Name  string
	Holds Verdict
	// Wanted is what the selector asks for; of labels that do not hold it is the
	// first term that does not. "any" asks for nothing.
	Wanted string
	// Seen is what the resource has.
	Seen string
}

// Failed is the first criterion that does not hold, nil for none.
func (e *SelectorExplanation) Failed() *Criterion {
	for i := range e.Criteria {
		if e.Criteria[i].Holds == No {
			return &e.Criteria[i]
		}
	}
	return nil
}

// Explain says what each selector has to do with a query, and what is decided.
// It looks at all selectors, and is meant for people.
func (x *Index) Explain(q Query) Explanation {
	all := x.All()
	explanation := Explanation{Decision: x.Decide(q), Selectors: make([]SelectorExplanation, 0, len(all))}
	needGroup := !x.options.CatchAll(q.Group)
	for _, s := range all {
		explanation.Selectors = append(explanation.Selectors, s.explain(&q, needGroup))
	}
	return explanation
}

func (s *Selector) explain(q *Query, needGroup bool) SelectorExplanation {
	e := SelectorExplanation{
		Selector: s.reference, Denies: s.deny, Problems: s.problems, Selects: s.selects(q, needGroup),
		Criteria: [4]Criterion{
			s.explainName(q), s.explainNamespaceLabels(q), s.explainType(q, needGroup),
			explainLabels("ResourceLabels", s.resourceTerms, q.Labels),
		},
	}
	if s.namesNothing() {
		e.Selects = No
		for at, lacks := range map[int]bool{1: s.noNamespace, 3: s.noResource} {
			if lacks {
				e.Criteria[at].Holds, e.Criteria[at].Wanted = No, wantsNothing
			}
		}
	}
	return e
}

const (
	wantsAny     = "any"
	wantsNothing = "nothing (it has no term)"
)

func (s *Selector) explainName(q *Query) Criterion {
	c := Criterion{Name: "NamespaceName", Holds: yesIf(s.selectsName(q.Namespace)), Wanted: wantsAny, Seen: q.Namespace}
	if len(s.names) > 0 {
		c.Wanted = strings.Join(s.names, ", ")
	}
	return c
}

func (s *Selector) explainNamespaceLabels(q *Query) Criterion {
	const name = "NamespaceLabels"
	if s.selectsNamespaceLabels(q) == Unknown {
		return Criterion{Name: name, Holds: Unknown, Wanted: joinTerms(s.namespaceTerms), Seen: "not known yet"}
	}
	return explainLabels(name, s.namespaceTerms, q.NamespaceLabels)
}

func (s *Selector) explainType(q *Query, needGroup bool) Criterion {
	seen := resourceType{q.Group, q.Version, q.Kind}
	c := Criterion{Name: "Type", Holds: yesIf(anyTypeSelects(s.types, q, needGroup)), Wanted: wantsAny, Seen: seen.String()}
	if len(s.types) > 0 {
		texts := make([]string, len(s.types))
		for i := range s.types {
			texts[i] = s.types[i].String()
		}
		c.Wanted = strings.Join(texts, ", ")
	}
	if needGroup && c.Holds == No {
		c.Wanted += " (kinds of this group are selected only by its name)"
	}
	return c
}

func explainLabels(name string, terms []term, labels map[string]string) Criterion {
	for i := range terms {
		if t := &terms[i]; !t.holds(labels) {
			return Criterion{Name: name, Holds: No, Wanted: t.String(), Seen: seenLabel(t.key, labels)}
		}
	}
	if len(terms) == 0 {
		return Criterion{Name: name, Holds: Yes, Wanted: wantsAny}
	}
	seen := make([]string, len(terms))
	for i := range terms {
		seen[i] = seenLabel(terms[i].key, labels)
	}
	return Criterion{Name: name, Holds: Yes, Wanted: joinTerms(terms), Seen: strings.Join(seen, ", ")}
}

func seenLabel(key string, labels map[string]string) string {
	if value, has := labels[key]; has {
		return key + "=" + value
	}
	return fmt.Sprintf("no %s", key)
}

func joinTerms(terms []term) string {
	texts := make([]string, len(terms))
	for i := range terms {
		texts[i] = terms[i].String()
	}
	return strings.Join(texts, ", ")
}

func yesIf(holds bool) Verdict {
	if holds {
		return Yes
	}
	return No
}
