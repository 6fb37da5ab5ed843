package roleselector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// resourceType is an entry of a resourceTypeSelector; an empty part is any.
type resourceType struct{ group, version, kind string }

// selects says whether the entry selects the query's type. One that needs its
// group named is selected by no entry that leaves the group open.
func (t *resourceType) selects(q *Query, needGroup bool) bool {
	return (t.kind == "" || t.kind == q.Kind) &&
		(t.version == "" || t.version == q.Version) &&
		(t.group == q.Group || t.group == "" && !needGroup)
}

// String is the entry as GROUP/VERSION KIND with a star for what is any.
func (t *resourceType) String() string {
	star := func(part string) string {
		if part == "" {
			return "*"
		}
		return part
	}
	return star(t.group) + "/" + star(t.version) + " " + star(t.kind)
}

// anyTypeSelects says whether a list of entries, where none is all, selects the
// query's type.
func anyTypeSelects(entries []resourceType, q *Query, needGroup bool) bool {
	for i := range entries {
		if entries[i].selects(q, needGroup) {
			return true
		}
	}
	return len(entries) == 0 && !needGroup
}

// compileTypes makes entries of a resourceTypeSelector. What cannot be evaluated
// in an entry is any, and is a problem.
func compileTypes(field string, entries []v1alpha1.ResourceType) ([]resourceType, []Problem) {
	if len(entries) == 0 {
		return nil, nil
	}
	types := make([]resourceType, 0, len(entries))
	var problems []Problem
	for i, e := range entries {
		at := fmt.Sprintf("%s[%d]", field, i)
		compiled, problem := compileType(at, e)
		if problem != nil {
			problems = append(problems, *problem)
		}
		for _, t := range compiled {
			if slices.Contains(types, t) {
				problems = append(problems, harmless(at, "the entry "+t.String()+" is there twice"))
				continue
			}
			types = append(types, t)
		}
	}
	return slices.Clip(types), problems
}

func compileType(at string, e v1alpha1.ResourceType) ([]resourceType, *Problem) {
	written := resourceType{e.Group, e.Version, e.Kind}
	if e.APIVersion == "" {
		if written == (resourceType{}) {
			problem := invalid(at, "the entry names no group, version or kind; to select every type leave resourceTypeSelector out")
			return []resourceType{written}, &problem
		}
		return []resourceType{written}, nil
	}
	group, version, found := strings.Cut(e.APIVersion, "/")
	if !found || group == "" || version == "" || strings.Contains(version, "/") {
		problem := invalid(at+".apiVersion", fmt.Sprintf("%q is not GROUP/VERSION", e.APIVersion))
		return []resourceType{written}, &problem
	}
	named := resourceType{group, version, e.Kind}
	if written.group == "" {
		written.group = group
	}
	if written.version == "" {
		written.version = version
	}
	if named != written {
		// Whichever is meant, the entry is aimed at both.
		problem := invalid(at, fmt.Sprintf("apiVersion %q says otherwise than group and version", e.APIVersion))
		return []resourceType{named, written}, &problem
	}
	return []resourceType{named}, nil
}
