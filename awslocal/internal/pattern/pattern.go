// Package pattern holds regular expressions that are compiled when they are
// first asked: a program that this module is a part of, and that does something
// else, should not pay for them when it starts.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. It is safe for concurrent use.
type Pattern struct{ compiled func() *regexp.Regexp }

// New takes the text of a regular expression. One that is malformed panics when
// it is first asked.
func New(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString says whether the text matches.
func (p *Pattern) MatchString(text string) bool { return p.compiled().MatchString(text) }

// FindStringSubmatch is the text that matches and its groups, nil if none does.
func (p *Pattern) FindStringSubmatch(text string) []string {
	return p.compiled().FindStringSubmatch(text)
}

// String is the text of the regular expression.
func (p *Pattern) String() string { return p.compiled().String() }
