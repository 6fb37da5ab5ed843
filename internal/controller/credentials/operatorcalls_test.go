package credentials_test

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// call is one of AWS, with the condition keys that it has.
type call struct {
	action, resource string
	keys             map[string][]string
}

// tally counts calls.
type tally struct{ allowed, refused int }

func (n tally) String() string { return fmt.Sprintf("%d, %d", n.allowed, n.refused) }

// judges has the local AWS's evaluator judge, by the policy and the boundary that the local
// AWS has of a role, each call that was asked for, and calls that nobody of the role asked for.
func (w *operatorWorld) judges(t *testing.T, one example, role *v1alpha1.GrantedRole, all []example) (n tally) {
	t.Helper()
	policies := &iampolicy.Policies{
		Identity: []*iampolicy.Policy{must.Get(iampolicy.Parse([]byte(w.document(role))))(t)},
		Boundary: must.Get(iampolicy.Parse([]byte(w.inAWS())))(t),
	}
	allowed := func(c call) bool {
		request := &iampolicy.Request{Action: c.action, Resource: c.resource, ResourceAccountID: testAccount, Context: iampolicy.NewContext(), Principal: iampolicy.Principal{
			Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::" + testAccount + ":assumed-role/" + role.Name + "/app", RoleARN: role.ARN, AccountID: testAccount,
		}}
		for key, values := range c.keys {
			request.Context.Set(key, values...)
		}
		by := *policies
		if c.action == "sts:AssumeRole" { // the trust of a role of the account
			by.Resource = must.Get(iampolicy.Parse([]byte(trustsTheAccount)))(t)
		}
		return iampolicy.Evaluate(request, &by).Allowed()
	}
	for _, c := range asked(t, one.entries) {
		if n.allowed++; !allowed(c) {
			t.Errorf("%s asked for %+v, which is refused", one.name, c)
		}
	}
	for _, c := range w.unasked(t, one, all) {
		if n.refused++; allowed(c) {
			t.Errorf("%s did not ask for %+v, which is allowed", one.name, c)
		}
	}
	if n.allowed < len(one.entries) || n.refused < 100 {
		t.Errorf("%s was judged by %s calls", one.name, n)
	}
	return n
}

// inAWS is the document of the permissions boundary.
func (w *operatorWorld) inAWS() string {
	w.Helper()
	policy := must.Get(w.iam.GetPolicy(w.Context(), &iam.GetPolicyInput{PolicyArn: aws.String(testPolicyARN)}))(w).Policy
	version := must.Get(w.iam.GetPolicyVersion(w.Context(), &iam.GetPolicyVersionInput{PolicyArn: policy.Arn, VersionId: policy.DefaultVersionId}))(w).PolicyVersion
	return must.Get(url.PathUnescape(*version.Document))(w)
}

// asked are one call for each action of each statement, on a resource that fits, with the
// condition keys that the statement wants.
func asked(t *testing.T, entries []cloudv1.StatementEntry) (out []call) {
	t.Helper()
	for _, e := range entries {
		keys := map[string][]string{}
		for _, term := range terms(t, e) {
			term.meet(keys)
		}
		for _, pattern := range e.Action {
			for _, action := range actions(t, pattern) {
				out = append(out, call{action, one(action, e.Resource), keys})
			}
		}
	}
	return out
}

// unasked are calls that a role of an operator must be refused: those that no statement of
// its request names, those that lack a condition, and those that no request can get.
func (w *operatorWorld) unasked(t *testing.T, of example, all []example) (out []call) {
	t.Helper()
	others := slices.Clone(nobodys)
	for _, each := range all {
		others = append(others, asked(t, each.entries)...)
	}
	seen := map[string]bool{}
	for _, c := range others {
		if key := fmt.Sprint(c); len(fitting(of.entries, c)) == 0 && !seen[key] {
			seen[key] = true
			out = append(out, c)
		}
	}
	for i, e := range of.entries {
		for _, c := range asked(t, of.entries[i:i+1]) {
			out = append(out, unmet(t, e, of.entries, c)...)
		}
	}
	return append(out, w.kept()...)
}

// unmet are a call without one of the conditions of its statement, where no other statement
// names the call; and without any key, where each that names it wants one.
func unmet(t *testing.T, of cloudv1.StatementEntry, all []cloudv1.StatementEntry, c call) (out []call) {
	t.Helper()
	names := fitting(all, c)
	if len(names) == 1 {
		for _, term := range terms(t, of) {
			for _, values := range term.misses() {
				keys := maps.Clone(c.keys)
				if delete(keys, term.key); values != nil {
					keys[term.key] = values
				}
				out = append(out, call{c.action, c.resource, keys})
			}
		}
	}
	wantsKey := func(e cloudv1.StatementEntry) bool { return slices.ContainsFunc(terms(t, e), term.wantsKey) }
	if !slices.ContainsFunc(names, func(e cloudv1.StatementEntry) bool { return !wantsKey(e) }) {
		out = append(out, call{c.action, c.resource, nil})
	}
	return out
}

// fitting are the statements that name the action and the resource of a call, whatever their
// conditions.
func fitting(entries []cloudv1.StatementEntry, c call) (out []cloudv1.StatementEntry) {
	for _, e := range entries {
		named := func(pattern string) bool { return fits(pattern, c.action) }
		if fits(e.Resource, c.resource) && slices.ContainsFunc(e.Action, named) {
			out = append(out, e)
		}
	}
	return out
}

var patterns sync.Map

// fits says whether a text is of a pattern in which * is any text.
func fits(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	known, ok := patterns.Load(pattern)
	if !ok {
		known = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
		patterns.Store(pattern, known)
	}
	return known.(*regexp.Regexp).MatchString(text)
}

// actions are those that a pattern of a request stands for.
func actions(t *testing.T, pattern string) []string {
	t.Helper()
	known := map[string][]string{"ssm:GetParameter*": {"ssm:GetParameter", "ssm:GetParameterHistory", "ssm:GetParameters", "ssm:GetParametersByPath"}}
	switch {
	case !strings.Contains(pattern, "*"):
		return []string{pattern}
	case known[pattern] == nil:
		t.Fatalf("the test does not know the actions of %s", pattern)
	}
	return known[pattern]
}

// one is a resource of a pattern. Of any, it is one of the action's service.
func one(action, pattern string) string {
	if pattern != "*" {
		return strings.ReplaceAll(pattern, "*", "x")
	}
	switch service, _, _ := strings.Cut(action, ":"); service {
	case "s3":
		return "arn:aws:s3:::data/x"
	case "iam", "sts":
		return elsewhereARN
	default:
		return "arn:aws:" + service + ":us-west-2:" + testAccount + ":thing/x"
	}
}

// term is one key of a condition.
type term struct {
	operator, key string
	values        []string
}

// terms are those of a statement, in order.
func terms(t *testing.T, e cloudv1.StatementEntry) (out []term) {
	t.Helper()
	for operator, keys := range e.PolicyCondition {
		for key, value := range keys {
			many, is := value.([]any)
			if !is {
				many = []any{value}
			}
			one := term{operator: operator, key: key}
			for _, v := range many {
				one.values = append(one.values, fmt.Sprint(v))
			}
			if !slices.Contains([]string{"Bool", "Null", "StringEquals", "StringLike", "ForAllValues:StringEquals"}, operator) {
				t.Fatalf("the test does not know the operator %s", operator)
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b term) int { return strings.Compare(a.operator+a.key, b.operator+b.key) })
	return out
}

// isAbsent says that the key must not be there.
func (o term) isAbsent() bool { return o.operator == "Null" && o.values[0] == "true" }

// wantsKey says that a call without the key does not meet the term.
func (o term) wantsKey() bool {
	return !o.isAbsent() && !strings.HasPrefix(o.operator, "ForAllValues:")
}

// meet sets the key as the term wants it.
func (o term) meet(keys map[string][]string) {
	switch {
	case o.isAbsent():
	case o.operator == "Null":
		if len(keys[o.key]) == 0 { // else another term says which values
			keys[o.key] = []string{"x"}
		}
	case strings.HasPrefix(o.operator, "ForAllValues:"):
		keys[o.key] = o.values
	default:
		keys[o.key] = []string{strings.ReplaceAll(o.values[0], "*", "x")}
	}
}

// misses are values of the key that do not meet the term; nil is that it is absent.
func (o term) misses() (out [][]string) {
	if o.wantsKey() {
		out = append(out, nil)
	}
	if o.isAbsent() || o.operator != "Null" && !slices.Contains(o.values, "*") {
		out = append(out, []string{"another"})
	}
	return out
}
