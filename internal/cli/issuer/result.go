package issuer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Change says what becomes of one object.
type Change string

// The changes that a plan may have.
const (
	Create  Change = "Create"
	Keep    Change = "Keep"
	Replace Change = "Replace"
	// Unknown is of an object that the session may not look at.
	Unknown Change = "Unknown"
)

func changeOf(exists, unknown bool) Change {
	switch {
	case unknown:
		return Unknown
	case exists:
		return Keep
	}
	return Create
}

// mark is the change in one character, before a line of the plan.
func (c Change) mark() string {
	return map[Change]string{Create: "+", Keep: "=", Replace: "~", Unknown: "?"}[c]
}

// Planned is one object of a plan. Keep is of one that is there, and is put right where it
// differs.
type Planned struct {
	Change Change `json:"change"`
	Object string `json:"object"`
}

// Result is what a bootstrap planned and did, for programs.
type Result struct {
	command.Meta `json:",inline"`

	Issuer string `json:"issuer"`
	// Account and Caller are those of the person's session.
	Account string    `json:"account"`
	Caller  string    `json:"caller"`
	DryRun  bool      `json:"dryRun"`
	Plan    []Planned `json:"plan"`
	// Changes are in the order in which they were made.
	Changes    []string           `json:"changes"`
	Conditions []metav1.Condition `json:"conditions"`
	// RoleARN is empty where no provider is wanted in the session's account.
	RoleARN string `json:"roleARN,omitempty"`
	// Undo are the commands that take everything back.
	Undo []string `json:"undo,omitempty"`
}

func (r *Result) begin(world core.World, dryRun bool) {
	*r = Result{
		Meta: command.MetaOf("IssuerBootstrap"), Issuer: world.Issuer.Spec.URL, Account: world.Caller.AccountID, Caller: world.Caller.ARN, DryRun: dryRun,
		Changes: []string{}, Conditions: []metav1.Condition{},
	}
}
