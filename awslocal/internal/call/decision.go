package call

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Decision is why policies refused a call, as awslocal.Decision says it.
type Decision struct {
	Action    string
	Resource  string
	Effect    iampolicy.Effect
	Kind      iampolicy.Kind
	Policy    string
	Statement *int
	Sid       string
	Reason    string
}

// NoRole notes that a call is refused because its role does not exist, which AWS
// does not tell.
func (c *Call) NoRole(action, role string) {
	c.Entry.Decision = &Decision{Action: action, Resource: role, Effect: iampolicy.ImplicitDeny, Kind: iampolicy.TrustPolicy, Reason: "there is no such role"}
}

// PolicyNames are the names of a caller's policies.
type PolicyNames struct {
	// Identity are those of iampolicy.Policies.Identity, in the same order.
	Identity []string
	Boundary string
}

// Evaluate decides a request and notes in the journal's entry why it is refused. An
// entry tells of the last decision: a refusal that another right makes good is none.
func (c *Call) Evaluate(request *iampolicy.Request, policies *iampolicy.Policies, names PolicyNames) iampolicy.Decision {
	decision := iampolicy.Evaluate(request, policies)
	if c.Entry == nil {
		return decision
	}
	c.Entry.Decision = nil
	if !decision.Allowed() {
		c.Entry.Decision = explain(request, policies, names)
	}
	return decision
}

// explain costs more than the decision, and so is for refusals alone.
func explain(request *iampolicy.Request, policies *iampolicy.Policies, names PolicyNames) *Decision {
	found := iampolicy.Explain(request, policies)
	kind := found.Decision.Kind
	out := &Decision{Action: request.Action, Resource: request.Resource, Effect: found.Decision.Effect, Kind: kind}
	if kind == iampolicy.ResourcePolicy && strings.HasPrefix(strings.ToLower(request.Action), "sts:") {
		out.Kind = iampolicy.TrustPolicy
	}
	at := slices.IndexFunc(found.Statements, func(r iampolicy.Reason) bool {
		if out.Effect == iampolicy.ExplicitDeny {
			return r.Decided
		}
		return r.Kind == kind && r.Effect == "Allow"
	})
	if at < 0 {
		out.Reason = "no statement allows the action"
		return out
	}
	statement := found.Statements[at]
	index := statement.Statement // alone, so that the journal does not keep the explanation
	out.Statement, out.Sid, out.Reason = &index, statement.Sid, reason(statement)
	switch {
	case kind == iampolicy.ResourcePolicy:
		out.Policy = request.Resource
	case kind == iampolicy.BoundaryPolicy:
		out.Policy = names.Boundary
	case kind == iampolicy.IdentityPolicy && statement.Policy < len(names.Identity):
		out.Policy = names.Identity[statement.Policy]
	}
	return out
}

func reason(statement iampolicy.Reason) string {
	if statement.Effect == "Deny" {
		return "the statement denies the action"
	}
	if len(statement.Failures) == 0 {
		return "no statement allows the action; this one leaves it to the caller's account"
	}
	text := "no statement allows the action; the closest one does not fit: " + failure(statement.Failures[0])
	if more := len(statement.Failures) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

func failure(f iampolicy.Failure) string {
	element := f.Element
	if f.Key != "" {
		element = f.Operator + " " + f.Key
	}
	// An external ID is a secret between two accounts for some.
	if strings.EqualFold(f.Key, "sts:ExternalId") {
		return element
	}
	text := element + " is " + list(f.Required) + ", the request has " + list(f.Observed)
	if f.Note != "" {
		text += " (" + f.Note + ")"
	}
	return text
}

// list names values, few of many.
func list(values []string) string {
	const shown = 3
	switch rest := len(values) - shown; {
	case len(values) == 0:
		return "nothing"
	case rest > 0:
		return fmt.Sprintf("%q and %d more", values[:shown], rest)
	case len(values) == 1:
		return fmt.Sprintf("%q", values[0])
	}
	return fmt.Sprintf("%q", values)
}
