// Package oidcprovider reads and changes IAM's OIDC providers: the
// registrations that make an account believe an issuer.
//
// What it asks of IAM, on the provider: iam:GetOpenIDConnectProvider,
// iam:CreateOpenIDConnectProvider, iam:TagOpenIDConnectProvider,
// iam:AddClientIDToOpenIDConnectProvider,
// iam:RemoveClientIDFromOpenIDConnectProvider,
// iam:DeleteOpenIDConnectProvider.
package oidcprovider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// Providers are the OIDC providers of whichever account an identity leads to.
// All errors are fault.Fault values. It is safe for concurrent use.
type Providers struct{ auth *awsauth.Auth }

// New makes Providers that get their identities from auth.
func New(auth *awsauth.Auth) *Providers { return &Providers{auth: auth} }

func (p *Providers) client(ctx context.Context, id identity.Identity) (client, error) {
	config, err := p.auth.Config(ctx, id)
	if err != nil {
		return nil, err
	}
	return iam.NewFromConfig(config), nil
}

// Get reads one provider. A missing one is Exists=false. What went wrong is the
// error and the state's Fault, the same fault in both.
func (p *Providers) Get(ctx context.Context, id identity.Identity, arn string) (issuer.ProviderState, error) {
	const operation = "GetOpenIDConnectProvider"
	state := issuer.ProviderState{Identity: id, ARN: arn}
	c, err := p.client(ctx, id)
	if err == nil {
		err = read(ctx, c, &state)
	}
	if cloud.Is(err, fault.Gone) {
		return state, nil
	}
	state.Fault = cloud.Classify(service, operation, err)
	return state, faultAt(operation, err)
}

// read fills in what IAM says; the audiences are sorted.
func read(ctx context.Context, c client, state *issuer.ProviderState) error {
	out, err := c.GetOpenIDConnectProvider(ctx,
		&iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &state.ARN})
	if err != nil {
		return faultAt("GetOpenIDConnectProvider", err)
	}
	state.Exists = true
	state.Audiences = slices.Sorted(slices.Values(out.ClientIDList))
	for _, tag := range out.Tags {
		if aws.ToString(tag.Key) == issuer.OwnerTag {
			state.Owner = aws.ToString(tag.Value)
		}
	}
	return nil
}

// Create registers the issuer. A provider of that URL that carries our tag is
// success, whatever its audiences; one that does not is a fault Exists. No
// thumbprint is given: IAM trusts public authorities by itself, and fetches the
// thumbprint of others.
func (p *Providers) Create(ctx context.Context, step issuer.CreateProvider) error {
	const operation = "CreateOpenIDConnectProvider"
	c, err := p.client(ctx, step.Identity)
	if err != nil {
		return faultAt(operation, err)
	}
	_, err = c.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url:          &step.URL,
		ClientIDList: strings.FieldsFunc(step.Audiences, func(r rune) bool { return r == ',' }),
		Tags:         []types.Tag{{Key: aws.String(issuer.OwnerTag), Value: &step.Owner}},
	})
	known := faultAt(operation, err)
	if !cloud.Is(known, fault.Exists) {
		return known
	}
	arn, err := p.arn(ctx, step)
	if err != nil {
		return err
	}
	state := issuer.ProviderState{ARN: arn}
	if err := read(ctx, c, &state); err != nil {
		return err
	}
	if state.Owner == step.Owner {
		return nil
	}
	return known
}

// arn is the ARN that the issuer's provider has in the identity's account. IAM's
// refusal does not say it.
func (p *Providers) arn(ctx context.Context, step issuer.CreateProvider) (string, error) {
	config, err := p.auth.Config(ctx, step.Identity)
	if err != nil {
		return "", cloud.Error("STS", "GetCallerIdentity", err)
	}
	return arnOf(ctx, sts.NewFromConfig(config), step.URL)
}

func arnOf(ctx context.Context, a account, url string) (string, error) {
	out, err := a.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", cloud.Error("STS", "GetCallerIdentity", err)
	}
	partition := "aws"
	if parts := strings.SplitN(aws.ToString(out.Arn), ":", 3); len(parts) == 3 {
		partition = parts[1]
	}
	return issuer.ProviderARN(partition, aws.ToString(out.Account), url), nil
}

// AddAudience adds one client ID; one that is there already is success.
func (p *Providers) AddAudience(ctx context.Context, step issuer.AddAudience) error {
	const operation = "AddClientIDToOpenIDConnectProvider"
	c, err := p.client(ctx, step.Identity)
	if err != nil {
		return faultAt(operation, err)
	}
	_, err = c.AddClientIDToOpenIDConnectProvider(ctx, &iam.AddClientIDToOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &step.ARN, ClientID: &step.Audience,
	})
	return faultAt(operation, err)
}

// RemoveAudience takes one client ID away; one that is gone, or whose provider
// is, is success.
func (p *Providers) RemoveAudience(ctx context.Context, step issuer.RemoveAudience) error {
	const operation = "RemoveClientIDFromOpenIDConnectProvider"
	c, err := p.client(ctx, step.Identity)
	if err != nil {
		return faultAt(operation, err)
	}
	_, err = c.RemoveClientIDFromOpenIDConnectProvider(ctx, &iam.RemoveClientIDFromOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &step.ARN, ClientID: &step.Audience,
	})
	return unlessGone(operation, err)
}

// Delete removes a provider that carries Tabard's tag; one that is gone is
// success, one without the tag is a fault Exists.
func (p *Providers) Delete(ctx context.Context, step issuer.DeleteProvider) error {
	const operation = "DeleteOpenIDConnectProvider"
	c, err := p.client(ctx, step.Identity)
	if err != nil {
		return faultAt(operation, err)
	}
	state := issuer.ProviderState{ARN: step.ARN}
	if err := read(ctx, c, &state); err != nil {
		return unlessGone(operation, err)
	}
	if state.Owner == "" {
		return fault.Fault{
			Class: fault.Exists, Service: service, Operation: operation,
			Message: fmt.Sprintf("the provider %s has no tag %s, so it is not Tabard's to delete",
				step.ARN, issuer.OwnerTag),
		}
	}
	_, err = c.DeleteOpenIDConnectProvider(ctx,
		&iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &step.ARN})
	return unlessGone(operation, err)
}

// service names IAM in faults.
const service = "IAM"

func faultAt(operation string, err error) error { return cloud.Error(service, operation, err) }

// unlessGone is the error's fault, and nil if that is Gone.
func unlessGone(operation string, err error) error {
	if known := faultAt(operation, err); !cloud.Is(known, fault.Gone) {
		return known
	}
	return nil
}
