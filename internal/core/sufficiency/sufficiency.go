// Package sufficiency says whether a role in AWS is enough for what an operator asks for: whether
// its trust policy admits each ServiceAccount, and whether its policies and its permissions
// boundary allow each permission. Where a doubt is left, the answer is not Satisfied. It does no
// I/O.
package sufficiency

import (
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/permission"
)

// Question is what a role shall be enough for.
type Question struct {
	// Issuer is the URL of the issuer of the cluster's tokens.
	Issuer string
	// ProviderARN is that of the issuer's OIDC provider in IAM; empty for the one that has the
	// issuer's name, in the account of the role.
	ProviderARN string
	// Subjects become the role, as in system:serviceaccount:NAMESPACE:NAME, by tokens for each of
	// Audiences.
	Subjects, Audiences []string
	Atoms               []permission.Atom
}

// Document is a policy in JSON, as AWS stores it.
type Document struct {
	// Name is what people know it by, such as "the inline policy objects".
	Name string
	Text string
	// Unread says why the text is not known; empty where it is.
	Unread string
}

// Documents are the policies of one role.
type Documents struct {
	ARN   string
	Trust Document
	// Policies are the inline and the attached ones.
	Policies []Document
	// Unlisted says why there may be more policies than Policies; empty if there are not.
	Unlisted string
	// Boundary is the permissions boundary, nil for none.
	Boundary *Document
}

// Verdict is the answer as a whole.
type Verdict string

// The verdicts.
const (
	// Satisfied says that each ServiceAccount is trusted, and each permission granted, for sure.
	Satisfied Verdict = "Satisfied"
	// Missing says that something is not, for sure.
	Missing Verdict = "Missing"
	// Unknown says that it cannot be told.
	Unknown Verdict = "Unknown"
)

// Result is the answer about one thing.
type Result string

// The results of permissions.
const (
	Granted Result = "granted"
	// Denied says that a Deny takes all of it.
	Denied Result = "denied"
	// Lacking says that no statement allows any of it.
	Lacking Result = "missing"
	// Partly says that a part of it is allowed, or could be, and another part is not.
	Partly Result = "partly"
	// Conditional says that it is granted only where condition keys have certain values.
	Conditional Result = "conditional"
	// Undecided says that no rule decides it, or that a document was not read.
	Undecided Result = "undecided"
)

// The results of trust.
const (
	Trusted       Result = "trusted"
	NotTrusted    Result = "notTrusted"
	WrongProvider Result = "wrongProvider"
	Unseen        Result = "unseen"
)

// verdict is what a result makes of the whole.
func (r Result) verdict() Verdict {
	switch r {
	case Granted, Trusted:
		return Satisfied
	case Denied, Lacking, Partly, NotTrusted, WrongProvider:
		return Missing
	}
	return Unknown
}

// Trust is whether one ServiceAccount becomes the role by tokens for one audience.
type Trust struct {
	Subject  string `json:"subject"`
	Audience string `json:"audience"`
	Result   Result `json:"result"`
	// Why is a sentence; empty where the subject is trusted.
	Why string `json:"why,omitempty"`
}

// Permission is whether one permission is granted.
type Permission struct {
	permission.Atom
	Result Result `json:"result"`
	// Why is a sentence; empty where it is granted.
	Why string `json:"why,omitempty"`
}

// Report is the answer in its parts.
type Report struct {
	Verdict     Verdict      `json:"verdict"`
	Trust       []Trust      `json:"trust"`
	Permissions []Permission `json:"permissions"`
	// Warnings are sentences about what is dangerous, or advice; they change no verdict.
	Warnings []string `json:"warnings,omitempty"`
	// Broader are sentences about what the role allows and nobody asks for. They change no verdict.
	Broader []string `json:"broader,omitempty"`
	// NotSeen are the policies that decide too, and that nobody can read from here.
	NotSeen []string `json:"notSeen"`
}

// notSeen are policies that AWS evaluates beside those of a role
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html).
var notSeen = []string{"service control policies (SCP)", "resource control policies (RCP)", "session policies", "policies of resources"}

// mostChecked bounds the work: a role has room for a fraction of so many permissions, or subjects.
const mostChecked = 1000

// Check says whether a role is enough. An atom of another cloud is Undecided.
func Check(q Question, d Documents) Report {
	r := Report{Trust: []Trust{}, Permissions: []Permission{}, NotSeen: slices.Clone(notSeen)}
	r.trust(q, d)
	r.permissions(q, d)
	r.Verdict = Satisfied
	for _, t := range r.Trust {
		r.Verdict = worst(r.Verdict, t.Result.verdict())
	}
	for _, p := range r.Permissions {
		r.Verdict = worst(r.Verdict, p.Result.verdict())
	}
	if len(q.Subjects) == 0 || len(q.Audiences) == 0 {
		r.Verdict = worst(r.Verdict, Unknown)
		r.warn("it is not said which ServiceAccounts become the role, or for which audiences their tokens are")
	}
	return r
}

// isWorse orders verdicts: Missing is worse than Unknown, and that worse than Satisfied.
func (v Verdict) isWorse(than Verdict) bool {
	order := []Verdict{Satisfied, Unknown, Missing}
	return slices.Index(order, v) > slices.Index(order, than)
}

// worst is the worse of two verdicts.
func worst(a, b Verdict) Verdict {
	if b.isWorse(a) {
		return b
	}
	return a
}

// mostWarnings bounds the warnings of a report.
const mostWarnings = 100

func (r *Report) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(r.Warnings) < mostWarnings && !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}
