package iampolicy_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
)

const (
	host     = "oidc.example.com/id/4F1C"
	provider = "arn:aws:iam::111122223333:oidc-provider/" + host
)

// trusting is a trust policy of one statement with a condition.
func trusting(condition string) string {
	if condition != "" {
		condition = `, "Condition": ` + strings.ReplaceAll(condition, "HOST", host)
	}
	return `{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Federated": "` + provider + `"}, "Action": "sts:AssumeRoleWithWebIdentity"` + condition + `}]}`
}

const (
	meant     = "system:serviceaccount:shop:checkout"
	another   = "system:serviceaccount:other:app"
	recipient = "sts.amazonaws.com"
)

// admits evaluates the policy for a token.
func admits(t *testing.T, document, subject, audience string) bool {
	t.Helper()
	policy, err := iampolicy.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	claims := iampolicy.NewContext()
	claims.Set(host+":sub", subject)
	claims.Set(host+":aud", audience)
	return iampolicy.Evaluate(&iampolicy.Request{
		Principal: iampolicy.Principal{Kind: iampolicy.Federated, ARN: provider, AccountID: "111122223333"},
		Action:    "sts:AssumeRoleWithWebIdentity", Resource: "arn:aws:iam::111122223333:role/checkout", ResourceAccountID: "111122223333",
		Context: claims,
	}, &iampolicy.Policies{Resource: policy}).Allowed()
}

// TestLintSaysWhatAPolicyReallyDoes holds each finding against the evaluation: whom the policy
// is for, somebody else's ServiceAccount, and a token for somebody else.
func TestLintSaysWhatAPolicyReallyDoes(t *testing.T) {
	const aud = `"HOST:aud": "sts.amazonaws.com"`
	const sub = `"HOST:sub": "system:serviceaccount:shop:checkout"`
	type who struct{ meant, another, elsewhere bool }
	only := who{meant: true}
	for name, c := range map[string]struct {
		condition string
		codes     string
		admits    who
	}{
		"as it should be":                 {`{"StringEquals": {` + aud + `, ` + sub + `}}`, "", only},
		"in two operators":                {`{"StringEquals": {` + aud + `}, "StringLike": {"HOST:sub": "system:serviceaccount:shop:check*"}}`, "", only},
		"the whole namespace":             {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:shop:*"}}`, "", only},
		"keys in other letters":           {`{"StringEquals": {"OIDC.example.com/id/4f1c:AUD": "sts.amazonaws.com", ` + sub + `}}`, "", only},
		"one of several":                  {`{"ForAnyValue:StringEquals": {` + aud + `, ` + sub + `}}`, "", only},
		"no condition":                    {"", "NoCondition", who{true, true, true}},
		"no subject":                      {`{"StringEquals": {` + aud + `}}`, "NoSubject", who{true, true, false}},
		"no audience":                     {`{"StringEquals": {` + sub + `}}`, "NoAudience", who{true, false, true}},
		"another condition alone":         {`{"Bool": {"aws:SecureTransport": "true"}}`, "NoSubject NoAudience", who{}},
		"a subject of stars":              {`{"StringLike": {` + aud + `, "HOST:sub": "*"}}`, "NoSubject", who{true, true, false}},
		"a subject of every namespace":    {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*:checkout"}}`, "WideSubject", only},
		"of every ServiceAccount":         {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*"}}`, "WideSubject", who{true, true, false}},
		"a star under StringEquals":       {`{"StringEquals": {` + aud + `, "HOST:sub": "system:serviceaccount:shop:*"}}`, "LiteralWildcard", who{}},
		"nothing but a star there":        {`{"StringEquals": {` + aud + `, "HOST:sub": "*"}}`, "LiteralWildcard", who{}},
		"a subject without its namespace": {`{"StringEquals": {` + aud + `, "HOST:sub": "system:serviceaccount:checkout"}}`, "WrongSubject", who{}},
		"a subject with a slip":           {`{"StringEquals": {` + aud + `, "HOST:sub": "system:serviceaccounts:shop:checkout"}}`, "WrongSubject", who{}},
		"a subject of another form":       {`{"StringEquals": {` + aud + `, "HOST:sub": "repo:org/app:ref:refs/heads/main"}}`, "", who{}},
		"an ARN in the key":               {`{"StringEquals": {` + aud + `, "arn:aws:iam::111122223333:oidc-provider/HOST:sub": "` + meant + `"}}`, "WrongKey", who{}},
		"https in the key":                {`{"StringEquals": {` + aud + `, "https://HOST:sub": "` + meant + `"}}`, "WrongKey", who{}},
		"a key of another issuer":         {`{"StringEquals": {` + aud + `, "oidc.example.com/id/0000:sub": "` + meant + `"}}`, "WrongKey", who{}},
		"of another, and not demanded":    {`{"StringEquals": {` + aud + `}, "StringEqualsIfExists": {"oidc.example.com/id/0000:sub": "` + meant + `"}}`, "NoSubject WrongKey", who{true, true, false}},
		"a subject if it exists":          {`{"StringEquals": {` + aud + `}, "StringEqualsIfExists": {` + sub + `}}`, "NoSubject", only},
		"for all values":                  {`{"StringEquals": {` + aud + `}, "ForAllValues:StringEquals": {` + sub + `}}`, "NoSubject", only},
		"not somebody":                    {`{"StringEquals": {` + aud + `}, "StringNotEquals": {"HOST:sub": "` + another + `"}}`, "NoSubject", only},
	} {
		t.Run(name, func(t *testing.T) {
			document := trusting(c.condition)
			if got := codes(t, document, iampolicy.TrustPolicy); got != c.codes {
				t.Errorf("found %q, want %q", got, c.codes)
			}
			got := who{admits(t, document, meant, recipient), admits(t, document, another, recipient), admits(t, document, meant, "somebody.else")}
			if got != c.admits {
				t.Errorf("it admits %+v, want %+v", got, c.admits)
			}
		})
	}
}

// codes are what Lint finds, in order, each once.
func codes(t *testing.T, document string, kind iampolicy.Kind) string {
	t.Helper()
	policy, err := iampolicy.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	if err := policy.Validate(kind); err != nil {
		t.Fatalf("AWS would refuse it: %v", err)
	}
	var found []string
	var list iampolicy.Errors
	errors.As(policy.Lint(kind), &list)
	for _, one := range list {
		if one.Message == "" || one.Line < 1 || one.Column < 1 {
			t.Errorf("%+v has no place or no message", one)
		}
		found = append(found, string(one.Code))
	}
	return strings.Join(found, " ")
}

func TestLintKnowsWhatIsNotItsBusiness(t *testing.T) {
	open := trusting("")
	for name, c := range map[string]struct {
		document string
		kind     iampolicy.Kind
		codes    string
	}{
		"a policy of another kind":   {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}}`, iampolicy.IdentityPolicy, ""},
		"a role that a user assumes": {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRole"}}`, iampolicy.TrustPolicy, ""},
		"a denial":                   {strings.Replace(open, "Allow", "Deny", 1), iampolicy.TrustPolicy, ""},
		"another action":             {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:TagSession", 1), iampolicy.TrustPolicy, ""},
		"all actions of STS":         {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole*", 1), iampolicy.TrustPolicy, "NoCondition"},
		"GitHub, with its subject": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "repo:org/app:ref:refs/heads/main"}}`), host, "token.actions.githubusercontent.com"),
			iampolicy.TrustPolicy, ""},
		"an issuer in China under an ARN of elsewhere": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "`+meant+`"}}`), host, "oidc.eks.cn-north-1.amazonaws.com.cn/id/4F1C"),
			iampolicy.TrustPolicy, "OtherPartition"},
		"the same under its own": {strings.ReplaceAll(strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "`+meant+`"}}`), host, "oidc.eks.cn-north-1.amazonaws.com.cn/id/4F1C"), "arn:aws:", "arn:aws-cn:"),
			iampolicy.TrustPolicy, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := codes(t, c.document, c.kind); got != c.codes {
				t.Errorf("found %q, want %q", got, c.codes)
			}
		})
	}
}

// FuzzLint: whatever the document, a place lies within it.
func FuzzLint(f *testing.F) {
	f.Add(trusting(""))
	f.Add(trusting(`{"StringLike": {"HOST:sub": "*"}, "StringEquals": {"https://HOST:aud": "?"}}`))
	if text, err := os.ReadFile("testdata/iam-cases.json"); err == nil {
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, document string) {
		policy, _ := iampolicy.Parse([]byte(document))
		if policy == nil {
			return
		}
		var found iampolicy.Errors
		errors.As(policy.Lint(iampolicy.TrustPolicy), &found)
		lines := strings.Split(document, "\n")
		for _, one := range found {
			if one.Line < 1 || one.Line > len(lines) || one.Column < 1 || one.Column > len([]rune(lines[one.Line-1]))+1 {
				t.Errorf("%v is not in a document of %d lines", one, len(lines))
			}
		}
	})
}
