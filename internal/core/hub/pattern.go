package hub

import (
	"fmt"
	"regexp"
	"strings"
)

// Patterns are regular expressions (RE2) for ARNs of spokes. The zero value matches
// none. They are safe for concurrent use.
type Patterns struct{ all []*regexp.Regexp }

// CompilePatterns makes Patterns, each for a whole ARN. The error names each that is
// none; then there are no Patterns at all.
func CompilePatterns(texts []string) (Patterns, error) {
	var out Patterns
	var wrong []string
	for _, text := range texts {
		// By itself first: a text such as "a)(b" is none, and is one in parentheses.
		_, err := regexp.Compile(text)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", quoted(text), err))
			continue
		}
		out.all = append(out.all, regexp.MustCompile("^(?:"+text+")$"))
	}
	if len(wrong) > 0 {
		return Patterns{}, fmt.Errorf("these patterns for ARNs are no regular expressions: %s; correct them, no cluster is accepted by a pattern until then", strings.Join(wrong, ", "))
	}
	return out, nil
}

// IsEmpty says that there is none.
func (p Patterns) IsEmpty() bool { return len(p.all) == 0 }

// Match says whether one of them matches the whole ARN.
func (p Patterns) Match(arn ARN) bool {
	text := arn.String()
	for _, one := range p.all {
		if text != "" && one.MatchString(text) {
			return true
		}
	}
	return false
}
