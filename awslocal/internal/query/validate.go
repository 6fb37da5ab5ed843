package query

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
)

// Validation collects what is wrong with the parameters of a call, in AWS's
// words, so that a caller learns of all mistakes at once.
type Validation struct{ problems []string }

// shown is how much of a wrong value an answer repeats.
const shown = 256

func (v *Validation) add(name, value, constraint string) {
	quoted := "Value '" + value + "'"
	if value == "" {
		quoted = "Value"
	} else if len(value) > shown {
		quoted = "Value '" + strings.ToValidUTF8(value[:shown], "") + "...'"
	}
	field := strings.ToLower(name[:1]) + name[1:]
	v.problems = append(v.problems, quoted+" at '"+field+"' failed to satisfy constraint: "+constraint)
}

// Text wants a required text of a length in characters and of a pattern, which
// may be nil.
func (v *Validation) Text(f Form, name string, minimum, maximum int, pattern *pattern.Pattern) string {
	if !f.values.Has(name) {
		v.add(name, "", "Member must not be null")
		return ""
	}
	return v.Optional(f, name, minimum, maximum, pattern)
}

// Optional is Text for a parameter that may be absent.
func (v *Validation) Optional(f Form, name string, minimum, maximum int, pattern *pattern.Pattern) string {
	value := f.Get(name)
	if !f.values.Has(name) {
		return ""
	}
	v.length(name, value, value, minimum, maximum)
	if pattern != nil && !pattern.MatchString(value) {
		text := strings.TrimSuffix(strings.TrimPrefix(pattern.String(), "^"), "$")
		v.add(name, value, "Member must satisfy regular expression pattern: "+text)
	}
	return value
}

// Secret is Text for a value that no answer may repeat.
func (v *Validation) Secret(f Form, name string, minimum, maximum int) string {
	if !f.values.Has(name) {
		v.add(name, "", "Member must not be null")
		return ""
	}
	value := f.Get(name)
	v.length(name, value, "", minimum, maximum)
	return value
}

func (v *Validation) length(name, value, repeated string, minimum, maximum int) {
	switch n := utf8.RuneCountInString(value); {
	case n < minimum:
		v.add(name, repeated, fmt.Sprintf("Member must have length greater than or equal to %d", minimum))
	case n > maximum:
		v.add(name, repeated, fmt.Sprintf("Member must have length less than or equal to %d", maximum))
	}
}

// Number wants a number of a range.
func (v *Validation) Number(name string, value, minimum, maximum int) {
	switch {
	case value < minimum:
		v.add(name, fmt.Sprint(value), fmt.Sprintf("Member must have value greater than or equal to %d", minimum))
	case value > maximum:
		v.add(name, fmt.Sprint(value), fmt.Sprintf("Member must have value less than or equal to %d", maximum))
	}
}

// Required wants a list or structure to be there.
func (v *Validation) Required(f Form, name string) {
	if !f.Has(name) {
		v.add(name, "", "Member must not be null")
	}
}

// Count wants at most so many members of a list.
func (v *Validation) Count(name string, have, maximum int) {
	if have > maximum {
		v.add(name, "", fmt.Sprintf("Member must have length less than or equal to %d", maximum))
	}
}

// Fault is the answer, nil if nothing is wrong.
func (v *Validation) Fault() *call.Fault {
	switch n := len(v.problems); n {
	case 0:
		return nil
	case 1:
		return invalid("1 validation error detected: " + v.problems[0])
	default:
		return invalid(fmt.Sprintf("%d validation errors detected: %s", n, strings.Join(v.problems, "; ")))
	}
}

// BadMarker refuses a Marker that no list has given.
func BadMarker() *call.Fault { return invalid("Invalid Marker.") }

func invalid(message string) *call.Fault {
	return &call.Fault{Code: "ValidationError", Status: http.StatusBadRequest, Message: message}
}
