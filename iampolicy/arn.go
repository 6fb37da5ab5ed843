package iampolicy

import "strings"

// arnParts is how many parts an ARN has: arn, partition, service, region,
// account and the resource, which may itself hold colons.
const arnParts = 6

// splitARN cuts an ARN, or the pattern of one, into its parts.
func splitARN(s string) ([arnParts]string, bool) {
	var parts [arnParts]string
	for i := range arnParts - 1 {
		part, rest, ok := strings.Cut(s, ":")
		if !ok {
			return parts, false
		}
		parts[i], s = part, rest
	}
	parts[arnParts-1] = s
	return parts, true
}

// matchARN compares part by part, so that no wildcard reaches over a colon
// outside the last part.
func matchARN(pattern, arn [arnParts]string) bool {
	for i := range arnParts {
		if !matchGlob(pattern[i], arn[i]) {
			return false
		}
	}
	return true
}

// accountOf returns the account that "111122223333" or the ARN of an account's
// root stands for.
func accountOf(principal string) (string, bool) {
	if isAccountID(principal) {
		return principal, true
	}
	parts, ok := splitARN(principal)
	if ok && parts[0] == "arn" && parts[2] == "iam" && parts[5] == "root" && isAccountID(parts[4]) {
		return parts[4], true
	}
	return "", false
}

// isAccountID says whether the text is twelve digits.
func isAccountID(s string) bool { return len(s) == 12 && digits(s) == 12 }

// resourcePattern is one entry of Resource or NotResource. Its parts are cut
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
	p := resourcePattern{open: len(pieces) < arnParts && strings.HasSuffix(s, "*")}
	for _, piece := range pieces {
		p.parts = append(p.parts, compileTemplate(piece, variables, wildcard))
	}
	return p
}

// splitOutsideVariables cuts a pattern at its first five colons, those in
// variables left out.
func splitOutsideVariables(s string, variables bool) []string {
	var pieces []string
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

// match says whether the pattern covers a resource, and whether its variables
// could be resolved.
func (p *resourcePattern) match(resource string, context Context) (matched, resolved bool) {
	if p.all {
		return true, true
	}
	matched = p.open || len(p.parts) == arnParts
	last := len(p.parts) - 1
	for i := range p.parts {
		part := &p.parts[i]
		if len(part.parts) > 0 && !part.resolves(context) || part.broken {
			return false, false
		}
		if !matched {
			continue // only a variable that cannot be resolved matters now
		}
		segment := resource
		if i < last {
			segment, resource, matched = strings.Cut(resource, ":")
		}
		matched = matched && part.fits(segment, context)
	}
	return matched, true
}
