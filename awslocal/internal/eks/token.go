package eks

import (
	"errors"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
)

// podClaims is the claim kubernetes.io of a token that is bound to a pod
// (Kubernetes: "Managing Service Accounts", bound tokens).
type podClaims struct {
	Namespace      string       `json:"namespace"`
	ServiceAccount namedObject  `json:"serviceaccount"`
	Pod            *namedObject `json:"pod"`
}

type namedObject struct {
	Name string `json:"name"`
	UID  string `json:"uid"`
}

// readToken verifies a pod's token: that the cluster issued it, for EKS, that it
// is good now, and to whom.
func (s *Service) readToken(c *call.Call, found *cluster, raw string) (podClaims, *call.Fault) {
	token, err := oidc.ReadToken(raw)
	if err != nil {
		return podClaims{}, s.refuseToken(c, found, err)
	}
	c.Entry.Token = token.Entry()
	if token.Issuer != found.issuer {
		return podClaims{}, badToken(textTokenIssuer)
	}
	if err := s.verify(c, found, token); err != nil {
		return podClaims{}, s.refuseToken(c, found, err)
	}
	c.Entry.Token.Verified = true
	return s.checkClaims(token)
}

// verify checks the signature with the cluster's own keys.
func (s *Service) verify(c *call.Call, found *cluster, token *oidc.Token) error {
	if found.fetched {
		return s.options.Verifier.Verify(c.HTTP.Context(), token, nil)
	}
	if len(found.keys) == 0 {
		return &oidc.Error{Kind: oidc.Retrieval, Detail: "no keys are known of the cluster: register it with its issuer"}
	}
	return token.VerifyWith(found.keys)
}

// refuseToken tells the caller less than the log.
func (s *Service) refuseToken(c *call.Call, found *cluster, err error) *call.Fault {
	s.log(c, found.name, err.Error())
	var problem *oidc.Error
	switch {
	case errors.As(err, &problem) && problem.Kind == oidc.Malformed:
		return badToken(textToken)
	case errors.As(err, &problem) && problem.Kind == oidc.Incomplete:
		return badToken(textTokenClaim, problem.Detail)
	}
	return badToken(textTokenKey)
}

// checkClaims checks what a verified token says. Its end is sharp: EKS tells of
// no grace.
func (s *Service) checkClaims(token *oidc.Token) (podClaims, *call.Fault) {
	var claims struct {
		Kubernetes podClaims `json:"kubernetes.io"`
	}
	now := s.options.TokenNow()
	switch {
	case !slices.Contains(token.Audience, Audience):
		return podClaims{}, badToken(textTokenAudience)
	case !now.Before(time.Unix(token.Expires, 0)):
		return podClaims{}, expiredToken(now.Unix(), token.Expires)
	case token.Decode(&claims) != nil:
		return podClaims{}, badToken(textTokenPod)
	case now.Unix() < token.NotBefore:
		return podClaims{}, badToken(textTokenEarly)
	}
	pod := claims.Kubernetes
	if pod.Pod == nil || pod.Pod.UID == "" || pod.ServiceAccount.UID == "" || !namespacePattern.MatchString(pod.Namespace) ||
		!accountPattern.MatchString(pod.ServiceAccount.Name) || !accountPattern.MatchString(pod.Pod.Name) {
		return podClaims{}, badToken(textTokenPod)
	}
	return pod, nil
}
