package policy

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// caseWith is a case that is allowed, with more members.
func caseWith(id, more string) string {
	return `{"id":"` + id + `","principal":"arn:aws:iam::123456789012:user/alice","action":"s3:GetObject","resource":"arn:aws:s3:::b/k",` +
		`"resourceAccount":"123456789012","identityPolicies":[{"Version":"2012-10-17","Statement":{"Sid":"All","Effect":"Allow","Action":"*","Resource":"*"}}]` + more + `}`
}

// silent is a policy that allows something else.
const silent = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"iam:GetRole","Resource":"*"}}`

// allowed is the answer to caseWith.
func allowed(id string) string {
	return `{"id":"` + id + `","decision":"allow","kind":"identity","sid":"All","certainty":"documented"}` + "\n"
}

func TestEvalDecides(t *testing.T) {
	foo := strings.Replace(silent, `"Effect"`, `"Foo":1,"Effect"`, 1)
	for name, test := range map[string]struct {
		args []string
		in   string
		want result
	}{
		"an array": {nil, "[\n" + caseWith("a", "") + ",\n" + caseWith("b", `,"boundary":`+silent) + "]\n",
			result{0, allowed("a") + `{"id":"b","decision":"implicitDeny","kind":"boundary","certainty":"documented"}` + "\n", ""}},
		"an empty array":               {nil, "[]", result{}},
		"one a line":                   {[]string{"--ndjson"}, caseWith("a", "") + "\n\n" + caseWith("b", "") + "\n", result{0, allowed("a") + allowed("b"), ""}},
		"a case without an id":         {nil, "[" + caseWith("", "") + "]", result{0, allowed("1"), ""}},
		"the members of a table":       {nil, "[" + caseWith("a", `,"title":"t","expect":"deny","recommend":"x","issuer":"i","open":true`) + "]", result{0, allowed("a"), ""}},
		"what rests on an open answer": {nil, "[" + caseWith("a", `,"context":{"k:n":[1,true]},"sessionPolicy":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"StringEquals":{"k:n":"1"}}}}`) + "]", result{0, `{"id":"a","decision":"implicitDeny","kind":"session","certainty":"assumed","questions":["ManyValues"]}` + "\n", ""}},
		"a policy with a mistake":      {nil, "[" + caseWith("a", `,"sessionPolicy":`+foo) + "]", result{0, `{"id":"a","decision":"implicitDeny","kind":"session","certainty":"documented","mistakes":["sessionPolicy: line 1, column 38: a statement has no element \"Foo\"; look for a slip in its spelling or case"]}` + "\n", ""}},
		"the others beside a bad one": {nil, "[" + caseWith("a", "") + "," + caseWith("b", `,"action":"x"`) + "," + caseWith("c", "") + "]",
			result{2, allowed("a") + allowed("c"), "tabard: case 2: it cannot be read: \"action\" is given twice; names compare without regard to case\n"}},
		"the others beside a line that is no JSON": {[]string{"--ndjson"}, "{\n" + caseWith("b", ""),
			result{2, allowed("b"), "tabard: case 1: it cannot be read: unexpected end of JSON input\n"}},
		"no two cases on a line": {[]string{"--ndjson"}, caseWith("a", "") + caseWith("b", ""),
			result{2, "", "tabard: case 1: it cannot be read: invalid character '{' after top-level value\n"}},
		"no array":              {nil, caseWith("a", ""), result{2, "", "tabard: the input is no JSON array of cases; use --ndjson for one case a line\n"}},
		"an array that ends":    {nil, "[" + caseWith("a", ""), result{2, allowed("a"), "tabard: the array does not end after case 1: EOF\n"}},
		"text behind the array": {nil, "[]x", result{2, "", "tabard: there is more text after the array; remove it\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, test.in, append([]string{"eval", "-"}, test.args...)...); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestEvalRefusesACaseThatItDoesNotUnderstand(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(caseWith("a", ""), from, to, 1) }
	for name, test := range map[string]struct{ given, want string }{
		"an unknown member":               {caseWith("a", `,"bounds":`+silent), `json: unknown field "bounds"`},
		"a member in two cases":           {caseWith("a", `,"boundary":`+silent+`,"Boundary":null`), `"Boundary" is given twice`},
		"a key in two cases":              {caseWith("a", `,"context":{"k:a":"1","K:A":"2"}`), `"K:A" is given twice`},
		"a key with an object":            {caseWith("a", `,"context":{"k:a":{}}`), `context key "k:a": the value is {}`},
		"a key with null in a list":       {caseWith("a", `,"context":{"k:a":[null]}`), `context key "k:a": the value is null`},
		"a context that is a list":        {caseWith("a", `,"context":[]`), "it is no JSON object"},
		"a case that is a number":         {"7", "it is no JSON object"},
		"an action without a service":     {change("s3:GetObject", "GetObject"), `action is "GetObject"`},
		"no resource":                     {change("arn:aws:s3:::b/k", ""), "resource is missing"},
		"no account":                      {change(`"resourceAccount":"123456789012"`, `"resourceAccount":""`), "resourceAccount is missing"},
		"a caller that is none":           {change("user/alice", "group/g"), `principal is "arn:aws:iam::123456789012:group/g"`},
		"a session without a name":        {change("arn:aws:iam::123456789012:user/alice", "arn:aws:sts::123456789012:assumed-role/app"), "principal is"},
		"a policy with a key given twice": {caseWith("a", `,"resourcePolicy":{"Statement":[],"Statement":[]}`), "resourcePolicy is no policy: line 1, column 17"},
		"a policy that is a text":         {caseWith("a", `,"boundary":"x"`), "boundary is no policy"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "["+test.given+"]", "eval", "-")
			if got.code != command.Unusable || got.out != "" || !strings.Contains(got.errOut, test.want) {
				t.Errorf("got %+v, want exit code 2 and %q", got, test.want)
			}
		})
	}
	if got := run(t, "", "eval", "/no/such/file"); got.code != command.Unusable {
		t.Errorf("a file that is not there: %+v", got)
	}
}

func TestEvalKnowsTheCallers(t *testing.T) {
	for caller, want := range map[string]iampolicy.Principal{
		"anonymous":                            {},
		"logs.amazonaws.com":                   {Kind: iampolicy.Service, ARN: "logs.amazonaws.com"},
		"arn:aws-cn:iam::123456789012:user/a":  {Kind: iampolicy.User, ARN: "arn:aws-cn:iam::123456789012:user/a", AccountID: "123456789012"},
		"arn:aws:iam::123456789012:root":       {Kind: iampolicy.Root, ARN: "arn:aws:iam::123456789012:root", AccountID: "123456789012"},
		"arn:aws:iam::1:oidc-provider/a.b:8/c": {Kind: iampolicy.Federated, ARN: "arn:aws:iam::1:oidc-provider/a.b:8/c", AccountID: "1"},
		"arn:aws-us-gov:sts::1:assumed-role/a/s": {Kind: iampolicy.RoleSession, ARN: "arn:aws-us-gov:sts::1:assumed-role/a/s",
			RoleARN: "arn:aws-us-gov:iam::1:role/a", AccountID: "1"},
	} {
		if got, err := readPrincipal(caller, ""); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", caller, got, err, want)
		}
	}
	const session, role = "arn:aws:sts::1:assumed-role/a/s", "arn:aws:iam::1:role/team/a"
	if got, err := readPrincipal(session, role); err != nil || got.RoleARN != role {
		t.Errorf("%s of %s: %+v, %v", session, role, got, err)
	}
}

func TestEvalTraces(t *testing.T) {
	got := run(t, "["+caseWith("a", `,"boundary":`+silent)+"]", "eval", "--trace", "-")
	var a answer
	if err := json.Unmarshal([]byte(got.out), &a); err != nil || got.code != 0 {
		t.Fatalf("%v, %+v", err, got)
	}
	if len(a.Statements) != 2 || a.Statements[1].Kind != iampolicy.BoundaryPolicy || a.Statements[1].Failures[0].Element != "Action" {
		t.Errorf("got %+v, want the reason of each statement", a.Statements)
	}
}

// A table of cases is what the command is made for: the one of iampolicy's tests
// must come out as it says.
func TestEvalDecidesTheTableOfCases(t *testing.T) {
	const path = "../../../iampolicy/testdata/iam-cases.json"
	raw := must.Get(os.ReadFile(path))(t)
	var cases []struct {
		ID     string
		Expect iampolicy.Effect
	}
	must.Do(t, json.Unmarshal(raw, &cases))
	got := run(t, "", "eval", path)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if got.code != 0 || len(lines) != len(cases) {
		t.Fatalf("exit code %d, %d answers to %d cases: %s", got.code, len(lines), len(cases), got.errOut)
	}
	for i, line := range lines {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.ID != cases[i].ID || a.Decision != cases[i].Expect {
			t.Errorf("%s: want %s of %s, %v", line, cases[i].Expect, cases[i].ID, err)
		}
	}
}

// closed is an output that nobody reads any more.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestALostOutputIsAnErrorOfItsOwn(t *testing.T) {
	for _, args := range [][]string{{"eval", "-"}, {"check", "-"}} {
		in := strings.NewReader("[" + caseWith("a", "") + "]")
		policy := New(command.Streams{In: in, Out: closed{}, Err: closed{}})
		policy.SetArgs(args)
		err := policy.ExecuteContext(t.Context())
		if args[0] == "eval" && (err == nil || !strings.Contains(err.Error(), "write the answer to case 1 (a)")) {
			t.Errorf("%v: %v", args, err)
		}
		if args[0] == "check" && (err == nil || !strings.Contains(err.Error(), "write the output")) {
			t.Errorf("%v: %v", args, err)
		}
	}
}
