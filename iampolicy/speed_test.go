package iampolicy

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// teamPolicy is a policy of as many statements of which only the last is about
// the bucket of teamRequest.
func teamPolicy(t testing.TB, count int) *Policies {
	t.Helper()
	var statements []string
	for i := range count {
		statements = append(statements, `{"Effect":"Allow","Action":["s3:Get*","s3:List*"],"Resource":"arn:aws:s3:::bucket-`+strconv.Itoa(count-1-i)+
			`/${aws:username}/*","Condition":{"StringEquals":{"aws:PrincipalTag/team":"blue"},"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`)
	}
	return &Policies{Identity: []*Policy{mustParse(t, documentWith(statements...))}}
}

// documentWith writes a policy of statements.
func documentWith(statements ...string) string {
	return `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
}

// teamRequest is a typical request of a user.
func teamRequest() *Request {
	return &Request{
		Principal: principalOf(alice), Action: "s3:GetObject", Resource: "arn:aws:s3:::bucket-0/alice/k", ResourceAccountID: account,
		Context: contextOf("aws:username", "alice", "aws:PrincipalTag/team", "blue", "aws:SourceIp", "10.1.2.3"),
	}
}

// nearMisses is a policy of ten statements that all fit the request of a user
// up to their last condition, so that each is looked at to its end.
func nearMisses(t testing.TB) *Policies {
	t.Helper()
	var statements []string
	for i := range 10 {
		statements = append(statements, `{"Effect":"Allow","Action":"s3:Get*","Resource":"arn:aws:s3:::bucket-*/${aws:username}/*",`+
			`"Condition":{"StringLike":{"aws:PrincipalTag/team":"b*"},"StringEquals":{"aws:username":"bob-`+strconv.Itoa(i)+`"}}}`)
	}
	return &Policies{Identity: []*Policy{mustParse(t, documentWith(statements...))}}
}

// webIdentity is the trust policy of a role for one service account, and the
// request of its token.
func webIdentity(t testing.TB) (*Request, *Policies) {
	t.Helper()
	const host = "oidc.eks.us-east-1.amazonaws.com/id/ABCDEF"
	provider := "arn:aws:iam::" + account + ":oidc-provider/" + host
	trust := mustParse(t, documentWith(`{"Effect":"Allow","Principal":{"Federated":"`+provider+`"},"Action":"sts:AssumeRoleWithWebIdentity",`+
		`"Condition":{"StringEquals":{"`+host+`:aud":"sts.amazonaws.com","`+host+`:sub":"system:serviceaccount:team-a:app"}}}`))
	return &Request{
		Principal: Principal{Kind: Federated, ARN: provider, AccountID: account}, Action: "sts:AssumeRoleWithWebIdentity",
		Resource: "arn:aws:iam::" + account + ":role/app", ResourceAccountID: account,
		Context: contextOf(host+":aud", "sts.amazonaws.com", host+":sub", "system:serviceaccount:team-a:app"),
	}, &Policies{Resource: trust}
}

// longDocument writes a policy of about so many bytes.
func longDocument(size int) []byte {
	var statements []string
	for length := 0; length < size-400; length += len(statements[len(statements)-1]) + 1 {
		n := strconv.Itoa(len(statements))
		statements = append(statements, `{"Sid":"S`+n+`","Effect":"Allow","Action":["s3:GetObject","s3:PutObject*","s3:List*"],`+
			`"Resource":["arn:aws:s3:::bucket-`+n+`/${aws:username}/*","arn:aws:s3:::bucket-`+n+`"],`+
			`"Condition":{"StringLike":{"aws:PrincipalTag/team":["blue-*","red"]},"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}}`)
	}
	document := documentWith(statements...)
	return []byte(document + strings.Repeat(" ", size-len(document)))
}

func TestATypicalDecisionTakesAtMostTwoAllocations(t *testing.T) {
	trusted, trust := webIdentity(t)
	for name, test := range map[string]struct {
		request  *Request
		policies *Policies
		allowed  bool
	}{
		"a user and ten statements":                {teamRequest(), teamPolicy(t, 10), true},
		"a web identity and its trust policy":      {trusted, trust, true},
		"a user who is named in a bucket's policy": {teamRequest(), &Policies{Resource: mustParse(t, documentWith(`{"Effect":"Allow","Principal":{"AWS":"`+alice+`"},"Action":"s3:*","Resource":"*"}`))}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Evaluate(test.request, test.policies); got.Allowed() != test.allowed {
				t.Fatalf("Evaluate() = %+v, want allowed %v", got, test.allowed)
			}
			if got := testing.AllocsPerRun(100, func() { Evaluate(test.request, test.policies) }); got > 2 {
				t.Errorf("%v allocations, want at most 2", got)
			}
		})
	}
}

func TestParseTakesADocumentOf128kB(t *testing.T) {
	document := longDocument(128 << 10)
	policy, err := Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	if len(policy.statements) < 400 {
		t.Errorf("%d statements of %d bytes: the document is not what it should be", len(policy.statements), len(document))
	}
	if err := policy.Validate(IdentityPolicy); err != nil {
		t.Error(err)
	}
}

// decide is the body of a benchmark of decisions.
func decide(b *testing.B, request *Request, policies *Policies, want Effect) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if got := Evaluate(request, policies); got.Effect != want {
			b.Fatalf("Evaluate() = %+v, want %s", got, want)
		}
	}
}

func BenchmarkEvaluateTenStatements(b *testing.B) {
	decide(b, teamRequest(), teamPolicy(b, 10), Allow)
}

func BenchmarkEvaluateTenNearMisses(b *testing.B) {
	decide(b, teamRequest(), nearMisses(b), ImplicitDeny)
}

func BenchmarkEvaluateWebIdentity(b *testing.B) {
	request, policies := webIdentity(b)
	decide(b, request, policies, Allow)
}

func BenchmarkEvaluateManyStatements(b *testing.B) {
	for _, count := range []int{100, 1000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) { decide(b, teamRequest(), teamPolicy(b, count), Allow) })
	}
}

func BenchmarkExplainTenStatements(b *testing.B) {
	request, policies := teamRequest(), teamPolicy(b, 10)
	b.ReportAllocs()
	for b.Loop() {
		if e := Explain(request, policies); !e.Decision.Allowed() {
			b.Fatal("not allowed")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{2 << 10, 128 << 10} {
		document := longDocument(size)
		b.Run(fmt.Sprintf("%dkB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(document); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHostilePattern(b *testing.B) {
	for name, pattern := range map[string]string{
		"stars":          strings.Repeat("*a", 50) + "b",
		"question marks": "*" + strings.Repeat("a?", 50) + "b",
		"both":           strings.Repeat("*a?", 50) + "b",
	} {
		b.Run(name, func(b *testing.B) {
			g, s := newGlob(activate.Replace(pattern)), strings.Repeat("a", 2000)
			b.ReportAllocs()
			for b.Loop() {
				if g.match(s) {
					b.Fatal("matched")
				}
			}
		})
	}
}
