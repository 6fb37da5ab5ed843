package operators

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// onPaper are the flags of a hand-off for which no cluster is asked.
var onPaper = []string{"--catalogue", "testdata/p.json", "-n", "ns", "--cluster-name", "prod", "--issuer", "https://oidc.example.com/c", "--account", "111122223333"}

// handedOver writes a hand-off of a version of the package p.
func handedOver(t *testing.T, version string, more ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	openshift4{}.run(t, "", append(append([]string{"handoff", "p", "--version", version, "--output-dir", dir}, onPaper...), more...)...).exits(t, 0)
	return dir
}

func TestScenario24AHandoffIsTheSameBytesAndHasNoSecret(t *testing.T) {
	a, b := handedOver(t, "1.1.0"), handedOver(t, "1.1.0")
	first, second := tree(t, a), tree(t, b)
	for _, name := range []string{"README.md", "request.json", "trust-policy.json", "permission-policy.json", "aws.sh", "main.tf", "cloudformation.yaml"} {
		if first[name] == "" || first[name] != second[name] {
			t.Errorf("%s is\n%s\nand then\n%s", name, first[name], second[name])
		}
		if about := must.Get(os.Stat(filepath.Join(a, name)))(t); about.Mode().Perm() != 0o644 {
			t.Errorf("%s has mode %s", name, about.Mode())
		}
	}
	if len(first) != 7 {
		t.Errorf("%d files", len(first))
	}
	secret := regexp.MustCompile(`AKIA|ASIA|eyJ[A-Za-z0-9]|BEGIN |client-key|client-certificate|aws_secret|password|kubeconfig`)
	for name, text := range first {
		if found := secret.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
	}
	// Into the same directory it writes the same again, and nothing over something else.
	again := append([]string{"handoff", "p", "--output-dir", a}, onPaper...)
	openshift4{}.run(t, "", append(again, "--version", "1.1.0")...).exits(t, 0)
	says(t, openshift4{}.run(t, "", append(again, "--version", "1.0.0")...).exits(t, 2).errOut, "--output-dir", "is not what this run writes")
	if got := tree(t, a); got["request.json"] != first["request.json"] {
		t.Error("the first hand-off was changed")
	}
}

func TestHandoffReadsTheCluster(t *testing.T) {
	cluster := onAWS()
	infra := infrastructure("AWS", "status", "platformStatus", "type")
	status := infra.(*unstructured.Unstructured).Object
	must.Do(t, unstructured.SetNestedField(status, "prod-x7k2p", "status", "infrastructureName"))
	must.Do(t, unstructured.SetNestedField(status, "cn-north-1", "status", "platformStatus", "aws", "region"))
	cluster.objects[0] = infra
	dir := filepath.Join(t.TempDir(), "out")
	got := cluster.run(t, "", "handoff", "p", "--catalogue", "testdata/p.json", "-n", "ns", "--output-dir", dir, "--tag", "team=a", "--path", "/operators/", "--permissions-boundary", "arn:aws-cn:iam::111122223333:policy/b", "--name-prefix", "x-", "--account", "111122223333").exits(t, 0)
	says(t, got.out, "the owner of account 111122223333", "tabard operators check --request")
	files := tree(t, dir)
	says(t, files["aws.sh"], "x-prod-x7k2p-ns-p", "/operators/", "policy/b", `"team"`, "arn:aws-cn:iam::111122223333:oidc-provider/issuer.example.com/cluster")
	says(t, files["README.md"], "arn:aws-cn:iam::111122223333:role/operators/x-prod-x7k2p-ns-p")

	// What the cluster does not tell is asked for.
	got = onAWS().run(t, "", "handoff", "p", "--catalogue", "testdata/p.json", "-n", "ns", "--output-dir", dir).exits(t, 2)
	says(t, got.errOut, "--cluster-name")
	cluster.forbidden = []string{"authentications"}
	got = cluster.run(t, "", "handoff", "p", "--catalogue", "testdata/p.json", "-n", "ns", "--output-dir", dir).exits(t, 2)
	says(t, got.errOut, "--issuer", "get authentications.config.openshift.io")
}

func TestHandoffWithoutAnAccountIsATemplate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	openshift4{}.run(t, "", "handoff", "p", "--version", "1.0.0", "--catalogue", "testdata/p.json", "-n", "ns", "--cluster-name", "prod", "--issuer", "https://oidc.example.com/c", "--output-dir", dir).exits(t, 0)
	files := tree(t, dir)
	if len(files) != 4 || files["aws.sh"] != "" {
		t.Errorf("%v", files)
	}
	says(t, files["trust-policy.json.template"], "arn:aws:iam::<ACCOUNT_ID>:oidc-provider/oidc.example.com/c")
	says(t, files["README.md"], "<ACCOUNT_ID>", "there is no script")
	// The role that is made of it can be checked.
	role := enough("s3:GetObject")
	got := openshift4{role: role}.run(t, "", "check", "--request", dir, "--role-arn", "arn:aws:iam::111122223333:role/any").exits(t, 0)
	says(t, got.out, "Satisfied")
}

func TestHandoffForGoogleCloud(t *testing.T) {
	dir, requests := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "r.json")
	must.Do(t, os.WriteFile(requests, []byte(`{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"p"},"spec":{"secretRef":{"name":"s","namespace":"ns"},"serviceAccountNames":["operator"],"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"GCPProviderSpec","predefinedRoles":["roles/storage.admin"]}}}`), 0o600))
	args := []string{"handoff", "p", "--requests", requests, "-n", "ns", "--cluster-name", "prod", "--issuer", "https://oidc.example.com/c", "--output-dir"}
	says(t, openshift4{}.run(t, "", append(args, t.TempDir()+"/a")...).exits(t, 0).out, "--gcp-project-id")
	place := []string{"--gcp-project-id", "project-one", "--gcp-project-number", "123456", "--gcp-pool-id", "pool"}
	says(t, openshift4{}.run(t, "", slices.Concat(args, []string{dir}, place)...).exits(t, 2).errOut, "provider")
	openshift4{}.run(t, "", slices.Concat(args, []string{dir}, place, []string{"--gcp-provider-id", "provider"})...).exits(t, 0)
	says(t, tree(t, dir)["gcp.sh"], "principal://iam.googleapis.com/projects/123456/locations/global/workloadIdentityPools/pool/subject/system:serviceaccount:ns:operator")
	says(t, openshift4{}.run(t, "", "check", "--request", dir, "--role-arn", roleARN).exits(t, 1).errOut, "unknown", "gcp")
}

func TestHandoffRefuses(t *testing.T) {
	dir := t.TempDir() + "/out"
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no directory":          {[]string{"p", "--catalogue", "testdata/p.json"}, 2, "--output-dir"},
		"an unknown package":    {append([]string{"q", "--output-dir", dir}, onPaper...), 2, `no package "q"`},
		"nothing is known":      {append([]string{"no-metadata", "--output-dir", dir}, replaced(onPaper, "testdata/p.json", "testdata/all.json")...), 1, "--requests"},
		"no namespace":          {[]string{"p", "--output-dir", dir, "--catalogue", "testdata/p.json", "--cluster-name", "prod", "--issuer", "https://i"}, 2, "-n NAMESPACE"},
		"eleven digits":         {append([]string{"p", "--output-dir", dir}, replaced(onPaper, "111122223333", "11112222333")...), 2, "twelve digits"},
		"two names":             {append([]string{"p", "--output-dir", dir, "--role-name", "a", "--name-prefix", "b"}, onPaper...), 2, "leave one out"},
		"a tag that is none":    {append([]string{"p", "--output-dir", dir, "--tag", "a"}, onPaper...), 2, "--tag"},
		"another partition":     {append([]string{"p", "--output-dir", dir, "--partition", "x"}, onPaper...), 2, `the partition is "x", expected one of AWS's`},
		"half a partition":      {append([]string{"p", "--output-dir", dir, "--partition", "aws-"}, onPaper...), 2, `the partition is "aws-", expected one of AWS's`},
		"a kubeconfig for none": {append([]string{"p", "--output-dir", dir, "--context", "x"}, onPaper...), 2, "a flag names a cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			got := openshift4{}.run(t, "", append([]string{"handoff"}, c.args...)...).exits(t, c.code)
			says(t, got.errOut, c.says)
			if _, err := os.Stat(dir); err == nil {
				t.Error("something was written")
			}
		})
	}
}

func replaced(all []string, old, with string) []string {
	out := append([]string{}, all...)
	for i := range out {
		if out[i] == old {
			out[i] = with
		}
	}
	return out
}

// enough is a role that is trusted as it should be, and may do some actions in the bucket b.
func enough(actions ...string) sufficiency.Documents {
	const bare = "oidc.example.com/c"
	return sufficiency.Documents{
		Trust: sufficiency.Document{Text: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/` + bare +
			`"},"Condition":{"StringEquals":{"` + bare + `:sub":"system:serviceaccount:ns:operator","` + bare + `:aud":"openshift"}}}}`},
		Policies: []sufficiency.Document{{Name: "the inline policy operator", Text: `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":["` + strings.Join(actions, `","`) + `"],"Resource":["arn:aws:s3:::b/*","arn:aws:sqs:eu-west-1:111122223333:q"]}}`}},
	}
}

const roleARN = "arn:aws:iam::111122223333:role/prod-ns-p"

func TestScenario19CheckOfARoleForTheFirstVersion(t *testing.T) {
	account := openshift4{role: enough("s3:GetObject")}
	got := account.run(t, "", "check", "--request", handedOver(t, "1.0.0"), "--role-arn", roleARN).exits(t, 0)
	says(t, got.out, "Satisfied", "granted", "trusted", "SCP", "RCP", "session policies")
	got = account.run(t, "", "check", "--request", handedOver(t, "1.1.0"), "--role-arn", roleARN, "-o", "json").exits(t, 1)
	var document struct {
		Kind, Verdict string
		Permissions   []struct{ Action, Result string }
		NotSeen       []string
	}
	must.Do(t, json.Unmarshal([]byte(got.out), &document))
	missing := ""
	for _, p := range document.Permissions {
		if p.Result != "granted" {
			missing += p.Action + " "
		}
	}
	if document.Kind != "RoleCheck" || document.Verdict != "Missing" || missing != "s3:PutObject sqs:SendMessage " || len(document.NotSeen) < 3 {
		t.Errorf("%+v", document)
	}
	account.role.Policies[0].Unread = "iam:GetRolePolicy is denied"
	says(t, account.run(t, "", "check", "--request", handedOver(t, "1.0.0"), "--role-arn", roleARN).exits(t, 1).out, "Unknown", "iam:GetRolePolicy is denied")
}

func TestScenario25ARoleThatIsNoneIsRefused(t *testing.T) {
	dir := handedOver(t, "1.0.0")
	for name, c := range map[string]struct{ arn, says string }{
		"a session":         {"arn:aws:sts::111122223333:assumed-role/r/s", "session of a role"},
		"another partition": {"arn:aws-cn:iam::111122223333:role/r", "of the partition aws-cn, expected the partition aws"},
		"eleven digits":     {"arn:aws:iam::11112222333:role/r", "twelve digits"},
		"a blank":           {roleARN + " ", "blank"},
		"a long name":       {"arn:aws:iam::111122223333:role/" + strings.Repeat("a", 65), "64"},
		"a long path":       {"arn:aws:iam::111122223333:role/" + strings.Repeat("a/", 300) + "r", "expected"},
		"a user":            {"arn:aws:iam::111122223333:user/u", "expected arn:aws:iam::ACCOUNT:role/NAME"},
		"another account":   {"arn:aws:iam::444455556666:role/r", "of another account: it is of 444455556666, expected one of account 111122223333; if the role is the right one, write the hand-off anew with --account 444455556666"},
		"nothing":           {"", "--role-arn"},
	} {
		t.Run(name, func(t *testing.T) {
			got := openshift4{}.run(t, "", "check", "--request", dir, "--role-arn", c.arn).exits(t, 2)
			says(t, got.errOut, c.says)
		})
	}
}

func TestCheckReadsWhatSomebodyElsePrinted(t *testing.T) {
	dir, role := handedOver(t, "1.0.0"), t.TempDir()
	write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(role, name), []byte(text), 0o600)) }
	documents := enough("s3:GetObject")
	write("get-role.json", `{"Role":{"Arn":"`+roleARN+`","RoleName":"prod-ns-p","AssumeRolePolicyDocument":`+documents.Trust.Text+`}}`)
	check := func(more ...string) outcome {
		return openshift4{}.run(t, "", append([]string{"check", "--request", filepath.Join(dir, "request.json"), "--role-documents", role}, more...)...)
	}
	says(t, check("--role-arn", roleARN).exits(t, 1).out, "Unknown", "list-role-policies", "list-attached-role-policies")
	write("a.json", `{"PolicyNames":["operator"]}`)
	write("b.json", `{"AttachedPolicies":[]}`)
	says(t, check("--role-arn", roleARN).exits(t, 1).out, "the inline policy operator was not read")
	write("c.json", `{"RoleName":"prod-ns-p","PolicyName":"operator","PolicyDocument":`+documents.Policies[0].Text+`}`)
	check("--role-arn", roleARN).exits(t, 0)
	// The reply has the ARN, and the digest of the request.
	var request struct{ Digest string }
	must.Do(t, json.Unmarshal([]byte(tree(t, dir)["request.json"]), &request))
	reply := filepath.Join(t.TempDir(), "reply.json")
	must.Do(t, os.WriteFile(reply, []byte(`{"apiVersion":"tabard.dev/v1alpha1","kind":"RoleReply","digest":"`+request.Digest+`","roleARN":"`+roleARN+`"}`), 0o600))
	check("--reply", reply).exits(t, 0)
	must.Do(t, os.WriteFile(reply, []byte(`{"apiVersion":"tabard.dev/v1alpha1","kind":"RoleReply","digest":"other","roleARN":"`+roleARN+`"}`), 0o600))
	says(t, check("--reply", reply).exits(t, 2).errOut, "--reply", "has changed meanwhile")
	write("d.json", "{")
	says(t, check("--role-arn", roleARN).exits(t, 2).errOut, "--role-documents", "d.json")
}
