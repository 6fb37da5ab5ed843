package chain_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// What random policies are made of, and the calls that they are asked about.
var (
	someActions   = []string{call, "s3:PutObject", "sqs:SendMessage"}
	someResources = []string{object, "arn:aws:s3:::orders/other.csv", "arn:aws:sqs:eu-central-1:" + account + ":orders"}
)

// randomPolicy is a policy of one to three statements, some of which deny.
func randomPolicy(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var statements []any
	for range 1 + r.IntN(3) {
		statement := map[string]any{
			"Effect":   pick("Allow", "Allow", "Allow", "Deny"),
			"Action":   pick(append([]string{"s3:*", "s3:Get*", "*"}, someActions...)...),
			"Resource": pick(append([]string{"*", "arn:aws:s3:::orders/*"}, someResources...)...),
		}
		if r.IntN(6) == 0 {
			statement["Condition"] = map[string]any{"StringEquals": map[string]any{"aws:SourceVpc": "vpc-1"}}
		}
		statements = append(statements, statement)
	}
	return string(must.Get(json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": statements}))(&testing.T{}))
}

// permitted are the calls that the evidence's policies allow, wherever they come from or from a VPC.
func permitted(t *testing.T, e *chain.Evidence, vpc bool) map[[2]string]iampolicy.Effect {
	t.Helper()
	policies := &iampolicy.Policies{}
	for _, one := range append(append([]chain.Policy{}, e.Policies.Value.Inline...), e.Policies.Value.Attached...) {
		policies.Identity = append(policies.Identity, must.Get(iampolicy.Parse([]byte(*one.Document.Value)))(t))
	}
	if e.Role.Value.Boundary != "" {
		policies.Boundary = must.Get(iampolicy.Parse([]byte(*e.Policies.Value.Boundary.Value)))(t)
	}
	out := map[[2]string]iampolicy.Effect{}
	for _, action := range someActions {
		for _, resource := range someResources {
			context := iampolicy.NewContext()
			if vpc {
				context.Set("aws:SourceVpc", "vpc-1")
			}
			out[[2]string{action, resource}] = iampolicy.Evaluate(&iampolicy.Request{
				Principal: iampolicy.Principal{Kind: iampolicy.RoleSession, ARN: "arn:aws:sts::" + account + ":assumed-role/checkout/pod", RoleARN: roleARN, AccountID: account},
				Action:    action, Resource: resource, ResourceAccountID: account, Context: context,
			}, policies).Effect
		}
	}
	return out
}

// TestAnAnswerAboutACallIsThatOfAWS, and the policy that mends it allows that call and no other.
func TestAnAnswerAboutACallIsThatOfAWS(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(800) {
		r := rand.New(rand.NewPCG(seed, 11)) //nolint:gosec // it shall be the same each time
		e := world()
		e.Policies.Value.Inline[0].Document, e.Policies.Value.Attached[0].Document = seen(randomPolicy(r)), seen(randomPolicy(r))
		if r.IntN(3) == 0 {
			limits(&e, randomPolicy(r))
		}
		asked := [2]string{someActions[r.IntN(len(someActions))], someResources[r.IntN(len(someResources))]}
		asks(&e, asked[1], asked[0])
		plain, inside := permitted(t, &e, false), permitted(t, &e, true)
		report := chain.Explain(e)
		step := report.Links[11]
		what := string(step.State)
		if report.First != nil {
			what = string(report.First.Code)
		}
		counts[what]++
		wrong := false
		switch what {
		case string(chain.Sound):
			wrong = plain[asked] != iampolicy.Allow || inside[asked] != iampolicy.Allow
		case string(chain.CodeDenied):
			wrong = plain[asked] != iampolicy.ExplicitDeny || inside[asked] != iampolicy.ExplicitDeny
		case string(chain.CodeNotAllowed), string(chain.CodeBoundary):
			wrong = plain[asked] == iampolicy.Allow || inside[asked] == iampolicy.Allow
		case string(chain.Unseen):
			wrong = plain[asked] == inside[asked]
		}
		if wrong {
			t.Fatalf("seed %d: %s of %v, and AWS says %s, in the VPC %s\n%s", seed, what, asked, plain[asked], inside[asked], must.Get(json.Marshal(e.Policies))(t))
		}
		if what == string(chain.CodeNotAllowed) {
			_, document, _ := strings.Cut(report.First.Mend[0], "--policy-document '")
			e.Policies.Value.Inline = append(e.Policies.Value.Inline, chain.Policy{Name: "tabard-explain", Document: seen(strings.TrimSuffix(document, "'"))})
			for pair, effect := range permitted(t, &e, false) {
				if pair != asked && effect != plain[pair] {
					t.Fatalf("seed %d: %s changes %v to %s", seed, document, pair, effect)
				}
			}
			if after := chain.Explain(e); after.First != nil && after.First.Code == chain.CodeNotAllowed {
				t.Fatalf("seed %d: with %s it is %+v", seed, document, after.First)
			}
		}
	}
	t.Log(counts)
	for _, what := range []string{string(chain.Sound), string(chain.Unseen), string(chain.CodeDenied), string(chain.CodeNotAllowed), string(chain.CodeBoundary)} {
		if counts[what] < 30 {
			t.Errorf("%s was found %d times: the test sees too few", what, counts[what])
		}
	}
}

// TestWhatIsNotReadOfPoliciesIsSaid, with the right that is missing, and what is not asked is not judged.
func TestWhatIsNotReadOfPoliciesIsSaid(t *testing.T) {
	unread := chain.Seen[string]{Unread: "denied", Needs: "iam:GetRolePolicy on role checkout"}
	for name, each := range map[string]struct {
		plant func(*chain.Evidence)
		state chain.State
		says  string
	}{
		"no call":                                   {func(*chain.Evidence) {}, chain.Sound, "role checkout has 2 policies; whether it may make a call: --action SERVICE:ACTION --resource ARN"},
		"no call, one policy":                       {func(e *chain.Evidence) { e.Policies.Value.Inline = nil }, chain.Sound, "1 policy;"},
		"a call that is allowed":                    {func(e *chain.Evidence) { asks(e, object, call, "SQS:sendmessage") }, chain.Sound, "allow s3:GetObject, SQS:sendmessage on " + object + "; not seen: service control policies"},
		"a call that needs no right":                {func(e *chain.Evidence) { asks(e, "", "sts:GetCallerIdentity") }, chain.Sound, "sts:GetCallerIdentity needs no right"},
		"a call that needs none, and one that does": {func(e *chain.Evidence) { asks(e, object, "STS:getcalleridentity", call) }, chain.Sound, "allow s3:GetObject on " + object + "; not"},
		"a call that needs no right, of policies that were not read": {func(e *chain.Evidence) {
			asks(e, "", "sts:GetCallerIdentity")
			e.Policies = chain.Seen[chain.Policies]{Unread: "denied", Needs: "iam:ListRolePolicies"}
		}, chain.Sound, "needs no right"},
		"a call about anything": {func(e *chain.Evidence) { asks(e, "", call) }, chain.Unseen, "--resource with the ARN"},
		"a Deny of a part": {func(e *chain.Evidence) {
			asks(e, "arn:aws:s3:::orders/*", call)
			e.Policies.Value.Inline[0].Document = seen(strings.Replace(denies(call, object), `"Allow","Action":"s3:GetObject","Resource":"`+object, `"Allow","Action":"s3:GetObject","Resource":"*`, 1))
		}, chain.Unseen, "--resource with the ARN"},
		"a Deny of a part in the boundary": {func(e *chain.Evidence) {
			asks(e, "arn:aws:s3:::orders/*", call)
			e.Policies.Value.Inline[0].Document = seen(permits(call, "arn:aws:s3:::orders/*"))
			limits(e, strings.Replace(permits("*", "*"), "[", `[{"Effect":"Deny","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/secret/*"},`, 1))
		}, chain.Unseen, "denies a part of it"},
		"a part in the boundary": {func(e *chain.Evidence) {
			asks(e, "arn:aws:s3:::orders/*", call)
			e.Policies.Value.Inline[0].Document = seen(permits(call, "arn:aws:s3:::orders/*"))
			limits(e, strings.Replace(permits("*", object), "[", `[{"Effect":"Deny","Action":"sqs:*","Resource":"*"},`, 1))
		}, chain.Broken, "the permissions boundary allow a part of it"},
		"a boundary that refuses all, and nobody says of what": {func(e *chain.Evidence) {
			asks(e, "", call)
			limits(e, permits("ec2:*", "*"))
		}, chain.Broken, "on any resource: no statement of the permissions boundary allows it"},
		"a call without resources that is allowed on some": {func(e *chain.Evidence) {
			asks(e, "*", "ec2:DescribeInstances")
			e.Policies.Value.Inline[0].Document = seen(permits("ec2:DescribeInstances", "arn:aws:ec2:eu-central-1:"+account+":instance/*"))
		}, chain.Broken, "may not call ec2:DescribeInstances on *: the role's policies allow a part of it"},
		"a call without resources, and nobody says of what": {func(e *chain.Evidence) {
			asks(e, "", "ec2:DescribeInstances")
			e.Policies.Value.Inline[0].Document = seen(permits("ec2:DescribeInstances", "arn:aws:ec2:eu-central-1:"+account+":instance/*"))
		}, chain.Broken, "the role's policies allow a part of it"},
		"a call without resources of which a Deny takes some": {func(e *chain.Evidence) {
			asks(e, "*", "ec2:DescribeInstances")
			e.Policies.Value.Inline[0].Document = seen(strings.Replace(permits("ec2:*", "*"), "[", `[{"Effect":"Deny","Action":"ec2:*","Resource":"arn:aws:ec2:eu-central-1:`+account+`:instance/i-1"},`, 1))
		}, chain.Unseen, "a try: make the call"},
		"a condition": {func(e *chain.Evidence) {
			asks(e, object, call)
			e.Policies.Value.Inline[0].Document = seen(strings.Replace(permits(call, object), `"Action"`, `"Condition":{"StringEquals":{"aws:SourceVpc":"vpc-1"}},"Action"`, 1))
		}, chain.Unseen, "a try"},
		"a policy that was not read": {func(e *chain.Evidence) {
			asks(e, object, "s3:PutObject")
			e.Policies.Value.Inline[0].Document = unread
		}, chain.Unseen, unread.Needs},
		"a boundary that was not read": {func(e *chain.Evidence) {
			asks(e, object, call)
			e.Role.Value.Boundary = limit
		}, chain.Unseen, "iam:GetPolicyVersion on " + limit},
		"a Deny of what nothing allows": {func(e *chain.Evidence) {
			asks(e, object, "s3:PutObject")
			limits(e, denies("s3:PutObject", "*"))
		}, chain.Broken, "the permissions boundary limit denies it"},
		"a boundary of AWS": {func(e *chain.Evidence) {
			asks(e, object, call)
			limits(e, permits("ec2:*", "*"))
			e.Role.Value.Boundary = "arn:aws:iam::aws:policy/AmazonEC2FullAccess"
		}, chain.Broken, "no statement of the permissions boundary allows it"},
		"a role that was not read": {func(e *chain.Evidence) {
			asks(e, object, call)
			e.Role = chain.Seen[chain.Role]{Unread: "denied", Needs: "iam:GetRole on role checkout"}
		}, chain.Unseen, "iam:GetRole on role checkout"},
		"no policy was asked for": {func(e *chain.Evidence) { e.Policies.Value = nil }, chain.Unseen, "iam:ListRolePolicies"},
		"no role":                 {func(e *chain.Evidence) { e.Role.Value = nil }, chain.Unreached, "no such role"},
	} {
		e := copyOf(t, world())
		each.plant(&e)
		if step := chain.Explain(e).Links[11]; step.State != each.state || !strings.Contains(step.Text+step.Needs, each.says) {
			t.Errorf("%s: %+v, want it %s saying %q", name, step, each.state, each.says)
		}
	}
}

// TestABoundaryIsNamedOnlyWhereAnAllowInItHelps: with the Allow that the note gives, it is no more in the way.
func TestABoundaryIsNamedOnlyWhereAnAllowInItHelps(t *testing.T) {
	found := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 12)) //nolint:gosec // it shall be the same each time
		e := world()
		e.Policies.Value.Inline[0].Document = seen(permits("*", "*"))
		limits(&e, randomPolicy(r))
		asks(&e, append([]string{"*", "arn:aws:s3:::orders/*"}, someResources...)[r.IntN(5)], someActions[r.IntN(len(someActions))])
		f := chain.Explain(e).First
		if f == nil || f.Code != chain.CodeBoundary {
			continue
		}
		found++
		_, statement, _ := strings.Cut(f.Note, "add ")
		statement, _, _ = strings.Cut(statement, " to policy.json")
		e.Policies.Value.Boundary = seen(strings.Replace(*e.Policies.Value.Boundary.Value, `"Statement":[`, `"Statement":[`+statement+",", 1))
		if after := chain.Explain(e); after.First != nil {
			t.Fatalf("seed %d: with %s it is %+v", seed, statement, after.First)
		}
	}
	if found < 100 {
		t.Errorf("it was found %d times: the test sees too few", found)
	}
}

// TestWhatChangesAPolicyIsTyped as it is meant: the file is JSON whatever the person's output is, and a
// policy that is full has room first.
func TestWhatChangesAPolicyIsTyped(t *testing.T) {
	for name, plant := range map[string]func(*chain.Evidence){
		"inline":  func(e *chain.Evidence) { e.Policies.Value.Inline[0].Document = seen(denies(call, object)) },
		"managed": func(e *chain.Evidence) { e.Policies.Value.Attached[0].Document = seen(denies(call, object)) },
	} {
		e := copyOf(t, world())
		asks(&e, object, call)
		plant(&e)
		f := chain.Explain(e).First
		if f == nil || !strings.HasSuffix(f.Mend[0], " --output json > policy.json") || strings.Contains(f.Note, "aws iam delete-policy-version makes room.") != (name == "managed") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestWhatTakesNoResource is what AWS compares with *, in whatever case it is typed.
func TestWhatTakesNoResource(t *testing.T) {
	for action, want := range map[string]bool{
		"ec2:DescribeInstances": true, "EC2:describevpcs": true, "s3:ListAllMyBuckets": true, "sts:GetSessionToken": true, "ecr:GetAuthorizationToken": true, "cloudwatch:PutMetricData": true,
		"ec2:DescribeVpcAttribute": false, "ec2:DescribeFleetInstances": false, "ec2:StartInstances": false, "s3:GetObject": false, "sts:GetCallerIdentity": false, "": false,
	} {
		if got := chain.TakesNoResource(action); got != want {
			t.Errorf("%s: %t", action, got)
		}
	}
}

// TestAPolicyIsNotOverwritten by the command that adds one, and what verifies it asks the same again.
func TestAPolicyIsNotOverwritten(t *testing.T) {
	e := world()
	asks(&e, "arn:aws:s3:::a/*", "s3:PutObject")
	for _, name := range []string{"tabard-explain", "Tabard-Explain-2"} {
		e.Policies.Value.Inline = append(e.Policies.Value.Inline, chain.Policy{Name: name, Document: seen(permits("ec2:*", "*"))})
	}
	f := chain.Explain(e).First
	if f == nil || !strings.Contains(f.Mend[0], "--policy-name tabard-explain-3 ") || f.Verify != "tabard explain pod checkout-6d9c-x2k4p -n shop --action s3:PutObject --resource 'arn:aws:s3:::a/*'" {
		t.Errorf("%+v", f)
	}
	for i := range 60 { // the quota of inline policies is full
		e.Policies.Value.Inline = append(e.Policies.Value.Inline, chain.Policy{Name: fmt.Sprint(i), Document: seen(permits("ec2:"+strings.Repeat("x", 200), "*"))})
	}
	if f := chain.Explain(e).First; !strings.Contains(f.Note, "AWS allows 10240") {
		t.Errorf("%+v", f)
	}
}
