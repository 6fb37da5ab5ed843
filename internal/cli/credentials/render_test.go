package credentials_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// told is the ConfigMap that bootstrap wrote.
func told() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-credentials"},
		Data: map[string]string{
			"roleARN": "arn:aws:iam::111122223333:role/prod-tabard-credentials", "boundaryARN": policyARN, "region": "eu-central-1", "infrastructure": "prod",
		},
	}
}

const file = `apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: reports, namespace: team-a}
spec:
  storage: {serviceAccount: {namespace: team-a, name: reports}}
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    statementEntries:
    - effect: Allow
      action: [s3:GetObject, s3:PutObject]
      resource: arn:aws:s3:::data/reports/*
      policyCondition: {StringEquals: {"aws:SourceVpc": vpc-1}}
---
apiVersion: cloudcredential.openshift.io/v1
kind: CredentialsRequest
metadata: {name: given, namespace: team-a}
spec:
  secretRef: {namespace: team-a, name: given}
  serviceAccountNames: [one, two]
  providerSpec:
    apiVersion: cloudcredential.openshift.io/v1
    kind: AWSProviderSpec
    stsIAMRoleARN: arn:aws:iam::444455556666:role/teams/given
    statementEntries: [{effect: Allow, action: ["sqs:SendMessage"], resource: "arn:aws:sqs:*:*:q"}]
`

var offline = []string{"--issuer", "https://issuer.example", "--print", "json"}

// rendered are the roles that were printed.
func rendered(t *testing.T, out string) []map[string]any {
	t.Helper()
	var work struct{ Roles []map[string]any }
	must.Do(t, json.Unmarshal([]byte(out), &work))
	return work.Roles
}

func TestARoleIsRenderedFromTheCluster(t *testing.T) {
	b := newBed(t, plainKubernetes, oidcIssuer(), told(), request("reports"))
	for _, form := range handoff.Forms() {
		code, out, said := b.run("render", "reports", "--print", form)
		if code != 0 || said != "" {
			t.Fatalf("%s: exit code %d, said %q", form, code, said)
		}
		golden(t, "render."+form, out)
		for _, ours := range []string{"tabard.dev/cluster", "tabard.dev/credentials-request"} {
			if strings.Contains(out, ours) {
				t.Errorf("%s: the role would be Tabard's by the tag %s", form, ours)
			}
		}
	}
}

func TestRolesAreRenderedFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.yaml")
	must.Do(t, os.WriteFile(path, []byte(file), 0o600))
	b := newBed(t, plainKubernetes)
	code, out, said := b.run(append([]string{"render", "-f", path, "--account", "444455556666"}, offline...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	roles := rendered(t, out)
	if len(roles) != 2 || roles[0]["path"] != "/" || roles[1]["name"] != "given" || roles[1]["path"] != "/teams/" {
		t.Errorf("the roles are %v", roles)
	}
	trust := must.Get(json.Marshal(roles[1]["trust"]))(t)
	for _, want := range []string{"arn:aws:iam::444455556666:oidc-provider/issuer.example", "system:serviceaccount:team-a:one", "system:serviceaccount:team-a:two", `"openshift","sts.amazonaws.com"`} {
		if !strings.Contains(string(trust), want) {
			t.Errorf("the trust of the named role lacks %s: %s", want, trust)
		}
	}
	b.in = file
	if _, again, _ := b.run(append([]string{"render", "-f", "-", "--account", "444455556666"}, offline...)...); again != out {
		t.Errorf("from standard input it is %s", again)
	}
}

func TestWhatIsMissingForARoleIsNamed(t *testing.T) {
	nameless := platform.Facts{Operator: platform.Operator{Why: "none"}}
	azure, named := request("azure", provider(cloudv1.AzureProviderSpec{})), request("named", toSecret)
	for name, test := range map[string]struct {
		args []string
		want []string
	}{
		"everything":               {[]string{"render", "reports"}, []string{"set --issuer", "set --account", "set --infrastructure-name"}},
		"everything but an issuer": {[]string{"render", "reports", "--issuer", "https://i.example"}, []string{"set --account", "set --infrastructure-name"}},
		"ServiceAccounts":          {[]string{"render", "named", "--issuer", "https://i.example", "--account", "111122223333"}, []string{"--infrastructure-name"}},
		"another cloud":            {[]string{"render", "azure"}, []string{"tabard credentials bind"}},
		"a request":                {[]string{"render"}, []string{"-f FILE"}},
		"one of two requests":      {[]string{"render", "reports", "-f", "x"}, []string{"-f FILE"}},
		"a URL":                    {[]string{"render", "reports", "--issuer", "issuer.example"}, []string{"begins with https://"}},
		"a file":                   {[]string{"render", "-f", "nosuch.yaml"}, []string{"nosuch.yaml"}},
		"a form":                   {[]string{"render", "given", "--issuer", "https://i.example", "--print", "pulumi"}, []string{"expected one of"}},
		"one account":              {[]string{"render", "given", "--issuer", "https://i.example", "--account", "111122223333"}, []string{"names a role in account 444455556666"}},
	} {
		given := request("given", provider(cloudv1.AWSProviderSpec{STSIAMRoleARN: "arn:aws:iam::444455556666:role/given"}))
		code, out, said := newBed(t, nameless, request("reports"), azure.DeepCopy(), named.DeepCopy(), given).run(test.args...)
		if code != command.Unusable || out != "" {
			t.Errorf("%s: exit code %d, %q", name, code, out)
		}
		for _, want := range test.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: said %q, want %q", name, said, want)
			}
		}
	}
	if _, _, said := newBed(t, plainKubernetes, oidcIssuer(), told(), named.DeepCopy()).run("render", "named"); !strings.Contains(said, "spec.serviceAccountNames is empty") {
		t.Errorf("said %q", said)
	}
	b := newBed(t, plainKubernetes)
	b.in = "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n"
	if code, _, said := b.run("render", "-f", "-"); code != command.Unusable || !strings.Contains(said, "expected cloudcredential.openshift.io/v1 CredentialsRequest") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

// TestARoleIsNotRenderedWithoutItsMisspeltCondition: whoever makes it would give more than is meant.
func TestARoleIsNotRenderedWithoutItsMisspeltCondition(t *testing.T) {
	b := newBed(t, plainKubernetes)
	b.in = strings.Replace(file, "policyCondition", "condition", 1)
	code, out, said := b.run(append([]string{"render", "-f", "-", "--account", "444455556666"}, offline...)...)
	want := `CredentialsRequest team-a/reports: spec.providerSpec.statementEntries[0] has the field "condition", expected effect, action, resource and policyCondition: write policyCondition`
	if code != command.Unusable || out != "" || !strings.Contains(said, want) {
		t.Errorf("exit code %d, %q, said %q, want %q", code, out, said, want)
	}
}
