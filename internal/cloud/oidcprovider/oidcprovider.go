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
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

const api = cloud.API("IAM")

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

// Get reads one provider. A missing one is Exists=false.
func (p *Providers) Get(ctx context.Context, id identity.Identity, arn string) (cloud.Provider, error) {
	c, err := p.client(ctx, id)
	if err != nil {
		return cloud.Provider{}, api.Fault("GetOpenIDConnectProvider", err)
	}
	return read(ctx, c, arn)
}

func read(ctx context.Context, c client, arn string) (cloud.Provider, error) {
	const operation = "GetOpenIDConnectProvider"
	out, err := c.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	if err != nil {
		return cloud.Provider{}, api.UnlessGone(operation, err)
	}
	seen := cloud.Provider{Exists: true, Tags: map[string]string{}, Audiences: slices.Sorted(slices.Values(out.ClientIDList))}
	for _, tag := range out.Tags {
		seen.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	return seen, nil
}

// Create registers the issuer of a URL, whose provider will have that ARN. One that
// is there with the owner's tag is success, whatever its audiences; one that lacks it
// is a fault Exists. No thumbprint is given: IAM trusts public authorities by itself,
// and fetches the thumbprint of others.
func (p *Providers) Create(ctx context.Context, id identity.Identity, arn, url string, audiences []string, owner cloud.Tag) error {
	const operation = "CreateOpenIDConnectProvider"
	c, err := p.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	_, err = c.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: &url, ClientIDList: audiences, Tags: []types.Tag{{Key: &owner.Key, Value: &owner.Value}},
	})
	known := api.Fault(operation, err)
	if !cloud.Is(known, fault.Exists) {
		return known
	}
	switch seen, err := read(ctx, c, arn); {
	case err != nil:
		return err
	case owner.Of(seen.Tags):
		return nil
	}
	return known
}

// AddAudience adds one client ID; one that is there already is success.
func (p *Providers) AddAudience(ctx context.Context, id identity.Identity, arn, audience string) error {
	const operation = "AddClientIDToOpenIDConnectProvider"
	c, err := p.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	_, err = c.AddClientIDToOpenIDConnectProvider(ctx, &iam.AddClientIDToOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn, ClientID: &audience,
	})
	return api.Fault(operation, err)
}

// RemoveAudience takes one client ID away; one that is gone, or whose provider
// is, is success.
func (p *Providers) RemoveAudience(ctx context.Context, id identity.Identity, arn, audience string) error {
	const operation = "RemoveClientIDFromOpenIDConnectProvider"
	c, err := p.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	_, err = c.RemoveClientIDFromOpenIDConnectProvider(ctx, &iam.RemoveClientIDFromOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &arn, ClientID: &audience,
	})
	return api.UnlessGone(operation, err)
}

// Delete removes a provider that carries the owner's tag; one that is gone is
// success, one without the tag is a fault Exists.
func (p *Providers) Delete(ctx context.Context, id identity.Identity, arn string, owner cloud.Tag) error {
	const operation = "DeleteOpenIDConnectProvider"
	c, err := p.client(ctx, id)
	if err != nil {
		return api.Fault(operation, err)
	}
	seen, err := read(ctx, c, arn)
	switch {
	case err != nil || !seen.Exists:
		return err
	case !owner.Of(seen.Tags):
		return api.Foreign(operation, "the provider "+arn, owner)
	}
	_, err = c.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: &arn})
	return api.UnlessGone(operation, err)
}
