package condition

import (
	"regexp"
	"sync"
)

// changing are the parts of errors that differ from attempt to attempt: the own end of
// a connection, and the time by which crypto/x509 found a certificate not to be valid.
var changing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^\s"]+->|current time \S+ is `)
})

// Steady takes from an error's text what changes from attempt to attempt, so that the
// same trouble is the same message, and is not written again and again.
func Steady(text string) string { return changing().ReplaceAllString(text, "") }
