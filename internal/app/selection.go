package app

import (
	"fmt"
	"slices"
	"strings"
)

// choose turns the value of --controllers into names: "*" means all but those
// that are off until they are named, a name takes one in, "-name" takes one out.
// Order does not matter; the result is sorted as known is.
func choose(flag string, known, off []string) ([]string, error) {
	in, out := map[string]bool{}, map[string]bool{}
	for word := range strings.SplitSeq(flag, ",") {
		word = strings.TrimSpace(word)
		name, isMinus := strings.CutPrefix(word, "-")
		switch {
		case word == "":
		case word == "*":
			for _, each := range without(known, off) {
				in[each] = true
			}
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("--controllers: there is no controller %q; there are %s", name, strings.Join(known, ", "))
		case isMinus:
			out[name] = true
		default:
			in[name] = true
		}
	}
	if len(in) == 0 && len(out) > 0 { // only "-name": all but those
		for _, each := range without(known, off) {
			in[each] = true
		}
	}
	var chosen []string
	for _, name := range known {
		if in[name] && !out[name] {
			chosen = append(chosen, name)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--controllers=%q chooses none of %s", flag, strings.Join(known, ", "))
	}
	return chosen, nil
}

func without(names, some []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(some, name) })
}
