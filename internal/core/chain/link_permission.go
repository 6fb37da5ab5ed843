package chain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

// permitting is the policies of one role, and the calls that they are asked about.
type permitting struct {
	*walk
	role     identity.RoleARN
	policies []held
	// notSeen are the policies that decide too, and that nobody reads from here.
	notSeen []string
	// needs are the rights by which more would be known.
	needs []string
}

// held is a policy, and how it is held by the role.
type held struct {
	sufficiency.Document
	// inline is the name of an inline policy, arn that of a managed one.
	inline, arn string
	// boundary says that it is the permissions boundary, which allows nothing by itself.
	boundary bool
}

func (w *walk) permission() Step {
	role, ok := w.arn()
	switch {
	case w.role == "":
		return Step{State: Unreached, Text: "no role is named"}
	case !ok:
		return Step{State: Unreached, Text: "what is named is no role"}
	case w.Role.Unread == "" && w.Role.Value == nil:
		return Step{State: Unreached, Text: "there is no such role"}
	case w.Role.Value != nil && w.Role.Value.ARN != w.role:
		return Step{State: Unreached, Text: "the role has another ARN than the one that is named"}
	case len(w.subject.Actions) > 0 && len(w.actions()) == 0:
		return Step{State: Sound, Text: "sts:GetCallerIdentity needs no right"}
	case w.Policies.Unread != "":
		return unseen("the policies of role "+role.Name, w.Policies.Unread, w.Policies.Needs)
	case w.Policies.Value == nil:
		return unseen("the policies of role "+role.Name, "they were not read", "iam:ListRolePolicies and iam:ListAttachedRolePolicies on role "+role.Name)
	}
	p := &permitting{walk: w, role: role}
	if len(w.subject.Actions) == 0 {
		return p.count()
	}
	p.read()
	return p.judge()
}

// count says how many policies there are. Without any, AWS allows the role no call but
// sts:GetCallerIdentity, or what a policy of the resource allows by itself
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html).
func (p *permitting) count() Step {
	many := len(p.Policies.Value.Inline) + len(p.Policies.Value.Attached)
	if many == 0 {
		return broken(Finding{
			Code: CodeNoPolicy, Certainty: Likely, Symptom: fmt.Sprintf("role %s has no policy, so that AWS refuses its calls", p.role.Name),
			Observed: "no inline policy, and none attached", Required: "a policy that allows what the pod calls",
			Mend: []string{p.put([]string{blankAction}, blankResource)}, Blanks: []string{blankAction, blankResource},
			Note: "With --action and --resource the whole command is printed. A role needs no policy for what a policy of the resource allows, such as that of a bucket of the same account. " + elsewhere,
		})
	}
	return Step{State: Sound, Text: fmt.Sprintf("role %s has %s; whether it may make a call: --action SERVICE:ACTION --resource ARN", p.role.Name, line.Count(many, "policy", "policies"))}
}

// read makes documents of the policies.
func (p *permitting) read() {
	take := func(h held, seen Seen[string], right string) {
		switch {
		case seen.Unread == "" && seen.Value != nil:
			h.Text = *seen.Value
		default:
			h.Unread = cmp.Or(seen.Unread, "nobody asked for it")
			if needs := cmp.Or(seen.Needs, right); !slices.Contains(p.needs, needs) {
				p.needs = append(p.needs, needs)
			}
		}
		p.policies = append(p.policies, h)
	}
	for _, one := range p.Policies.Value.Inline {
		take(held{inline: one.Name, Document: sufficiency.Document{Name: "the inline policy " + one.Name}}, one.Document, "iam:GetRolePolicy on role "+p.role.Name)
	}
	for _, one := range p.Policies.Value.Attached {
		take(held{arn: one.Name, Document: sufficiency.Document{Name: "the managed policy " + path.Base(one.Name)}}, one.Document, "iam:GetPolicyVersion on "+one.Name)
	}
	boundary := held{boundary: true, Document: sufficiency.Document{Name: "the permissions boundary"}}
	switch role := p.Role.Value; {
	case role == nil:
		take(boundary, Seen[string]{Unread: p.Role.Unread, Needs: p.Role.Needs}, "iam:GetRole on role "+p.role.Name)
	case role.Boundary != "":
		boundary.arn, boundary.Name = role.Boundary, boundary.Name+" "+path.Base(role.Boundary)
		take(boundary, p.Policies.Value.Boundary, "iam:GetPolicyVersion on "+role.Boundary)
	}
}

// documents are some of the policies.
func (p *permitting) documents(which func(held) bool) sufficiency.Documents {
	out := sufficiency.Documents{ARN: p.walk.role}
	for _, h := range p.policies {
		switch {
		case !which(h):
		case h.boundary:
			out.Boundary = &h.Document
		default:
			out.Policies = append(out.Policies, h.Document)
		}
	}
	return out
}

func every(held) bool { return true }

func owned(h held) bool { return !h.boundary }

// ask is the answer of some policies about a call.
func (p *permitting) ask(action string, of sufficiency.Documents) sufficiency.Permission {
	report := sufficiency.Check(sufficiency.Question{Atoms: []permission.Atom{{
		Cloud: permission.AWS, Kind: permission.KindAction, Effect: "Allow", Action: action, Resource: cmp.Or(p.subject.Resource, "*"),
	}}}, of)
	p.notSeen = report.NotSeen
	return report.Permissions[0]
}

// judge says whether the role may make each call.
func (p *permitting) judge() Step {
	var findings []Finding
	var lacking, bounded []sufficiency.Permission
	var open []string
	for _, action := range p.actions() {
		got := p.ask(action, p.documents(every))
		denier, why := p.denier(action)
		switch {
		case got.Result == sufficiency.Granted:
		case denier != nil:
			got.Why = why
			findings = append(findings, p.denied(got, *denier))
		case got.Result == sufficiency.Partly && p.isPart(action):
			if alone := p.ask(action, p.limit()); alone.Result == sufficiency.Lacking {
				bounded = append(bounded, alone)
				continue
			}
			open = append(open, got.Why)
			if !TakesNoResource(action) {
				p.needs = append(p.needs, "--resource with the ARN of what the call is about")
			}
		case got.Result != sufficiency.Lacking && got.Result != sufficiency.Partly:
			open = append(open, got.Why)
		case isRefused(p.ask(action, p.documents(owned)).Result):
			lacking = append(lacking, got)
		default:
			bounded = append(bounded, got)
		}
	}
	if len(lacking) > 0 {
		findings = append(findings, p.lacking(lacking))
	}
	if len(bounded) > 0 {
		findings = append(findings, p.bounded(bounded))
	}
	asked := strings.Join(p.actions(), ", ") + " on " + p.resource()
	switch {
	case len(findings) > 0:
		return Step{State: Broken, Text: findings[0].Symptom, Findings: findings}
	case len(open) > 0:
		slices.Sort(p.needs)
		return unseen(fmt.Sprintf("whether role %s may call %s", p.role.Name, asked), strings.Join(slices.Compact(open), "; "),
			cmp.Or(strings.Join(slices.Compact(p.needs), ", "), "a try: make the call from the pod"))
	}
	return Step{State: Sound, Text: fmt.Sprintf("the policies of role %s allow %s; not seen: %s", p.role.Name, asked, strings.Join(p.notSeen, ", "))}
}

// actions are those that are asked about and that policies decide. sts:GetCallerIdentity needs no right,
// and no Deny takes it (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).
func (w *walk) actions() (out []string) {
	for _, action := range w.subject.Actions {
		known := func(other string) bool { return strings.EqualFold(action, other) }
		if !known("sts:GetCallerIdentity") && !slices.ContainsFunc(out, known) {
			out = append(out, action)
		}
	}
	return out
}

// denier is the policy that denies a call for sure, nil for none, and how it does. A Deny outweighs what
// others allow or lack.
func (p *permitting) denier(action string) (*held, string) {
	for i, h := range p.policies {
		alone := sufficiency.Documents{ARN: p.walk.role, Policies: []sufficiency.Document{h.Document}}
		if got := p.ask(action, alone); got.Result == sufficiency.Denied {
			return &p.policies[i], got.Why
		}
	}
	return nil, ""
}

// isRefused says that a result is a no.
func isRefused(r sufficiency.Result) bool {
	return r == sufficiency.Denied || r == sufficiency.Lacking || r == sufficiency.Partly
}

// limit is the permissions boundary beside a policy that allows everything: no answer is for want of a
// policy.
func (p *permitting) limit() sufficiency.Documents {
	out := p.documents(func(h held) bool { return h.boundary })
	out.Policies = []sufficiency.Document{{Name: "everything", Text: p.allow([]string{"*"}, "*")}}
	return out
}

// isPart says that a call that is allowed in part may be about that part: nobody said what it is about,
// or a Deny takes the other part, which no further Allow gives back.
func (p *permitting) isPart(action string) bool {
	if p.subject.Resource == "" && !TakesNoResource(action) {
		return true
	}
	added := p.documents(every)
	allow := sufficiency.Document{Name: "what is added", Text: p.allow([]string{action}, cmp.Or(p.subject.Resource, "*"))}
	added.Policies = append(added.Policies, allow)
	if added.Boundary != nil {
		limit := extended(*added.Boundary, allow)
		added.Boundary = &limit
	}
	return p.ask(action, added).Result != sufficiency.Granted
}

// extended is a boundary with more statements; of one that cannot be read, these alone.
func extended(boundary, more sufficiency.Document) sufficiency.Document {
	if _, err := iampolicy.Parse([]byte(boundary.Text)); err != nil || boundary.Unread != "" {
		return more
	}
	boundary.Text = credentials.Encoded(map[string]any{
		"Version": "2012-10-17", "Statement": append(credentials.Statements(boundary.Text), credentials.Statements(more.Text)...),
	})
	return boundary
}

// TakesNoResource says that AWS looks for a policy about * whatever a call is about, as far as is known
// here: the call has no resource type on its service's page, such as
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html.
func TakesNoResource(action string) bool {
	action = strings.ToLower(action)
	switch action {
	case "s3:listallmybuckets", "sts:getsessiontoken", "sts:decodeauthorizationmessage", "sts:getaccesskeyinfo",
		"ecr:getauthorizationtoken", "ecr-public:getauthorizationtoken", "cloudwatch:putmetricdata", "cloudwatch:getmetricstatistics",
		"sqs:listqueues", "sns:listtopics", "dynamodb:listtables", "lambda:listfunctions", "kms:listkeys", "kms:listaliases",
		"kms:createkey", "secretsmanager:listsecrets", "secretsmanager:getrandompassword", "ssm:describeparameters",
		"route53:listhostedzones", "route53:listhostedzonesbyname", "iam:listroles", "iam:listusers", "tag:getresources":
		return true
	case "ec2:describecapacityblockextensionofferings", "ec2:describeclientvpnauthorizationrules", "ec2:describeclientvpnconnections",
		"ec2:describeclientvpnroutes", "ec2:describeclientvpntargetnetworks", "ec2:describefleethistory", "ec2:describefleetinstances",
		"ec2:describesecuritygroupreferences", "ec2:describespotfleetinstances", "ec2:describespotfleetrequesthistory",
		"ec2:describevpcendpointservicepermissions":
		return false
	}
	return strings.HasPrefix(action, "ec2:describe") && !strings.HasSuffix(action, "attribute")
}

// resource is what the calls are about, for people.
func (p *permitting) resource() string {
	return cmp.Or(p.subject.Resource, "any resource")
}
