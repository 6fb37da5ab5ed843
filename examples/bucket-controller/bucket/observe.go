package bucket

import (
	"maps"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
)

// Observed is all that a decision on one Bucket rests on.
type Observed struct {
	Bucket *Bucket
	// Standing is with which role AWS may be called for it.
	Standing Standing
	// Retain says that its deletion policy leaves the bucket in AWS.
	Retain bool
	// Sight is what was seen in AWS, the zero value if nobody looked.
	Sight Sight
	// Advice is why credentials could not be replaced; nil if they could.
	Advice *fault.Fault
	// Now is when all this was so.
	Now time.Time
}

// Standing is with which role AWS may be called, or why it may not.
type Standing struct {
	// Course is Proceed's answer.
	Course roleselector.Course
	// Decision is what it rests on.
	Decision roleselector.Decision
	// Identity is whom to call AWS as, and in which region.
	Identity identity.Identity
	// Account and Partition are those of that identity.
	Account, Partition string
	// MayCall is asked before each call, and ends the pass if the course does not hold
	// any longer; nil asks nobody.
	MayCall func() error
	// Trouble is why AWS is not called although the course allows it.
	Trouble *Trouble
	// CARM says that there are no selectors, and nothing is to be said of them.
	CARM bool
}

// isBlocked says that there is no role to call AWS with.
func (s Standing) isBlocked() bool {
	return s.Course.Step == roleselector.Blocked || s.Course.Step == roleselector.AccountChangePending
}

// moves says that the bucket is to go from its account, and the Bucket to stay.
func (s Standing) moves() bool { return s.Course.Step == roleselector.DeleteBeforeMove }

// goesOn says that AWS may be called.
func (s Standing) goesOn() bool {
	return (s.Course.Step == roleselector.GoOn || s.moves()) && s.Trouble == nil
}

// Presence is what a bucket in AWS is to a Bucket.
type Presence string

// What a bucket can be.
const (
	// Absent: nobody in AWS has a bucket of the name.
	Absent Presence = "Absent"
	// Ours: it has the Bucket's tag.
	Ours Presence = "Ours"
	// Bare: it is in the role's account, and has neither tags nor objects, as a
	// crash between its creation and its tags leaves it.
	Bare Presence = "Bare"
	// Foreign: it is in the role's account, and somebody else's.
	Foreign Presence = "Foreign"
)

// Sight is what a look into AWS has shown.
type Sight struct {
	Presence Presence
	Tags     map[string]string
	// Fault is why nothing was seen.
	Fault *fault.Fault
}

// NeedsLook says that AWS has to be asked before anything is decided. Nobody asks
// before the finalizer is there.
func (o Observed) NeedsLook() bool {
	if !o.held() || !o.Standing.goesOn() {
		return false
	}
	return !o.deleting() || !o.letsGo()
}

func (o Observed) held() bool { return slices.Contains(o.Bucket.Finalizers, Finalizer) }

func (o Observed) deleting() bool { return !o.Bucket.DeletionTimestamp.IsZero() }

// letsGo says that deletion leaves AWS alone: the policy says so, or no call that
// could have made a bucket was ever made.
func (o Observed) letsGo() bool { return o.Retain || o.Bucket.Status.ACKResourceMetadata == nil }

// Recorded is what the status says of the last call that went well.
func (b *Bucket) Recorded() roleselector.Recorded {
	metadata := b.Status.ACKResourceMetadata
	if metadata == nil {
		return roleselector.Recorded{}
	}
	recorded := roleselector.Recorded{Account: metadata.OwnerAccountID, Region: metadata.Region}
	if used := metadata.IAMRoleSelector; used != nil {
		recorded.Selector, recorded.SelectorUID, recorded.RoleARN = used.SelectorName, used.UID, used.RoleARN
	}
	return recorded
}

// isRecorded says that the status names the role that calls are made with.
func (o Observed) isRecorded() bool {
	return o.Bucket.Recorded() == o.Bucket.Recorded().After(true, o.Standing.Course.Selector, o.Standing.Account, o.Standing.Identity.Region)
}

// isIntended says that the status names the role that calls are made with as the one
// that was to make the bucket, by this selector or by one in whose place it is.
func (o Observed) isIntended() bool {
	recorded := o.Bucket.Recorded()
	hasRole := recorded.RoleARN != "" && recorded.RoleARN == o.Standing.Course.Selector.ARN
	return o.isRecorded() || hasRole && recorded.Account == o.Standing.Account && recorded.Region == o.Standing.Identity.Region
}

// known says that the bucket has been there as ours.
func (o Observed) known() bool {
	metadata := o.Bucket.Status.ACKResourceMetadata
	return metadata != nil && metadata.ARN != ""
}

func (o Observed) hasTags() bool { return maps.Equal(o.Sight.Tags, o.Bucket.Tags()) }
