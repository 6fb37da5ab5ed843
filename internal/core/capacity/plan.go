package capacity

import "time"

// Plan is what a pass decided.
type Plan struct {
	// Outcome says in a word how the pass ended, for metrics.
	Outcome Outcome
	// Skip says why the object is left alone, empty if it is not. It is no
	// trouble: only a debug log tells of it.
	Skip Skip
	// Steps are to be performed in order, up to the first that fails.
	Steps []Step
	// Events are to be recorded after the steps, each once.
	Events []Event
	// Again is when to look next, from now; zero leaves it to the watches.
	Again time.Duration
	// Memory is to be kept for the next pass, if the steps succeed.
	Memory Memory
	// Log are lines that people need and events are too short for.
	Log []string
	// Mismatch says where the template's own status disagrees with AWS; empty
	// for nowhere.
	Mismatch string
}

// Outcome is how a pass ended.
type Outcome string

// The outcomes.
const (
	Skipped   Outcome = "skipped"
	Asking    Outcome = "asking"
	Annotated Outcome = "annotated"
	Unchanged Outcome = "unchanged"
	// Conflict: somebody else maintains another value, which stays.
	Conflict Outcome = "conflict"
	// Unknown: AWS does not know the type, or too little of it.
	Unknown Outcome = "unknown"
	// Invalid: a person must change the object or the configuration.
	Invalid Outcome = "invalid"
	// Refused: AWS does not let us.
	Refused Outcome = "refused"
	// Failed: it is tried again soon.
	Failed Outcome = "failed"
)

// Outcomes lists them all.
func Outcomes() []Outcome {
	return []Outcome{Skipped, Asking, Annotated, Unchanged, Conflict, Unknown, Invalid, Refused, Failed}
}

// Skip says why an object is left alone.
type Skip string

// The reasons. A watch tells when one of them ends.
const (
	SkipDeleting      Skip = "the object is being deleted"
	SkipDeployment    Skip = "its MachineDeployment is annotated, and Cluster API copies that down"
	SkipPaused        Skip = "the object or its cluster is paused"
	SkipAuthority     Skip = "the Machine API has no authority over the object"
	SkipForeignCloud  Skip = "its machines are not of AWS"
	SkipForeignOrigin Skip = "its cluster is not of AWS and it has no annotation with a region"
	SkipNotAutoscaled Skip = "it has no annotation with a size for the autoscaler"
)

// Step is one write. The first of a plan is made at the version at which the
// object was read, each further one at the version that the one before returned.
type Step interface{ step() }

// The steps, in the order in which a plan can hold them.
type (
	// Patch is a merge patch of the annotations with the object's
	// resourceVersion in it, so that it fails where somebody else has written
	// since.
	Patch struct {
		Version string
		// Set are annotations that are shared with others, as they shall be.
		Set map[string]string
		// Remove are annotations that go: ours that are not owned by apply, those of
		// a copy, and the labels when nothing is left in them.
		Remove []string
	}
	// Apply is a server-side apply of exactly these annotations: what we have
	// applied before and is not among them goes.
	Apply struct {
		Annotations map[string]string
		// Force takes over values that a predecessor wrote, that we had agreed
		// with, that are a copy's, or that nobody owns. It must be made at a version: only of that
		// one is it known that nobody else is overruled.
		Force bool
	}
)

func (Patch) step() {}
func (Apply) step() {}

// Event is an event on the object. It is comparable.
type Event struct {
	// Warning says that its type is Warning, not Normal.
	Warning bool
	// Reason and Message are the event's; they are the same at every attempt.
	Reason, Message string
}

// Reasons of events.
const (
	// ReasonAnnotated: the annotations were written.
	ReasonAnnotated = "CapacityAnnotated"
	// ReasonArchCorrected: somebody else's architecture label was wrong.
	ReasonArchCorrected = "ArchLabelCorrected"
	// ReasonCorrected: somebody else had copied another type's values.
	ReasonCorrected = "AnnotationsCorrected"
	// ReasonConflict: somebody else maintains another value.
	ReasonConflict = "AnnotationConflict"
	// ReasonFailedUpdate: the type is not known, or not to be found out.
	ReasonFailedUpdate = "FailedUpdate"
	// ReasonReconcileError: credentials or configuration are wrong.
	ReasonReconcileError = "ReconcileError"
	// ReasonRequestFailed: AWS did not answer, which passes.
	ReasonRequestFailed = "AWSRequestFailed"
)

func normal(reason, message string) Event { return Event{Reason: reason, Message: message} }

func warning(reason, message string) Event {
	return Event{Warning: true, Reason: reason, Message: message}
}
