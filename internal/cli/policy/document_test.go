package policy

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// starTrust has one mistake, at its star.
const starTrust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example.com"},"Action":"sts:AssumeRoleWithWebIdentity",
"Condition":{"StringEquals":{"i.example.com:aud":"ü","i.example.com:sub":"system:serviceaccount:ü:*"}}}}`

func TestCheckReadsWhatAWSReturns(t *testing.T) {
	encoded := strings.ReplaceAll(url.QueryEscape(starTrust), "+", "%20")
	quoted := string(must.Get(json.Marshal(starTrust))(t))
	star := func(text, before string) string {
		t.Helper()
		head, _, ok := strings.Cut(text, before)
		if !ok {
			t.Fatalf("%q has no %q", text, before)
		}
		line := strings.Count(head, "\n") + 1
		return fmt.Sprintf("-:%d:%d: LiteralWildcard", line, len([]rune(head[strings.LastIndex(head, "\n")+1:]))+1)
	}
	plainStar, encodedStar, quotedStar := `"system:`, `%22system%3A`, `\"system:`
	for name, test := range map[string]struct {
		document string
		want     []string
	}{
		"a policy":                           {starTrust, []string{star(starTrust, plainStar)}},
		"with space around it":               {"\n\n  " + starTrust + "\n", []string{star("\n\n  "+starTrust, plainStar)}},
		"URL-encoded":                        {encoded, []string{star(encoded, encodedStar)}},
		"URL-encoded, in lower case":         {strings.Replace(encoded, "%7B", "%7b", 1), []string{star(encoded, encodedStar)}},
		"URL-encoded and a JSON string":      {"\n " + `"` + encoded + `"`, []string{star("\n \""+encoded, encodedStar)}},
		"a JSON string":                      {quoted, []string{star(quoted, quotedStar)}},
		"get-role":                           {"{\"Role\": {\"RoleName\": \"app\",\n\"AssumeRolePolicyDocument\": " + starTrust + "}}", []string{star("{\"Role\": {\"RoleName\": \"app\",\n\"AssumeRolePolicyDocument\": "+starTrust, plainStar)}},
		"list-roles, as the API answers":     {`{"Roles": [{"AssumeRolePolicyDocument": "` + encoded + `"}]}`, []string{star(`{"Roles": [{"AssumeRolePolicyDocument": "`+encoded, encodedStar)}},
		"a list":                             {"[" + goodTrust + ",\n" + starTrust + ",\n" + starTrust + "]", []string{star("[\n"+starTrust, plainStar), star("\n\n\n"+starTrust, plainStar)}},
		"an empty list":                      {"[]", []string{"-:1:1: WrongType"}},
		"a list in too many lists":           {strings.Repeat("[", 20) + strings.Repeat("]", 20), []string{"-:1:9: WrongType"}},
		"a list of no policies":              {`[{"Statement":[]}, 7]`, []string{"-:1:2: EmptyStatement", "-:1:20: WrongType"}},
		"a policy with a field of an answer": {`{"Statement":[],"Role":{"Statement":[]}}`, []string{"-:1:1: EmptyStatement", "-:1:17: UnknownElement"}},
		"an answer without a policy":         {`{"Role": {"RoleName": "app"}}`, []string{"-:1:10: NoStatement", "-:1:11: UnknownElement"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, test.document, "check", "--kind", "trust", "-")
			lines := strings.SplitAfter(strings.TrimSuffix(got.out, "\n"), "\n")
			if got.code != 1 || len(lines) != len(test.want) {
				t.Fatalf("exit code %d, printed %s%s", got.code, got.out, got.errOut)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], want+": ") {
					t.Errorf("printed %s, want %s", lines[i], want)
				}
			}
		})
	}
}

// TestCheckDecodesCharactersOfTwoEscapes, as programs write those beyond U+FFFF.
func TestCheckDecodesCharactersOfTwoEscapes(t *testing.T) {
	quoted := strings.ReplaceAll(string(must.Get(json.Marshal(starTrust))(t)), "ü:*", `\ud83d\ude00:*`)
	if got := run(t, quoted, "check", "--kind", "trust", "-"); !strings.Contains(got.out, "serviceaccount:😀:*") {
		t.Errorf("got %+v", got)
	}
}

func TestCheckMeasuresTheLargestOfSeveral(t *testing.T) {
	got := run(t, "["+goodTrust+","+starTrust+","+goodTrust+"]", "check", "--kind", "trust", "-o", "json", "-")
	var r report
	must.Do(t, json.Unmarshal([]byte(got.out), &r))
	if want := iampolicy.Size([]byte(starTrust)); r.Files[0].Room.Used != want {
		t.Errorf("got %+v, want %d used", r.Files[0].Room, want)
	}
}

func TestCheckReadsTheAnswersForOtherKinds(t *testing.T) {
	for name, document := range map[string]string{
		"get-policy-version": `{"PolicyVersion": {"VersionId": "v1", "Document": {"Version": "2012-10-17", "Statement": []}}}`,
		"get-role-policy":    `{"RoleName": "app", "PolicyDocument": {"Version": "2012-10-17", "Statement": []}}`,
	} {
		t.Run(name, func(t *testing.T) {
			want := fmt.Sprintf("-:1:%d: EmptyStatement: ", strings.Index(document, `{"Version": `)+1)
			if got := run(t, document, "check", "--kind", "managed", "-"); got.code != 1 || !strings.HasPrefix(got.out, want) {
				t.Errorf("got %+v, want %q", got, want)
			}
		})
	}
}

func TestCheckRefusesABrokenURLEncoding(t *testing.T) {
	for _, document := range []string{"%7B%2", "%7B%zz%7D", "%7b%7D%"} {
		if got := run(t, document, "check", "--kind", "trust", "-"); got.code != 2 || !strings.HasPrefix(got.out, "-:1:1: InvalidJSON: ") {
			t.Errorf("%s: got %+v", document, got)
		}
	}
}
