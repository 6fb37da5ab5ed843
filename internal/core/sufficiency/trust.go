package sufficiency

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// TrustPolicy is the trust policy of a role, and whose tokens it is asked about.
type TrustPolicy struct {
	role   identity.ARN
	policy *iampolicy.Policy
	// certain is the policy where conditions on other keys than the token's subject and audience are
	// not met in an Allow, and met in a Deny; generous is the reverse.
	certain, generous *iampolicy.Policy
	// others are those other keys.
	others   []string
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
				one.Result, one.Why = t.Judge(subject, audience)
			}
			if one.Result == Trusted {
				r.looseness(t, subject, audience)
			}
			r.Trust = append(r.Trust, one)
		}
	}
}

// trustOf is what is needed to judge, or why it is not there.
func trustOf(q Question, d Documents) (t *TrustPolicy, unseen string) {
	role, ok := identity.ParseARN(d.ARN)
	switch {
	case !ok:
		return nil, "the role has no ARN"
	case d.Trust.Unread != "":
		return nil, "the trust policy was not read: " + d.Trust.Unread
	case d.Trust.Text == "":
		return nil, "the trust policy was not read"
	}
	t, err := ReadTrust(role, d.Trust.Text, q.Issuer, q.ProviderARN)
	switch {
	case err != nil:
		return nil, "the trust policy cannot be read: " + err.Error()
	case t.bare == "":
		return nil, "the issuer of the cluster's tokens is not known"
	}
	return t, ""
}

// ReadTrust reads the trust policy of a role, which is asked about tokens of an issuer that come by an
// OIDC provider; of an empty one, by that of the issuer's name in the account of the role.
func ReadTrust(role identity.ARN, text, issuer, provider string) (*TrustPolicy, error) {
	policy, err := iampolicy.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	t := &TrustPolicy{role: role, policy: policy, bare: strings.TrimPrefix(issuer, "https://")}
	t.provider = cmp.Or(provider, identity.ARN{Partition: role.Partition, Service: "iam", Account: role.Account, Resource: "oidc-provider/" + t.bare}.String())
	return t, t.split(text)
}

// Request is what a token asks for.
func (t *TrustPolicy) Request(subject, audience string) *iampolicy.Request {
	context := iampolicy.NewContext()
	context.Set(t.bare+":sub", subject)
	context.Set(t.bare+":aud", audience)
	return &iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.Federated, ARN: t.provider, AccountID: t.role.Account},
		Action:    "sts:AssumeRoleWithWebIdentity", Resource: t.role.String(), ResourceAccountID: t.role.Account, Context: context,
	}
}

// split makes the certain and the generous policy of a trust policy.
func (t *TrustPolicy) split(text string) error {
	var certain, generous []credentials.Statement
	for _, s := range credentials.Statements(text) {
		own, foreign, err := t.conditions(s)
		if err != nil {
			return err
		}
		t.others = append(t.others, foreign...)
		var effect string
		if err := json.Unmarshal(s["Effect"], &effect); err != nil {
			return errors.New("the Effect of a statement is no text")
		}
		bare := without(s, "Condition")
		if len(own) > 0 {
			bare["Condition"] = encoded(own)
		}
		if len(foreign) == 0 || effect == "Deny" {
			certain = append(certain, bare)
		}
		if len(foreign) == 0 || effect != "Deny" {
			generous = append(generous, bare)
		}
	}
	slices.Sort(t.others)
	t.others = slices.Compact(t.others)
	var err [2]error
	t.certain, err[0] = united(certain)
	t.generous, err[1] = united(generous)
	return errors.Join(err[:]...)
}

// Claim is the claim of a token that a condition key is about: "sub" or "aud", of whatever issuer. A
// session has the keys of the issuer of its own token alone, so that those of others are known: they are
// absent (IAM User Guide, "AWS global and IAM condition context keys", keys for OIDC federation).
func Claim(key string) (claim string, is bool) {
	at := strings.LastIndexByte(key, ':')
	claim = strings.ToLower(key[at+1:])
	return claim, strings.ContainsAny(key[:max(0, at)], "./") && (claim == "sub" || claim == "aud")
}

// conditions are those of a statement on the subject and audience of tokens, and the other keys of
// the statement, which are not known from here: where a caller is, or how it names its session.
func (t *TrustPolicy) conditions(s credentials.Statement) (own map[string]map[string]json.RawMessage, others []string, err error) {
	own = map[string]map[string]json.RawMessage{}
	if len(s["Condition"]) == 0 {
		return own, nil, nil
	}
	var all map[string]map[string]json.RawMessage
	if err := json.Unmarshal(s["Condition"], &all); err != nil {
		return nil, nil, errors.New("the Condition of a statement is no object of objects")
	}
	for operator, keys := range all {
		for key, values := range keys {
			if _, is := Claim(key); !is || strings.Contains(string(values), "${") {
				others = append(others, key)
				continue
			}
			if own[operator] == nil {
				own[operator] = map[string]json.RawMessage{}
			}
			own[operator][key] = values
		}
	}
	return own, others, nil
}

// encoded is a value that came from JSON.
func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic("sufficiency: " + err.Error())
	}
	return text
}

func (t *TrustPolicy) admits(subject, audience string) bool {
	return t.by(t.generous, subject, audience)
}

func (t *TrustPolicy) by(policy *iampolicy.Policy, subject, audience string) bool {
	return iampolicy.Evaluate(t.Request(subject, audience), &iampolicy.Policies{Resource: policy}).Allowed()
}

// Reasons say of each statement what is in a token's way.
func (t *TrustPolicy) Reasons(subject, audience string) []iampolicy.Reason {
	return iampolicy.Explain(t.Request(subject, audience), &iampolicy.Policies{Resource: t.policy}).Statements
}

// Judge says whether a token is admitted, and else what is in its way.
func (t *TrustPolicy) Judge(subject, audience string) (Result, string) {
	sure := t.by(t.certain, subject, audience)
	if !sure && t.by(t.generous, subject, audience) {
		return Undecided, "the trust policy asks for " + strings.Join(t.others, " and ") + " too, which is not known from here"
	}
	explained := iampolicy.Explain(t.Request(subject, audience), &iampolicy.Policies{Resource: t.certain})
	switch {
	case sure && explained.Certainty != iampolicy.Documented:
		return Undecided, "the trust policy admits it only as AWS is assumed to read a condition"
	case sure:
		return Trusted, ""
	}
	// A Deny that holds for sure, and what Allow statements ask for, are found in the whole policy.
	for _, reason := range t.Reasons(subject, audience) {
		if reason.Applied && reason.Effect == "Deny" {
			return NotTrusted, fmt.Sprintf("%s of the trust policy denies it", statementName(reason.Statement, reason.Sid))
		}
		if why := t.failed(reason); why != "" {
			return NotTrusted, why
		}
	}
	if others := t.OtherProviders(); len(others) > 0 {
		return WrongProvider, fmt.Sprintf("the trust policy names %s, and tokens of the cluster come by %s", strings.Join(others, ", "), t.provider)
	}
	return NotTrusted, fmt.Sprintf("no statement of the trust policy lets tokens of %s in", t.provider)
}

// failed says which of the token's keys a statement that lets the provider's tokens in asks
// otherwise; empty if it is about other principals or actions.
func (t *TrustPolicy) failed(reason iampolicy.Reason) string {
	if reason.Effect != "Allow" || slices.ContainsFunc(reason.Failures, func(f iampolicy.Failure) bool { return f.Operator == "" }) {
		return ""
	}
	var texts []string
	for _, f := range reason.Failures {
		if strings.EqualFold(f.Key, t.bare+":sub") || strings.EqualFold(f.Key, t.bare+":aud") {
			texts = append(texts, fmt.Sprintf("%s is %s in the role (%s), and %s in the token", f.Key, quoted(f.Required), f.Operator, quoted(f.Observed)))
		}
	}
	return strings.Join(texts, "; ")
}

// OtherProviders are those of OIDC that the trust policy lets in.
func (t *TrustPolicy) OtherProviders() []string {
	var out []string
	for _, m := range t.policy.Principals() {
		if m.Type == "Federated" && !m.Deny && !m.Not && m.Value != t.provider && !slices.Contains(out, m.Value) {
			out = append(out, m.Value)
		}
	}
	return out
}

// looseness warns of a trust policy that admits more than it should.
func (r *Report) looseness(t *TrustPolicy, subject, audience string) {
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
	return fmt.Sprintf("statement %d%s", index+1, Sid(sid))
}

// Sid is what stands behind the number of a statement that has a Sid; empty for none.
func Sid(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}
