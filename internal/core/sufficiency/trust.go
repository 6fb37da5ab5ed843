package sufficiency

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
)

// trusting is the trust policy of a role, and whose tokens it is asked about.
type trusting struct {
	role     identity.ARN
	policy   *iampolicy.Policy
	provider string
	// bare is the issuer as it stands in condition keys.
	bare string
}

// trust judges each ServiceAccount with each audience.
func (r *Report) trust(q Question, d Documents) {
	t, unseen := trustOf(q, d)
	for _, subject := range q.Subjects {
		for _, audience := range q.Audiences {
			one := Trust{Subject: subject, Audience: audience}
			switch {
			case len(r.Trust) >= mostChecked:
				one.Result, one.Why = Unseen, fmt.Sprintf("more than %d pairs of ServiceAccount and audience are not looked at", mostChecked)
				r.Trust = append(r.Trust, one)
				return
			case unseen != "":
				one.Result, one.Why = Unseen, unseen
			default:
				one.Result, one.Why = t.judge(subject, audience)
			}
			if one.Result == Trusted {
				r.looseness(t, subject, audience)
			}
			r.Trust = append(r.Trust, one)
		}
	}
}

// trustOf is what is needed to judge, or why it is not there.
func trustOf(q Question, d Documents) (t trusting, unseen string) {
	role, ok := identity.ParseARN(d.ARN)
	switch {
	case !ok:
		return t, "the role has no ARN"
	case d.Trust.Unread != "":
		return t, "the trust policy was not read: " + d.Trust.Unread
	case d.Trust.Text == "":
		return t, "the trust policy was not read"
	}
	policy, err := iampolicy.Parse([]byte(d.Trust.Text))
	if err != nil {
		return t, "the trust policy cannot be read: " + err.Error()
	}
	t = trusting{role: role, policy: policy, bare: strings.TrimPrefix(q.Issuer, "https://")}
	if t.bare == "" {
		return t, "the issuer of the cluster's tokens is not known"
	}
	t.provider = cmp.Or(q.ProviderARN, identity.ARN{Partition: role.Partition, Service: "iam", Account: role.Account, Resource: "oidc-provider/" + t.bare}.String())
	return t, ""
}

// request is what a token asks for.
func (t trusting) request(subject, audience string) *iampolicy.Request {
	context := iampolicy.NewContext()
	context.Set(t.bare+":sub", subject)
	context.Set(t.bare+":aud", audience)
	return &iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.Federated, ARN: t.provider, AccountID: t.role.Account},
		Action:    "sts:AssumeRoleWithWebIdentity", Resource: t.role.String(), ResourceAccountID: t.role.Account, Context: context,
	}
}

func (t trusting) admits(subject, audience string) bool {
	return iampolicy.Evaluate(t.request(subject, audience), &iampolicy.Policies{Resource: t.policy}).Allowed()
}

// judge says whether a token is admitted, and else what is in its way.
func (t trusting) judge(subject, audience string) (Result, string) {
	explained := iampolicy.Explain(t.request(subject, audience), &iampolicy.Policies{Resource: t.policy})
	if explained.Decision.Allowed() {
		if explained.Certainty != iampolicy.Documented {
			return Undecided, "the trust policy admits it only as AWS is assumed to read a condition"
		}
		return Trusted, ""
	}
	for _, reason := range explained.Statements {
		if reason.Decided && reason.Effect == "Deny" {
			return NotTrusted, fmt.Sprintf("%s of the trust policy denies it", statementName(reason.Statement, reason.Sid))
		}
	}
	result, why := Result(""), ""
	for _, reason := range explained.Statements {
		if found, said := t.failed(reason); found != "" && (result == "" || found == Undecided) {
			result, why = found, said
		}
	}
	if result != "" {
		return result, why
	}
	if others := t.otherProviders(); len(others) > 0 {
		return WrongProvider, fmt.Sprintf("the trust policy names %s, and tokens of the cluster come by %s", strings.Join(others, ", "), t.provider)
	}
	return NotTrusted, fmt.Sprintf("no statement of the trust policy lets tokens of %s in", t.provider)
}

// failed says why a statement that lets the provider's tokens in does not admit this one; empty if
// it is about other principals or actions. Undecided is a statement that asks for other keys only.
func (t trusting) failed(reason iampolicy.Reason) (Result, string) {
	if reason.Effect != "Allow" || slices.ContainsFunc(reason.Failures, func(f iampolicy.Failure) bool { return f.Operator == "" }) {
		return "", ""
	}
	result := Undecided
	var texts, keys []string
	for _, f := range reason.Failures {
		if strings.EqualFold(f.Key, t.bare+":sub") || strings.EqualFold(f.Key, t.bare+":aud") {
			result = NotTrusted
			texts = append(texts, fmt.Sprintf("%s is %s in the role (%s), and %s in the token", f.Key, quoted(f.Required), f.Operator, quoted(f.Observed)))
		} else {
			keys = append(keys, f.Key)
		}
	}
	if result == Undecided {
		return result, "the trust policy asks for " + strings.Join(keys, " and ") + " too, which is not known from here"
	}
	return result, strings.Join(texts, "; ")
}

// otherProviders are those of OIDC that the trust policy lets in.
func (t trusting) otherProviders() []string {
	var out []string
	for _, m := range t.policy.Principals() {
		if m.Type == "Federated" && !m.Deny && !m.Not && m.Value != t.provider && !slices.Contains(out, m.Value) {
			out = append(out, m.Value)
		}
	}
	return out
}

// looseness warns of a trust policy that admits more than it should.
func (r *Report) looseness(t trusting, subject, audience string) {
	const another = "another-of-no-meaning"
	if t.admits(subject, another) {
		r.warn("the trust policy does not ask for an audience: a token that the same ServiceAccount has for any other program becomes the role, too. Add StringEquals %s:aud %s", t.bare, audience)
	}
	namespace := subject[:strings.LastIndexByte(subject, ':')+1]
	switch {
	case t.admits("system:serviceaccount:"+another+":"+another, audience):
		r.warn("the trust policy admits ServiceAccounts that nobody asks for, of any namespace: add StringEquals %s:sub %s", t.bare, subject)
	case t.admits(namespace+another, audience):
		r.warn("the trust policy admits ServiceAccounts that nobody asks for, of the same namespace: add StringEquals %s:sub %s", t.bare, subject)
	}
}

func quoted(all []string) string {
	if len(all) == 0 {
		return "absent"
	}
	var out []string
	for _, one := range all {
		out = append(out, fmt.Sprintf("%q", one))
	}
	return strings.Join(out, " or ")
}

func statementName(index int, sid string) string {
	if sid != "" {
		return fmt.Sprintf("statement %d (%s)", index+1, sid)
	}
	return fmt.Sprintf("statement %d", index+1)
}
