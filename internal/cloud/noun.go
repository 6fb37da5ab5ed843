package cloud

import "time"

// The plain data that adapters take and give. An adapter knows no controller: it is
// told the tag that says whose a thing is, and what to make of what it finds is a
// decision.

// Tag is one tag of a thing in AWS.
type Tag struct{ Key, Value string }

// Of says whether tags have this one, with its value.
func (t Tag) Of(tags map[string]string) bool {
	value, there := tags[t.Key]
	return there && value == t.Value
}

// Bucket is an S3 bucket: its name, where it is, and the account that must own it.
// Every call names that account, so that S3 itself refuses a name that changed hands;
// an empty one is any.
type Bucket struct{ Name, Region, AccountID string }

// BucketState is a bucket as the S3 API shows it. The zero value is no bucket.
type BucketState struct {
	Exists bool
	// Region is where the bucket really is.
	Region string
	// Tags are all of them.
	Tags map[string]string
	// Access is the bucket's own public access block.
	Access PublicAccess
	// Policy is the bucket policy, nil for none.
	Policy []byte
}

// PublicAccess are the four switches of S3 Block Public Access.
type PublicAccess struct {
	BlockPublicACLs, IgnorePublicACLs, BlockPublicPolicy, RestrictPublicBuckets bool
}

// Object is an object in a bucket. The zero value is none.
type Object struct {
	Exists bool
	Body   []byte
	// ETag is its version, for the condition of the next write.
	ETag string
}

// Provider is an IAM OIDC provider. The zero value is none.
type Provider struct {
	Exists bool
	// Tags are all of them.
	Tags map[string]string
	// Audiences are its client IDs, sorted.
	Audiences []string
}

// Role is an IAM role with all that is held by it. The zero value is none. All
// policies are plain JSON, without IAM's URL encoding.
type Role struct {
	Exists                     bool
	Name, Path, ARN, AccountID string
	// Trust is the trust policy.
	Trust string
	// Boundary is the ARN of the permissions boundary, empty for none.
	Boundary string
	// MaxSession is how long a session of the role may last.
	MaxSession time.Duration
	// Tags are all of them.
	Tags map[string]string
	// Policies are the inline policies by their names.
	Policies map[string]string
	// Attached are the ARNs of the attached managed policies, sorted.
	Attached []string
}

// RoleUsage is how many roles an account has, and how many IAM lets it have.
type RoleUsage struct{ Roles, Quota int }

// RoleWant is a role that is to be made. Its policies follow it.
type RoleWant struct {
	Name string
	// Path begins and ends with a slash; empty is "/".
	Path        string
	Description string
	// Trust is the trust policy, as JSON.
	Trust string
	// Boundary is the ARN of the permissions boundary, empty for none.
	Boundary string
	// MaxSession is from one to twelve hours, in whole seconds; 0 is IAM's default of
	// one hour.
	MaxSession time.Duration
	// Tags are those beside the owner's.
	Tags map[string]string
}

// BareRole is an IAM role without its policies. The zero value is none.
type BareRole struct {
	Exists bool
	// Name and ARN name it; ID is its unique ID, which no other role has before or after
	// it.
	Name, ARN, ID string
	// Trust is the trust policy in plain JSON.
	Trust string
	// Tags are all of them; nil where a list told of the role, which knows none.
	Tags map[string]string
	// Boundary is the ARN of the permissions boundary; empty for none, and where a list told of the role.
	Boundary string
}

// AccessEntry is what EKS makes of a principal on one cluster. The zero value is none.
type AccessEntry struct {
	Exists bool
	// Username and Groups are those of Kubernetes.
	Username string
	Groups   []string
	// Type is such as STANDARD.
	Type string
	// Tags are all of them.
	Tags map[string]string
}

// AccessEntryRef names an access entry: the cluster by its name, in the region of the
// identity that a call is made as, and the ARN of the IAM principal.
type AccessEntryRef struct{ Cluster, Principal string }

// AccessEntryWant is an access entry as it should be, of the type STANDARD.
type AccessEntryWant struct {
	Username string
	Groups   []string
	// Tags are those beside the owner's, for one that is made.
	Tags map[string]string
}
