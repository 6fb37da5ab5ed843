package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// elsewhere says who else writes the policies of a role.
const elsewhere = "Where a CredentialsRequest or another tool makes the role, change it there: it may put its own policies back."

// lacking is the finding of calls that no policy of the role allows.
func (p *permitting) lacking(calls []sufficiency.Permission) Finding {
	f := p.about(CodeNotAllowed, calls)
	f.Certainty, f.Required = Likely, "an Allow for it in a policy of the role"
	f.Mend = []string{p.put(actionsOf(calls), cmp.Or(p.subject.Resource, blankResource))}
	f.Note = "A policy of the resource, such as that of a bucket of the same account, may allow it by itself: then nothing is wrong here. " + elsewhere
	if p.subject.Resource == "" {
		f.Note, f.Blanks = "With --resource the whole command is printed. "+f.Note, []string{blankResource}
	}
	documents := [][]byte{[]byte(p.allow(actionsOf(calls), cmp.Or(p.subject.Resource, "*")))}
	for _, h := range p.policies {
		if h.inline != "" {
			documents = append(documents, []byte(h.Text))
		}
	}
	if room, err := iampolicy.RoomIn(iampolicy.RoleInlineQuota, documents...); err == nil && room.Left < 0 {
		f.Note = fmt.Sprintf("The inline policies of the role have %d characters then, and AWS allows %d: take out what nobody needs, or attach a managed policy. ", room.Used, room.Limit) + f.Note
	}
	return f
}

// denied is the finding of a call that a statement of a policy denies.
func (p *permitting) denied(call sufficiency.Permission, by held) Finding {
	f := p.about(CodeDenied, []sufficiency.Permission{call})
	f.Required = "no Deny for it"
	f.Mend, f.Note = p.edit(by, "take the statement out of policy.json")
	return f
}

// bounded is the finding of calls that the permissions boundary does not allow.
func (p *permitting) bounded(calls []sufficiency.Permission) Finding {
	f := p.about(CodeBoundary, calls)
	f.Certainty, f.Required = Likely, "an Allow for it in the permissions boundary too"
	boundary := p.policies[len(p.policies)-1]
	statement := credentials.Encoded(iampolicy.Statement{Actions: actionsOf(calls), Resources: []string{cmp.Or(p.subject.Resource, blankResource)}})
	f.Mend, f.Note = p.edit(boundary, "add "+statement+" to policy.json")
	return f
}

// about is a finding about calls, without what mends it.
func (p *permitting) about(code Code, calls []sufficiency.Permission) Finding {
	var why []string
	for _, call := range calls {
		if !slices.Contains(why, call.Why) {
			why = append(why, call.Why)
		}
	}
	observed := strings.Join(why, "; ")
	return Finding{
		Code: code, Symptom: fmt.Sprintf("role %s may not call %s on %s: %s", p.role.Name, strings.Join(actionsOf(calls), ", "), p.resource(), observed),
		Observed: observed,
	}
}

func actionsOf(calls []sufficiency.Permission) (out []string) {
	for _, call := range calls {
		out = append(out, call.Action)
	}
	return out
}

// allow is a policy that allows what is asked for, and no more.
func (p *permitting) allow(actions []string, resource string) string {
	return credentials.Encoded(iampolicy.Document{{Actions: actions, Resources: []string{resource}}})
}

// put is the command that gives the role one policy more. Its name is none that the role has: the
// command would overwrite that one.
func (p *permitting) put(actions []string, resource string) string {
	name := "tabard-explain"
	is := func(one Policy) bool { return strings.EqualFold(one.Name, name) }
	for n := 2; slices.ContainsFunc(p.Policies.Value.Inline, is); n++ {
		name = fmt.Sprintf("tabard-explain-%d", n)
	}
	return fmt.Sprintf("aws iam put-role-policy --role-name %s --policy-name %s --policy-document %s", line.Word(p.role.Name), name, line.Quoted(p.allow(actions, resource)))
}

// edit are the commands by which a person changes a policy, and what to know before. Policies of AWS
// cannot be changed: their ARNs have aws in the place of the account
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html).
func (p *permitting) edit(h held, change string) (mend []string, note string) {
	role, arn := line.Word(p.role.Name), line.Word(h.arn)
	note = "Somebody has set this limit on purpose. Only if it is wrong, " + change + " before the second command. " + elsewhere
	foreign, _ := identity.ParseARN(h.arn)
	switch {
	case h.inline != "":
		name := line.Word(h.inline)
		return []string{
			"aws iam get-role-policy --role-name " + role + " --policy-name " + name + " --query PolicyDocument --output json > policy.json",
			"aws iam put-role-policy --role-name " + role + " --policy-name " + name + " --policy-document file://policy.json",
		}, note
	case foreign.Account == "aws" && h.boundary:
		return []string{"aws iam put-role-permissions-boundary --role-name " + role + " --permissions-boundary BOUNDARY_ARN"},
			"The boundary is a policy of AWS, which nobody can change. Somebody has set it on purpose: name a policy of your own only if that is wrong. " + elsewhere
	case foreign.Account == "aws":
		return []string{"aws iam detach-role-policy --role-name " + role + " --policy-arn " + arn},
			"It is a policy of AWS, which nobody can change. Somebody has attached it on purpose: take it from the role only if that is wrong. " + elsewhere
	}
	return []string{
		"aws iam get-policy-version --policy-arn " + arn + ` --version-id "$(aws iam get-policy --policy-arn ` + arn + ` --query Policy.DefaultVersionId --output text)" --query PolicyVersion.Document --output json > policy.json`,
		"aws iam create-policy-version --policy-arn " + arn + " --policy-document file://policy.json --set-as-default",
	}, "The policy may be that of other roles too. A policy has room for five versions: aws iam delete-policy-version makes room. " + note
}
