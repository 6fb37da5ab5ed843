package iampolicy_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
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
		"as it should be":              {`{"StringEquals": {` + aud + `, ` + sub + `}}`, "", only},
		"in two operators":             {`{"StringEquals": {` + aud + `}, "StringLike": {"HOST:sub": "system:serviceaccount:shop:check*"}}`, "", only},
		"the whole namespace":          {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:shop:*"}}`, "", only},
		"keys in other letters":        {`{"StringEquals": {"OIDC.example.com/id/4f1c:AUD": "sts.amazonaws.com", ` + sub + `}}`, "", only},
		"one of several":               {`{"ForAnyValue:StringEquals": {` + aud + `, ` + sub + `}}`, "", only},
		"no condition":                 {"", "NoCondition", who{true, true, true}},
		"no subject":                   {`{"StringEquals": {` + aud + `}}`, "NoSubject", who{true, true, false}},
		"no audience":                  {`{"StringEquals": {` + sub + `}}`, "NoAudience", who{true, false, true}},
		"another condition alone":      {`{"Bool": {"aws:SecureTransport": "true"}}`, "NoSubject NoAudience", who{}},
		"a subject of stars":           {`{"StringLike": {` + aud + `, "HOST:sub": "*"}}`, "NoSubject", who{true, true, false}},
		"a subject of every namespace": {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*:checkout"}}`, "WideNamespace", only},
		"a subject without the colon behind the namespace": {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*p*"}}`, "WideNamespace", who{true, true, false}},
		"a subject that ends in its prefix":                {`{"StringLike": {` + aud + `, "HOST:sub": "system:*"}}`, "WideSubject", who{true, true, false}},
		"every namespace, by question marks":               {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:?*:?*"}}`, "WideSubject", who{true, true, false}},
		"every namespace of five letters":                  {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:?????:*"}}`, "WideNamespace", who{another: true}},
		"an open beginning":                                {`{"StringLike": {` + aud + `, "HOST:sub": "*:checkout"}}`, "WideNamespace", only},
		"another namespace that ends so":                   {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*er:app"}}`, "WideNamespace", who{another: true}},
		"every namespace and every name":                   {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:*:*"}}`, "WideSubject", who{true, true, false}},
		"a pattern without a wildcard":                     {`{"StringLike": {` + aud + `, "HOST:sub": "system:serviceaccount:checkout"}}`, "WrongSubject", who{}},
		"an ARN as the subject":                            {`{"StringEquals": {` + aud + `, "HOST:sub": "arn:aws:iam::111122223333:role/checkout"}}`, "WrongSubject", who{}},
		"the subject under the audience's key":             {`{"StringEquals": {"HOST:aud": "` + meant + `", ` + sub + `}}`, "SwappedClaims", who{}},
		"the audience under the subject's key":             {`{"StringEquals": {` + aud + `, "HOST:sub": "sts.amazonaws.com"}}`, "SwappedClaims", who{}},
		"subject and audience exchanged":                   {`{"StringEquals": {"HOST:sub": "sts.amazonaws.com", "HOST:aud": "` + meant + `"}}`, "SwappedClaims SwappedClaims", who{}},
		"a subject twice":                                  {`{"StringEquals": {` + aud + `, "HOST:sub": ["` + meant + `", "` + meant + `"]}}`, "DuplicateValue", only},
		"a star under StringNotEquals": {`{"StringEquals": {` + aud + `}, "StringLike": {"HOST:sub": "system:serviceaccount:shop:*"}, "StringNotEquals": {"HOST:sub": "system:serviceaccount:shop:c*"}}`,
			"LiteralWildcard", only},
		"a star that is meant":            {`{"StringEquals": {` + aud + `, "HOST:sub": "system:serviceaccount:shop:${*}"}}`, "NeverMatches", who{}},
		"another claim for all values":    {`{"StringEquals": {` + aud + `, ` + sub + `}, "ForAllValues:StringEquals": {"HOST:amr": "mfa"}}`, "ForAllValues", only},
		"which is also demanded":          {`{"StringEquals": {` + aud + `, ` + sub + `}, "ForAllValues:StringEquals": {"HOST:amr": "mfa"}, "Null": {"HOST:amr": "false"}}`, "NeverMatches", who{}},
		"the authorised party alone":      {`{"StringEquals": {` + aud + `, "HOST:azp": "app"}}`, "NoSubject", who{}},
		"another claim of the caller":     {`{"StringEquals": {` + aud + `, "HOST:job_workflow_ref": "org/app"}}`, "", who{}},
		"a session tag of the caller":     {`{"StringEquals": {` + aud + `, "aws:RequestTag/kubernetes-namespace": "shop"}}`, "", who{}},
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
	errors.As(policy.Lint(kind, iampolicy.LintOptions{}), &list)
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
		"a policy of another kind":     {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}}`, iampolicy.IdentityPolicy, ""},
		"a role that a user assumes":   {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRole"}}`, iampolicy.TrustPolicy, ""},
		"a denial":                     {strings.Replace(open, "Allow", "Deny", 1), iampolicy.TrustPolicy, ""},
		"another action":               {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:TagSession", 1), iampolicy.TrustPolicy, ""},
		"the action of another caller": {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole", 1), iampolicy.TrustPolicy, "WrongAction"},
		"the action of SAML":           {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:AssumeRoleWithSAML", 1), iampolicy.TrustPolicy, "WrongAction"},
		"a token's action for a role": {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}, "Action": "sts:AssumeRoleWithWebIdentity"}}`,
			iampolicy.TrustPolicy, "WrongAction"},
		"both callers with both actions": {strings.NewReplacer(`{"Federated"`, `{"AWS": "111122223333", "Federated"`, `"sts:AssumeRoleWithWebIdentity"`, `["sts:AssumeRole", "sts:AssumeRoleWithWebIdentity"]`).Replace(
			trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "` + meant + `"}}`)), iampolicy.TrustPolicy, ""},
		"both callers, and one action": {strings.NewReplacer(`{"Federated"`, `{"AWS": "111122223333", "Federated"`, `"sts:AssumeRoleWithWebIdentity"`, `"sts:AssumeRole"`).Replace(open), iampolicy.TrustPolicy, ""},
		"an ARN that AWS signed for": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "arn:aws:iam::111122223333:role/app"}}`), host, "4f1c.tokens.sts.global.api.aws"),
			iampolicy.TrustPolicy, ""},
		"every account of AWS": {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}}`, iampolicy.TrustPolicy, "EveryAccount"},
		"every account of one organisation": {`{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole", "Condition": {"StringEquals": {"aws:PrincipalOrgID": "o-1"}}}}`,
			iampolicy.TrustPolicy, ""},
		"an old version with an OIDC provider": {strings.Replace(open, `"Version": "2012-10-17", `, "", 1), iampolicy.TrustPolicy, "NoVersion NoCondition"},
		"an old version without one":           {`{"Version": "2008-10-17", "Statement": {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}}`, iampolicy.TrustPolicy, ""},
		"a subject of EKS without its prefix": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "shop:checkout"}}`), host, "oidc.eks.eu-west-1.amazonaws.com/id/4F1C"),
			iampolicy.TrustPolicy, "WrongSubject"},
		"all actions of STS": {strings.Replace(open, "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole*", 1), iampolicy.TrustPolicy, "NoCondition"},
		"GitHub, with its subject": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "repo:org/app:ref:refs/heads/main"}}`), host, "token.actions.githubusercontent.com"),
			iampolicy.TrustPolicy, ""},
		"GitHub, any repository of one owner": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com"}, "StringLike": {"HOST:sub": "*org/app:*"}}`), host, "token.actions.githubusercontent.com"),
			iampolicy.TrustPolicy, ""},
		"a scheme in the provider's ARN": {strings.Replace(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "`+meant+`"}}`), "oidc-provider/", "oidc-provider/https://", 1),
			iampolicy.TrustPolicy, "WrongProvider"},
		"an issuer in China under an ARN of elsewhere": {strings.ReplaceAll(trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "`+meant+`"}}`), host, "oidc.eks.cn-north-1.amazonaws.com.cn/id/4F1C"),
			iampolicy.TrustPolicy, "IssuerPartition"},
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

// TestNoTokenGetsInByAnotherActionOrProvider holds WrongAction and WrongProvider against the evaluation.
func TestNoTokenGetsInByAnotherActionOrProvider(t *testing.T) {
	right := trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "` + meant + `"}}`)
	if !admits(t, right, meant, recipient) {
		t.Error("the right action admits no token")
	}
	if admits(t, strings.Replace(right, "oidc-provider/", "oidc-provider/https://", 1), meant, recipient) {
		t.Error("an ARN with a scheme admits a token")
	}
	if admits(t, strings.Replace(right, "sts:AssumeRoleWithWebIdentity", "sts:AssumeRole", 1), meant, recipient) {
		t.Error("sts:AssumeRole admits a token")
	}
}

// TestEachRuleHasOneCodeAndASeverity, which the codes of Validate's findings have as well.
func TestEachRuleHasOneCodeAndASeverity(t *testing.T) {
	seen := map[iampolicy.Code]bool{}
	for _, rule := range iampolicy.LintRules() {
		if seen[rule.Code] || rule.Text == "" || rule.Code.Severity() != rule.Severity {
			t.Errorf("%+v is there twice, or lacks its text or severity", rule)
		}
		seen[rule.Code] = true
	}
	if got := iampolicy.CodeEmptyStatement.Severity(); got != iampolicy.SeverityError {
		t.Errorf("what AWS refuses is %q", got)
	}
}

// TestLintComparesTheProviderWithTheRole, whose trust policy it is.
func TestLintComparesTheProviderWithTheRole(t *testing.T) {
	document := trusting(`{"StringEquals": {"HOST:aud": "sts.amazonaws.com", "HOST:sub": "` + meant + `"}}`)
	for name, c := range map[string]struct{ role, want string }{
		"no role":             {"", ""},
		"of the same account": {"arn:aws:iam::111122223333:role/checkout", ""},
		"of another account":  {"arn:aws:iam::444455556666:role/checkout", "OtherAccount arn:aws:iam::444455556666:oidc-provider/oidc.example.com/id/4F1C"},
		"of another partition": {"arn:aws-us-gov:iam::111122223333:role/checkout",
			"OtherPartition arn:aws-us-gov:iam::111122223333:oidc-provider/oidc.example.com/id/4F1C"},
		"what is no role": {"checkout", ""},
	} {
		t.Run(name, func(t *testing.T) {
			policy, err := iampolicy.Parse([]byte(document))
			if err != nil {
				t.Fatal(err)
			}
			var found iampolicy.Errors
			errors.As(policy.Lint(iampolicy.TrustPolicy, iampolicy.LintOptions{RoleARN: c.role}), &found)
			code, provider, any := strings.Cut(c.want, " ")
			if len(found) > 1 || any != (len(found) == 1) {
				t.Fatalf("found %v, want %q", found, c.want)
			}
			if any && (string(found[0].Code) != code || !strings.HasSuffix(found[0].Message, "write "+provider)) {
				t.Errorf("found %s: %s, want %q", found[0].Code, found[0].Message, c.want)
			}
		})
	}
}

// TestACleanPolicyAdmitsNoStranger: whatever the conditions, a policy without a finding on its
// subject refuses the token of a ServiceAccount that it does not name.
func TestACleanPolicyAdmitsNoStranger(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	clean, open := 0, 0
	for range 20_000 {
		operators := map[string]map[string][]string{}
		for range 1 + random.IntN(3) {
			operator := pick("", "", "", "ForAllValues:", "ForAnyValue:") + pick("StringEquals", "StringLike", "StringNotEquals", "StringNotLike", "StringEqualsIgnoreCase") + pick("", "", "IfExists")
			keys := operators[operator]
			if keys == nil {
				keys = map[string][]string{}
				operators[operator] = keys
			}
			key := pick(host+":sub", host+":sub", host+":aud", host+":azp", "https://"+host+":sub", provider+":sub", "oidc.example.com:sub")
			for range 1 + random.IntN(2) {
				keys[key] = append(keys[key], pick(meant, recipient, "*", "?*", "*:*", "system:*", "system:serviceaccount:*", "system:serviceaccount:*:*", "system:serviceaccount:shop:*", "*:app", "system:serviceaccount:shop*", "${*}", "q*"))
			}
		}
		condition, err := json.Marshal(operators)
		if err != nil {
			t.Fatal(err)
		}
		document := trusting(string(condition))
		found := codes(t, document, iampolicy.TrustPolicy)
		if !admits(t, document, "system:serviceaccount:q9q:z0z", recipient) {
			clean++
			continue
		}
		open++
		if !strings.Contains(found, "NoSubject") && !strings.Contains(found, "WideSubject") && !strings.Contains(found, "WideNamespace") {
			t.Fatalf("it admits a stranger, and the findings are only %q: %s", found, condition)
		}
	}
	if clean < 1000 || open < 1000 {
		t.Errorf("%d policies refuse the stranger and %d admit it: too few to compare", clean, open)
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
		errors.As(policy.Lint(iampolicy.TrustPolicy, iampolicy.LintOptions{RoleARN: "arn:aws:iam::444455556666:role/checkout"}), &found)
		lines := strings.Split(document, "\n")
		for _, one := range found {
			if one.Line < 1 || one.Line > len(lines) || one.Column < 1 || one.Column > len([]rune(lines[one.Line-1]))+1 {
				t.Errorf("%v is not in a document of %d lines", one, len(lines))
			}
		}
	})
}
