package iampolicy

import (
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a policy document.
type Error struct {
	// Line and Column say where the mistake is, counted from 1, columns in
	// characters.
	Line, Column int
	// Code names the rule that was broken. Codes never change.
	Code Code
	// Message is for people. From Validate it is AWS's own text where AWS has
	// one for the policy's kind.
	Message string
	// subject is what AWS's text names: a field, a principal, a resource.
	subject string
}

// Error gives the place and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Text is the message with which AWS refuses a document of the given kind for
// this mistake, without the place. Where AWS's text for a rule is not known it
// is the general text for documents of that kind.
func (e *Error) Text(kind Kind) string {
	if text := wordings[e.Code].of(kind); text != "" {
		return strings.ReplaceAll(text, subjectMark, e.subject)
	}
	return general.of(kind)
}

// Errors are all the mistakes of a document in the order of their places. The
// list is never empty when it is returned as an error.
type Errors []*Error

// Error joins the mistakes with semicolons.
func (e Errors) Error() string {
	texts := make([]string, 0, len(e))
	for _, one := range e {
		texts = append(texts, one.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.As find the single mistakes.
func (e Errors) Unwrap() []error {
	all := make([]error, 0, len(e))
	for _, one := range e {
		all = append(all, one)
	}
	return all
}

// Text is AWS's text for the first mistake: AWS names one at a time.
func (e Errors) Text(kind Kind) string {
	if len(e) == 0 {
		return ""
	}
	return e[0].Text(kind)
}

// Has says whether one of the mistakes has the code.
func (e Errors) Has(code Code) bool {
	return slices.ContainsFunc(e, func(one *Error) bool { return one.Code == code })
}

// sorted returns the list by place as an error, nil for an empty list.
func (e Errors) sorted() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b *Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return e
}
