package workload

import (
	"strings"
	"testing"
)

func known(name string) (string, bool) {
	value, ok := map[string]string{"A": "1", "B": "$(A)", "EMPTY": "", "with space": "w"}[name]
	return value, ok
}

func TestExpand(t *testing.T) {
	tests := map[string]struct{ value, want string }{
		"text stays":                               {"plain", "plain"},
		"a reference is replaced":                  {"x$(A)y", "x1y"},
		"two references are replaced":              {"$(A)$(A)", "11"},
		"an unknown reference stays":               {"$(NOPE)", "$(NOPE)"},
		"an empty variable is nothing":             {"<$(EMPTY)>", "<>"},
		"what a variable holds is not read again":  {"$(B)", "$(A)"},
		"two dollars make one":                     {"$$", "$"},
		"two dollars escape a reference":           {"$$(A)", "$(A)"},
		"three dollars are one and a reference":    {"$$$(A)", "$1"},
		"a dollar before text stays":               {"$A", "$A"},
		"a dollar at the end stays":                {"cost$", "cost$"},
		"a reference without an end stays":         {"$(A", "$(A"},
		"text after a missing end is still read":   {"$(A$(A)", "$(A$(A)"},
		"an empty reference stays":                 {"$()", "$()"},
		"a shell's own form is left to the shell":  {"${A}", "${A}"},
		"a name may hold anything but parentheses": {"$(with space)", "w"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := expand(test.value, known); got != test.want {
				t.Errorf("%q became %q, want %q", test.value, got, test.want)
			}
		})
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "$", "$$", "$(", "$(A)", "$((A))", "a$$(A)$(B)", "$(\xff)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got := expand(value, known)
		if !strings.Contains(value, "$") && got != value {
			t.Errorf("%q without a dollar became %q", value, got)
		}
		// A text in which every dollar is doubled means itself.
		if doubled := expand(strings.ReplaceAll(value, "$", "$$"), known); doubled != value {
			t.Errorf("%q doubled became %q", value, doubled)
		}
	})
}
