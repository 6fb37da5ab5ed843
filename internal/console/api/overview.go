package api

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

// LinkState is one link of the chain, of the cluster as a whole.
type LinkState struct {
	Link  chain.Link  `json:"link"`
	Name  string      `json:"name"`
	Asks  string      `json:"asks"`
	State chain.State `json:"state"`
	Text  string      `json:"text"`
	// Needs is the right that is missing where the state is unseen.
	Needs string `json:"needs,omitempty"`
	// Since is when it came to be so, by what the cluster has recorded. Where it records nothing, Seen is
	// when this console saw it first: it may be so for longer.
	Since *time.Time `json:"since,omitempty"`
	Seen  time.Time  `json:"seen"`
	// By is what it was judged by, such as "pod shop/checkout", and Path the page of that.
	By   string `json:"by,omitempty"`
	Path string `json:"path,omitempty"`
}

// Todo is the one thing to do next.
type Todo struct {
	Title string `json:"title"`
	// Observed and Required stand beside each other; both may be empty.
	Observed string `json:"observed,omitempty"`
	Required string `json:"required,omitempty"`
	// Commands are what to type, in their order.
	Commands []string `json:"commands"`
	// Blanks are the words of Commands that a person fills in.
	Blanks []string `json:"blanks,omitempty"`
	Note   string   `json:"note,omitempty"`
	// Path is the page of the console that says more; empty for none.
	Path string `json:"path,omitempty"`
}

// WaitingRequest is a CredentialsRequest that waits.
type WaitingRequest struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Actor     string `json:"actor"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
	// Since is when it was created.
	Since   time.Time `json:"since"`
	Command string    `json:"command"`
}

// Overview is the cluster at a glance.
type Overview struct {
	Links []LinkState `json:"links"`
	// Todo is nil where nothing is to be done, as far as was seen.
	Todo     *Todo  `json:"todo,omitempty"`
	Sentence string `json:"sentence"`

	// Pods counts those that were read, Given those with their identity, and Without those that lack what
	// they should have, of which Lacking are the first. Unknown counts those of which it is not known whether
	// they have their identity. PodsUnknown says why none of this is known.
	Pods        int      `json:"pods"`
	Given       int      `json:"given"`
	Without     int      `json:"without"`
	Unknown     int      `json:"unknown"`
	Lacking     []PodRow `json:"lacking"`
	PodsUnknown string   `json:"podsUnknown,omitempty"`

	// Requests counts the CredentialsRequests, of which WaitingTotal wait and Waiting are the first.
	// RequestsUnknown says why none of this is known, or that the cluster has no such kind.
	Requests        int              `json:"requests"`
	WaitingTotal    int              `json:"waitingTotal"`
	Waiting         []WaitingRequest `json:"waiting"`
	RequestsUnknown string           `json:"requestsUnknown,omitempty"`
	// RequestsCommand lists all of those that were read.
	RequestsCommand string `json:"requestsCommand"`

	// PartlyPods says what is not known of pods and ServiceAccounts, and PartlyRequests what is not of requests.
	PartlyPods     []string `json:"partlyPods"`
	PartlyRequests []string `json:"partlyRequests"`
	// Version changes with what was read: an event names the newest.
	Version string `json:"version"`
	// ReadAt is when the oldest of what is shown was read.
	ReadAt  time.Time `json:"readAt"`
	Command string    `json:"command"`
}
