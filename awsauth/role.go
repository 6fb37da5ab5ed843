package awsauth

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// defaultDuration is granted by every role, and the most for a role that is
// assumed by a role (IAM User Guide: role chaining).
const defaultDuration = time.Hour

// roleAssumption becomes a role by AssumeRole.
type roleAssumption struct {
	client interface {
		AssumeRole(context.Context, *sts.AssumeRoleInput, ...func(*sts.Options)) (*sts.AssumeRoleOutput, error)
	}
	role identity.Role
	// session is the name of a session whose role names none.
	session string
}

// Retrieve does one exchange.
func (r *roleAssumption) Retrieve(ctx context.Context) (aws.Credentials, error) {
	out, err := r.client.AssumeRole(ctx, r.input())
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("assuming %s: %w", r.role.ARN, err)
	}
	return sessionOf(out.Credentials, "assuming "+r.role.ARN)
}

func (r *roleAssumption) input() *sts.AssumeRoleInput {
	in := &sts.AssumeRoleInput{
		RoleArn:           &r.role.ARN,
		RoleSessionName:   &r.session,
		ExternalId:        optional(r.role.ExternalID),
		SourceIdentity:    optional(r.role.SourceIdentity),
		Policy:            optional(r.role.Policy),
		TransitiveTagKeys: r.role.TransitiveTags,
		DurationSeconds:   aws.Int32(int32(defaultDuration.Seconds())),
	}
	if r.role.SessionName != "" {
		in.RoleSessionName = &r.role.SessionName
	}
	if r.role.Duration != 0 {
		in.DurationSeconds = aws.Int32(int32(r.role.Duration.Seconds()))
	}
	for _, arn := range r.role.PolicyARNs {
		in.PolicyArns = append(in.PolicyArns, types.PolicyDescriptorType{Arn: &arn})
	}
	for _, key := range slices.Sorted(maps.Keys(r.role.Tags)) {
		in.Tags = append(in.Tags, types.Tag{Key: &key, Value: aws.String(r.role.Tags[key])})
	}
	return in
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// sessionOf are the credentials that STS answered with.
func sessionOf(got *types.Credentials, doing string) (aws.Credentials, error) {
	if got == nil || aws.ToString(got.AccessKeyId) == "" || aws.ToString(got.SecretAccessKey) == "" || got.Expiration == nil {
		return aws.Credentials{}, fmt.Errorf("%s: STS answered without credentials", doing)
	}
	return aws.Credentials{
		AccessKeyID:     *got.AccessKeyId,
		SecretAccessKey: *got.SecretAccessKey,
		SessionToken:    aws.ToString(got.SessionToken),
		Source:          "TabardSTS",
		CanExpire:       true,
		Expires:         *got.Expiration,
	}, nil
}
