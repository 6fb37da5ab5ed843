package handoff_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const arn = "arn:aws:iam::123456789012:oidc-provider/issuer.example"

// nasty are texts that mean something to one of the forms.
var nasty = []string{
	"", "plain", "${aws:username}", "$${x}", "$$${x}", "${", "%{if true}x%{endif}", "%%{", `"`, "'", `'"'"'`, `\`, `\"`, `\u0041`, "a\nb", "\r\n", "\t",
	"$(touch x)", "`touch x`", "; touch x", "!Sub ${AWS::Region}", "yes", "0x1f", "1:30", "2012-10-17", "~", "- a", "a: b", "# c", "JSON", "\nJSON\n", "EOT",
	"file:///etc/passwd", "http://127.0.0.1:1/", "--role-name", "é", "e\u0301", "\u2028", "\u0085", "😀", "\x01", "\x7f", "<&>",
}

// work holds one text wherever one may be.
func work(text string) handoff.Work {
	trust := iampolicy.WebIdentity(arn, text, text, text+"2")
	return handoff.Work{
		About: []string{text}, Owner: handoff.Tag{Key: "tabard.dev/issuer", Value: "o" + text},
		Buckets:   []handoff.Bucket{{Name: text, Region: "eu-west-1", AllowPublicPolicy: true, Policy: policy(text)}},
		Providers: []handoff.Provider{{ARN: text, URL: text, Audiences: []string{text, "b"}}},
		Policies:  []handoff.ManagedPolicy{{ARN: text, Name: text, Path: text, Description: text, Document: policy(text)}},
		Roles: []handoff.Role{{
			Name: text, Description: text, Trust: handoff.Policy(iampolicy.Document{trust}.String()),
			PolicyName: "p" + text, Policy: policy(text), Tags: []handoff.Tag{{Key: "k" + text, Value: text}},
		}},
		Entries: []handoff.AccessEntry{{Cluster: text, Region: "eu-west-1", PrincipalARN: text, Username: text, Groups: []string{text}}},
	}
}

func policy(text string) handoff.Policy {
	return handoff.Policy(iampolicy.Document{{Sid: text, Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::b/" + text}}}.String())
}

// read is what a reader of JSON makes of it.
func read(t *testing.T, text string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return out
}

func wantTemplate(t *testing.T, text string) {
	t.Helper()
	w := work(text)
	got, err := w.Text(handoff.CloudFormation)
	if strings.Contains(text, "{{resolve:") {
		if err == nil {
			t.Fatalf("%q was written, and CloudFormation replaces it", text)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	resource := func(name string) map[string]any {
		var template struct {
			Resources map[string]struct{ Properties map[string]any }
		}
		if err := yaml.Unmarshal([]byte(got), &template); err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		return template.Resources[name].Properties
	}
	role := resource("Role")
	wantPolicy := func(what string, got any, want handoff.Policy) {
		var document any
		must.Do(t, json.Unmarshal([]byte(want), &document))
		if diff := cmp.Diff(document, got); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", what, text, diff)
		}
	}
	wantPolicy("trust", role["AssumeRolePolicyDocument"], w.Roles[0].Trust)
	wantPolicy("policy", role["Policies"].([]any)[0].(map[string]any)["PolicyDocument"], w.Roles[0].Policy)
	wantPolicy("managed policy", resource("Policy")["PolicyDocument"], w.Policies[0].Document)
	wantPolicy("bucket policy", resource("BucketPolicy")["PolicyDocument"], w.Buckets[0].Policy)
	entry := resource("AccessEntry")
	values := []any{role["RoleName"], role["Tags"].([]any)[1].(map[string]any)["Value"], resource("Provider")["Url"], resource("Policy")["ManagedPolicyName"], entry["Username"], entry["KubernetesGroups"].([]any)[0]}
	if text == "" { // is left out
		values[4] = text
	}
	for i, value := range values {
		if value != text {
			t.Errorf("value %d is %q, want %q", i, value, text)
		}
	}
}

func TestATemplateIsReadAsItWasMeant(t *testing.T) {
	for _, text := range append(nasty, "{{resolve:secretsmanager:a}}") {
		wantTemplate(t, text)
	}
}

func FuzzCloudFormation(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			if _, err := work(text).Text(handoff.CloudFormation); err == nil {
				t.Errorf("%q was written", text)
			}
			return
		}
		wantTemplate(t, text)
	})
}

// TestAScriptSaysWhatWasMeant runs the script with an aws that writes down how it was
// called, and finds nothing.
func TestAScriptSaysWhatWasMeant(t *testing.T) {
	for _, text := range nasty {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			stub := "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >>\"$CALLS\"\nprintf '\\0' >>\"$CALLS\"\ncase $2 in head-*|describe-*|get-bucket-policy) exit 1;; get-*) test -e \"$CALLS.$2\" || { : >\"$CALLS.$2\"; exit 1; };; esac\n"
			writeProgram(t, filepath.Join(folder, "aws"), stub)
			script := must.Get(work(text).Text(handoff.AWS))(t)
			command := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
			command.Dir, command.Env = folder, []string{"PATH=" + folder + ":/usr/bin:/bin", "CALLS=" + filepath.Join(folder, "calls")}
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("%q: %v: %s\n%s", text, err, out, script)
			}
			said := must.Get(os.ReadFile(filepath.Join(folder, "calls")))(t)
			wantCalls(t, text, string(said))
			if _, err := os.Stat(filepath.Join(folder, "x")); err == nil {
				t.Errorf("%q was run", text)
			}
		})
	}
}

func wantCalls(t *testing.T, text, said string) {
	t.Helper()
	inputs, options := map[string]any{}, map[string]string{}
	for call := range strings.SplitSeq(said, "\x00\x00") {
		words := strings.Split(call, "\x00")
		if len(words) < 4 {
			continue
		}
		inputs[words[1]] = read(t, words[3])
		for i := 4; i+1 < len(words); i += 2 {
			options[words[1]+words[i]] = words[i+1]
		}
	}
	want := work(text)
	for operation, member := range map[string]string{
		"create-bucket": "Bucket", "create-open-id-connect-provider": "Url", "create-role": "RoleName", "create-policy": "PolicyName", "create-access-entry": "clusterName",
	} {
		input, _ := inputs[operation].(map[string]any)
		if input[member] != text {
			t.Errorf("%s: %s is %q, want %q", operation, member, input[member], text)
		}
	}
	for option, policy := range map[string]handoff.Policy{
		"create-policy--policy-document": want.Policies[0].Document, "create-role--assume-role-policy-document": want.Roles[0].Trust, "put-role-policy--policy-document": want.Roles[0].Policy, "put-bucket-policy--policy": want.Buckets[0].Policy,
	} {
		if diff := cmp.Diff(read(t, string(policy)), read(t, options[option])); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", option, text, diff)
		}
	}
}

func TestPlainIsTheWorkItself(t *testing.T) {
	for _, text := range nasty {
		got := must.Get(work(text).Text(handoff.JSON))(t)
		want := must.Get(json.Marshal(work(text)))(t)
		if diff := cmp.Diff(read(t, string(want)), read(t, got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestWhatNoFormCanSayIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*handoff.Work)
		want   string
	}{
		"an owner without a key":        {func(w *handoff.Work) { w.Owner.Key = "" }, "owner's tag"},
		"a key that is a query":         {func(w *handoff.Work) { w.Owner.Key = "a'||'b" }, "owner's tag"},
		"an owner without a value":      {func(w *handoff.Work) { w.Owner.Value = "" }, "owner's tag"},
		"a role that nobody may become": {func(w *handoff.Work) { w.Roles[0].Trust = "" }, "no trust policy"},
		"a policy without a name":       {func(w *handoff.Work) { w.Roles[0].PolicyName = "" }, "without a name"},
		"a policy that is no JSON":      {func(w *handoff.Work) { w.Roles[0].Policy = "{" }, "the policy of role"},
		"a policy that says things twice": {func(w *handoff.Work) {
			w.Roles[0].Policy = `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Effect":"Allow","Action":"*","Resource":"*"}}`
		}, "the policy of role"},
		"a managed policy without a document": {func(w *handoff.Work) { w.Policies[0].Document = "" }, "has no document"},
		"a zero byte":                         {func(w *handoff.Work) { w.Roles[0].Name = "a\x00" }, "zero byte"},
		"half a character":                    {func(w *handoff.Work) { w.Entries[0].Groups[0] = "\xff" }, "UTF-8"},
	} {
		for _, form := range handoff.Forms() {
			w := work("x")
			test.change(&w)
			if got, err := w.Text(handoff.Form(form)); err == nil || !strings.Contains(err.Error(), test.want) || got != "" {
				t.Errorf("%s as %s: %v, want one that says %q", name, form, err, test.want)
			}
		}
	}
	if _, err := work("x").Text("pulumi"); err == nil || !strings.Contains(err.Error(), "aws, cloudformation, json, terraform") {
		t.Errorf("an unknown form: %v", err)
	}
}
