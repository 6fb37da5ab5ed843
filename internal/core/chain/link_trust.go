package chain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

const assumeWithToken = "sts:AssumeRoleWithWebIdentity"

// admission is one trust policy, and the token that it is asked about.
type admission struct {
	*walk
	name           string
	provider, bare string
	policy         *sufficiency.TrustPolicy
	// document has the members of the policy, and statements its statements.
	document   map[string]json.RawMessage
	statements []credentials.Statement
}

func (w *walk) trust() Step {
	role, ok := w.arn()
	switch {
	case w.role == "":
		return Step{State: Unreached, Text: "no role is named"}
	case !ok:
		return Step{State: Unreached, Text: "what is named is no role"}
	case w.Role.Unread != "":
		return unseen("the trust policy of "+w.role, w.Role.Unread, w.Role.Needs)
	case w.Role.Value == nil:
		return broken(Finding{
			Code: CodeNoRoleInAWS, Symptom: fmt.Sprintf("there is no role %s", w.role), Observed: "no role of the name " + role.Name + " in account " + role.Account, Required: w.role,
			Mend: w.createRole(role.Name), Note: "If the role has another name or path, write its whole ARN into the annotation: aws iam get-role --role-name " + role.Name + " shows it.",
		})
	case !isAbout(w.Role.Value.ARN, role):
		return unseen("the trust policy of "+w.role, "another role was read, "+w.Role.Value.ARN, "iam:GetRole on role "+role.Name)
	case w.Role.Value.ARN != w.role:
		return broken(Finding{
			Code: CodeRolePath, Symptom: "the role has another ARN than the one that is named", Observed: w.role, Required: w.Role.Value.ARN,
			Mend: []string{w.annotate(w.Role.Value.ARN), w.restart()},
		})
	case w.url() == "":
		return Step{State: Unreached, Text: "the issuer of the cluster's tokens is not known"}
	}
	a := admission{walk: w, name: role.Name, provider: w.providerARN(), bare: strings.TrimPrefix(w.url(), "https://"), statements: credentials.Statements(w.Role.Value.Trust)}
	arn, _ := identity.ParseARN(w.role)
	policy, err := sufficiency.ReadTrust(arn, w.Role.Value.Trust, w.url(), a.provider)
	if err == nil {
		err = json.Unmarshal([]byte(w.Role.Value.Trust), &a.document)
	}
	if err != nil {
		return unseen("the trust policy of "+w.role, fmt.Sprintf("it cannot be read: %v", err), "a policy that AWS takes")
	}
	a.policy = policy
	return a.judge()
}

// isAbout says that an ARN is of a role of the same account and name, whatever its path.
func isAbout(arn string, role identity.RoleARN) bool {
	read, ok := identity.ParseRoleARN(arn)
	return ok && read.Account == role.Account && read.Name == role.Name
}

// createRole makes the role with the trust that the token needs.
func (w *walk) createRole(name string) []string {
	arn := w.providerARN()
	if arn == "" {
		return []string{"aws iam create-role --role-name " + line.Word(name) + " --assume-role-policy-document file://TRUST.json"}
	}
	trust := credentials.Encoded(iampolicy.Document{iampolicy.WebIdentity(arn, w.audience, w.tokenSubject())})
	return []string{"aws iam create-role --role-name " + line.Word(name) + " --assume-role-policy-document " + line.Quoted(trust)}
}

// judge says whether the trust policy admits the token.
func (a *admission) judge() Step {
	result, why := a.policy.Judge(a.tokenSubject(), a.audience)
	switch result {
	case sufficiency.Trusted:
		return Step{State: Sound, Text: fmt.Sprintf("the trust policy of %s admits %s", a.name, a.tokenSubject())}
	case sufficiency.NotTrusted, sufficiency.WrongProvider:
		return broken(a.refused(why))
	case sufficiency.Granted, sufficiency.Denied, sufficiency.Lacking, sufficiency.Partly, sufficiency.Conditional, sufficiency.Undecided, sufficiency.Unseen:
	}
	return unseen("whether the trust policy of "+a.name+" admits the token", why, "a try: aws sts assume-role-with-web-identity from the pod")
}

// refused is the finding of a token that is not admitted: what is in its way in the statement that
// comes closest, and a whole document that admits it.
func (a *admission) refused(why string) Finding {
	reasons := a.policy.Reasons(a.tokenSubject(), a.audience)
	for _, r := range reasons {
		if r.Effect == "Deny" && r.Applied {
			return Finding{
				Code: CodeTrustDenies, Symptom: fmt.Sprintf("statement %d of the trust policy denies the token", r.Statement+1),
				Observed: "Deny" + sufficiency.Sid(r.Sid), Required: "no Deny for " + a.tokenSubject(),
				Mend: []string{"aws iam get-role --role-name " + line.Word(a.name) + " --query Role.AssumeRolePolicyDocument > trust.json", "aws iam update-assume-role-policy --role-name " + line.Word(a.name) + " --policy-document file://trust.json"},
				Note: "Somebody denied it on purpose: take the statement out of trust.json between the two commands only if that is wrong.",
			}
		}
	}
	f := Finding{Code: CodeNoStatement, Symptom: why, Observed: "no statement for tokens of " + a.provider, Required: a.tokenSubject() + " with the audience " + a.audience}
	document := ""
	if at := closest(reasons); at >= 0 {
		f, document = a.nearly(reasons[at])
	}
	a.mend(&f, document)
	return f
}

// closest is the statement that comes closest: of those that allow, the one with the fewest failures,
// where one about principals or actions counts as many.
func closest(reasons []iampolicy.Reason) int {
	best, cost := -1, 0
	for i, r := range reasons {
		if r.Effect != "Allow" {
			continue
		}
		sum := len(r.Failures)
		for _, f := range r.Failures {
			if f.Key == "" {
				sum += 10
			}
		}
		if best < 0 || sum < cost {
			best, cost = i, sum
		}
	}
	return best
}

// nearly is the finding about a statement that nearly admits the token, and the trust policy with that
// statement corrected.
func (a *admission) nearly(r iampolicy.Reason) (Finding, string) {
	nearly := fmt.Sprintf("statement %d%s of the trust policy almost matches: ", r.Statement+1, sufficiency.Sid(r.Sid))
	s := a.statementAt(r.Statement)
	for _, f := range r.Failures {
		switch {
		case f.Element == "Action":
			return Finding{Code: CodeTrustAction, Symptom: nearly + "it does not allow the action by which tokens become roles", Observed: listed(f.Required), Required: assumeWithToken},
				a.with(r.Statement, s.setAction(a))
		case f.Element == "Principal":
			return Finding{Code: CodeWrongProvider, Symptom: "the trust policy lets in the tokens of another issuer", Observed: listed(a.policy.OtherProviders()), Required: a.provider}, ""
		}
	}
	return a.condition(nearly, r, s)
}

// condition is the finding about the conditions of a statement.
func (a *admission) condition(nearly string, r iampolicy.Reason, s statement) (Finding, string) {
	subject, audience := a.bare+":sub", a.bare+":aud"
	corrected := s.conditions(a)
	for _, f := range r.Failures {
		observed := fmt.Sprintf("%s %s %s", f.Operator, f.Key, listed(f.Required))
		is := func(key string) bool { return strings.EqualFold(f.Key, key) }
		switch {
		case !is(subject) && !is(audience) && strings.Contains(f.Key, ":"):
			return Finding{Code: CodeKeyIssuer, Symptom: nearly + "its condition asks about another issuer than its principal is", Observed: observed, Required: "keys that begin with " + a.bare}, a.with(r.Statement, corrected)
		case is(audience) && slices.ContainsFunc(f.Required, func(v string) bool { return strings.HasPrefix(v, "system:serviceaccount:") }):
			return Finding{Code: CodeKeysSwapped, Symptom: nearly + "it compares the audience with the name of a ServiceAccount", Observed: observed, Required: fmt.Sprintf("%s %s, and %s %s", subject, a.tokenSubject(), audience, a.audience)}, a.with(r.Statement, corrected)
		case is(audience):
			return Finding{Code: CodeTrustAudience, Symptom: fmt.Sprintf("%s%q is %q, the token says %q", nearly, audience, listed(f.Required), a.audience), Observed: observed, Required: audience + " " + a.audience}, a.with(r.Statement, corrected)
		case is(subject) && !strings.Contains(f.Operator, "Like") && slices.ContainsFunc(f.Required, func(v string) bool { return strings.ContainsAny(v, "*?") }):
			return Finding{Code: CodeSubjectOperator, Symptom: fmt.Sprintf("%s%s takes * for a character, and means nobody by %q", nearly, f.Operator, listed(f.Required)), Observed: observed, Required: "StringEquals " + subject + " " + a.tokenSubject()}, a.with(r.Statement, corrected)
		}
	}
	f := r.Failures[0]
	return Finding{Code: CodeSubject, Symptom: fmt.Sprintf("%s%q is %q, the token says %q", nearly, f.Key, listed(f.Required), a.tokenSubject()), Observed: fmt.Sprintf("%s %s %s", f.Operator, f.Key, listed(f.Required)), Required: subject + " " + a.tokenSubject()},
		a.with(r.Statement, corrected)
}
