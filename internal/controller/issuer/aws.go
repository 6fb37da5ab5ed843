package issuer

import (
	"context"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// AWS is what the controller asks of the cloud, in the cloud's nouns: the one place
// where the decision's steps become calls, and what was seen becomes what is decided
// on. Every method says whom to be. "Already so" is success: the adapters know what
// that means.
type AWS struct {
	Accounts  Accounts
	Buckets   Buckets
	Providers Providers
	Roles     Roles
}

// Accounts tells who an identity is.
type Accounts interface {
	Caller(ctx context.Context, id identity.Identity) (account, arn string, err error)
}

// Buckets are the buckets that documents are published to.
type Buckets interface {
	Get(ctx context.Context, id identity.Identity, b cloud.Bucket) (cloud.BucketState, error)
	Keys(ctx context.Context, id identity.Identity, b cloud.Bucket, most int32) ([]string, error)
	Read(ctx context.Context, id identity.Identity, b cloud.Bucket, key string, most int64) (cloud.Object, error)
	Create(ctx context.Context, id identity.Identity, b cloud.Bucket, owner cloud.Tag) error
	SetPublicAccess(ctx context.Context, id identity.Identity, b cloud.Bucket, access cloud.PublicAccess) error
	Write(ctx context.Context, id identity.Identity, b cloud.Bucket, key, body, ifMatch string) error
	SetPolicy(ctx context.Context, id identity.Identity, b cloud.Bucket, policy string) error
	DeleteObject(ctx context.Context, id identity.Identity, b cloud.Bucket, key string) error
	SetTag(ctx context.Context, id identity.Identity, b cloud.Bucket, owner, tag cloud.Tag, on bool) error
	Delete(ctx context.Context, id identity.Identity, b cloud.Bucket, owner cloud.Tag) error
}

// Providers are IAM OIDC providers.
type Providers interface {
	Get(ctx context.Context, id identity.Identity, arn string) (cloud.Provider, error)
	Create(ctx context.Context, id identity.Identity, arn, url string, audiences []string, owner cloud.Tag) error
	AddAudience(ctx context.Context, id identity.Identity, arn, audience string) error
	RemoveAudience(ctx context.Context, id identity.Identity, arn, audience string) error
	Delete(ctx context.Context, id identity.Identity, arn string, owner cloud.Tag) error
}

// Roles are the account's IAM roles, of which only the trust is read.
type Roles interface {
	TrustedBy(ctx context.Context, id identity.Identity, providerARN string) ([]string, error)
}

// Caller is who an identity is.
func (a AWS) Caller(ctx context.Context, id identity.Identity) core.Caller {
	out := core.Caller{Identity: id}
	var err error
	if out.AccountID, out.ARN, err = a.Accounts.Caller(ctx, id); err != nil {
		out.Fault = controller.FaultOf(err)
	}
	return out
}

// Bucket is the bucket with the two documents below the prefix. Whether it holds
// others is asked only if that is to be known.
func (a AWS) Bucket(ctx context.Context, id identity.Identity, ref core.BucketRef, prefix string, others bool) core.Bucket {
	out, err := a.bucket(ctx, id, cloud.Bucket(ref), prefix, others)
	switch {
	case cloud.HasCode(err, cloud.CodeNoBucket): // it went while it was looked at
		return core.Bucket{}
	case err != nil:
		return core.Bucket{Fault: controller.FaultOf(err)}
	}
	return out
}

func (a AWS) bucket(ctx context.Context, id identity.Identity, b cloud.Bucket, prefix string, others bool) (core.Bucket, error) {
	seen, err := a.Buckets.Get(ctx, id, b)
	if err != nil || !seen.Exists {
		return core.Bucket{}, err
	}
	b.Region = seen.Region
	_, tombstone := seen.Tags[core.TombstoneTag]
	out := core.Bucket{
		Exists: true, Region: seen.Region, Owner: seen.Tags[core.OwnerTag], Tombstone: tombstone,
		Access: core.PublicAccessBlock(seen.Access), Policy: seen.Policy,
	}
	keys, discovery := core.DocumentKeys(prefix)
	if out.Keys, err = a.document(ctx, id, b, keys); err != nil {
		return out, err
	}
	if out.Discovery, err = a.document(ctx, id, b, discovery); err != nil || !others {
		return out, err
	}
	all, err := a.Buckets.Keys(ctx, id, b, 3) // the two documents, and one that is another
	out.Others = slices.ContainsFunc(all, func(key string) bool { return key != keys && key != discovery })
	return out, err
}

func (a AWS) document(ctx context.Context, id identity.Identity, b cloud.Bucket, key string) (core.Document, error) {
	object, err := a.Buckets.Read(ctx, id, b, key, core.MaxDocumentBytes)
	return core.Document(object), err
}

// Provider is the target with what IAM says of it.
func (a AWS) Provider(ctx context.Context, target core.ProviderState) core.ProviderState {
	seen, err := a.Providers.Get(ctx, target.Identity, target.ARN)
	if err != nil {
		target.Fault = controller.FaultOf(err)
		return target
	}
	target.Exists, target.Owner, target.Audiences = seen.Exists, seen.Tags[core.OwnerTag], seen.Audiences
	return target
}

// Perform makes one step in AWS true. It is idempotent: a step that was already
// performed succeeds.
func (a AWS) Perform(ctx context.Context, step core.Step) error {
	switch s := step.(type) {
	case core.CreateBucket:
		return a.Buckets.Create(ctx, s.Identity, cloud.Bucket(s.Bucket), tag(s.Owner))
	case core.SetPublicAccess:
		return a.Buckets.SetPublicAccess(ctx, s.Identity, cloud.Bucket(s.Bucket), cloud.PublicAccess(s.Access))
	case core.PutDocument:
		return a.Buckets.Write(ctx, s.Identity, cloud.Bucket(s.Bucket), s.Key, s.Body, s.IfMatch)
	case core.PutBucketPolicy:
		return a.Buckets.SetPolicy(ctx, s.Identity, cloud.Bucket(s.Bucket), s.Policy)
	case core.DeleteDocument:
		return a.Buckets.DeleteObject(ctx, s.Identity, cloud.Bucket(s.Bucket), s.Key)
	case core.SetTombstone:
		return a.Buckets.SetTag(ctx, s.Identity, cloud.Bucket(s.Bucket), tag(s.Owner), cloud.Tag{Key: core.TombstoneTag, Value: "true"}, s.On)
	case core.DeleteBucket:
		return a.Buckets.Delete(ctx, s.Identity, cloud.Bucket(s.Bucket), tag(s.Owner))
	case core.CreateProvider:
		return a.Providers.Create(ctx, s.Identity, s.ARN, s.URL, strings.Split(s.Audiences, ","), tag(s.Owner))
	case core.AddAudience:
		return a.Providers.AddAudience(ctx, s.Identity, s.ARN, s.Audience)
	case core.RemoveAudience:
		return a.Providers.RemoveAudience(ctx, s.Identity, s.ARN, s.Audience)
	case core.DeleteProvider:
		return a.Providers.Delete(ctx, s.Identity, s.ARN, tag(s.Owner))
	}
	return controller.UnknownStep(step)
}

// tag is the ownership tag of an issuer.
func tag(owner string) cloud.Tag { return cloud.Tag{Key: core.OwnerTag, Value: owner} }
