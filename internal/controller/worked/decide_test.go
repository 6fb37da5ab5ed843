// Package worked_test is a small controller, made with the kit, for docs/development.md:
// it keeps one queue in the cloud for each object of a kind. This file decides, as a
// package of internal/core would; controller_test.go is the shell.
package worked_test

import (
	"slices"
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// Finalizer holds a Queue while something of it may exist in the cloud.
const Finalizer = "worked.example/queue"

// Reasons of the condition Ready.
const (
	ReasonMade    condition.Reason = "Made"
	ReasonMaking  condition.Reason = "Making"
	ReasonRefused condition.Reason = "Refused"
	ReasonGoing   condition.Reason = "Going"
)

// Reference explains them.
var Reference = condition.Kind{
	Name:  "Queue",
	Types: []condition.Type{{Name: "Ready", Holds: "the queue exists"}},
	Reasons: []condition.Explanation{
		condition.Explain(ReasonMade, "Ready", "The queue exists.", "Nothing to do."),
		condition.Explain(ReasonMaking, "Ready", "The queue is being made.", "Nothing to do: the next look is seconds away."),
		condition.Explain(ReasonRefused, "Ready", "The cloud refused a call.", "Grant the right that the message names."),
		condition.Explain(ReasonGoing, "Ready", "The object is being deleted.", "Nothing to do."),
	},
}

// World is what one pass has observed.
type World struct {
	Queue *Queue
	// Exists says that the queue is there.
	Exists bool
	Now    time.Time
}

// Plan is what a pass decided.
type Plan struct {
	Steps  []Step
	Status QueueStatus
	Again  time.Duration
}

// Step is one change to make.
type Step interface{ step() }

// The steps.
type (
	Hold    struct{}
	Record  struct{}
	Make    struct{ Name string }
	Remove  struct{ Name string }
	Release struct{}
)

func (Hold) step()    {}
func (Record) step()  {}
func (Make) step()    {}
func (Remove) step()  {}
func (Release) step() {}

// lookAgain is when to look at what is as wanted, or waits for a person.
const lookAgain = time.Minute

// Decide says what to do. What a deletion needs is in status before anything is made.
func Decide(w World) Plan {
	plan := Plan{Status: *w.Queue.Status.DeepCopy(), Again: lookAgain}
	held := slices.Contains(w.Queue.Finalizers, Finalizer)
	name := "tabard-" + w.Queue.Name
	switch {
	case !w.Queue.DeletionTimestamp.IsZero():
		plan.say(w, condition.No(ReasonGoing, "the object is being deleted"))
		if w.Exists {
			plan.Steps = append(plan.Steps, Remove{plan.Status.Name})
		}
		if held {
			plan.Steps = append(plan.Steps, Release{})
		}
	case w.Exists && held && plan.Status.Name == name:
		plan.say(w, condition.Yes(ReasonMade, "queue %s exists", name))
	default:
		plan.Status.Name = name
		plan.say(w, condition.No(ReasonMaking, "queue %s is being made", name))
		plan.Steps, plan.Again = []Step{Hold{}, Record{}, Make{name}}, time.Second
	}
	return plan
}

// Failed is the status after a step that failed.
func Failed(plan Plan, f fault.Fault, w World) QueueStatus {
	plan.say(w, condition.No(ReasonRefused, "%s", f.Error()))
	return plan.Status
}

func (p *Plan) say(w World, v condition.Verdict) {
	p.Status.Conditions = condition.List(w.Queue.Status.Conditions, w.Queue.Generation, w.Now, condition.Named{Type: "Ready", Verdict: v})
}
