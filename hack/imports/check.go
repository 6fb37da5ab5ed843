package main

import (
	"fmt"
	"slices"
	"strings"
)

// product is the path of the product module; the nested modules are below it.
const product = "github.com/tabard-dev/tabard"

// rule binds the packages that match in and not except. Patterns are import
// paths; "…/..." also means everything below; "./" begins a package of ours.
type rule struct {
	in, except []string
	// own are the packages of ours that may be imported beside the package's
	// own folder; nil means any, an empty list means none.
	own []string
	// foreign are the packages of others that may be imported, the standard
	// library aside; nil means any.
	foreign []string
	// why is the reason of both lists.
	why string
	// deny are packages that must not be imported, standard library included.
	deny []ban
	// siblings says that packages below this folder must not know each other.
	siblings string
	// deep extends the rule to everything below the imports. The list foreign
	// and bans of the standard library stay with direct imports.
	deep bool
	// tests extends the bans to imports of test files.
	tests bool
}

// ban is a set of packages and why they must stay out.
type ban struct {
	what []string
	why  string
}

// violation is one import that a rule forbids.
type violation struct {
	Package, Import, Verb, Why string
}

func (v violation) String() string {
	return fmt.Sprintf("%s %s %s: %s", v.Package, v.Verb, v.Import, v.Why)
}

// check applies every rule to every package. The result is sorted and holds an
// import once a reason.
func check(packages []pkg, rules []rule) []violation {
	var found []violation
	for _, p := range packages {
		name := short(p.ImportPath)
		for _, r := range rules {
			if !matchesAny(r.in, name) || matchesAny(r.except, name) {
				continue
			}
			found = append(found, r.direct(name, p.Imports)...)
			if r.deep {
				found = append(found, r.below(name, p)...)
			}
			if r.tests {
				found = append(found, r.banned(name, "tests with", slices.Concat(p.TestImports, p.XTestImports))...)
			}
		}
	}
	slices.SortFunc(found, func(a, b violation) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found)
}

// direct checks the imports of a package's own files.
func (r rule) direct(name string, imports []string) []violation {
	found := r.banned(name, "imports", imports)
	for _, path := range imports {
		imported := short(path)
		switch {
		case isStandard(imported):
		case isOurs(imported):
			found = append(found, r.ours(name, "imports", imported)...)
		case r.foreign != nil && !matchesAny(r.foreign, imported):
			found = append(found, violation{name, imported, "imports", r.why})
		}
	}
	return found
}

// below checks what a package reaches through its imports.
func (r rule) below(name string, p pkg) []violation {
	var found []violation
	for _, path := range p.Deps {
		reached := short(path)
		if isStandard(reached) || slices.Contains(p.Imports, path) {
			continue
		}
		if isOurs(reached) {
			found = append(found, r.ours(name, "reaches", reached)...)
		}
		found = append(found, r.banned(name, "reaches", []string{path})...)
	}
	return found
}

// ours checks one package of ours against the list own and the siblings.
func (r rule) ours(name, verb, imported string) []violation {
	if r.siblings != "" {
		mine, theirs := roomOf(r.siblings, name), roomOf(r.siblings, imported)
		if mine != "" && theirs != "" && mine != theirs {
			why := "packages below " + r.siblings + " do not know each other: they meet through the API server or in internal/app"
			return []violation{{name, imported, verb, why}}
		}
	}
	if r.own == nil || matchesAny(r.own, imported) || isWithin(name, imported) {
		return nil
	}
	return []violation{{name, imported, verb, r.why}}
}

// banned checks paths against the bans.
func (r rule) banned(name, verb string, paths []string) []violation {
	var found []violation
	for _, b := range r.deny {
		for _, path := range paths {
			if matchesAny(b.what, short(path)) {
				found = append(found, violation{name, short(path), verb, b.why})
			}
		}
	}
	return found
}

// roomOf is the first folder below a parent, empty for the parent itself and
// for what is elsewhere.
func roomOf(parent, name string) string {
	rest, ok := strings.CutPrefix(name, parent+"/")
	if !ok {
		return ""
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}

// isWithin says that a package of ours is the importer's own folder's, as a
// package's parts below it are its own business.
func isWithin(name, imported string) bool { return strings.HasPrefix(imported, name+"/") }

// short writes the product module's path as ".".
func short(path string) string {
	if rest, ok := strings.CutPrefix(path, product+"/"); ok {
		return "./" + rest
	}
	return path
}

func isOurs(name string) bool { return strings.HasPrefix(name, "./") }

// isStandard says that a path is the standard library's: its first element has
// no dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
}

func matches(pattern, name string) bool {
	parent, all := strings.CutSuffix(pattern, "/...")
	return name == parent || all && strings.HasPrefix(name, parent+"/")
}
