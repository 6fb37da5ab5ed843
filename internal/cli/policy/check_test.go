package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/policycheck"
)

const goodTrust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}}`

func TestCheckReports(t *testing.T) {
	for name, test := range map[string]struct {
		kind, document string
		want           result
	}{
		"nothing on a good policy": {"trust", goodTrust, result{errOut: "-: nothing found (kind trust)\n"}},
		"each mistake with its place and code": {"identity", "{\"Statement\":[\n {\"Effect\":\"Allow\",\"Action\":\"x\",\"Resource\":\"*\"},\n {\"Effect\":\"allow\",\"Action\":\"s3:*\",\"Resource\":\"b\"}]}",
			result{1, `-:2:29: NoVendor: Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.
-:3:12: InvalidEffect: the Effect is "allow"; it must be "Allow" or "Deny", in this case
-:3:47: InvalidResource: Resource b must be in ARN format or "*".
`, ""}},
		"the rules of the kind": {"trust", strings.Replace(goodTrust, `"sts:AssumeRole"`, `"*"`, 1),
			result{1, "-:1:99: NotAssumeRoleAction: AssumeRole policy may only specify STS AssumeRole actions.\n", ""}},
		"what AWS takes and is not meant": {"trust", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example.com"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"i.example.com:aud":"sts.amazonaws.com","i.example.com:sub":"system:serviceaccount:a:*"}}}}`,
			result{1, "-:1:267: LiteralWildcard: StringEquals compares letter by letter, so that no token has the sub \"system:serviceaccount:a:*\"; use StringLike, or write the whole value\n", ""}},
		"one mistake once": {"identity", `{"Version":"2012-10-17"}`,
			result{1, "-:1:1: NoStatement: the policy has no element Statement; add it\n", ""}},
		"a key that is given twice": {"identity", `{"Statement":[],"Statement":[]}`,
			result{1, "-:1:17: DuplicateKey: the key \"Statement\" is given twice in one object; keep one\n", ""}},
		"conditions whose meaning AWS does not state": {"identity", `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalTag/a":"1","aws:principaltag/A":[]}}}}`,
			result{1, `-:1:148: EmptyCondition: the condition key "aws:principaltag/A" under StringEquals has no value, and AWS does not state what that means; give it the values that are meant, or leave the key out
-:1:148: RepeatedKey: the condition key "aws:principaltag/A" is under StringEquals as "aws:PrincipalTag/a" too, case does not tell keys apart, and AWS does not state which of them counts; write the key once, with the values that are meant
`, ""}},
		"what is no JSON": {"identity", "{\n oops",
			result{2, "-:2:2: InvalidJSON: found 'o' where a string in double quotes should be\n", "tabard: - is no JSON document\n"}},
		"bytes that are no text": {"identity", "{\"\xff",
			result{2, "-:1:3: InvalidEncoding: found a byte that is not UTF-8; save the document as UTF-8\n", "tabard: - is no JSON document\n"}},
		"a document over the quota": {"managed", statements(120),
			result{1, "-:1:1: TooLarge: the document counts 6998 against the quota of 6144 for managed policies; shorten it by 854\n", ""}},
		"a trust policy over the quota": {"trust", strings.Replace(goodTrust, `"sts:AssumeRole"`, `["sts:AssumeRole"`+strings.Repeat(`,"sts:AssumeRole"`, 120)+"]", 1),
			result{1, "-:1:1: TooLarge: the document counts 2158 against the quota of 2048 for trust policies; shorten it by 110, or have AWS raise the account's quota, to 4096 at most\n", ""}},
		"a quota of its own for each kind": {"identity", statements(120), result{errOut: "-: nothing found (kind identity)\n"}},
		"a document that no AWS would take": {"identity", strings.Repeat(" ", policycheck.Longest+1),
			result{2, "", "tabard: - is larger than 1048576 bytes; no policy is\n"}},
		"a kind that there is not": {"bucket", goodTrust,
			result{2, "", "tabard: --kind is \"bucket\"; it must be one of identity, resource, trust, boundary, session, managed\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := run(t, test.document, "check", "--kind", test.kind, "-"); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// statements is a good policy of so many statements.
func statements(count int) string {
	one := `{"Effect":"Allow","Action":"s3:GetObject","Resource":"*"},`
	return `{"Version":"2012-10-17","Statement":[` + strings.TrimSuffix(strings.Repeat(one, count), ",") + `]}`
}

func TestCheckGoesThroughAllFiles(t *testing.T) {
	good, bad := file(t, "good.json", goodTrust), file(t, "bad.json", `{"Statement":[]}`)
	gone := bad + ".gone"
	got := run(t, "", "check", "--kind", "trust", gone, bad, good)
	want := result{2, bad + ":1:1: EmptyStatement: Could not parse the policy: Statement is empty!\n",
		"tabard: FILE is \"" + gone + "\": there is no such file or folder; expected a policy document in JSON\n"}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCheckSaysThatItFoundNothing(t *testing.T) {
	good := file(t, "good.json", goodTrust)
	for args, want := range map[string]string{"": "2 files: nothing found (kind trust)\n", "-o=json": "", "--sarif": ""} {
		got := run(t, "", append([]string{"check", "--kind=trust", good, good}, strings.Fields(args)...)...)
		if got.code != 0 || got.errOut != want || (got.out == "") != (args == "") {
			t.Errorf("%q: got %+v, want code 0 and %q", args, got, want)
		}
	}
}

func TestCheckPrintsJSON(t *testing.T) {
	good, bad := file(t, "good.json", goodTrust), file(t, "bad.json", `{"Statement":[]}`)
	got := run(t, "[", "check", "--kind", "trust", "-o", "json", good, bad, "-")
	if got.code != command.Unusable || got.errOut != "tabard: - is no JSON document\n" {
		t.Errorf("exit code %d, said %q", got.code, got.errOut)
	}
	var r report
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	if r.APIVersion != "tabard.dev/v1alpha1" || r.Kind != "PolicyCheck" || r.PolicyKind != "trust" || len(r.Files) != 3 {
		t.Fatalf("got %+v", r)
	}
	if one := r.Files[0]; one.File != good || one.Findings == nil || len(one.Findings) != 0 || one.Room == nil || one.Room.Used != len(goodTrust) {
		t.Errorf("good: got %+v", one)
	}
	if one := r.Files[1]; len(one.Findings) != 1 || one.Findings[0].Code != "EmptyStatement" || one.Findings[0].Line != 1 {
		t.Errorf("bad: got %+v", one)
	}
	if one := r.Files[2]; one.Unusable != "- is no JSON document" || one.Room != nil || one.Findings[0].Code != "InvalidJSON" {
		t.Errorf("no JSON: got %+v", one)
	}
}

// wideTrust has a warning, and nothing else.
const wideTrust = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::123456789012:oidc-provider/i.example.com"},"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"i.example.com:sub":"system:serviceaccount:a:b"}}}}`

func TestCheckFailsOnWarningsIfItShould(t *testing.T) {
	trust := file(t, "trust.json", wideTrust)
	for name, test := range map[string]struct {
		args []string
		code int
	}{
		"not by default":           {nil, 0},
		"on errors only":           {[]string{"--fail-on", "error"}, 0},
		"on warnings":              {[]string{"--fail-on", "warning"}, 1},
		"on errors, with an error": {[]string{"--role-arn", "arn:aws:iam::210987654321:role/team/app"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append([]string{"check", "--kind", "trust", trust}, test.args...)...)
			if got.code != test.code || !strings.HasPrefix(got.out, trust+":1:37: warning: NoAudience: ") {
				t.Errorf("exit code %d, printed %s", got.code, got.out)
			}
		})
	}
}

func TestCheckComparesTheProviderWithTheRole(t *testing.T) {
	got := run(t, wideTrust, "check", "--kind", "trust", "--role-arn", "arn:aws-cn:iam::123456789012:role/app", "-")
	want := "-:1:80: OtherPartition: the provider is in the partition aws and the role in aws-cn; create the provider there and write arn:aws-cn:iam::123456789012:oidc-provider/i.example.com\n"
	if got.code != 1 || !strings.HasSuffix(got.out, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
}

func TestCheckRefusesFlagsThatMakeNoSense(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"a severity that there is not": {[]string{"--fail-on", "info"}, `--fail-on is "info"; it must be error or warning`},
		"a role of another kind":       {[]string{"--role-arn", "arn:aws:iam::123456789012:role/app"}, "--role-arn is for trust policies only; add --kind trust"},
		"what is no role": {[]string{"--kind", "trust", "--role-arn", "arn:aws:iam::123456789012:user/app"},
			`--role-arn is "arn:aws:iam::123456789012:user/app"; it must be the ARN of a role, such as arn:aws:iam::123456789012:role/NAME`},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, goodTrust, append([]string{"check", "-"}, test.args...)...)
			if want := (result{2, "", "tabard: " + test.want + "\n"}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestCheckRefusesAFormatThatThereIsNot(t *testing.T) {
	want := result{2, "", "tabard: -o is \"yaml\"; it must be text, json or sarif\n"}
	if got := run(t, goodTrust, "check", "-o", "yaml", "-"); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
