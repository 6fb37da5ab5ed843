// Package caller asks AWS who an identity is.
package caller

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
)

const api = cloud.API("STS")

// Accounts tells who identities are. It is safe for concurrent use.
type Accounts struct{ auth *awsauth.Auth }

// New makes Accounts that get their identities from auth.
func New(auth *awsauth.Auth) *Accounts { return &Accounts{auth: auth} }

// client is what of STS is called.
type client interface {
	GetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error)
}

// Caller is the account and the ARN of the identity as STS sees it; no permission is
// needed for that. The error is a fault.Fault: of an identity that cannot become
// anybody, it names the exchange that failed.
func (a *Accounts) Caller(ctx context.Context, id identity.Identity) (account, arn string, err error) {
	config, err := a.auth.Config(ctx, id)
	if err == nil {
		account, arn, err = ask(ctx, sts.NewFromConfig(config))
	}
	return account, arn, api.Fault("GetCallerIdentity", err)
}

func ask(ctx context.Context, c client) (account, arn string, err error) {
	who, err := c.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", "", err
	}
	return aws.ToString(who.Account), aws.ToString(who.Arn), nil
}
