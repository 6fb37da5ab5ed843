package issuer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	cli "github.com/tabard-dev/tabard/internal/cli/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/onlab"
)

// testNothingWrittenYet is of a lab with nothing of Tabard's: for each reason not to begin the
// program says it, ends with 1, and AWS and the cluster are as they were.
func (s scenario) testNothingWrittenYet() {
	s.must(s.Kubectl(s.Context(), "create", "namespace", "tabard-system"))
	manifest := string(must.Get(os.ReadFile(s.IssuerManifest()))(s))
	other := filepath.Join(s.TempDir(), "issuer.yaml")
	must.Do(s, os.WriteFile(other, []byte(strings.Replace(manifest, s.Env["TABARD_ISSUER_URL"], "https://"+s.Env["TABARD_ISSUER_BUCKET"]+"-other.s3.us-west-2.amazonaws.com", 1)), 0o600))
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
		said, err := s.RunTabard(s.Context(), append([]string{"issuer", "bootstrap"}, c.args...)...)
		if dry := slices.Contains(c.args, "--dry-run"); (err == nil) != dry {
			s.Errorf("%s: %v\n%s", name, err, said)
		}
		said += fmt.Sprint(err)
		for _, text := range c.says {
			if !strings.Contains(said, text) {
				s.Errorf("%s: it does not say %q:\n%s", name, text, said)
			}
		}
	}
	for _, call := range must.Get(s.Journal(s.Context()))(s) {
		if isWrite(call) {
			s.Errorf("AWS was asked for %s", call.Operation)
		}
	}
	if said := must.Get(s.Kubectl(s.Context(), "get", "configmaps", "-n", "tabard-system", "-o", "name"))(s); strings.Contains(said, "tabard-issuer") {
		s.Errorf("the cluster has %s", said)
	}
}

// testRoleAsDemanded: path, boundary and tags of the role are as asked, a program reads
// the result alone from the standard output, and a run without the flags leaves the role as it is.
func (s scenario) testRoleAsDemanded() {
	policies := iam.NewFromConfig(must.Get(s.Config(s.Administrator()))(s))
	bounding := must.Get(policies.CreatePolicy(s.Context(), &iam.CreatePolicyInput{PolicyName: aws.String("platform"), PolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)}))(s)
	boundary := aws.ToString(bounding.Policy.Arn)
	args := []string{"issuer", "bootstrap", "-f", s.IssuerManifest(), "--yes", "-o", "json"}
	asked := append(slices.Clone(args), "--role-name", "publisher", "--role-path", "/platform/", "--permissions-boundary", boundary, "--tag", "cost-center=42")
	for i, run := range [][]string{asked, asked, append(slices.Clone(args), "--role-name", "publisher")} {
		out := must.Get(s.RunTabard(s.Context(), run...))(s)
		var got struct {
			Kind, RoleARN string
			Plan          []struct{ Change, Object string }
			Changes, Undo []string
		}
		must.Do(s, json.Unmarshal([]byte(out), &got))
		if !strings.HasSuffix(got.RoleARN, ":role/platform/publisher") || got.Kind != "IssuerBootstrap" || len(got.Plan) != 4 || len(got.Undo) != 6 {
			s.Errorf("run %d: %s", i, out)
		}
		if first := i == 0; (got.Plan[2].Change == "Create") != first || (len(got.Changes) > 0) != first {
			s.Errorf("run %d: %s", i, out)
		}
		role := must.Get(policies.GetRole(s.Context(), &iam.GetRoleInput{RoleName: aws.String("publisher")}))(s).Role
		if role.PermissionsBoundary == nil || aws.ToString(role.PermissionsBoundary.PermissionsBoundaryArn) != boundary || len(role.Tags) != 2 {
			s.Errorf("run %d: the role is %+v", i, role)
		}
	}
	said, err := s.RunTabard(s.Context(), args...)
	if said += fmt.Sprint(err); err == nil || !strings.Contains(said, "--role-name publisher") {
		s.Errorf("another role in its place: %s", said)
	}

	// Somebody gives this role up.
	s.must(s.Kubectl(s.Context(), "delete", "configmap", "tabard-issuer", "-n", "tabard-system"))
	s.deleteRole("publisher", cli.PolicyName)
}

func isWrite(call onlab.Call) bool {
	return !slices.ContainsFunc([]string{"Get", "List", "Head", "Describe", "Assume"}, func(verb string) bool { return strings.HasPrefix(call.Operation, verb) })
}

// testAnotherIssuersRole: the second OIDCIssuer of a cluster does not take
// the operator from the first, and when it shall, the operator's pods are replaced.
func (s scenario) testAnotherIssuersRole() {
	manifest := string(must.Get(os.ReadFile(s.IssuerManifest()))(s))
	s.must(s.Kubectl(s.Context(), "apply", "-f", s.IssuerManifest()))
	second := filepath.Join(s.TempDir(), "second.yaml")
	bucket := s.Env["TABARD_ISSUER_BUCKET"]
	text := strings.ReplaceAll(strings.Replace(manifest, "name: lab", "name: second", 1), bucket, bucket+"-second")
	must.Do(s, os.WriteFile(second, []byte(text), 0o600))
	role := func() string {
		return must.Get(s.Kubectl(s.Context(), "get", "configmap", "tabard-issuer", "-n", "tabard-system", "-o", "jsonpath={.data.roleARN}"))(s)
	}
	restarts := func() string {
		return must.Get(s.Kubectl(s.Context(), "get", "deployment", "tabard-issuer", "-n", "tabard-system", "-o", `jsonpath={.spec.template.metadata.annotations}`))(s)
	}
	first, before := role(), restarts()
	said, err := s.RunTabard(s.Context(), "issuer", "bootstrap", "-f", second, "--allow-other-issuer")
	said += fmt.Sprint(err)
	if err == nil || !strings.Contains(said, "OIDCIssuer lab") || !strings.Contains(said, "--replace-role") || role() != first || restarts() != before {
		s.Errorf("%s; the operator's role was %s and is %s, its pods %q", said, first, role(), restarts())
	}
	s.must(s.bootstrap())
	if role() != first || restarts() != before {
		s.Errorf("a bootstrap that changes nothing replaces pods: %s", restarts())
	}
	s.must(s.RunTabard(s.Context(), "issuer", "bootstrap", "-f", second, "--allow-other-issuer", "--replace-role"))
	if now := role(); now == first || !strings.Contains(restarts(), now) {
		s.Errorf("the operator's role is %s, its pods are %s", now, restarts())
	}

	s.wantSaid(0, "deleted", "unregister", strings.ReplaceAll(s.Env["TABARD_ISSUER_URL"], bucket, bucket+"-second"), "--yes")
	s.must(s.RunTabard(s.Context(), "issuer", "bootstrap", "-f", s.IssuerManifest(), "--replace-role"))
}
