package iampolicy

import (
	"maps"
	"slices"
	"unicode"
)

// The versions of the policy language. A document without one has the old, in
// which variables are plain text.
const (
	oldVersion = "2008-10-17"
	newVersion = "2012-10-17"
)

// Policy is a parsed policy document. It is never changed, so that any number
// of goroutines may use it at once.
type Policy struct {
	version      string
	statements   []statement
	line, column int
}

// statement is one statement in a form that is cheap to evaluate.
type statement struct {
	sid  text
	deny bool
	// broken is a statement with a mistake; it never applies.
	broken bool
	// hasEffect is kept for Validate, since the zero value would be an Allow.
	hasEffect bool
	// The statement runs from its opening brace to the place behind its closing
	// one.
	line, column       int
	endLine, endColumn int

	principals *principals
	actions    element
	// actionPatterns are the actions in lower case.
	actionPatterns   []glob
	resources        element
	resourcePatterns []resourcePattern
	conditions       []condition
	// unclear are those whose meaning AWS does not state.
	unclear Errors
}

// element is Action, Resource or the negation of one, as it was written.
type element struct {
	// present says that the element exists, empty or not.
	present bool
	// not says that it is the negation.
	not    bool
	values []text
}

// Version is the language's version, "2008-10-17" for a document without one.
func (p *Policy) Version() string { return p.version }

// Principals returns all entries of all Principal and NotPrincipal elements in
// the order of the document: to check that they exist, or to find who trusts a
// provider.
func (p *Policy) Principals() []Mention {
	var mentions []Mention
	for i := range p.statements {
		s := &p.statements[i]
		if s.principals == nil {
			continue
		}
		for _, entry := range s.principals.entries {
			mentions = append(mentions, Mention{Type: entry.kind, Value: entry.value, Deny: s.deny, Not: s.principals.not})
		}
	}
	return mentions
}

// Resources returns all entries of all Resource and NotResource elements as
// written, in the order of the document.
func (p *Policy) Resources() []string {
	var resources []string
	for i := range p.statements {
		for _, resource := range p.statements[i].resources.values {
			resources = append(resources, resource.value)
		}
	}
	return resources
}

// ContextKeys returns the condition keys for which the policy asks a request: the
// keys of its conditions and its variables, sorted, each once and spelled as
// where it comes first, since keys compare without regard to case.
func (p *Policy) ContextKeys() []string {
	spelled := map[string]string{}
	for i := range p.statements {
		p.statements[i].eachKey(func(key, name string) {
			if _, known := spelled[key]; !known {
				spelled[key] = name
			}
		})
	}
	return slices.Sorted(maps.Values(spelled))
}

// eachKey visits the keys of a statement: in lower case, and as written.
func (s *statement) eachKey(visit func(key, name string)) {
	variables := func(t *template) {
		for i := range t.parts {
			if p := &t.parts[i]; p.key != "" {
				visit(p.key, p.name)
			}
		}
	}
	for i := range s.resourcePatterns {
		for k := range s.resourcePatterns[i].parts {
			variables(&s.resourcePatterns[i].parts[k])
		}
	}
	for i := range s.conditions {
		c := &s.conditions[i]
		visit(c.key, c.name.value)
		for _, o := range c.operands {
			if t := templateOf(o); t != nil {
				variables(t)
			}
		}
	}
}

// Size is the length of a document as AWS counts it against its quotas: the
// characters that are not white space.
func Size(document []byte) int {
	size := 0
	for _, char := range string(document) {
		if !unicode.IsSpace(char) {
			size++
		}
	}
	return size
}
