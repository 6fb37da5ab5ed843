package issuer

import (
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// OwnerTag is the tag key of what Tabard creates in AWS for an issuer. Its value
// is the issuer's URL: the one name that is the same whoever looks.
const OwnerTag = "tabard.dev/issuer"

// TombstoneTag is the tag key of a bucket that is kept for its name only, beside
// the ownership tag. Its value says nothing.
const TombstoneTag = "tabard.dev/tombstone"

// MaxDocumentBytes bounds what is read as a document.
const MaxDocumentBytes = 1 << 20

// Paths of the documents below the issuer's URL, and below the prefix.
const (
	DiscoveryPath = ".well-known/openid-configuration"
	KeysPath      = "keys.json"
)

// Plan is what a pass decided.
type Plan struct {
	// Steps are to be performed in order, up to the first that fails.
	Steps []Step
	// Status is the status to write: by the Record step, and at the end of the
	// pass. Its conditions speak of what was observed, not of the steps.
	Status v1alpha1.OIDCIssuerStatus
	// Again is when to look next, from now.
	Again time.Duration
}

// Unrecorded are the steps to take although the Record that was to come before them
// has failed: a new key is not kept from being published by a status that cannot be
// written. Nothing is made that the stored status would not lead to; what may be
// lost is whose the key is, if the cluster drops it before any status is written.
func (p Plan) Unrecorded(failed Step) []Step {
	if _, is := failed.(Record); !is {
		return nil
	}
	var out []Step
	for _, step := range p.Steps {
		if put, is := step.(PutDocument); is && put.Urgent {
			out = append(out, step)
		}
	}
	return out
}

// Step is one change to make. Steps are small comparable values.
type Step interface{ step() }

// The steps, in the order in which a plan can hold them.
type (
	// HoldFinalizer adds the finalizer; it comes before anything outside. Where
	// there is no cluster to keep the object (bootstrap), it is added in memory.
	HoldFinalizer struct{}
	// Record writes the plan's status now: what a deletion will need is
	// remembered before the first write outside.
	Record struct{}
	// CreateBucket makes the bucket with the ownership tag. It is asked for
	// again if a crash came between the two: then the bucket exists, untagged
	// and empty, and only the tag is missing.
	CreateBucket struct {
		Identity identity.Identity
		Bucket   BucketRef
		Owner    string
	}
	// SetPublicAccess sets the bucket's public access block.
	SetPublicAccess struct {
		Identity identity.Identity
		Bucket   BucketRef
		Access   PublicAccessBlock
	}
	// PutDocument writes one document on the condition that it is still what
	// was read: IfMatch empty means that it must not exist. An Urgent one adds keys
	// that the cluster signs with, and takes none out but revoked ones, in a place that
	// the stored status knows.
	PutDocument struct {
		Identity identity.Identity
		Bucket   BucketRef
		Key      string
		Body     string
		IfMatch  string
		Urgent   bool
	}
	// PutBucketPolicy replaces the bucket's policy; an empty one removes it.
	PutBucketPolicy struct {
		Identity identity.Identity
		Bucket   BucketRef
		Policy   string
	}
	// CreateProvider registers the issuer.
	CreateProvider struct {
		Identity  identity.Identity
		ARN, URL  string
		Audiences string // sorted, joined by commas, so that the step compares
		Owner     string
	}
	// AddAudience adds one client ID to a provider.
	AddAudience struct {
		Identity      identity.Identity
		ARN, Audience string
	}
	// RemoveAudience takes one client ID from a provider of ours.
	RemoveAudience struct {
		Identity      identity.Identity
		ARN, Audience string
	}
	// DeleteProvider removes the provider of an owner.
	DeleteProvider struct {
		Identity   identity.Identity
		ARN, Owner string
	}
	// DeleteDocument removes one document.
	DeleteDocument struct {
		Identity identity.Identity
		Bucket   BucketRef
		Key      string
	}
	// SetTombstone puts the mark of a bucket that only keeps its name on the
	// bucket of an owner, or takes it off. Other tags stay.
	SetTombstone struct {
		Identity identity.Identity
		Bucket   BucketRef
		Owner    string
		On       bool
	}
	// DeleteBucket removes the bucket of an owner, and gives its name up.
	DeleteBucket struct {
		Identity identity.Identity
		Bucket   BucketRef
		Owner    string
	}
	// ReleaseFinalizer lets the object go.
	ReleaseFinalizer struct{}
)

// BucketRef is a bucket, where it is, and whose it must be: every S3 call says
// the account that it expects to own the bucket.
type BucketRef struct {
	Name, Region, AccountID string
}

func (HoldFinalizer) step()    {}
func (Record) step()           {}
func (CreateBucket) step()     {}
func (SetPublicAccess) step()  {}
func (PutDocument) step()      {}
func (PutBucketPolicy) step()  {}
func (CreateProvider) step()   {}
func (AddAudience) step()      {}
func (RemoveAudience) step()   {}
func (DeleteProvider) step()   {}
func (DeleteDocument) step()   {}
func (SetTombstone) step()     {}
func (DeleteBucket) step()     {}
func (ReleaseFinalizer) step() {}
