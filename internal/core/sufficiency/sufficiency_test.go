package sufficiency_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
)

const (
	account  = "111122223333"
	roleARN  = "arn:aws:iam::" + account + ":role/p"
	issuer   = "https://oidc.example.com/c"
	bare     = "oidc.example.com/c"
	provider = "arn:aws:iam::" + account + ":oidc-provider/" + bare
	subject  = "system:serviceaccount:ns:operator"
)

// allow and deny are statements.
func allow(actions, resource string) string { return statement("Allow", actions, resource, "") }
func deny(actions, resource string) string  { return statement("Deny", actions, resource, "") }

func statement(effect, actions, resource, condition string) string {
	if condition != "" {
		condition = `,"Condition":` + condition
	}
	return fmt.Sprintf(`{"Effect":%q,"Action":["%s"],"Resource":%q%s}`, effect, strings.ReplaceAll(actions, " ", `","`), resource, condition)
}

func document(statements ...string) sufficiency.Document {
	return sufficiency.Document{Name: "the inline policy objects", Text: `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`}
}

func trust(conditions string) sufficiency.Document {
	return sufficiency.Document{Text: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"` + provider + `"}` + conditions + `}]}`}
}

var trusts = trust(`,"Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `","` + bare + `:aud":"openshift"}}`)

func atom(action, resource string) permission.Atom {
	return permission.Atom{Request: "p", Cloud: permission.AWS, Kind: permission.KindAction, Effect: "Allow", Action: action, Resource: resource}
}

// first and second are what the two versions of the specification's package ask for.
var (
	first  = []permission.Atom{atom("s3:GetObject", "arn:aws:s3:::b/*")}
	second = append(first[:1:1], atom("s3:PutObject", "arn:aws:s3:::b/*"), atom("sqs:SendMessage", "arn:aws:sqs:eu-west-1:"+account+":q"))
)

func asks(atoms ...permission.Atom) sufficiency.Question {
	return sufficiency.Question{Issuer: issuer, Subjects: []string{subject}, Audiences: []string{"openshift"}, Atoms: atoms}
}

func role(policies ...sufficiency.Document) sufficiency.Documents {
	return sufficiency.Documents{ARN: roleARN, Trust: trusts, Policies: policies}
}

// results are those of the permissions, with why.
func results(r sufficiency.Report) string {
	var out []string
	for _, p := range r.Permissions {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Action, p.Result, p.Why)))
	}
	return strings.Join(out, "\n")
}

func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}

func TestScenario19ARoleForTheFirstVersionOnly(t *testing.T) {
	r := role(document(allow("s3:GetObject", "arn:aws:s3:::b/*")))
	if got := sufficiency.Check(asks(first...), r); got.Verdict != sufficiency.Satisfied || len(got.Broader) > 0 || len(got.Warnings) > 0 {
		t.Errorf("%+v", got)
	}
	got := sufficiency.Check(asks(second...), r)
	if got.Verdict != sufficiency.Missing {
		t.Errorf("%+v", got)
	}
	says(t, results(got), "s3:GetObject granted", "s3:PutObject missing", "sqs:SendMessage missing")
	says(t, strings.Join(got.NotSeen, " "), "SCP", "RCP", "session")
}

func TestScenario20ADenyAndABoundary(t *testing.T) {
	got := sufficiency.Check(asks(second...), role(document(allow("s3:*", "*"), allow("sqs:*", "*")), sufficiency.Document{
		Name: "the managed policy guard", Text: `{"Version":"2012-10-17","Statement":{"Sid":"NoWrites","Effect":"Deny","Action":"s3:PutObject","Resource":"*"}}`}))
	if got.Verdict != sufficiency.Missing {
		t.Errorf("%+v", got)
	}
	says(t, results(got), "s3:PutObject denied statement 1 (NoWrites) of the managed policy guard denies it", "sqs:SendMessage granted")
	says(t, strings.Join(got.Broader, "\n"), "statement 1 of the inline policy objects allows s3:* on *")

	r := role(document(allow("s3:* sqs:*", "*")))
	boundary := document(allow("s3:*", "*"))
	r.Boundary = &boundary
	got = sufficiency.Check(asks(second...), r)
	if got.Verdict != sufficiency.Missing {
		t.Errorf("%+v", got)
	}
	says(t, results(got), "s3:PutObject granted", "sqs:SendMessage missing no statement of the permissions boundary allows it")
}

func TestScenario21APatternIsGrantedAsAWhole(t *testing.T) {
	describe := atom("ec2:Describe*", "*")
	got := sufficiency.Check(asks(describe), role(document(allow("ec2:DescribeInstances", "*"))))
	if got.Verdict != sufficiency.Missing {
		t.Errorf("%+v", got)
	}
	says(t, results(got), "ec2:Describe* partly", "statement 1 of the inline policy objects")
	if got := sufficiency.Check(asks(describe), role(document(allow("ec2:*", "*")))); got.Verdict != sufficiency.Satisfied {
		t.Errorf("%+v", got)
	}
}

func TestScenario22Trust(t *testing.T) {
	r := role(document(allow("s3:GetObject", "*")))
	r.Trust.Text = strings.ReplaceAll(r.Trust.Text, subject, subject+"s")
	got := sufficiency.Check(asks(first...), r)
	if got.Verdict != sufficiency.Missing || got.Trust[0].Result != sufficiency.NotTrusted {
		t.Errorf("%+v", got)
	}
	says(t, got.Trust[0].Why, `"`+subject+`"`, `"`+subject+`s"`)

	r.Trust = trust(`,"Condition":{"StringEquals":{"` + bare + `:sub":"` + subject + `"}}`)
	got = sufficiency.Check(asks(first...), r)
	if got.Verdict != sufficiency.Satisfied || got.Trust[0].Result != sufficiency.Trusted || len(got.Warnings) != 1 {
		t.Errorf("%+v", got)
	}
	says(t, got.Warnings[0], "audience", bare+":aud")
}

func TestTrust(t *testing.T) {
	both := func(sub, aud string) string {
		return `,"Condition":{"StringEquals":{"` + bare + `:sub":` + sub + `,"` + bare + `:aud":` + aud + `}}`
	}
	ours := `"` + subject + `"`
	for name, c := range map[string]struct {
		trust sufficiency.Document
		want  sufficiency.Result
		says  string
		warns int
	}{
		"as it should be":                 {trusts, sufficiency.Trusted, "", 0},
		"one of several":                  {trust(both(`["x",`+ours+`]`, `["a","openshift"]`)), sufficiency.Trusted, "", 0},
		"another audience":                {trust(both(ours, `"sts.amazonaws.com"`)), sufficiency.NotTrusted, `:aud is "sts.amazonaws.com" in the role (StringEquals), and "openshift" in the token`, 0},
		"both differ":                     {trust(both(`"x"`, `"y"`)), sufficiency.NotTrusted, `:sub is "x"`, 0},
		"no condition":                    {trust(""), sufficiency.Trusted, "", 2},
		"every ServiceAccount":            {trust(strings.ReplaceAll(both(`"system:serviceaccount:*"`, `"openshift"`), "StringEquals", "StringLike")), sufficiency.Trusted, "", 1},
		"each of the namespace":           {trust(strings.ReplaceAll(both(`"system:serviceaccount:ns:*"`, `"openshift"`), "StringEquals", "StringLike")), sufficiency.Trusted, "", 1},
		"another key":                     {trust(`,"Condition":{"StringEquals":{"aws:SourceVpc":"v"}}`), sufficiency.Undecided, "aws:SourceVpc", 0},
		"a key that is to differ":         {trust(`,"Condition":{"StringEquals":{"` + bare + `:sub":` + ours + `,"` + bare + `:aud":"openshift"},"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`), sufficiency.Undecided, "aws:SourceIp", 0},
		"a key that may be absent":        {trust(`,"Condition":{"StringEquals":{"` + bare + `:sub":` + ours + `},"StringEqualsIfExists":{"aws:SourceVpc":"v"}}`), sufficiency.Undecided, "aws:SourceVpc", 0},
		"a variable":                      {trust(both(`"${aws:PrincipalTag/x}"`, `"openshift"`)), sufficiency.Undecided, ":sub", 0},
		"another key and another subject": {trust(`,"Condition":{"StringEquals":{"` + bare + `:sub":"x","aws:SourceVpc":"v"}}`), sufficiency.NotTrusted, `:sub is "x"`, 0},
		"a Deny elsewhere": {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, `"Statement":[`, `"Statement":[{"Effect":"Deny","Action":"sts:*","Principal":"*","Condition":{"NotIpAddress":{"aws:SourceIp":"10.0.0.0/8"}}},`)},
			sufficiency.Undecided, "aws:SourceIp", 0},
		"a Deny of others": {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, `"Statement":[`, `"Statement":[{"Effect":"Deny","Action":"sts:*","Principal":"*","Condition":{"StringNotEquals":{"`+bare+`:sub":"`+subject+`"}}},`)},
			sufficiency.Trusted, "", 0},
		"another provider":       {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, provider, provider+"2")}, sufficiency.WrongProvider, provider + "2", 0},
		"the provider elsewhere": {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, account, "444455556666")}, sufficiency.WrongProvider, "444455556666", 0},
		"another action":         {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, "WithWebIdentity", "")}, sufficiency.NotTrusted, "no statement", 0},
		"a service":              {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, `"Federated":"`+provider, `"Service":"ec2.amazonaws.com`)}, sufficiency.NotTrusted, "no statement", 0},
		"denied": {sufficiency.Document{Text: strings.ReplaceAll(trusts.Text, `"Statement":[`, `"Statement":[{"Sid":"No","Effect":"Deny","Action":"sts:*","Principal":"*"},`)},
			sufficiency.NotTrusted, "statement 1 (No)", 0},
		"broken":   {sufficiency.Document{Text: "{"}, sufficiency.Unseen, "cannot be read", 0},
		"not read": {sufficiency.Document{Unread: "iam:GetRole is denied"}, sufficiency.Unseen, "iam:GetRole", 0},
		"none":     {sufficiency.Document{}, sufficiency.Unseen, "not read", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := role(document(allow("s3:GetObject", "*")))
			r.Trust = c.trust
			got := sufficiency.Check(asks(first...), r)
			if len(got.Trust) != 1 || got.Trust[0].Result != c.want || len(got.Warnings) != c.warns {
				t.Fatalf("%+v", got)
			}
			says(t, got.Trust[0].Why, c.says)
			if satisfied := c.want == sufficiency.Trusted; satisfied != (got.Verdict == sufficiency.Satisfied) {
				t.Errorf("%s", got.Verdict)
			}
		})
	}
	// Each ServiceAccount and each audience counts.
	q := asks(first...)
	q.Subjects, q.Audiences = []string{subject, "system:serviceaccount:ns:second"}, []string{"openshift", "vault"}
	if got := sufficiency.Check(q, role(document(allow("s3:GetObject", "*")))); len(got.Trust) != 4 || got.Verdict != sufficiency.Missing {
		t.Errorf("%+v", got)
	}
	q.Subjects = nil
	if got := sufficiency.Check(q, role(document(allow("s3:GetObject", "*")))); got.Verdict != sufficiency.Unknown {
		t.Errorf("%+v", got)
	}
	q = asks(first...)
	q.Issuer = ""
	if got := sufficiency.Check(q, role(document(allow("s3:GetObject", "*")))); got.Verdict != sufficiency.Unknown {
		t.Errorf("%+v", got)
	}
}

func TestPermissions(t *testing.T) {
	const inVPC = `{"StringEquals":{"aws:SourceVpc":["v"]}}`
	get := atom("s3:GetObject", "arn:aws:s3:::b/*")
	withCondition := get
	withCondition.Condition = permission.Condition(inVPC)
	for name, c := range map[string]struct {
		atom      permission.Atom
		documents []sufficiency.Document
		want      sufficiency.Result
		says      string
	}{
		"exactly":                     {get, []sufficiency.Document{document(allow("s3:GetObject", "arn:aws:s3:::b/*"))}, sufficiency.Granted, ""},
		"without case":                {get, []sufficiency.Document{document(allow("S3:getobject", "arn:aws:s3:::b/*"))}, sufficiency.Granted, ""},
		"by two statements":           {atom("s3:GetObject", "arn:aws:s3:::b/*"), []sufficiency.Document{document(allow("s3:G*", "arn:aws:s3:::b/*")), document(allow("s3:P*", "*"))}, sufficiency.Granted, ""},
		"nothing":                     {get, nil, sufficiency.Lacking, "no statement"},
		"another bucket":              {get, []sufficiency.Document{document(allow("s3:*", "arn:aws:s3:::c/*"))}, sufficiency.Lacking, ""},
		"a part of the resources":     {get, []sufficiency.Document{document(allow("s3:*", "arn:aws:s3:::b/d/*"))}, sufficiency.Partly, "statement 1 of the inline policy objects"},
		"a Deny of a part":            {get, []sufficiency.Document{document(allow("s3:*", "*"), deny("s3:*", "arn:aws:s3:::b/d/*"))}, sufficiency.Partly, "statement 2 of the inline policy objects denies a part"},
		"a Deny of another":           {get, []sufficiency.Document{document(allow("s3:*", "*"), deny("s3:*", "arn:aws:s3:::c/*"))}, sufficiency.Granted, ""},
		"a condition":                 {get, []sufficiency.Document{document(statement("Allow", "s3:*", "*", inVPC))}, sufficiency.Conditional, "aws:SourceVpc"},
		"a condition of a Deny":       {get, []sufficiency.Document{document(allow("s3:*", "*"), statement("Deny", "s3:*", "*", inVPC))}, sufficiency.Conditional, "denies by aws:SourceVpc"},
		"the same condition":          {withCondition, []sufficiency.Document{document(statement("Allow", "s3:*", "*", inVPC))}, sufficiency.Granted, ""},
		"an atom's own condition":     {withCondition, []sufficiency.Document{document(allow("s3:*", "*"))}, sufficiency.Granted, ""},
		"a Deny of its condition":     {withCondition, []sufficiency.Document{document(allow("s3:*", "*"), statement("Deny", "s3:*", "*", inVPC))}, sufficiency.Denied, "statement 2"},
		"NotAction":                   {get, []sufficiency.Document{document(`{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}`)}, sufficiency.Granted, ""},
		"a Deny with NotAction":       {get, []sufficiency.Document{document(allow("s3:*", "*"), `{"Effect":"Deny","NotAction":"iam:*","Resource":"*"}`)}, sufficiency.Denied, ""},
		"a Deny with NotResource":     {get, []sufficiency.Document{document(allow("s3:*", "*"), `{"Effect":"Deny","Action":"s3:*","NotResource":"arn:aws:s3:::b/d"}`)}, sufficiency.Partly, ""},
		"a variable in the role":      {get, []sufficiency.Document{document(allow("s3:*", "arn:aws:s3:::b/${aws:PrincipalTag/x}/*"))}, sufficiency.Partly, ""},
		"a variable in the atom":      {atom("s3:GetObject", "arn:aws:s3:::b/${aws:PrincipalTag/x}/*"), []sufficiency.Document{document(allow("s3:*", "arn:aws:s3:::b/a/*"))}, sufficiency.Undecided, "variable"},
		"the same variable":           {atom("s3:GetObject", "arn:aws:s3:::b/${aws:PrincipalTag/x}/*"), []sufficiency.Document{document(allow("s3:*", "arn:aws:s3:::b/${aws:PrincipalTag/x}/*"))}, sufficiency.Granted, ""},
		"a policy that was not read":  {get, []sufficiency.Document{document(allow("s3:*", "*")), {Name: "the managed policy m", Unread: "iam:GetPolicyVersion is denied"}}, sufficiency.Undecided, "the managed policy m was not read: iam:GetPolicyVersion is denied"},
		"a Deny beside one":           {get, []sufficiency.Document{document(deny("s3:*", "*")), {Name: "the managed policy m", Unread: "denied"}}, sufficiency.Denied, ""},
		"a policy that is broken":     {get, []sufficiency.Document{document(allow("s3:*", "*")), {Name: "m", Text: `{"Version":"2012-10-17","Statement":{"Effect":"Deny"`}}, sufficiency.Undecided, "m cannot be read"},
		"a policy that is too long":   {get, []sufficiency.Document{document(allow("s3:*", "*")), document(deny("ec2:"+strings.Repeat("x", 600<<10), "*"))}, sufficiency.Undecided, "KiB"},
		"a variable in an old policy": {get, []sufficiency.Document{{Name: "m", Text: `{"Version":"2008-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"arn:aws:s3:::${x}*"}}`}}, sufficiency.Undecided, "older version"},
		"Google Cloud":                {permission.Atom{Cloud: permission.GCP, Kind: permission.KindRole, Value: "roles/owner"}, nil, sufficiency.Undecided, "other clouds"},
		"an action that is none":      {atom("s3", "*"), []sufficiency.Document{document(allow("*", "*"))}, sufficiency.Granted, ""},
		"a Deny in an unknown letter": {get, []sufficiency.Document{document(allow("s3:*", "*")), {Name: "m", Text: `{"Version":"2012-10-17","statement":{"Effect":"Deny","Action":"*","Resource":"*"}}`}}, sufficiency.Undecided, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := sufficiency.Check(asks(c.atom), role(c.documents...))
			if len(got.Permissions) != 1 || got.Permissions[0].Result != c.want || got.Permissions[0].Action != c.atom.Action {
				t.Fatalf("%+v", got)
			}
			says(t, got.Permissions[0].Why, c.says)
			if granted := c.want == sufficiency.Granted; granted != (got.Verdict == sufficiency.Satisfied) || granted != (got.Permissions[0].Why == "") {
				t.Errorf("%+v", got)
			}
		})
	}
	unlisted := role(document(allow("*", "*")))
	unlisted.Unlisted = "iam:ListAttachedRolePolicies is denied"
	if got := sufficiency.Check(asks(get), unlisted); got.Verdict != sufficiency.Unknown {
		t.Errorf("%+v", got)
	}
	bounded := role(document(allow("*", "*")))
	bounded.Boundary = &sufficiency.Document{Name: "the boundary b", Unread: "denied"}
	if got := sufficiency.Check(asks(get), bounded); got.Verdict != sufficiency.Unknown {
		t.Errorf("%+v", got)
	}
}

func TestWhatIsDeniedIsAdvice(t *testing.T) {
	never := atom("s3:DeleteBucket", "*")
	never.Effect = "Deny"
	got := sufficiency.Check(asks(first[0], never), role(document(allow("s3:*", "*"))))
	if got.Verdict != sufficiency.Satisfied || len(got.Permissions) != 1 || len(got.Warnings) != 1 {
		t.Errorf("%+v", got)
	}
	says(t, got.Warnings[0], "s3:DeleteBucket")
	if got := sufficiency.Check(asks(first[0], never), role(document(allow("s3:*", "*"), deny("s3:Delete*", "*")))); len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestCheckIsBounded: requests and roles as somebody hostile writes them.
func TestCheckIsBounded(t *testing.T) {
	for _, stars := range []string{strings.Repeat("*a*b", 20), strings.Repeat("*a*b", 4)} {
		checkIsBounded(t, stars)
	}
}

func checkIsBounded(t *testing.T, stars string) {
	t.Helper()
	var atoms []permission.Atom
	var statements []string
	for i := range 3000 {
		atoms = append(atoms, atom(fmt.Sprintf("s3:%d%s", i, stars), fmt.Sprintf("arn:aws:s3:::%d%s", i, stars)))
	}
	for i := range 400 {
		statements = append(statements, statement([]string{"Allow", "Deny"}[i%2], fmt.Sprintf("s3:%s%d", stars, i), "arn:aws:s3:::"+stars, ""))
	}
	q := asks(atoms...)
	for i := range 3000 {
		q.Subjects = append(q.Subjects, fmt.Sprintf("system:serviceaccount:ns:%d", i))
	}
	got := sufficiency.Check(q, role(document(statements...)))
	if got.Verdict == sufficiency.Satisfied || len(got.Permissions) > 1001 || len(got.Trust) > 1001 || len(got.Broader) > 51 || len(got.Warnings) > 100 {
		t.Errorf("%s: %d permissions, %d of trust, %d broader", got.Verdict, len(got.Permissions), len(got.Trust), len(got.Broader))
	}
}
