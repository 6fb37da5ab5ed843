package iampolicy

import "strings"

// sharedIssuers are the identity providers whose one issuer signs the tokens of
// all their customers, and the claim that tells these apart. AWS refuses a trust
// policy that leaves the claim open (AWS: identity-provider controls for shared
// OIDC providers). AWS's list is longer.
var sharedIssuers = map[string]string{
	"token.actions.githubusercontent.com": "sub",
	"gitlab.com":                          "sub",
	"agent.buildkite.com":                 "sub",
	"app.terraform.io":                    "sub",
	"api.pulumi.com/oidc":                 "aud",
}

// tenants checks that a statement that trusts a shared issuer says whose tokens
// it means.
func (v *validator) tenants(s *statement) {
	if s.deny || s.principals == nil || s.principals.not {
		return
	}
	for i := range s.principals.entries {
		entry := &s.principals.entries[i]
		if entry.kind != TypeFederated {
			continue
		}
		_, issuer, _ := strings.Cut(entry.value, ":oidc-provider/")
		claim, shared := sharedIssuers[issuer]
		if key := issuer + ":" + claim; shared && !s.fixesTenant(key) {
			v.fail(entry.text, CodeOpenTenant, key, "the issuer signs for many tenants")
		}
	}
}

// fixesTenant says whether one of the conditions demands a value of the key in
// which more than wildcards stands.
func (s *statement) fixesTenant(key string) bool {
	for i := range s.conditions {
		c := &s.conditions[i]
		if c.key != key || c.ifExists || c.set == forAll || c.negated || !strings.HasPrefix(c.base, "String") {
			continue
		}
		open := false
		for _, value := range c.values {
			open = open || strings.Trim(value.value, "*?") == ""
		}
		if !open {
			return true
		}
	}
	return false
}
