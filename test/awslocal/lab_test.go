// Package awslocal_test asks the local AWS with the clients that people use: the
// official Go SDK and the aws command line. Nothing of ours is on their side.
package awslocal_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"
	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
)

const (
	account  = "123456789012"
	stranger = "111122223333"
	audience = "sts.amazonaws.com"
	subject  = "system:serviceaccount:team-a:app"
)

// lab is a local AWS with an issuer of tokens.
type lab struct {
	*awstest.Lab
	t      *testing.T
	issuer *awstest.Issuer
}

// keys are those of every lab's issuer. No lab knows another's issuer, and an RSA key takes
// long to make.
var (
	keysOnce sync.Once
	keys     []jose.JSONWebKey
)

func newLab(t *testing.T, change ...func(*awslocal.Options)) *lab {
	t.Helper()
	awstest.Isolate(t)
	keysOnce.Do(func() { keys = []jose.JSONWebKey{awstest.RSAKey(t, "one"), awstest.ECKey(t, "two")} })
	l := &lab{t: t, issuer: awstest.StartIssuer(t, slices.Clone(keys)...)}
	options := awslocal.Options{Accounts: []string{account, stranger}, TrustedCAs: l.issuer.Roots()}
	for _, one := range change {
		one(&options)
	}
	l.Lab = awstest.Start(t, options)
	return l
}

// administrator is a configuration of an account's administrator.
func (l *lab) administrator(account string) aws.Config { return l.As(l.Administrator(account)) }

func (l *lab) iam() *iam.Client { return l.IAM(account) }

// anonymous asks STS without credentials.
func (l *lab) anonymous() *sts.Client { return sts.NewFromConfig(l.As(aws.Credentials{})) }

// as is a configuration of the holder of a session.
func (l *lab) as(c *types.Credentials) aws.Config {
	return l.As(aws.Credentials{AccessKeyID: *c.AccessKeyId, SecretAccessKey: *c.SecretAccessKey, SessionToken: *c.SessionToken})
}

// provider registers the issuer.
func (l *lab) provider() string { return l.Provider(account, l.issuer.Issuer(), audience) }

// trust is a trust policy for one subject of the issuer.
func (l *lab) trust(provider string) string { return awstest.Trust(provider, subject, audience) }

func (l *lab) role(name, trust string) string { return l.Role(account, name, trust, "") }

func (l *lab) policy(role, document string) { l.RolePolicy(account, role, document) }

// claims are those of a good token.
func (l *lab) claims() map[string]any { return l.issuer.Claims(subject, audience) }

// sign makes a token with one of the issuer's keys.
func (l *lab) sign(key int, claims map[string]any) string { return l.issuer.Sign(l.t, key, claims) }
