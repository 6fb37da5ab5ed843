package iampolicy

import "strings"

// arnParts is how many parts an ARN has: arn, partition, service, region,
// account and the resource, which may itself hold colons.
const arnParts = 6

// arn is a text cut at its first five colons. One with fewer is no ARN, but the
// pattern of a resource may be as short.
type arn struct {
	whole string
	// starts are the offsets of the parts, of which there are count.
	starts [arnParts]int
	count  int
}

// cutARN finds the parts of a text.
func cutARN(s string) arn {
	a := arn{whole: s, count: 1}
	for at := 0; a.count < arnParts; a.count++ {
		colon := strings.IndexByte(s[at:], ':')
		if colon < 0 {
			break
		}
		at += colon + 1
		a.starts[a.count] = at
	}
	return a
}

// isWhole says that no part is missing.
func (a *arn) isWhole() bool { return a.count == arnParts }

// part returns one part, of which there must be as many.
func (a *arn) part(i int) string {
	if i == a.count-1 {
		return a.from(i)
	}
	return a.whole[a.starts[i] : a.starts[i+1]-1]
}

// from returns a part and all behind it.
func (a *arn) from(i int) string { return a.whole[a.starts[i]:] }

// matchARN compares a pattern part by part, so that no wildcard reaches over a
// colon outside the last part.
func matchARN(pattern, value *arn) bool {
	for i := range arnParts {
		if !matchGlob(pattern.part(i), value.part(i)) {
			return false
		}
	}
	return true
}

// accountOf returns the account that "111122223333" or the ARN of an account's
// root stands for, and what the ARNs of that account begin with: nothing where
// the principal does not tell. Both are empty for any other principal.
func accountOf(principal string) (account, partition string) {
	if isAccountID(principal) {
		return principal, ""
	}
	if a := cutARN(principal); a.isOf("iam") && a.part(5) == "root" {
		return a.part(4), a.whole[:a.starts[2]]
	}
	return "", ""
}

// isOf says that it is an ARN of a service that belongs to an account and to no
// region, of whatever partition.
func (a *arn) isOf(service string) bool {
	return a.isWhole() && a.part(0) == "arn" && a.part(1) != "" && a.part(2) == service && a.part(3) == "" && isAccountID(a.part(4))
}

// isAccountID says whether the text is twelve digits.
func isAccountID(s string) bool { return len(s) == 12 && digits(s) == 12 }

// resourcePattern is one entry of Resource or NotResource (AWS: Resource element;
// wildcards are compared in each part by itself). Its parts are cut
// before variables are resolved: a colon in a request's value cannot shift what
// the policy's author wrote into another part.
type resourcePattern struct {
	all   bool
	parts []template
	// open is a pattern with parts missing that ends in a star, which then
	// runs over the colons.
	open bool
}

// compileResource reads one entry of Resource or NotResource.
func compileResource(s string, variables bool) resourcePattern {
	if s == "*" {
		return resourcePattern{all: true}
	}
	pieces := splitOutsideVariables(s, variables)
	p := resourcePattern{open: len(pieces) < arnParts && strings.HasSuffix(s, "*"), parts: make([]template, len(pieces))}
	for i, piece := range pieces {
		p.parts[i] = compileTemplate(piece, variables, wildcard)
	}
	return p
}

// splitOutsideVariables cuts a pattern at its first five colons, those in
// variables left out.
func splitOutsideVariables(s string, variables bool) []string {
	pieces := make([]string, 0, arnParts)
	start, inside := 0, false
	for i := 0; i < len(s) && len(pieces) < arnParts-1; i++ {
		switch {
		case variables && strings.HasPrefix(s[i:], "${"):
			inside = true
		case inside && s[i] == '}':
			inside = false
		case !inside && s[i] == ':':
			pieces = append(pieces, s[start:i])
			start = i + 1
		}
	}
	return append(pieces, s[start:])
}

// match says whether the pattern covers a resource. One with a variable that
// cannot be resolved covers none.
func (p *resourcePattern) match(resource *arn, context Context) bool {
	if p.all {
		return true
	}
	last := len(p.parts) - 1
	if resource.count <= last || !p.open && last != arnParts-1 {
		return false
	}
	// The last part comes first: it is the one that mostly differs.
	if !p.parts[last].fits(resource.from(last), context) {
		return false
	}
	for i := range last {
		if !p.parts[i].fits(resource.part(i), context) {
			return false
		}
	}
	return true
}

// resolves says whether all variables can be resolved.
func (p *resourcePattern) resolves(context Context) bool {
	for i := range p.parts {
		if !p.parts[i].resolves(context) {
			return false
		}
	}
	return true
}
