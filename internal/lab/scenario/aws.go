package scenario

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// own is an audience that one scenario uses.
const own = "shop.example.com"

// ofAWS are the scenarios in which something else in AWS is wrong.
func ofAWS() []Scenario {
	return []Scenario{
		{Name: "p01-role", Title: "the role was deleted", Code: chain.CodeNoRoleInAWS, plant: func(s *shop, ctx context.Context) error {
			return s.deleteRole(ctx, RoleName)
		}},
		{Name: "p02", Title: "the OIDC provider was deleted", Code: chain.CodeNoProvider, plant: (*shop).withoutProvider},
		{Name: "p04", Title: "the ServiceAccount asks for an audience of its own", Code: chain.CodeProviderAudience, plant: (*shop).ownAudience},
		{Name: "p27", Title: "the role may list a bucket, and the workload reads an object", Code: chain.CodeNotAllowed,
			Call: "s3://" + bucket + "/" + object, Flags: "--action s3:GetObject --resource arn:aws:s3:::" + bucket + "/" + object,
			plant: func(s *shop, ctx context.Context) error {
				return s.setPolicy(ctx, allowing("s3:ListBucket", "arn:aws:s3:::"+bucket))
			}},
	}
}

// withoutProvider deletes the provider. The issuer's controller would make it again.
func (s *shop) withoutProvider(ctx context.Context) error {
	if err := s.stop(ctx, "tabard-issuer"); err != nil {
		return err
	}
	_, err := s.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider)})
	return err
}

// ownAudience gives ServiceAccount and trust policy an audience that the provider does not accept.
func (s *shop) ownAudience(ctx context.Context) error {
	if err := s.setTrust(ctx, s.trust(own)); err != nil {
		return err
	}
	if err := s.annotate(ctx, "helm", map[string]string{roleKey: s.role, "eks.amazonaws.com/audience": own}); err != nil {
		return err
	}
	return s.restart(ctx)
}
