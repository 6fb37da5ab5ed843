package app

import (
	"fmt"
	"slices"
	"strings"
)

// choose turns the value of --controllers into names: "*" means all, a name
// takes one in, "-name" takes one out. Order does not matter; the result is
// sorted as known is.
func choose(flag string, known []string) ([]string, error) {
	in, out := map[string]bool{}, map[string]bool{}
	for word := range strings.SplitSeq(flag, ",") {
		word = strings.TrimSpace(word)
		name, without := strings.CutPrefix(word, "-")
		switch {
		case word == "":
		case word == "*":
			for _, all := range known {
				in[all] = true
			}
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("--controllers: there is no controller %q; there are %s", name, strings.Join(known, ", "))
		case without:
			out[name] = true
		default:
			in[name] = true
		}
	}
	if len(in) == 0 && len(out) > 0 { // only "-name": all but those
		for _, all := range known {
			in[all] = true
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

// leaseName is the lease of a set of controllers: two Deployments with
// different sets must not wait for each other.
func leaseName(chosen, known []string) string {
	if len(chosen) == len(known) {
		return "tabard-operator"
	}
	return "tabard-operator-" + strings.Join(chosen, "-")
}
