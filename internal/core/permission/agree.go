package permission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Choose is what is used of several sources for one version: the first that answers, in the order
// of SourceKind. The findings of all are in it, and one more for each other source that tells
// something else. namespace is where the operator is installed, empty where that is not known:
// sources may name it, or say InstallNamespace. Without any source nothing is known.
func Choose(subject Subject, namespace string, sources ...Set) Set {
	sources = slices.Clone(sources)
	slices.SortStableFunc(sources, func(a, b Set) int { return a.Source.Kind.rank() - b.Source.Kind.rank() })
	out := Nothing(subject)
	var findings []Finding
	for _, s := range sources {
		findings = append(findings, s.Findings...)
		switch _, known := s.Requests(); {
		case !known:
		case out.requests == nil:
			out = s
		default:
			if differs := differing(out, s, namespace); differs != "" {
				findings = append(findings, Finding{CodeSourcesDisagree, "", fmt.Sprintf("%s and %s tell different things, and the first is used: %s", place(out.Source), place(s.Source), differs)})
			}
		}
	}
	out.Findings = findings
	return out
}

// place names a source.
func place(s Source) string {
	if s.Ref == "" {
		return "the source " + string(s.Kind)
	}
	return "the source " + string(s.Kind) + " (" + clean(s.Ref) + ")"
}

// differing says what only one of two sources tells; empty where they agree.
func differing(used, other Set, namespace string) string {
	if namespace != "" {
		used, other = used.In(namespace), other.In(namespace)
	}
	a, b := told(used, other), told(other, used)
	only := func(all, others map[string]string) []string {
		var lines []string
		for _, key := range without(slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(others))) {
			lines = append(lines, all[key])
		}
		return lines
	}
	var out []string
	for _, one := range []struct {
		where string
		lines []string
	}{{"only the first says", only(a, b)}, {"only the second says", only(b, a)}} {
		const most = 3
		switch count := len(one.lines); {
		case count > most:
			out = append(out, fmt.Sprintf("%s: %s and %d more", one.where, strings.Join(one.lines[:most], "; "), count-most))
		case count > 0:
			out = append(out, one.where+": "+strings.Join(one.lines, "; "))
		}
	}
	return strings.Join(out, ". ")
}

// told is what a source says of a role: lines, by what is compared. Audiences count only where
// both sources tell them.
func told(s, other Set) map[string]string {
	out := map[string]string{}
	for _, atom := range s.Atoms() {
		out[encoded(atom.canonical())] = atom.Request + " " + atom.Sentence()
	}
	c := s.Canonical()
	facts := c.of(FactServiceAccount)
	if !s.assumes() && !other.assumes() {
		facts = append(facts, c.of(FactAudience)...)
	}
	for _, f := range facts {
		out[encoded(f)] = f.Request + " " + factNouns[f.Kind] + " " + f.Value
	}
	return out
}

// assumes says that an audience of the set is told by no source.
func (s Set) assumes() bool {
	requests, _ := s.Requests()
	return slices.ContainsFunc(requests, func(r Request) bool { return r.AudiencesAssumed })
}
