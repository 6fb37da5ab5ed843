package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// ofAWS are the scenarios in which something else in AWS is wrong.
func ofAWS() []Scenario {
	return []Scenario{
		{Name: "p01-role", Title: "the role was deleted", Code: chain.CodeNoRoleInAWS, plant: func(s *shop, ctx context.Context) error {
			return s.deleteRole(ctx, RoleName)
		}},
		{Name: "p02", Title: "the OIDC provider was deleted", Code: chain.CodeNoProvider, plant: (*shop).withoutProvider},
		{Name: "p03", Title: "a rule of the bucket deleted the issuer's keys", Code: chain.CodeNotPublic, plant: (*shop).withoutKeys},
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
	if err := errors.Join(s.stop(ctx, "tabard-issuer"), s.keepProvider(ctx)); err != nil {
		return err
	}
	_, err := s.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider)})
	return err
}

// withoutKeys deletes the issuer's keys. The issuer's controller would publish them again. The local AWS
// keeps keys for five minutes, as AWS does, but not those of another thumbprint.
func (s *shop) withoutKeys(ctx context.Context) error {
	if err := errors.Join(s.stop(ctx, "tabard-issuer"), s.keepProvider(ctx)); err != nil {
		return err
	}
	found, err := s.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(s.Lab.Bucket), Key: aws.String(keysKey)})
	if err != nil {
		return err
	}
	defer found.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(found.Body)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.keptKeys(), text, 0o600); err != nil {
		return err
	}
	if _, err := s.s3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(s.Lab.Bucket), Key: aws.String(keysKey)}); err != nil {
		return err
	}
	thumbprint := fmt.Sprintf("%040x", time.Now().UnixNano())
	_, err = s.iam.UpdateOpenIDConnectProviderThumbprint(ctx, &iam.UpdateOpenIDConnectProviderThumbprintInput{
		OpenIDConnectProviderArn: aws.String(s.provider), ThumbprintList: []string{thumbprint},
	})
	return err
}

// keysKey is where the issuer's keys are in its bucket.
const keysKey = "keys.json"

// setKeys writes the issuer's keys document.
func (s *shop) setKeys(ctx context.Context, document string) error {
	_, err := s.s3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: aws.String(s.Lab.Bucket), Key: aws.String(keysKey), Body: strings.NewReader(document), ContentType: aws.String("application/json"),
	})
	return err
}

// ownAudience gives ServiceAccount and trust policy an audience that the provider does not accept.
func (s *shop) ownAudience(ctx context.Context) error {
	const own = "shop.example.com"
	if err := errors.Join(s.keepProvider(ctx), s.setTrust(ctx, s.trust(own))); err != nil {
		return err
	}
	if err := s.annotate(ctx, "helm", map[string]string{roleKey: s.role, "eks.amazonaws.com/audience": own}); err != nil {
		return err
	}
	return s.restart(ctx)
}
