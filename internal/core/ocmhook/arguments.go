package ocmhook

import (
	"slices"
	"strings"
)

// arguments are those of a container that runs one of Open Cluster Management's programs. Its
// operators write each flag as --NAME=VALUE.
type arguments []string

// value is that of a flag, and whether the flag is there.
func (a arguments) value(flag string) (value string, has bool) {
	for _, each := range a {
		if name, text, _ := strings.Cut(each, "="); name == flag {
			value, has = text, true // as with their programs, the last counts
		}
	}
	return value, has
}

// without leaves flags out.
func (a arguments) without(flags ...string) (kept arguments) {
	for _, each := range a {
		if name, _, _ := strings.Cut(each, "="); !slices.Contains(flags, name) {
			kept = append(kept, each)
		}
	}
	return kept
}

// runs says whether the program and its command are these.
func (a arguments) runs(program, command string) bool {
	return len(a) > 1 && a[0] == program && a[1] == command
}
