package selector

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// cluster is one with the kinds of the examples.
type cluster struct{ *testkit.Cluster }

func startCluster(t *testing.T) cluster {
	t.Helper()
	return cluster{testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: "https://issuer.example.com", CRDs: []string{"internal/cli/selector/testdata/definitions.yaml"},
	})}
}

// TestOnACluster has one cluster for all: first without Tabard's kinds, then with what the
// commands of docs/role-selectors.md leave behind, among which the examples are.
func TestOnACluster(t *testing.T) {
	c := startCluster(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, cluster)
	}{
		{"without kinds nothing is decided", withoutKinds},
		{"the page's commands", func(t *testing.T, c cluster) { t.Helper(); typeThePage(t, c, 1) }},
		{"the cluster and files agree", clusterAndFilesAgree},
		{"explaining asks for few rights", explainingAsksForFewRights},
		{"explain speaks to programs", explainSpeaksToPrograms},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, cluster{c.In(t)}) })
	}
}

// restricted is the kubeconfig of an account with the rights of the help alone,
// but for those of one resource, and for the kinds of the examples.
func (c cluster) restricted(name, without string) string {
	c.Helper()
	role := strings.Replace(rights, "name: tabard-explain", "name: "+name, 1)
	role = strings.Replace(role, "[s3.services.k8s.aws], resources: [buckets]", "[s3.services.k8s.aws, sqs.services.k8s.aws], resources: [buckets, queues]", 1)
	if without != "" {
		rule := regexp.MustCompile(`(?m)^.*resources: \[` + without + `.*\n`)
		if !rule.MatchString(role) {
			c.Fatalf("no rule is for %s:\n%s", without, role)
		}
		role = rule.ReplaceAllString(role, "")
	}
	var made rbacv1.ClusterRole
	must.Do(c, yaml.UnmarshalStrict([]byte(dedent(role)), &made))
	c.Grant("system:serviceaccount:default:"+name, &made)
	c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	return c.Kubeconfig(c.Account("default", name))
}

// dedent takes two blanks off each line.
func dedent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}

// clusterAndFilesAgree explains every resource of the examples on a real
// API server, with no rights but those of the help, and compares with what is
// decided from the files, and from what the cluster prints.
func clusterAndFilesAgree(t *testing.T, c cluster) {
	t.Helper()
	least := c.restricted("least", "")
	printed := c.Shell("kubectl get iamroleselectors,iamrolechoices,namespaces,buckets.s3.services.k8s.aws,queues.sqs.services.k8s.aws -A -o yaml")
	for source, got := range map[string]outcome{
		"files":              run(t, "", "selector", "test", "-f", examples(), "-o", "json"),
		"what kubectl gives": run(t, printed, "selector", "test", "-f", "-", "-o", "json"),
	} {
		var report testReport
		if err := json.Unmarshal([]byte(got.out), &report); err != nil || got.code != 0 || len(report.Resources) != 6 {
			t.Fatalf("%s: %v %+v", source, err, got)
		}
		for _, one := range report.Resources {
			online := run(t, "", "explain", "resource/"+one.Resource.Kind+"/"+one.Resource.Name, "-n", one.Resource.Namespace, "--kubeconfig", least, "-o", "json")
			var e explanation
			if err := json.Unmarshal([]byte(online.out), &e); err != nil || (online.code == 0) != (one.Expected != "Denied") || len(e.Unread) > 0 {
				t.Fatalf("%s: %v: %+v", one.Resource, err, online)
			}
			if diff := cmp.Diff(one.Decision, e.Decision, cmpopts.IgnoreFields(decision{}, "Generation")); diff != "" {
				t.Errorf("%s: %s (-offline +online):\n%s", source, one.Resource, diff)
			}
		}
	}
}

func explainingAsksForFewRights(t *testing.T, c cluster) {
	t.Helper()
	c.Shell("kubectl create -f - <<'END'\n{apiVersion: organizations.services.k8s.aws/v1alpha1, kind: Organization, metadata: {name: main}}\nEND")
	label := regexp.MustCompile(`User "[^"]*"`)
	for name, test := range map[string]struct {
		without string
		args    []string
		code    int
		wants   []string
	}{
		"no-choices":    {"iamrolechoices", []string{"explain", "resource/bucket/reports", "-n", "shared"}, command.Found, []string{"Not read: iamrolechoices.identity.tabard.dev could not be read: ", "is forbidden", "NotYetKnown (NotSynced)", "archive     Use     Selectable  yes", "kubectl auth can-i list iamrolechoices.identity.tabard.dev -n shared"}},
		"no-selectors":  {"iamroleselectors", []string{"explain", "resource/bucket/logs", "-n", "prod"}, command.Found, []string{"Not read: iamroleselectors.services.k8s.aws could not be read: ", "No IAMRoleSelectors are known.", "NotYetKnown (NotSynced)"}},
		"no-namespaces": {"namespaces", []string{"explain", "resource/bucket/cache", "-n", "dev"}, command.Found, []string{"Not read: the namespace's labels could not be read: ", "its labels are not known", "NotYetKnown (NamespaceUnknown)"}},
		"no-resources":  {"buckets", []string{"explain", "resource/bucket/logs", "-n", "prod"}, command.Found, []string{"tabard: read the resource: ", "is forbidden"}},
		"not-there":     {"", []string{"selector", "explain", "bucket/other", "-n", "prod"}, command.Unusable, []string{"there is no Bucket.s3.services.k8s.aws prod/other"}},
		"not-here":      {"", []string{"explain", "resource/bucket/logs"}, command.Unusable, []string{"there is no Bucket.s3.services.k8s.aws default/logs"}},
		"no-kind":       {"", []string{"explain", "resource/table/logs"}, command.Unusable, []string{`the API server serves no kind "table"`}},
		"no-namespace":  {"", []string{"explain", "resource/organization/main", "-n", "prod"}, command.Unusable, []string{"Organization.organizations.services.k8s.aws has no namespaces: leave -n out"}},
		"matching":      {"", []string{"explain", "resource/bucket/logs", "-n", "prod", "--show", "matching"}, 0, []string{"IAMRoleSelectors that do not select the resource: 5 (--show all lists them)", "Use team-a (Unique)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append(test.args, "--kubeconfig", c.restricted(name, test.without))...)
			for _, want := range test.wants {
				if got.code != test.code || !strings.Contains(label.ReplaceAllString(got.out+got.errOut, "USER"), want) {
					t.Errorf("exit code %d, want %d and %q:\n%s%s", got.code, test.code, want, got.out, got.errOut)
				}
			}
		})
	}
	ofTheCluster := run(t, "", "explain", "resource/organization/main", "--kubeconfig", c.Kubeconfig(c.Config))
	if ofTheCluster.code != 0 || !strings.Contains(ofTheCluster.out, "NoSelector") || strings.Contains(ofTheCluster.out, "Namespace:") {
		t.Errorf("a resource of the cluster: %+v", ofTheCluster)
	}
}

func logs() *unstructured.Unstructured {
	bucket := &unstructured.Unstructured{}
	bucket.SetAPIVersion("s3.services.k8s.aws/v1alpha1")
	bucket.SetKind("Bucket")
	bucket.SetNamespace("default")
	bucket.SetName("logs")
	return bucket
}

// withoutKinds: as long as a CRD is absent controllers do not decide either.
func withoutKinds(t *testing.T, c cluster) {
	t.Helper()
	c.Make(logs())
	got := run(t, "", "explain", "resource/bucket/logs", "--kubeconfig", c.Kubeconfig(c.Config))
	c.Remove(logs())
	if got.code != command.Found || !strings.Contains(got.out, "NotYetKnown (NotSynced)") || strings.Count(got.out, "the server could not find the requested resource") != 2 {
		t.Errorf("%+v", got)
	}
}

// explainSpeaksToPrograms compares both formats for programs with each other,
// and what they say of a status with what stands in it.
func explainSpeaksToPrograms(t *testing.T, c cluster) {
	t.Helper()
	c.Shell(`kubectl patch buckets.s3.services.k8s.aws logs -n prod --subresource=status --type=merge -p '{"status": {
  "ackResourceMetadata": {"ownerAccountID": "111111111111", "region": "eu-west-1", "iamRoleSelector": {"selectorName": "team-a", "generation": 1}},
  "conditions": [{"type": "ACK.IAMRoleSelected", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}'`)
	args := []string{"explain", "resource/buckets.s3.services.k8s.aws/logs", "-n", "prod", "--kubeconfig", c.Kubeconfig(c.Config), "-o"}
	asJSON, asYAML := run(t, "", append(args, "json")...), run(t, "", append(args, "yaml")...)
	var e explanation
	if err := json.Unmarshal([]byte(asJSON.out), &e); err != nil || asJSON.code != 0 || asYAML.code != 0 {
		t.Fatalf("%v: %+v %+v", err, asJSON, asYAML)
	}
	if !e.Used.AsDecided || e.Used.Since == nil || e.Used.Since.UTC().Format("2006-01-02") != "2026-01-02" || e.Course.Step != roleselector.GoOn || len(e.Selectors) != 6 {
		t.Errorf("%+v", e)
	}
	if want := "kind: RoleExplanation\n"; !strings.Contains(asYAML.out, want) || !strings.Contains(asYAML.out, "asDecided: true") {
		t.Errorf("the YAML does not say %q:\n%s", want, asYAML.out)
	}
}
