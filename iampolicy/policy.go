package iampolicy

import "unicode"

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
	hasEffect    bool
	line, column int

	principals *principals
	actions    element
	// actionPatterns are the actions in lower case.
	actionPatterns   []glob
	resources        element
	resourcePatterns []resourcePattern
	conditions       []condition
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
