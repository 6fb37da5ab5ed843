package e2e

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

func exists(err error) bool  { return apierrors.IsAlreadyExists(err) }
func missing(err error) bool { return apierrors.IsNotFound(err) }

// refusals tries what must not work, and demands AWS's own error each time.
func (s *Story) refusals(ctx context.Context) error {
	tries := []struct {
		title, code, text string
		try               func(context.Context) error
	}{
		{"another ServiceAccount", "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", s.anotherAccount},
		{"the right one, another prefix", "AccessDenied", "is not authorized to perform: s3:PutObject", s.anotherPrefix},
		{"a real token for another audience", "InvalidIdentityToken", "Incorrect token audience", s.anotherAudience},
		{"a real token after its expiry", "ExpiredTokenException", "Token expired", s.expiredToken},
		{"a token signed by a key that is not published", "InvalidIdentityToken", "Couldn't retrieve verification key", s.forgedToken},
		{"a deleted provider", "InvalidIdentityToken", "No OpenIDConnect provider found", s.deletedProvider},
	}
	for _, t := range tries {
		err := t.try(ctx)
		if err == nil {
			return fmt.Errorf("%s was not refused", t.title)
		}
		text := awsText(err)
		s.say("%-46s %s", t.title+":", text)
		if !strings.HasPrefix(text, t.code+": ") || !strings.Contains(text, t.text) {
			return fmt.Errorf("%s was refused with %q, expected %s with %q", t.title, text, t.code, t.text)
		}
	}
	return nil
}

// awsText is AWS's code and message, from the SDK here or from the program in
// the pod, which prints the same.
func awsText(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if r, ok := errors.AsType[*onlab.RefusedError](err); ok {
		lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
		return lines[len(lines)-1]
	}
	return err.Error()
}

func (s *Story) anotherAccount(ctx context.Context) error {
	if err := s.serviceAccount(ctx, team, "intruder"); err != nil {
		return err
	}
	if _, err := s.injectedPod(ctx, team, "intruder", "intruder"); err != nil {
		return err
	}
	_, err := s.program(ctx, "intruder", "whoami")
	return err
}

func (s *Story) anotherPrefix(ctx context.Context) error {
	_, err := s.program(ctx, podName, "put", "s3://"+s.dataBucket+"/salaries/all.txt", "x")
	return err
}

func (s *Story) anotherAudience(ctx context.Context) error {
	token, err := s.token(ctx, "vault")
	if err != nil {
		return err
	}
	return s.exchange(ctx, token)
}

// expiredToken moves the clock by which tokens are judged, and only that one,
// past the token's life and AWS's five minutes of grace.
func (s *Story) expiredToken(ctx context.Context) error {
	token, err := s.token(ctx, audience)
	if err != nil {
		return err
	}
	if err := s.exchange(ctx, token); err != nil {
		return fmt.Errorf("the token is refused while it is good: %w", err)
	}
	if err := s.Control(ctx, "POST", "clock", map[string]string{"tokenOffset": "16m"}, nil); err != nil {
		return err
	}
	refusal := s.exchange(ctx, token)
	if err := s.Control(ctx, "POST", "clock", map[string]string{"tokenOffset": "0s"}, nil); err != nil {
		return err
	}
	return refusal
}

// forgedToken signs the claims of a real token with a key of its own.
func (s *Story) forgedToken(ctx context.Context) error {
	real, err := s.token(ctx, audience)
	if err != nil {
		return err
	}
	parsed, err := jwt.ParseSigned(real, []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return err
	}
	var claims json.RawMessage
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "forged"}}, nil)
	if err != nil {
		return err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return err
	}
	forged, err := signed.CompactSerialize()
	if err != nil {
		return err
	}
	return s.exchange(ctx, forged)
}

// deletedProvider comes last: the operator puts the provider back within 30
// seconds, because the issuer asks for it.
func (s *Story) deletedProvider(ctx context.Context) error {
	token, err := s.token(ctx, audience)
	if err != nil {
		return err
	}
	_, err = iam.NewFromConfig(s.Admin).DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: aws.String(s.ProviderARN(s.AccountID)),
	})
	if err != nil {
		return fmt.Errorf("delete the provider: %w", err)
	}
	return s.exchange(ctx, token)
}

// token requests a real token of the team's ServiceAccount, with the shortest
// life that an API server grants.
func (s *Story) token(ctx context.Context, audience string) (string, error) {
	seconds := int64((10 * time.Minute).Seconds())
	answer, err := s.kube.CoreV1().ServiceAccounts(team).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{audience}, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token: %w", err)
	}
	return answer.Status.Token, nil
}

// exchange asks STS for the role.
func (s *Story) exchange(ctx context.Context, token string) error {
	client, err := s.stsClient()
	if err != nil {
		return err
	}
	_, err = client.AssumeRoleWithWebIdentity(ctx, &sts.AssumeRoleWithWebIdentityInput{
		RoleArn: &s.role, RoleSessionName: aws.String("story"), WebIdentityToken: &token,
	})
	return err
}
