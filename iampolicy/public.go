package iampolicy

import "strings"

// narrowing are the condition keys that keep a grant to everyone from being
// public where their values are fixed (AWS: the meaning of "public" in S3 Block
// Public Access).
var narrowing = map[string]bool{
	"aws:principalorgid":        true,
	"aws:sourceaccount":         true,
	"aws:sourcearn":             true,
	"aws:sourceip":              true,
	"aws:sourceowner":           true,
	"aws:sourcevpc":             true,
	"aws:sourcevpce":            true,
	"aws:userid":                true,
	"s3:dataaccesspointaccount": true,
	"s3:dataaccesspointarn":     true,
}

// pinning are the operators that demand one of the values of the policy.
var pinning = map[string]bool{
	"ArnEquals": true, "ArnLike": true, "IpAddress": true,
	"StringEquals": true, "StringEqualsIgnoreCase": true, "StringLike": true,
}

// The widest ranges of addresses that S3 does not call public.
const (
	widestIPv4 = 8
	widestIPv6 = 32
)

// IsPublic says whether S3 calls a bucket policy public: one that allows
// everyone something without a condition that pins down who or from where. What
// cannot be judged counts as public.
func (p *Policy) IsPublic() bool {
	for i := range p.statements {
		s := &p.statements[i]
		if s.deny || s.principals == nil {
			continue
		}
		if (s.principals.not || s.principals.hasStar()) && !s.isNarrowed() {
			return true
		}
	}
	return false
}

// hasStar finds a wildcard in any type of principal.
func (p *principals) hasStar() bool {
	for _, entry := range p.entries {
		if strings.Contains(entry.value, "*") {
			return true
		}
	}
	return false
}

// isNarrowed says whether one of the conditions is enough; all of them must
// hold, so one is.
func (s *statement) isNarrowed() bool {
	conditions := s.certain()
	for i := range conditions {
		if conditions[i].pins() {
			return true
		}
	}
	return false
}

// pins says whether a condition demands a key with fixed values. With IfExists
// or ForAllValues a request without the key would pass.
func (c *condition) pins() bool {
	if !narrowing[c.key] || !pinning[c.base] || c.ifExists || c.set == forAll {
		return false
	}
	if (c.base == "IpAddress") != (c.key == "aws:sourceip") {
		return false
	}
	for _, value := range c.values {
		if !isFixed(c.base, value.value) {
			return false
		}
	}
	return true
}

// isFixed says whether a value leaves nothing open.
func isFixed(operator, value string) bool {
	if operator != "IpAddress" {
		return !strings.ContainsAny(value, "*?") && !strings.Contains(value, "${")
	}
	addresses, ok := parseRange(value)
	if !ok {
		return false
	}
	if addresses.Addr().Is4() {
		return addresses.Bits() >= widestIPv4
	}
	return addresses.Bits() >= widestIPv6
}
