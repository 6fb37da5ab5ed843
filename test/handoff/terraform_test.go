package handoff_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/handoff"
)

const arn = "arn:aws:iam::123456789012:oidc-provider/issuer.example"

// work holds one text wherever one may be.
func work(text string) handoff.Work {
	policy := iampolicy.Document{{Sid: text, Actions: []string{"s3:GetObject"}, Resources: []string{"arn:aws:s3:::b/" + text}}}
	return handoff.Work{
		About:     []string{text},
		Owner:     handoff.Tag{Key: "tabard.dev/issuer", Value: "o" + text},
		Buckets:   []handoff.Bucket{{Name: text, Policy: handoff.Policy(policy.String())}},
		Providers: []handoff.Provider{{URL: text, Audiences: []string{text}}},
		Policies:  []handoff.ManagedPolicy{{Name: text, Description: "d" + text, Document: handoff.Policy(policy.String())}},
		Roles: []handoff.Role{{
			Name: text, Description: "d" + text, PolicyName: "p" + text, Policy: handoff.Policy(policy.String()),
			Trust: handoff.Policy(iampolicy.Document{iampolicy.WebIdentity(arn, text, text, text+"2")}.String()), Tags: []handoff.Tag{{Key: "k" + text, Value: text}},
		}},
		Entries: []handoff.AccessEntry{{Cluster: text, PrincipalARN: text, Username: "u" + text, Groups: []string{text}}},
	}
}

// module is the attributes of a module's resources, by type and attribute. What refers
// to another resource has no value here.
func module(t *testing.T, text string) map[string]cty.Value {
	t.Helper()
	file, diagnostics := hclparse.NewParser().ParseHCL([]byte(text), "main.tf")
	if diagnostics.HasErrors() {
		t.Fatalf("%v in\n%s", diagnostics, text)
	}
	out := map[string]cty.Value{}
	for _, block := range file.Body.(*hclsyntax.Body).Blocks {
		if (block.Labels[0] == "aws_s3_bucket") != (len(block.Body.Blocks) == 1) {
			t.Errorf("%s has %d blocks; a bucket has one by which it is kept, and nothing else has", block.Labels[0], len(block.Body.Blocks))
		}
		for name, attribute := range block.Body.Attributes {
			value, diagnostics := attribute.Expr.Value(nil)
			if diagnostics.HasErrors() {
				if len(attribute.Expr.Variables()) == 0 {
					t.Fatalf("%s: %v in\n%s", name, diagnostics, text)
				}
				continue
			}
			out[block.Labels[0]+"."+name] = value
		}
	}
	return out
}

// wantModule demands that a reader sees the text wherever it was put. Terraform writes
// texts in a normal form of Unicode; in policies nothing is left for that.
func wantModule(t *testing.T, text string) {
	t.Helper()
	w := work(text)
	written, err := w.Text(handoff.Terraform)
	if err != nil {
		t.Fatal(err)
	}
	got, normal := module(t, written), norm.NFC.String(text)
	for name, want := range map[string]cty.Value{
		"aws_s3_bucket.bucket":                           cty.StringVal(normal),
		"aws_iam_openid_connect_provider.url":            cty.StringVal(normal),
		"aws_iam_policy.name":                            cty.StringVal(normal),
		"aws_iam_role.name":                              cty.StringVal(normal),
		"aws_iam_role.description":                       cty.StringVal(norm.NFC.String("d" + text)),
		"aws_iam_role_policy.name":                       cty.StringVal(norm.NFC.String("p" + text)),
		"aws_eks_access_entry.principal_arn":             cty.StringVal(normal),
		"aws_eks_access_entry.user_name":                 cty.StringVal(norm.NFC.String("u" + text)),
		"aws_iam_role.tags":                              cty.ObjectVal(map[string]cty.Value{"tabard.dev/issuer": cty.StringVal("o" + text), "k" + text: cty.StringVal(text)}),
		"aws_iam_openid_connect_provider.client_id_list": cty.TupleVal([]cty.Value{cty.StringVal(text)}),
	} {
		if value, there := got[name]; !there || !value.RawEquals(want) {
			t.Errorf("%q: %s is %#v, want %#v", text, name, value, want)
		}
	}
	for name, want := range map[string]handoff.Policy{
		"aws_iam_role.assume_role_policy": w.Roles[0].Trust, "aws_iam_role_policy.policy": w.Roles[0].Policy, "aws_s3_bucket_policy.policy": w.Buckets[0].Policy,
		"aws_iam_policy.policy": w.Policies[0].Document,
	} {
		var a, b any
		if err := json.Unmarshal([]byte(got[name].AsString()), &a); err != nil {
			t.Fatalf("%q: %s: %v", text, name, err)
		}
		if err := json.Unmarshal([]byte(want), &b); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %s is %v, want %v", text, name, a, b)
		}
	}
}

var nasty = []string{
	"plain", "${aws:username}", "$${x}", "$$${x}", "$$$${x}", "${", "$", "$$", "%{if true}x%{endif}", "%%{x}", "%%%{x}", `"`, "'", `\`, `\"`, `\${x}`,
	"\\u0041", "a\nb", "\r\n", "\r", "\t", "JSON", "\nJSON\n", "  JSON", "# c", "/* c", "file:///etc/passwd", "é", "e\u0301", "\u2028", "\u0085", "😀", "\x01", "\x7f", "\ufeff",
}

func TestTerraformReadsWhatWasMeant(t *testing.T) {
	for _, text := range nasty {
		wantModule(t, text)
	}
}

func FuzzTerraform(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			wantModule(t, text)
		}
	})
}
