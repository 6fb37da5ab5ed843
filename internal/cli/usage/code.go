// Package usage is what every command of every program does alike: it refuses what it cannot
// use, and ends with a code that means the same everywhere. It has no client of Kubernetes, so
// that the smallest program can have it.
package usage

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of all programs.
const (
	// Fine says that it is done, or that all is as it should be.
	Fine = 0
	// Refused says that it is not done, or that what was looked for is found.
	Refused = 1
	// Unusable says that what was typed cannot be used.
	Unusable = 2
	// Undetermined says that nothing wrong was seen, and that not everything could be.
	Undetermined = 3
	// Interrupted is 128 and the number of SIGINT, as shells have it.
	Interrupted = 130
)

// Code is an exit code with what it means.
type Code struct {
	Number  int
	Meaning string
	// Such are cases of it, each the same in every command.
	Such []string
}

// Codes are all exit codes but those that commands pass on from a program that they run.
func Codes() []Code {
	return []Code{
		{Fine, "done, or all is well", []string{
			"the change is made, or was made before", "`--dry-run` showed the plan", "a check found nothing", "`--help` was printed",
		}},
		{Refused, "not done, or all is not well", []string{
			"a check found something, or something waits: each command's page says which",
			"the API server forbids it, cannot be reached, or reports an error of its own", "AWS refuses it (`AccessDenied`), or cannot be reached",
			"the time given for waiting is over",
		}},
		{Unusable, "what was typed cannot be used", []string{
			"a command or a flag that is not known, a value that a flag does not take, an argument too many or too few",
			"a file that is missing, empty, or has something else in it", "no kubeconfig, or a context that it does not have",
			"`tabard migrate carm`: selectors cannot express what is to be migrated",
		}},
		{Undetermined, "nothing wrong was seen, and not everything could be", []string{"`tabard explain pod`, by somebody who may not read the role"}},
		{Interrupted, "interrupted by Ctrl-C or SIGTERM before it was done", []string{"what was done until then stays"}},
	}
}

// Sentence names all codes, for a help.
func Sentence() string {
	var codes []string
	for _, code := range Codes() {
		codes = append(codes, fmt.Sprintf("%d %s", code.Number, code.Meaning))
	}
	return "Exit codes: " + strings.Join(codes, ";\n") + "."
}

// wrong is an error about what was typed.
type wrong struct{ error }

// Unwrap gives the reason.
func (w wrong) Unwrap() error { return w.error }

// Wrong says that an error is about what was typed, such as a flag or a file. Nil stays nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return wrong{err}
}

// IsWrong says that an error is about what was typed.
func IsWrong(err error) bool {
	_, is := errors.AsType[wrong](err)
	return is
}
