package app

import (
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// prose are flags whose help has words in a row that are no values.
var prose = map[string]bool{"v": true, "filename": true, "credentials-role-tags": true}

var (
	// listed finds a list of values in the help of a flag, such as "text, or json for programs".
	listed = regexp.MustCompile("(?:^|: |of |`)([\\w.=-]+(?:(?:, or |, | or |\\|)[\\w.=-]+)+)")
	comma  = regexp.MustCompile(`, or |, | or |\|`)
)

// namedIn are the values that the help of a flag lists.
func namedIn(usage string) (words []string) {
	for _, list := range listed.FindAllStringSubmatch(usage, -1) {
		for _, word := range comma.Split(list[1], -1) {
			if word == "for" || word == "with" { // what the value before is for
				break
			}
			if word = strings.TrimPrefix(word, "="); word != "false" { // the other value of a gate
				words = append(words, word)
			}
		}
	}
	return words
}

func TestListsOfValuesAreFoundInHelpTexts(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string][]string{
		"debug, info, warn or error":                                    {"debug", "info", "warn", "error"},
		"the output's `format`: text, json for programs, or sarif":      {"text", "json"},
		"`format`: table, or json or yaml for programs":                 {"table", "json", "yaml"},
		"print it as `aws|cloudformation|json`, and make nothing":       {"aws", "cloudformation", "json"},
		"Auto, OpenShift or Kubernetes: what it is; Auto is OpenShift":  {"Auto", "OpenShift", "Kubernetes"},
		"clouds whose identities pods can get, of aws, azure, with few": {"aws", "azure"},
		"a `file` or folder of YAML":                                    nil,
	} {
		if diff := cmp.Diff(want, namedIn(usage)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", usage, diff)
		}
	}
}

// keyOf is a value without what people choose: IAMRoleSelector=true, jsonpath=TEMPLATE.
func keyOf(value string) string {
	key, _, _ := strings.Cut(value, "=")
	return key
}

// TestEachFlagThatListsItsValuesIsCompleted finds the values of the help in the completion, and
// those of the completion in the help.
func TestEachFlagThatListsItsValuesIsCompleted(t *testing.T) {
	t.Parallel()
	seen := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		c.NonInheritedFlags().VisitAll(func(flag *pflag.Flag) {
			complete, _ := c.GetFlagCompletionFunc(flag.Name)
			words := namedIn(flag.Usage)
			if len(words) < 2 || prose[flag.Name] || flag.Value.Type() == "bool" {
				return
			}
			seen++
			if complete == nil {
				t.Errorf("%s --%s has no completion, and lists %v", c.CommandPath(), flag.Name, words)
				return
			}
			values, _ := complete(c, nil, "")
			for _, word := range words {
				if !slices.ContainsFunc(values, func(value string) bool { return keyOf(value) == keyOf(word) }) {
					t.Errorf("%s --%s says %q in its help, and is completed to %v", c.CommandPath(), flag.Name, word, values)
				}
			}
			for _, value := range values {
				if !strings.Contains(flag.Usage, keyOf(value)) {
					t.Errorf("%s --%s is completed to %q, which its help does not say: %s", c.CommandPath(), flag.Name, value, flag.Usage)
				}
			}
		})
	}
	walk(rootCommand("tabard", local.Commands()))
	if seen < 20 {
		t.Errorf("%d flags list their values: the search does not work", seen)
	}
}

// offered are the values that the built program completes, without what it says about them.
func offered(t *testing.T, kubeconfig string, typed ...string) []string {
	t.Helper()
	called := exec.CommandContext(t.Context(), testkit.Tabard(t), append([]string{cobra.ShellCompRequestCmd}, typed...)...)
	called.Env = []string{"HOME=" + t.TempDir(), "KUBECONFIG=" + kubeconfig}
	var errors strings.Builder
	called.Stderr = &errors
	out := string(must.Get(called.Output())(t))
	if lines := strings.Count(errors.String(), "\n"); lines > 1 { // the first is for the shell's script
		t.Errorf("completing %q says %s", typed, errors.String())
	}
	values, _, _ := strings.Cut("\n"+out, "\n:")
	return strings.Split(strings.TrimSpace(values), "\n")
}

func TestNamesAreCompletedByAskingTheCluster(t *testing.T) {
	cluster := theCluster(t)
	cluster.MakeNamespaces("team-a", "team-b")
	object := func(apiVersion, kind, namespace, name string, spec map[string]any) {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec}}
		o.SetNamespace(namespace)
		o.SetName(name)
		cluster.Make(o)
	}
	request := map[string]any{
		"secretRef":    map[string]any{"name": "s", "namespace": "team-a"},
		"providerSpec": map[string]any{"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec"},
	}
	object("cloudcredential.openshift.io/v1", "CredentialsRequest", "team-a", "reports", request)
	object("cloudcredential.openshift.io/v1", "CredentialsRequest", "team-a", "disks", request)
	object("cloudcredential.openshift.io/v1", "CredentialsRequest", "team-b", "other", request)
	cluster.Make(issuerNamed("blue"), issuerNamed("green"), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "checkout"}})
	object("s3.services.k8s.aws/v1alpha1", "Bucket", "team-a", "logs", nil)
	kubeconfig := cluster.Kubeconfig(cluster.Config)
	none := filepath.Join(t.TempDir(), "none")
	for name, test := range map[string]struct {
		kubeconfig string
		typed      []string
		want       []string
	}{
		"requests of a namespace":            {kubeconfig, []string{"credentials", "describe", "-n", "team-a", ""}, []string{"disks", "reports"}},
		"requests that begin so":             {kubeconfig, []string{"credentials", "bind", "-n", "team-a", "re"}, []string{"reports"}},
		"requests of the context":            {kubeconfig, []string{"credentials", "describe", ""}, []string{""}},
		"one request is enough":              {kubeconfig, []string{"credentials", "describe", "-n", "team-a", "reports", ""}, []string{""}},
		"issuers":                            {kubeconfig, []string{"issuer", "status", ""}, []string{"blue", "green"}},
		"namespaces":                         {kubeconfig, []string{"credentials", "list", "-n", "team"}, []string{"team-a", "team-b"}},
		"namespaces behind a name":           {kubeconfig, []string{"credentials", "describe", "reports", "--namespace=team"}, []string{"team-a", "team-b"}},
		"contexts":                           {kubeconfig, []string{"ready", "--context", ""}, []string{"it"}},
		"the cluster that a flag names":      {none, []string{"issuer", "verify", "--kubeconfig", kubeconfig, "b"}, []string{"blue"}},
		"the user whom a flag names":         {kubeconfig, []string{"issuer", "status", "--as", "nobody", ""}, []string{""}},
		"kinds of resources":                 {kubeconfig, []string{"explain", "res"}, []string{"resource/buckets.s3.services.k8s.aws/", "resource/organizations.organizations.services.k8s.aws/", "resource/queues.sqs.services.k8s.aws/"}},
		"ServiceAccounts":                    {kubeconfig, []string{"explain", "serviceaccount", "-n", "team-a", "checkout"}, []string{"checkout"}},
		"a kind without the first word":      {kubeconfig, []string{"selector", "explain", "bu"}, []string{"buckets.s3.services.k8s.aws/"}},
		"resources of a kind":                {kubeconfig, []string{"explain", "-n", "team-a", "resource/buckets.s3.services.k8s.aws/"}, []string{"resource/buckets.s3.services.k8s.aws/logs"}},
		"resources of a kind's short name":   {kubeconfig, []string{"explain", "-n", "team-a", "resource/buckets/l"}, []string{"resource/buckets/logs"}},
		"resources of no kind":               {kubeconfig, []string{"explain", "resource/tables/"}, []string{""}},
		"nothing without a kubeconfig":       {none, []string{"issuer", "status", ""}, []string{""}},
		"nothing without a kubeconfig file":  {none, []string{"ready", "--context", ""}, []string{""}},
		"nothing from a cluster that is off": {offKubeconfig(t), []string{"credentials", "describe", ""}, []string{""}},
		"no files where a name is expected":  {kubeconfig, []string{"credentials", "list", ""}, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, offered(t, test.kubeconfig, test.typed...)); diff != "" {
				t.Errorf("tabard %s (-want +got):\n%s", strings.Join(test.typed, " "), diff)
			}
		})
	}
}

func issuerNamed(name string) *v1alpha1.OIDCIssuer {
	o := &v1alpha1.OIDCIssuer{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Spec.URL = "https://" + name + "-oidc-1.s3.eu-west-1.amazonaws.com"
	o.Spec.Publication.S3 = v1alpha1.S3Publication{Bucket: name + "-oidc-1", Region: "eu-west-1"}
	return o
}

// offKubeconfig names an API server that does not answer.
func offKubeconfig(t *testing.T) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // connections wait in its queue
	t.Cleanup(func() { _ = listener.Close() })
	path := filepath.Join(t.TempDir(), "off")
	testkit.WriteKubeconfig(t, path, &rest.Config{Host: "https://" + listener.Addr().String()})
	return path
}
