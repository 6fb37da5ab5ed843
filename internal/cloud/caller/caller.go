// Package caller asks AWS who an identity is.
package caller

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// Accounts tells who identities are. It is safe for concurrent use.
type Accounts struct{ auth *awsauth.Auth }

// New makes Accounts that get their identities from auth.
func New(auth *awsauth.Auth) *Accounts { return &Accounts{auth: auth} }

// client is what of STS is called.
type client interface {
	GetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error)
}

// Caller is the identity as STS sees it; no permission is needed for that. What
// went wrong is in its Fault: an identity that cannot become anybody names the
// exchange that failed.
func (a *Accounts) Caller(ctx context.Context, id identity.Identity) issuer.Caller {
	out := issuer.Caller{Identity: id}
	config, err := a.auth.Config(ctx, id)
	if err == nil {
		err = ask(ctx, sts.NewFromConfig(config), &out)
	}
	out.Fault = cloud.Classify("STS", "GetCallerIdentity", err)
	return out
}

func ask(ctx context.Context, c client, out *issuer.Caller) error {
	who, err := c.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return err
	}
	out.AccountID, out.ARN = aws.ToString(who.Account), aws.ToString(who.Arn)
	return nil
}
