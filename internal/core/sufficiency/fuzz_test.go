package sufficiency_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// The small world of which policies and requests are made.
var (
	someActions   = []string{"s3:GetObject", "s3:GetAcl", "s3:PutObject", "sqs:SendMessage"}
	somePatterns  = []string{"s3:GetObject", "s3:Get*", "s3:*", "*", "s3:?etAcl", "sqs:*", "s3:PutObject"}
	someResources = []string{"arn:aws:s3:::b/x", "arn:aws:s3:::b/d/x", "arn:aws:s3:::c/x", "arn:aws:sqs:eu-west-1:111122223333:q"}
	somePlaces    = []string{"*", "arn:aws:s3:::*", "arn:aws:s3:::b/*", "arn:aws:s3:::b/d/*", "arn:aws:s3:::b/x", "arn:aws:s3:::?/x", "arn:aws:sqs:*:*:q", "arn:aws:s3:::b/${aws:PrincipalTag/t}"}
	someTests     = []string{"", `{"StringEquals":{"aws:SourceVpc":["v"]}}`, `{"StringEquals":{"aws:SourceVpc":["v","w"]}}`, `{"StringNotEquals":{"aws:SourceVpc":["v"]}}`, `{"Null":{"aws:SourceVpc":["true"]}}`, `{"StringLike":{"aws:PrincipalTag/t":["d*"]}}`}
	someContexts  = []map[string]string{{}, {"aws:SourceVpc": "v"}, {"aws:SourceVpc": "w"}, {"aws:PrincipalTag/t": "x"}, {"aws:PrincipalTag/t": "d/x", "aws:SourceVpc": "v"}}
)

// choices makes a small world of bytes.
type choices struct{ bytes []byte }

func (c *choices) of(n int) int {
	if len(c.bytes) == 0 {
		return 0
	}
	b := int(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b % n
}

func (c *choices) document() sufficiency.Document {
	var all []string
	for range 1 + c.of(3) {
		text := statement([]string{"Allow", "Allow", "Deny"}[c.of(3)], somePatterns[c.of(len(somePatterns))], somePlaces[c.of(len(somePlaces))], someTests[c.of(len(someTests))])
		switch c.of(8) {
		case 0:
			text = strings.Replace(text, `"Action"`, `"NotAction"`, 1)
		case 1:
			text = strings.Replace(text, `"Resource"`, `"NotResource"`, 1)
		}
		all = append(all, text)
	}
	return document(all...)
}

// FuzzCheckAgreesWithEvaluation: what is granted is allowed for each request that the atom is
// about, and of what is denied or missing none is.
func FuzzCheckAgreesWithEvaluation(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 1, 0, 2, 0, 0, 2, 0, 2, 1, 1, 0, 0, 0, 0, 0})
	f.Add([]byte("a role and what it is enough for"))
	for i := range 60 {
		f.Add([]byte{byte(i), byte(i * 7), byte(i * 13), byte(i * 31), byte(i / 2), byte(i * 3), byte(i * 11), byte(i * 5), byte(i * 17), byte(i * 19), byte(i * 23), byte(i * 29), byte(i * 37), byte(i * 41), byte(i * 43)})
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c := &choices{bytes}
		a := atom(somePatterns[c.of(len(somePatterns))], somePlaces[c.of(len(somePlaces))])
		a.Condition = permission.Condition(someTests[c.of(len(someTests))])
		r := role(c.document(), c.document())
		if c.of(3) == 0 {
			boundary := c.document()
			r.Boundary = &boundary
		}
		got := sufficiency.Check(asks(a), r).Permissions[0]
		asked := parsed(t, iampolicy.Document{{Actions: []string{a.Action}, Resources: []string{a.Resource}, Conditions: a.Condition.Tests()}}.String())
		policies := &iampolicy.Policies{}
		for _, d := range r.Policies {
			policies.Identity = append(policies.Identity, parsed(t, d.Text))
		}
		if r.Boundary != nil {
			policies.Boundary = parsed(t, r.Boundary.Text)
		}
		for _, request := range someRequests() {
			if !iampolicy.Evaluate(request, &iampolicy.Policies{Identity: []*iampolicy.Policy{asked}}).Allowed() {
				continue
			}
			allowed := iampolicy.Evaluate(request, policies).Allowed()
			wrong := got.Result == sufficiency.Granted && !allowed || (got.Result == sufficiency.Denied || got.Result == sufficiency.Lacking) && allowed
			if wrong {
				t.Fatalf("%s on %s (%s) is %s, and %s on %s with %v is allowed: %t\n%+v", a.Action, a.Resource, a.Condition, got.Result, request.Action, request.Resource, request.Context, allowed, r)
			}
		}
	})
}

func parsed(t *testing.T, text string) *iampolicy.Policy {
	t.Helper()
	return must.Get(iampolicy.Parse([]byte(text)))(t)
}

func someRequests() []*iampolicy.Request {
	var out []*iampolicy.Request
	for _, action := range someActions {
		for _, resource := range someResources {
			for _, values := range someContexts {
				context := iampolicy.NewContext()
				for key, value := range values {
					context.Set(key, value)
				}
				out = append(out, &iampolicy.Request{
					Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::" + account + ":assumed-role/p/s", RoleARN: roleARN, AccountID: account},
					Action:    action, Resource: resource, ResourceAccountID: account, Context: context,
				})
			}
		}
	}
	return out
}
