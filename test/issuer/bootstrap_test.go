package issuer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// beforeBootstrap is a lab with nothing of Tabard's.
const beforeBootstrap = 2

// TestBootstrapWritesNothingBeforeItKnows is on a real cluster: for each reason not to begin the
// program says it, ends with 1, and AWS and the cluster are as they were.
func TestBootstrapWritesNothingBeforeItKnows(t *testing.T) {
	s := open(t, beforeBootstrap)
	s.must(s.Kubectl(t.Context(), "create", "namespace", "tabard-system"))
	manifest := string(must.Get(os.ReadFile(s.IssuerManifest()))(t))
	other := filepath.Join(t.TempDir(), "issuer.yaml")
	must.Do(t, os.WriteFile(other, []byte(strings.Replace(manifest, s.Env["TABARD_ISSUER_URL"], "https://"+s.Env["TABARD_ISSUER_BUCKET"]+"-other.s3.us-west-2.amazonaws.com", 1)), 0o600))
	cases := map[string]struct {
		args []string
		says []string
	}{
		"another issuer":              {[]string{"-f", other}, []string{s.Env["TABARD_ISSUER_URL"], "-other.s3.us-west-2", "--allow-other-issuer"}},
		"no namespace":                {[]string{"-f", s.IssuerManifest(), "-n", "nowhere"}, []string{"no namespace nowhere", "helm install"}},
		"neither":                     {[]string{"-f", other, "-n", "nowhere"}, []string{s.Env["TABARD_ISSUER_URL"], "no namespace nowhere"}},
		"a file that is not there":    {[]string{"-f", "nowhere.yaml"}, []string{"nowhere.yaml", "tabard issuer init"}},
		"a dry run shows what is new": {[]string{"-f", s.IssuerManifest(), "--dry-run"}, []string{"+ bucket", "+ OIDC provider", "+ role tabard-issuer-", "+ ConfigMap tabard-system/tabard-issuer", "nothing was written"}},
	}
	for name, c := range cases {
		said, err := s.RunTabard(t.Context(), append([]string{"issuer", "bootstrap"}, c.args...)...)
		if dry := slices.Contains(c.args, "--dry-run"); (err == nil) != dry {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
		said += fmt.Sprint(err)
		for _, text := range c.says {
			if !strings.Contains(said, text) {
				t.Errorf("%s: it does not say %q:\n%s", name, text, said)
			}
		}
	}
	for _, call := range must.Get(s.Journal(t.Context()))(t) {
		if isWrite(call) {
			t.Errorf("AWS was asked for %s", call.Operation)
		}
	}
	if said := must.Get(s.Kubectl(t.Context(), "get", "configmaps", "-n", "tabard-system", "-o", "name"))(t); strings.Contains(said, "tabard-issuer") {
		t.Errorf("the cluster has %s", said)
	}
}

// TestTheRoleIsAsTheAccountDemands: path, boundary and tags of the role are as asked, a program reads
// the result alone from the standard output, and a run without the flags leaves the role as it is.
func TestTheRoleIsAsTheAccountDemands(t *testing.T) {
	s := open(t, beforeBootstrap)
	s.must(s.Kubectl(t.Context(), "create", "namespace", "tabard-system"))
	policies := iam.NewFromConfig(must.Get(s.Config(s.Administrator()))(t))
	bounding := must.Get(policies.CreatePolicy(t.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("platform"), PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}))(t)
	boundary := aws.ToString(bounding.Policy.Arn)
	args := []string{"issuer", "bootstrap", "-f", s.IssuerManifest(), "--yes", "-o", "json"}
	asked := append(slices.Clone(args), "--role-name", "publisher", "--role-path", "/platform/", "--permissions-boundary", boundary, "--tag", "cost-center=42")
	for i, run := range [][]string{asked, asked, append(slices.Clone(args), "--role-name", "publisher")} {
		out := must.Get(s.RunTabard(t.Context(), run...))(t)
		var got struct {
			Kind, RoleARN string
			Plan          []struct{ Change, Object string }
			Changes, Undo []string
		}
		must.Do(t, json.Unmarshal([]byte(out), &got))
		if !strings.HasSuffix(got.RoleARN, ":role/platform/publisher") || got.Kind != "IssuerBootstrap" || len(got.Plan) != 4 || len(got.Undo) != 5 {
			t.Errorf("run %d: %s", i, out)
		}
		if first := i == 0; (got.Plan[2].Change == "Create") != first || (len(got.Changes) > 0) != first {
			t.Errorf("run %d: %s", i, out)
		}
		role := must.Get(policies.GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("publisher")}))(t).Role
		if role.PermissionsBoundary == nil || aws.ToString(role.PermissionsBoundary.PermissionsBoundaryArn) != boundary || len(role.Tags) != 2 {
			t.Errorf("run %d: the role is %+v", i, role)
		}
	}
	said, err := s.RunTabard(t.Context(), args...)
	if said += fmt.Sprint(err); err == nil || !strings.Contains(said, "--role-name publisher") {
		t.Errorf("another role in its place: %s", said)
	}
}

func isWrite(call onlab.Call) bool {
	return !slices.ContainsFunc([]string{"Get", "List", "Head", "Describe", "Assume"}, func(verb string) bool { return strings.HasPrefix(call.Operation, verb) })
}

// TestAnotherIssuersRoleIsReplacedOnlyIfToldTo: the second OIDCIssuer of a cluster does not take
// the operator from the first, and when it shall, the operator's pods are replaced.
func TestAnotherIssuersRoleIsReplacedOnlyIfToldTo(t *testing.T) {
	s := open(t, afterBootstrap)
	manifest := string(must.Get(os.ReadFile(s.IssuerManifest()))(t))
	s.must(s.Kubectl(t.Context(), "apply", "-f", s.IssuerManifest()))
	second := filepath.Join(t.TempDir(), "second.yaml")
	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	text := strings.ReplaceAll(strings.Replace(manifest, "name: lab", "name: second", 1), bucket, bucket+"-second")
	must.Do(t, os.WriteFile(second, []byte(text), 0o600))
	role := func() string {
		return must.Get(s.Kubectl(t.Context(), "get", "configmap", "tabard-issuer", "-n", "tabard-system", "-o", "jsonpath={.data.roleARN}"))(t)
	}
	restarts := func() string {
		return must.Get(s.Kubectl(t.Context(), "get", "deployment", "tabard-issuer", "-n", "tabard-system", "-o", `jsonpath={.spec.template.metadata.annotations}`))(t)
	}
	first, before := role(), restarts()
	said, err := s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", second, "--allow-other-issuer")
	said += fmt.Sprint(err)
	if err == nil || !strings.Contains(said, "OIDCIssuer lab") || !strings.Contains(said, "--replace-role") || role() != first || restarts() != before {
		t.Errorf("%s; the operator's role was %s and is %s, its pods %q", said, first, role(), restarts())
	}
	s.must(s.bootstrap())
	if role() != first || restarts() != before {
		t.Errorf("a bootstrap that changes nothing replaces pods: %s", restarts())
	}
	s.must(s.RunTabard(t.Context(), "issuer", "bootstrap", "-f", second, "--allow-other-issuer", "--replace-role"))
	if now := role(); now == first || !strings.Contains(restarts(), now) {
		t.Errorf("the operator's role is %s, its pods are %s", now, restarts())
	}
}
