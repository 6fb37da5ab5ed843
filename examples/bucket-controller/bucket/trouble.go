package bucket

import (
	"strings"
	"time"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// ACK's conditions that have nothing to do with the choice of a role; the others
// are package kube's.
const (
	// Terminal: nothing is done until the Bucket, or its bucket, is another.
	Terminal = "ACK.Terminal"
	// Advisory: all is well yet, and will not be if nobody does anything.
	Advisory = "ACK.Advisory"
)

const (
	// blockedWait is a safety: what unblocks a Bucket wakes it.
	blockedWait = 5 * time.Minute
	// refusedWait is the least time for which a refused role is not asked for again.
	refusedWait = 30 * time.Second
	// carmWait is how often ACK looks again for an entry of a config map.
	carmWait = 15 * time.Second
)

// Trouble is why a Bucket is not as it should be.
type Trouble struct {
	// Condition is the one that tells: ACK's Recoverable or Terminal, or
	// ResourceSynced for what only takes its time.
	Condition string
	// Reason and Message say what it is. They are the same from pass to pass as
	// long as the trouble is.
	Reason, Message string
	// Wait is when to look again.
	Wait time.Duration
	// Passing says that it is looked at again with growing pauses instead.
	Passing bool
}

// Error is REASON: MESSAGE.
func (t *Trouble) Error() string { return t.Reason + ": " + t.Message }

func recoverable(reason, message string) *Trouble {
	return &Trouble{Condition: kube.ConditionRecoverable, Reason: reason, Message: message, Wait: blockedWait}
}

func terminal(reason, message string) *Trouble {
	return &Trouble{Condition: Terminal, Reason: reason, Message: message, Wait: blockedWait}
}

// AfterFault is the plan that holds where a call has failed, or was not made: nothing is recorded.
// What STS says of a role is known by the operation: the same codes
// are S3's own, and mean something else there.
func AfterFault(f *fault.Fault) Plan {
	if f.Code == fault.CodeRoleWithdrawn {
		return Plan{Record: KeepRecord, Again: true} // by what is decided now
	}
	trouble := recoverable(string(f.Class), f.FirstLine())
	switch {
	case strings.HasPrefix(f.Operation, "AssumeRole"):
		trouble.Reason, trouble.Wait = "AssumeRoleFailed", refusedWait
	case f.Passing():
		trouble.Passing = true
	case f.Class == fault.Request:
		trouble.Condition = Terminal
	}
	return stopped(trouble)
}

// AfterFailure is the plan that holds where a step has failed. If AWS has refused to
// make the bucket there is none, and the role that was to make it is no longer on
// record: another one may.
func AfterFailure(o Observed, step Step, f *fault.Fault) Plan {
	plan := AfterFault(f)
	isRefusal := f.Class == fault.Unauthorized || f.Class == fault.Request
	if step == CreateBucket && isRefusal && !o.known() {
		plan.Record = Forsake
	}
	if step == DeleteBucket && f.Code == "BucketNotEmpty" {
		plan.Trouble = notEmpty(o)
	}
	return plan
}
