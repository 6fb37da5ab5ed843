package bucket

import "fmt"

// Step is one thing to do.
type Step string

// The steps. Each may be repeated.
const (
	// HoldFinalizer comes before AWS is called for the first time.
	HoldFinalizer Step = "HoldFinalizer"
	// CreateBucket makes the bucket; PutTags, which follows, makes it the Bucket's.
	CreateBucket Step = "CreateBucket"
	// PutTags gives it the tags that are wanted.
	PutTags Step = "PutTags"
	// DeleteBucket removes it.
	DeleteBucket Step = "DeleteBucket"
	// ReleaseFinalizer lets the Bucket go.
	ReleaseFinalizer Step = "ReleaseFinalizer"
)

// Record is what the status says of AWS after a pass that went well.
type Record string

// The records.
const (
	// KeepRecord leaves it as it is.
	KeepRecord Record = "KeepRecord"
	// Intend records the role that has just been used, and that there is no bucket,
	// before one is made: should the process die in between, the status leads to it.
	Intend Record = "Intend"
	// Confirm records the role, and that the bucket is there.
	Confirm Record = "Confirm"
	// Forsake forgets where the bucket was, or was to be: there is none.
	Forsake Record = "Forsake"
)

// Plan is what one pass does, and what holds if all of it goes well.
type Plan struct {
	Steps  []Step
	Record Record
	// Trouble is what is reported; nil if all is well.
	Trouble *Trouble
	// Again asks for another pass at once, which then says how things are.
	Again bool
}

// Decide says what to do about a Bucket. It never asks for a step in AWS unless
// Proceed lets it and a look has shown what is there.
func Decide(o Observed) Plan {
	switch {
	case o.deleting() && !o.held():
		return Plan{Record: KeepRecord}
	case o.deleting() && o.letsGo():
		return Plan{Steps: []Step{ReleaseFinalizer}, Record: KeepRecord}
	case o.Standing.isBlocked():
		return stopped(recoverable(string(o.Standing.Course.Reason), o.Standing.Course.Message))
	case o.Standing.Trouble != nil:
		return stopped(o.Standing.Trouble)
	case !o.held():
		return Plan{Steps: []Step{HoldFinalizer}, Record: KeepRecord, Again: true}
	case o.Sight.Fault != nil:
		return AfterFault(o.Sight.Fault)
	case o.deleting():
		return remove(o, Plan{Steps: []Step{ReleaseFinalizer}, Record: KeepRecord})
	case o.Standing.moves():
		return remove(o, Plan{Record: Forsake, Again: true})
	}
	return keep(o)
}

func stopped(trouble *Trouble) Plan { return Plan{Record: KeepRecord, Trouble: trouble} }

// keep is for a Bucket that is to have a bucket.
func keep(o Observed) Plan {
	leftover := o.Sight.Presence == Bare && !o.known()
	switch {
	case o.Sight.Presence == Absent && (o.known() || !o.isRecorded()):
		return Plan{Record: Intend, Again: true}
	case o.Sight.Presence == Absent:
		return Plan{Steps: []Step{CreateBucket, PutTags}, Record: Confirm}
	case leftover && o.isIntended():
		return Plan{Steps: []Step{PutTags}, Record: Confirm}
	case o.Sight.Presence == Ours && !o.hasTags():
		return Plan{Steps: []Step{PutTags}, Record: Confirm}
	case o.Sight.Presence == Ours:
		return Plan{Record: Confirm}
	}
	return stopped(notOurs(o))
}

// remove is for a Bucket whose bucket is to go; then is what follows once it is gone.
func remove(o Observed, then Plan) Plan {
	isOurs := o.Sight.Presence == Ours || o.Sight.Presence == Bare && !o.known() && o.isIntended()
	switch {
	case isOurs:
		then.Steps = append([]Step{DeleteBucket}, then.Steps...)
		return then
	case o.Sight.Presence == Absent && o.Standing.Course.TrustNotFound:
		return then
	case o.Sight.Presence == Absent:
		return stopped(terminal("NotFoundWithOtherRole", "The bucket was not found, but with another role than it was managed with last. "+letGo))
	case !o.known() && o.Standing.Course.TrustNotFound:
		// Somebody else took the name before we could.
		return then
	}
	return stopped(notOurs(o))
}

// letGo is what a person can do about a Bucket that cannot be deleted.
const letGo = "To delete the Bucket alone, annotate it services.k8s.aws/deletion-policy=retain."

func notOurs(o Observed) *Trouble {
	text := fmt.Sprintf("The bucket %s exists in the account %s and is not this Bucket's: its tag %s is not %s. It is left alone.",
		o.Bucket.Spec.Name, o.Standing.Account, OwnerTag, o.Bucket.UID)
	if o.deleting() {
		text += " " + letGo
	}
	return terminal("BucketNotOurs", text)
}

// notEmpty is S3's own refusal: who empties the bucket is somebody else.
func notEmpty(o Observed) *Trouble {
	text := fmt.Sprintf("The bucket %s in the account %s has objects in it, and is deleted once it has none. ", o.Bucket.Spec.Name, o.Standing.Account)
	if o.deleting() {
		return terminal("BucketNotEmpty", text+letGo)
	}
	return terminal("BucketNotEmpty", text+o.Standing.Course.Message+
		" Take away what is to be kept, and empty it. To leave it where it is, annotate the Bucket services.k8s.aws/deletion-policy=retain.")
}
