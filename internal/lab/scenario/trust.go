package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// ofTrust are the scenarios in which the role's trust policy is wrong.
func ofTrust() []Scenario {
	subject := "system:serviceaccount:" + Namespace + ":" + Workload
	trusting := func(replace func(*shop) []string) func(*shop, context.Context) error {
		return func(s *shop, ctx context.Context) error { return s.breakTrust(ctx, replace(s)...) }
	}
	plain := func(pairs ...string) func(*shop) []string { return func(*shop) []string { return pairs } }
	return []Scenario{
		{Name: "p01", Title: "the ServiceAccount was renamed, and the trust policy was not", Code: chain.CodeSubject,
			plant: trusting(plain(subject, subject+"-api"))},
		{Name: "p01-star", Title: "somebody wrote * for the name of the ServiceAccount", Code: chain.CodeSubjectOperator,
			plant: trusting(plain(subject, "system:serviceaccount:"+Namespace+":*"))},
		{Name: "p01-audience", Title: "the trust policy was copied from a page with a typing error", Code: chain.CodeTrustAudience,
			plant: trusting(plain(`"`+audience+`"`, `"sts.amazon.com"`))},
		{Name: "p01-key", Title: "the ARN of the provider was copied into the condition", Code: chain.CodeKeyIssuer,
			plant: trusting(func(s *shop) []string {
				return []string{s.issuer + ":sub", s.provider + ":sub", s.issuer + ":aud", s.provider + ":aud"}
			})},
		{Name: "p01-swapped", Title: "the name of the ServiceAccount stands where the audience belongs", Code: chain.CodeKeysSwapped,
			plant: trusting(plain(`"`+audience+`"`, `"`+subject+`"`))},
		{Name: "p01-action", Title: "the trust policy was written for another kind of role", Code: chain.CodeTrustAction,
			plant: trusting(plain("sts:AssumeRoleWithWebIdentity", "sts:AssumeRole"))},
		{Name: "p17", Title: "the cluster was made anew, with another issuer", Code: chain.CodeWrongProvider,
			plant: trusting(func(s *shop) []string { return []string{s.issuer, "oidc.eks.eu-central-1.amazonaws.com/id/FORMER"} })},
	}
}

// breakTrust writes the trust policy with texts replaced.
func (s *shop) breakTrust(ctx context.Context, pairs ...string) error {
	good := s.trust(audience)
	broken := strings.NewReplacer(pairs...).Replace(good)
	if broken == good {
		return fmt.Errorf("nothing of the trust policy %s was replaced by %q", good, pairs)
	}
	return s.setTrust(ctx, broken)
}
