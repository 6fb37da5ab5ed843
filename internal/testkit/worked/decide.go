// Package worked is kind and decision of a small controller, made with the kit, for
// docs/development.md: it keeps one bucket in AWS for each object of a kind. It is as a
// package of api and one of internal/core would be; internal/controller/worked is the
// shell.
package worked

import (
	"slices"
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Finalizer holds a Mailbox while something of it may exist in AWS.
const Finalizer = "worked.example/bucket"

// OwnerTag is the tag of a bucket whose value is the name of its Mailbox.
const OwnerTag = "worked.example/mailbox"

// Reasons of the condition Ready.
const (
	ReasonMade    condition.Reason = "Made"
	ReasonMaking  condition.Reason = "Making"
	ReasonForeign condition.Reason = "Foreign"
	ReasonRefused condition.Reason = "Refused"
	ReasonGoing   condition.Reason = "Going"
)

// Reference explains them.
var Reference = condition.Kind{
	Name:  "Mailbox",
	Types: []condition.Type{{Name: "Ready", Holds: "the bucket exists"}},
	Reasons: []condition.Explanation{
		condition.Explain(ReasonMade, "Ready", "The bucket exists.", "Nothing to do."),
		condition.Explain(ReasonMaking, "Ready", "The bucket is being made.", "Nothing to do: the next look is seconds away."),
		condition.Explain(ReasonForeign, "Ready", "The bucket belongs to somebody else.", "Give the object another name, or delete the bucket."),
		condition.Explain(ReasonRefused, "Ready", "AWS refused a call.", "Grant the right that the message names."),
		condition.Explain(ReasonGoing, "Ready", "The object is being deleted.", "Nothing to do."),
	},
}

// World is what one pass has observed.
type World struct {
	Mailbox *Mailbox
	// Ours says that the bucket is there with the owner's tag, Foreign that it is there
	// without.
	Ours, Foreign bool
	Now           time.Time
}

// Plan is what a pass decided.
type Plan struct {
	Steps  []Step
	Status MailboxStatus
	Again  time.Duration
}

// Step is one change to make.
type Step interface{ step() }

// The steps.
type (
	// Hold adds the finalizer.
	Hold struct{}
	// Record writes the status.
	Record struct{}
	// Make creates the bucket.
	Make struct{ Name string }
	// Remove deletes it.
	Remove struct{ Name string }
	// Release removes the finalizer.
	Release struct{}
)

func (Hold) step()    {}
func (Record) step()  {}
func (Make) step()    {}
func (Remove) step()  {}
func (Release) step() {}

// LookAgain is when to look at what is as wanted, or waits for a person.
const LookAgain = time.Minute

// Bucket is the name of a Mailbox's bucket.
func Bucket(mailbox *Mailbox) string { return "tabard-" + mailbox.Name }

// Decide says what to do. What a deletion needs is in status before anything is made.
func Decide(w World) Plan {
	plan := Plan{Status: *w.Mailbox.Status.DeepCopy(), Again: LookAgain}
	held := slices.Contains(w.Mailbox.Finalizers, Finalizer)
	name := Bucket(w.Mailbox)
	switch {
	case !w.Mailbox.DeletionTimestamp.IsZero():
		plan.say(w, condition.No(ReasonGoing, "the object is being deleted"))
		if w.Ours {
			plan.Steps = append(plan.Steps, Remove{plan.Status.Bucket})
		}
		if held {
			plan.Steps = append(plan.Steps, Release{})
		}
	case w.Foreign:
		plan.say(w, condition.No(ReasonForeign, "bucket %s is there, and not this object's", name))
	case w.Ours && held && plan.Status.Bucket == name:
		plan.say(w, condition.Yes(ReasonMade, "bucket %s exists", name))
	default:
		plan.Status.Bucket = name
		plan.say(w, condition.No(ReasonMaking, "bucket %s is being made", name))
		plan.Steps, plan.Again = []Step{Hold{}, Record{}, Make{name}}, time.Second
	}
	return plan
}

// Failed is the plan to report after a step of it has failed. What does not pass by itself
// waits for a person.
func Failed(plan Plan, f fault.Fault, w World) Plan {
	if plan.say(w, condition.No(ReasonRefused, "%s", f.Error())); !f.Passing() {
		plan.Again = LookAgain
	}
	return plan
}

func (p *Plan) say(w World, v condition.Verdict) {
	p.Status.Conditions = condition.List(w.Mailbox.Status.Conditions, w.Mailbox.Generation, w.Now, condition.Named{Type: "Ready", Verdict: v})
}
