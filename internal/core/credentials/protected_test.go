package credentials_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

// session is a session of a minted role: its policy, and its permissions boundary.
type session struct{ policy, boundary *iampolicy.Policy }

func sessionOf(policy, boundary string) session {
	p, err := iampolicy.Parse([]byte(policy))
	if err != nil {
		p = nil
	}
	b, err := iampolicy.Parse([]byte(boundary))
	if err != nil {
		panic(err)
	}
	return session{p, b}
}

// admitting is the trust policy of a role that trusts its whole account.
var admitting = func() *iampolicy.Policy {
	p, err := iampolicy.Parse([]byte(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:root"},"Action":"sts:*"}}`))
	if err != nil {
		panic(err)
	}
	return p
}()

// may asks the evaluator whether the session may make a call.
func (s session) may(c call, keys map[string]string) bool {
	if s.policy == nil {
		return false
	}
	context := iampolicy.NewContext()
	for key, value := range keys {
		context.Set(key, value)
	}
	principal := iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::" + account + ":assumed-role/r/s", AccountID: account}
	all := &iampolicy.Policies{Identity: []*iampolicy.Policy{s.policy}, Boundary: s.boundary}
	if strings.HasPrefix(c.action, "sts:") {
		all.Resource = admitting
	}
	return iampolicy.Evaluate(&iampolicy.Request{Principal: principal, Action: c.action, Resource: c.resource, ResourceAccountID: account, Context: context}, all).Allowed()
}

// The things that are protected in these tests.
const (
	keptBucket   = "arn:aws:s3:::prod-issuer"
	keptRole     = "arn:aws:iam::" + account + ":role/prod-x7k2p-tabard-credentials"
	keptProvider = "arn:aws:iam::" + account + ":oidc-provider/prod-issuer.s3.eu-central-1.amazonaws.com"
)

func protected() credentials.Protected {
	return credentials.Protected{Buckets: []string{"prod-issuer"}, Roles: []string{keptRole}, Policies: []string{awsBoundary}, Providers: []string{keptProvider}}
}

// patterns are what random policies are made of. Of each set of calls that the patterns tell
// apart, calls has one.
var patterns = struct{ actions, resources []string }{
	actions: []string{
		"*", "s3:*", "s3:Get*", "s3:Put*", "s3:PutObject", "s3:*Object", "s3:ListAllMyBuckets",
		"iam:*", "iam:Get*", "iam:GetUser", "iam:PassRole", "iam:*Policy*", "iam:CreateServiceLinkedRole",
		"sts:*", "sts:GetCallerIdentity", "sts:AssumeRole", "sqs:*",
	},
	resources: []string{
		"*", keptBucket, keptBucket + "/*", keptBucket + "/keys.json", keptBucket + "*", "arn:aws:s3:::*", "arn:aws:s3:::data/*", "arn:aws:s3:::?rod-*/*.json",
		keptRole, "arn:aws:iam::" + account + ":role/*", "arn:aws:iam::*:role/app", awsBoundary, "arn:aws:iam::" + account + ":policy/*",
		keptProvider, "arn:aws:iam::" + account + ":oidc-provider/*", "arn:aws:iam::" + account + ":*",
	},
}

// call is one call in AWS.
type call struct{ action, resource string }

// reachingCalls are calls on what is protected: every one of these is refused to a minted role.
func reachingCalls() (all []call) {
	add := func(resources, actions []string) {
		for _, resource := range resources {
			for _, action := range actions {
				all = append(all, call{action, resource})
			}
		}
	}
	add([]string{keptBucket, keptBucket + "/keys.json", keptBucket + "/other.json", keptBucket + "/x"},
		[]string{"s3:PutObject", "s3:PutBucketPolicy", "s3:PutXObject", "s3:DeleteObject", "s3:Abort"})
	changes := []string{"iam:PassRole", "iam:PutPolicy", "iam:CreateServiceLinkedRole", "iam:Delete"}
	add([]string{awsBoundary, keptProvider}, changes)
	add([]string{keptRole}, append(changes, "sts:AssumeRole", "sts:TagSession"))
	return all
}

// conditions are those of random statements; nil is none.
var conditions = []map[string]map[string]string{nil, nil, nil, {"StringEquals": {"aws:PrincipalTag/team": "a"}}, {"StringEquals": {"aws:PrincipalTag/stage": "prod"}}}

// contexts are the keys of requests that tell the conditions apart.
var contexts = []map[string]string{
	nil, {"aws:PrincipalTag/team": "a"}, {"aws:PrincipalTag/stage": "prod"}, {"aws:PrincipalTag/team": "a", "aws:PrincipalTag/stage": "prod"},
}

// randomEntries are statements of a request.
func randomEntries(r *rand.Rand) (all []cloudv1.StatementEntry) {
	for range 1 + r.IntN(4) {
		e := cloudv1.StatementEntry{Effect: "Allow", Resource: patterns.resources[r.IntN(len(patterns.resources))]}
		if r.IntN(4) == 0 {
			e.Effect = "Deny"
		}
		for range 1 + r.IntN(3) {
			e.Action = append(e.Action, patterns.actions[r.IntN(len(patterns.actions))])
		}
		if given := conditions[r.IntN(len(conditions))]; given != nil {
			e.PolicyCondition = cloudv1.IAMPolicyCondition{}
			for operator, keys := range given {
				e.PolicyCondition[operator] = cloudv1.IAMPolicyConditionKeyValue{}
				for key, value := range keys {
					e.PolicyCondition[operator][key] = value
				}
			}
		}
		all = append(all, e)
	}
	return all
}

// randomBoundary is a permissions boundary that somebody wrote: often one that allows all and
// denies some.
func randomBoundary(r *rand.Rand) string {
	type statement map[string]any
	all := []statement{{"Effect": "Allow", "Action": "*", "Resource": "*"}}
	if r.IntN(3) == 0 {
		all = nil
	}
	pick := func(from []string) (out []string) {
		for range 1 + r.IntN(3) {
			out = append(out, from[r.IntN(len(from))])
		}
		return out
	}
	for range r.IntN(5) {
		s := statement{"Effect": []string{"Deny", "Deny", "Allow"}[r.IntN(3)]}
		s[[]string{"Action", "Action", "NotAction"}[r.IntN(3)]] = pick(patterns.actions)
		s[[]string{"Resource", "Resource", "Resource", "NotResource"}[r.IntN(4)]] = pick(patterns.resources)
		if given := conditions[r.IntN(len(conditions))]; given != nil {
			s["Condition"] = given
		}
		all = append(all, s)
	}
	if r.IntN(2) == 0 { // and what the bootstrap denies
		all = append(all,
			statement{"Effect": "Deny", "NotAction": []string{"iam:Get*", "iam:List*", "s3:Get*", "s3:List*"}, "Resource": []string{keptBucket, keptBucket + "/*", awsBoundary, keptProvider}},
			statement{"Effect": "Deny", "Action": []string{"iam:*", "sts:*"}, "Resource": keptRole})
	}
	if len(all) == 0 {
		all = []statement{{"Effect": "Deny", "Action": "*", "Resource": "*"}}
	}
	text, _ := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": all})
	return string(text)
}

// TestARequestIsAcceptedExactlyWhenNothingProtectedIsReached has random requests under random
// permissions boundaries, and asks the evaluator what the role that is minted could do.
// TABARD_RANDOM_REQUESTS has more of them than 10,000.
func TestARequestIsAcceptedExactlyWhenNothingProtectedIsReached(t *testing.T) {
	many := 10_000
	if text := os.Getenv("TABARD_RANDOM_REQUESTS"); text != "" {
		many, _ = strconv.Atoi(text)
	}
	calls := reachingCalls()
	counts := map[string]int{}
	for seed := range uint64(many) { //nolint:gosec // it is positive
		r := rand.New(rand.NewPCG(seed, 30)) //nolint:gosec // it shall be the same each time
		request := requestOf(t, ownNamespace, elsewhere)
		entries, bound := randomEntries(r), randomBoundary(r)
		w := teamWorld(request, boundaryOf(t, "default", `aws: {ceiling: '`+looseBound+`'}`))
		w.Provider = credentials.Provider{Kind: cloudv1.AWSProviderSpecKind, AWS: &cloudv1.AWSProviderSpec{StatementEntries: entries}}
		w.Protected = protected()
		w.Policies = map[string]credentials.PolicyInAWS{awsBoundary: {Document: bound, Exists: true}}
		reason, message := verdictOf(w)
		if reason != credentials.ReasonAccepted && reason != credentials.ReasonReachesProtected {
			t.Fatalf("seed %d: %s: %s", seed, reason, message)
		}
		minted := credentials.PermissionPolicy(entries)
		role, unbound := sessionOf(minted, bound), sessionOf(minted, looseBound)
		reached := slices.IndexFunc(calls, func(c call) bool {
			return slices.ContainsFunc(contexts, func(keys map[string]string) bool { return role.may(c, keys) })
		})
		if (reached >= 0) != (reason == credentials.ReasonReachesProtected) {
			what := "no call"
			if reached >= 0 {
				what = fmt.Sprint(calls[reached])
			}
			t.Fatalf("seed %d: %s: %s, and %s is allowed\nasked %s\nboundary %s", seed, reason, message, what, minted, bound)
		}
		counts[string(reason)]++
		if reached < 0 && slices.ContainsFunc(calls, func(c call) bool { return unbound.may(c, contexts[3]) }) {
			counts["accepted because of the boundary"]++
		}
	}
	t.Log(counts)
	for _, what := range []string{string(credentials.ReasonAccepted), string(credentials.ReasonReachesProtected), "accepted because of the boundary"} {
		if counts[what] < many/20 {
			t.Errorf("%d of %d are %q: the test sees too few", counts[what], many, what)
		}
	}
}
