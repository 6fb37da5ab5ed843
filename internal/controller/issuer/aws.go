package issuer

import (
	"context"

	"github.com/tabard-dev/tabard/awsauth/identity"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// AWS is what the controller asks of the cloud, in its own nouns. Every method
// says whom to be. "Already so" is success: the adapters know what that means.
type AWS struct {
	Accounts  Accounts
	Buckets   Buckets
	Providers Providers
	Roles     Roles
}

// Accounts tells who an identity is.
type Accounts interface {
	Caller(ctx context.Context, id identity.Identity) core.Caller
}

// Buckets are the buckets that documents are published to.
type Buckets interface {
	Get(ctx context.Context, id identity.Identity, ref core.BucketRef, prefix string) core.Bucket
	HoldsOthers(ctx context.Context, id identity.Identity, ref core.BucketRef, prefix string) (bool, error)
	Create(ctx context.Context, step core.CreateBucket) error
	SetPublicAccess(ctx context.Context, step core.SetPublicAccess) error
	PutDocument(ctx context.Context, step core.PutDocument) error
	PutPolicy(ctx context.Context, step core.PutBucketPolicy) error
	DeleteDocument(ctx context.Context, step core.DeleteDocument) error
	SetTombstone(ctx context.Context, step core.SetTombstone) error
	Delete(ctx context.Context, step core.DeleteBucket) error
}

// Providers are IAM OIDC providers.
type Providers interface {
	Get(ctx context.Context, id identity.Identity, arn string) (core.ProviderState, error)
	Create(ctx context.Context, step core.CreateProvider) error
	AddAudience(ctx context.Context, step core.AddAudience) error
	RemoveAudience(ctx context.Context, step core.RemoveAudience) error
	Delete(ctx context.Context, step core.DeleteProvider) error
}

// Roles are the account's IAM roles, of which only the trust is read.
type Roles interface {
	TrustedBy(ctx context.Context, id identity.Identity, providerARN string) ([]string, error)
}
