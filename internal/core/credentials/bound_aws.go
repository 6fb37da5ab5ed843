package credentials

import (
	"cmp"
	"slices"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// BoundaryWorld is what a CredentialsBoundary is judged by, besides itself.
type BoundaryWorld struct {
	Boundary *v1alpha1.CredentialsBoundary
	Settings Settings
	// PolicyInAWS is the policy of PermissionsBoundaryOf.
	PolicyInAWS
	// Protected are the buckets of all issuers, and their providers in the account.
	Protected Protected
	Now       time.Time
}

// PermissionsBoundaryOf is the ARN of the policy that bounds a boundary's roles; empty if
// there is none, or no role is made under it.
func PermissionsBoundaryOf(b *v1alpha1.CredentialsBoundary, settings Settings) string {
	if b.Spec.AWS == nil || b.Spec.AWS.Ceiling == "" {
		return ""
	}
	return cmp.Or(b.Spec.AWS.PermissionsBoundary, settings.PermissionsBoundary)
}

// DecideBoundary is the status of a CredentialsBoundary, and when to look again: what is
// in AWS announces itself by nothing.
func DecideBoundary(w BoundaryWorld) (status v1alpha1.CredentialsBoundaryStatus, again time.Duration) {
	v := judgeInAWS(w)
	again = BoundaryAgain
	conditions := condition.List(w.Boundary.Status.Conditions, w.Boundary.Generation, w.Now, condition.Named{Type: TypeReady, Verdict: v})
	switch {
	case isPassing(v):
		again = retryAgain
	case !v.IsTrue():
		again = patience(conditions, TypeReady, w.Now)
	}
	return v1alpha1.CredentialsBoundaryStatus{ObservedGeneration: w.Boundary.Generation, Conditions: conditions}, again
}

// BoundaryAgain is when to look again at a boundary that is Ready.
const BoundaryAgain = time.Hour

func judgeInAWS(w BoundaryWorld) condition.Verdict {
	v := JudgeBoundary(w.Boundary, w.Settings)
	arn := PermissionsBoundaryOf(w.Boundary, w.Settings)
	aws := w.Boundary.Spec.AWS
	switch {
	case !v.IsTrue() || aws == nil || aws.Ceiling == "":
		return v
	case arn == "":
		return condition.No(ReasonNoPermissionsBoundary, "its roles have no permissions boundary: run tabard credentials bootstrap, or set spec.aws.permissionsBoundary")
	case w.Fault != nil:
		return awsTrouble(*w.Fault)
	case !w.Exists:
		return condition.No(ReasonNoPermissionsBoundary, "there is no policy %s in AWS, so that no role can be made: run tabard credentials bootstrap, or set spec.aws.permissionsBoundary", arn)
	}
	inAWS, err := iampolicy.Parse([]byte(w.Document))
	if err != nil {
		return condition.No(ReasonBeyondAWSBoundary, "the policy %s in AWS cannot be read: %v", arn, err)
	}
	// What no request may reach is asked as a request's own statements are: see unprotected.
	protected := w.Protected.all(cmp.Or(w.Settings.Partition, "aws"))
	if name, _ := protected.reached(anything(), inAWS); name != "" {
		return condition.No(ReasonIssuerNotKept, "the policy %s in AWS does not keep roles from %s: run tabard credentials bootstrap, which adds it to the policy that it makes; to one of your own, add a statement that denies it", arn, name)
	}
	within := WithinAWSBoundary(w.Boundary, inAWS)
	switch {
	case within.IsTrue():
		return condition.Yes(ReasonReady, "%s, and the policy %s in AWS allows all of it", v.Message, arn)
	case w.Boundary.Name == v1alpha1.DefaultBoundary: // it bounds nothing, so that AWS alone does
		return condition.Yes(ReasonReady, "%s; the policy %s in AWS bounds its roles", v.Message, arn)
	}
	// A Deny on everything but some things is of resources too that no such action has.
	if allowed, err := iampolicy.Parse(withoutDeny(w.Document)); err == nil && WithinAWSBoundary(w.Boundary, allowed).IsTrue() {
		return condition.Yes(ReasonReady, "%s; %s", v.Message, within.Message)
	}
	return within
}

// withoutDeny are the statements of a policy that allow.
func withoutDeny(document string) []byte {
	allowing := slices.DeleteFunc(Statements(document), func(s Statement) bool { return s.text("Effect") != "Allow" })
	return []byte(Encoded(struct {
		Version   string
		Statement []Statement
	}{"2012-10-17", allowing}))
}

// BoundaryReference explains the condition of a CredentialsBoundary and its reasons.
var BoundaryReference = condition.Kind{
	Name:  "CredentialsBoundary",
	Types: []condition.Type{{Name: TypeReady, Holds: "the boundary can be used, and the permissions boundary in AWS allows all that its ceiling does and keeps roles from the issuers' buckets and providers"}},
	Reasons: []condition.Explanation{
		condition.Explain(ReasonReady, TypeReady, "Requests of its namespaces are judged by it.", "Nothing to do."),
		condition.Explain(ReasonBoundaryInvalid, TypeReady, "A field cannot be used. Every request of its namespaces is refused, or where the message names spec.aws.permissionsBoundary, those for which a role is to be made.", "Correct the field that the message names."),
		condition.Explain(ReasonCeilingInvalid, TypeReady, "The ceiling is no policy that AWS would take. Requests for which a role is to be made are refused.", "Correct spec.aws.ceiling."),
		condition.Explain(ReasonCeilingTooWide, TypeReady, "The ceiling does not list services and resources. Requests for which a role is to be made are refused.", "Write the services and ARNs that are meant."),
		condition.Explain(ReasonBeyondAWSBoundary, TypeReady, "The ceiling, or the path, goes beyond what AWS lets the roles do, or that cannot be decided; requests are accepted that AWS cuts down.", "Lower the ceiling, or raise the permissions boundary that the message names."),
		condition.Explain(ReasonNoPermissionsBoundary, TypeReady, "There is no policy for the permissions boundary of its roles, so that none can be made.", "Run tabard credentials bootstrap, or set spec.aws.permissionsBoundary."),
		condition.Explain(ReasonIssuerNotKept, TypeReady, "The permissions boundary in AWS was made before an issuer, and does not keep roles from its bucket or its provider. Requests are still refused that reach it.", "Run tabard credentials bootstrap again; a policy of your own has to deny it."),
		condition.Explain(ReasonNotAuthenticated, TypeReady, "AWS does not accept the controller's token.", "Run tabard credentials bootstrap with an AWS session of your own."),
		condition.Explain(ReasonAccessDenied, TypeReady, "The controller may not read the policy.", "Run tabard credentials bootstrap; name the policy with --permissions-boundary if it is your own."),
		condition.Explain(ReasonAWSUnavailable, TypeReady, "AWS did not answer, or asked for fewer calls.", "Nothing to do: it is tried again by itself."),
		condition.Explain(ReasonAWSRefused, TypeReady, "AWS refused to show the policy.", "Follow AWS's own text in the message."),
	},
}
