package sts

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	webIdentityAction = "sts:AssumeRoleWithWebIdentity"
	// grace is how long after its expiry a token is taken still. STS:
	// AssumeRoleWithWebIdentity, the error ExpiredTokenException.
	grace = 5 * time.Minute
	// oldest is how long ago a token may have been issued, and ahead how far in
	// the future that and the beginning of its time may be. AWS names no numbers.
	oldest = 24 * time.Hour
	ahead  = 5 * time.Minute
)

// assumeRoleWithWebIdentity makes AWS's checks in AWS's order: a caller whose
// token fails two of them sees the first.
func (s *Service) assumeRoleWithWebIdentity(c *call.Call, form query.Form) any {
	var v query.Validation
	want := readWanted(form, &v)
	raw := v.Secret(form, "WebIdentityToken", 4, 20000)
	call.Check(v.Fault())
	c.Entry.Resource = want.roleARN
	want.check()
	unsupported(form, "AssumeRoleWithWebIdentity", "ProviderId")
	s.inRegion(c, accountOf(want.roleARN))
	token, err := oidc.ReadToken(raw)
	if err != nil {
		s.refuseToken(c, err)
	}
	c.Entry.Token = token.Entry()
	provider := s.provider(c, want.roleARN, token)
	c.Entry.Token.Verified = true
	audience := s.checkClaims(provider, token)
	if token.HasTags || token.HasSourceIdentity {
		passed, good := claimed(raw)
		if !good {
			call.Refuse(badToken(textBadClaims))
		}
		want.passed, want.carried = passed, passed.clone()
	}
	role, known := s.role(want.roleARN)
	if !known {
		c.NoRole(webIdentityAction, want.roleARN)
	}
	if !known || !trusted(c, role, want, provider, token, audience) {
		call.Refuse(notPermitted())
	}
	s.finish(&want, role)
	result := s.grant(role, want, provider.ARN)
	result.SubjectFromWebIdentityToken, result.Audience, result.Provider = token.Subject, audience, provider.ARN
	return result
}

// refuseToken notes the reason, which AWS does not tell its callers.
func (s *Service) refuseToken(c *call.Call, err error) {
	var problem *oidc.Error
	if !errors.As(err, &problem) {
		problem = &oidc.Error{Kind: oidc.Unreachable, Detail: err.Error()}
	}
	s.options.Log.WarnContext(c.HTTP.Context(), "web identity token refused", "request", c.ID, "role", c.Entry.Resource, "reason", problem.Detail)
	call.Refuse(tokenFault(problem))
}

// provider finds the token's issuer in the role's account and verifies the
// signature.
func (s *Service) provider(c *call.Call, roleARN string, token *oidc.Token) iam.Provider {
	provider, known := s.options.Directory.Provider(accountOf(roleARN), bare(token.Issuer))
	if !known {
		call.Refuse(noProvider(token.Issuer))
	}
	if err := s.options.Verifier.Verify(c.HTTP.Context(), token, provider.Thumbprints); err != nil {
		s.refuseToken(c, err)
	}
	return provider
}

func bare(issuer string) string {
	_, after, found := strings.Cut(issuer, "://")
	if !found {
		return issuer
	}
	return after
}

// checkClaims checks audience and times of a verified token and returns the
// effective audience.
func (s *Service) checkClaims(provider iam.Provider, token *oidc.Token) string {
	audience := token.AuthorizedParty
	if audience == "" {
		if len(token.Audience) > 1 {
			call.Refuse(badToken(textAudiences))
		}
		audience = token.Audience[0]
	}
	if !slices.Contains(provider.Clients, audience) {
		call.Refuse(badToken(textAudience))
	}
	now := s.options.TokenNow()
	if !now.Before(time.Unix(token.Expires, 0).Add(grace)) {
		call.Refuse(expired(now, token.Expires))
	}
	issued := time.Unix(token.Issued, 0)
	if now.Sub(issued) > oldest {
		call.Refuse(tooOld(token.Issued))
	}
	if issued.After(now.Add(ahead)) {
		call.Refuse(fromFuture(now, token.Issued))
	}
	if token.NotBefore > now.Add(ahead).Unix() {
		call.Refuse(notYet(now, token.NotBefore))
	}
	return audience
}

// trusted asks the role's trust policy. The caller is the provider: nobody has
// become a session yet.
func trusted(c *call.Call, role iam.Role, want wanted, provider iam.Provider, token *oidc.Token, audience string) bool {
	context := merge(merge(c.Context, want.context(role)), want.passed.context())
	issuer := bare(token.Issuer)
	context.Set(issuer+":aud", audience)
	context.Set(issuer+":sub", token.Subject)
	if token.AuthorizedParty != "" {
		context.Set(issuer+":oaud", token.Audience...)
	}
	if len(token.Methods) > 0 {
		context.Set(issuer+":amr", token.Methods...)
	}
	request := iampolicy.Request{
		Principal:         iampolicy.Principal{Kind: iampolicy.Federated, ARN: provider.ARN, AccountID: role.AccountID},
		Resource:          role.ARN,
		ResourceAccountID: role.AccountID,
		Context:           context,
	}
	for _, action := range append([]string{webIdentityAction}, want.carried.needs()...) {
		request.Action = action
		if !c.Evaluate(&request, &iampolicy.Policies{Resource: role.Trust}, call.PolicyNames{}).Allowed() {
			return false
		}
	}
	return true
}
