package migrate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// world is a cluster with the example in it.
type world struct{ *testkit.Cluster }

var shared = testkit.SharedCluster(testkit.ClusterOptions{
	Issuer: "https://issuer.example.com", CRDs: []string{testkit.CRDs, "internal/cli/migrate/" + bundleFolder + "/definitions.yaml"},
})

// newWorld has the example as it is at first, without selectors.
func newWorld(t *testing.T) world {
	t.Helper()
	w := world{shared(t)}
	must.Do(t, w.DeleteAllOf(t.Context(), &services.IAMRoleSelector{}))
	for _, name := range []string{"namespaces", "maps", "controllers", "resources"} {
		w.apply(filepath.Join(bundleFolder, name+".yaml"))
	}
	return w
}

// resourceOf are the resources of the kinds in the example.
var resourceOf = map[string]schema.GroupVersionResource{
	"Namespace": namespaces, "ConfigMap": configMaps, "ServiceAccount": serviceAccounts, "Deployment": deployments, "IAMRoleSelector": selectors,
	"Bucket": {Group: "s3.services.k8s.aws", Version: "v1alpha1", Resource: "buckets"},
	"VPC":    {Group: "ec2.services.k8s.aws", Version: "v1alpha1", Resource: "vpcs"},
}

// apply creates the objects of a file, with their status.
func (w world) apply(path string) {
	w.Helper()
	found := must.Get((&files{paths: []string{path}}).objects(w.Context()))(w)
	for i := range found {
		o := &found[i]
		client := w.Dynamic.Resource(resourceOf[o.GetKind()]).Namespace(o.GetNamespace())
		made, err := client.Create(w.Context(), o, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // made by the API server itself, or for another test
			made, err = client.Get(w.Context(), o.GetName(), metav1.GetOptions{})
		}
		if err != nil {
			w.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if o.Object["status"] != nil {
			w.record(made, o.Object["status"])
		}
	}
}

// record writes a status.
func (w world) record(o *unstructured.Unstructured, status any) {
	w.Helper()
	o.Object["status"] = status
	client := w.Dynamic.Resource(resourceOf[o.GetKind()]).Namespace(o.GetNamespace())
	must.Get(client.UpdateStatus(w.Context(), o, metav1.UpdateOptions{}))(w)
}

// manage does what controllers do after the change-over: it records the selector.
func (w world) manage(kind, namespace, name, selector, role string) {
	w.Helper()
	o := must.Get(w.Dynamic.Resource(resourceOf[kind]).Namespace(namespace).Get(w.Context(), name, metav1.GetOptions{}))(w)
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	status["conditions"] = []any{map[string]any{
		"type": "ACK.IAMRoleSelected", "status": "True", "message": "Selected",
		"reason": fmt.Sprintf("roleARN: %s, selectorName: %s, selectorResourceVersion: 1", role, selector),
	}}
	w.record(o, status)
}

// restricted is the kubeconfig of an account with the rights of the help alone,
// but for those to leave out.
func (w world) restricted(name string, without ...string) string {
	w.Helper()
	var role rbacv1.ClusterRole
	must.Do(w, yaml.UnmarshalStrict([]byte(rights), &role))
	role.Name = name
	var kept []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		// The example has a third controller.
		if rule.APIGroups[0] == "s3.services.k8s.aws" {
			rule.APIGroups = append(rule.APIGroups, "rds.services.k8s.aws")
		}
		if !strings.Contains(strings.Join(without, " "), rule.Resources[0]) {
			kept = append(kept, rule)
		}
	}
	role.Rules = kept
	w.Grant("system:serviceaccount:default:"+name, &role)
	w.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	return w.Kubeconfig(w.Account("default", name))
}

// offline is the bundle that the commands in the help make.
func (w world) offline() string {
	w.Helper()
	folder := w.TempDir()
	_, commands, _ := strings.Cut(carmHelp, "lists included:\n")
	commands, _, _ = strings.Cut(commands, "\nControllers are found")
	commands += "\n  kubectl get vpcs.ec2.services.k8s.aws -A -o yaml > bundle/vpcs.yaml\n"
	w.Shell(strings.ReplaceAll(commands, "bundle/", folder+"/"))
	return folder
}

func TestAClusterIsMigrated(t *testing.T) {
	w := newWorld(t)
	fewerRightsDo(t, w)
	least := w.restricted("least")
	online := run(t, "", "plan", "--kubeconfig", least, "-o", "json")
	if online.code != 0 {
		t.Fatalf("with the rights that the help names: %+v", online)
	}
	fromFiles := run(t, "", "plan", "-f", w.offline(), "-o", "json")
	if diff := cmp.Diff(online.out, fromFiles.out); diff != "" {
		t.Errorf("(-cluster +files):\n%s", diff)
	}
	var d document
	if err := json.Unmarshal([]byte(online.out), &d); err != nil || len(d.Selectors) != 5 {
		t.Fatalf("%v: %d selectors", err, len(d.Selectors))
	}

	folder := filepath.Join(t.TempDir(), "migration")
	if got := run(t, "", "plan", "--kubeconfig", least, "--out", folder); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	verify := []string{"verify", "--kubeconfig", least, "--controllers-file", filepath.Join(folder, "controllers.yaml")}
	if got := run(t, "", append(verify, "--live=false")...); got.code != command.Found {
		t.Errorf("verify before the selectors are there: %+v", got)
	}
	for name := range tree(t, filepath.Join(folder, "selectors")) {
		w.apply(filepath.Join(folder, "selectors", name))
	}
	if got := run(t, "", append(verify, "--live=false")...); got.code != 0 {
		t.Errorf("verify with the selectors: %+v", got)
	}
	if got := run(t, "", "plan", "--kubeconfig", least); got.code != 0 {
		t.Errorf("a second plan beside its own selectors: %+v", got)
	}
	if got := run(t, "", verify...); got.code != command.Found || !strings.Contains(got.out, "2 pending") {
		t.Errorf("verify before the controllers have managed anything: %+v", got)
	}
	w.manage("Bucket", "team-a", "logs", "carm-c6cda6ed", "arn:aws:iam::444455556666:role/ack-s3")
	w.manage("VPC", "team-b", "main", "carm-07562ef0", "arn:aws:iam::444455556666:role/ack")
	if got := run(t, "", verify...); got.code != 0 {
		t.Errorf("verify after the change-over: %+v", got)
	}
	w.manage("VPC", "team-b", "main", "carm-07562ef0", "arn:aws:iam::444455556666:role/planted")
	if got := run(t, "", verify...); got.code != command.Found || !strings.Contains(got.out, "the status names the role arn:aws:iam::444455556666:role/planted") {
		t.Errorf("verify with a wrong role in a status: %+v", got)
	}
}

// fewerRightsDo, of those that the help names, for who says more by flags.
func fewerRightsDo(t *testing.T, w world) {
	t.Helper()
	for name, test := range map[string]struct {
		without []string
		args    []string
		code    int
		want    string
	}{
		"no-serviceaccounts":        {[]string{"serviceaccounts"}, nil, command.Unusable, "the account that it runs in is not known; give --account"},
		"no-serviceaccounts-needed": {[]string{"serviceaccounts"}, []string{"--account", "111122223333"}, 0, ""},
		"no-deployments":            {[]string{"deployments"}, nil, command.Found, "describe the controllers with --controllers-file if you may not read Deployments"},
		"no-deployments-needed":     {[]string{"deployments", "serviceaccounts"}, []string{"--controllers-file", "testdata/want/names/controllers.yaml"}, 0, ""},
		"no-configmaps":             {[]string{"configmaps"}, nil, command.Found, "read the config map ack-system/ack-role-account-map"},
		"no-selectors":              {[]string{"iamroleselectors"}, nil, command.Found, "list iamroleselectors.services.k8s.aws"},
		"no-namespaces":             {[]string{"namespaces"}, nil, command.Found, "list namespaces"},
		"no-kinds":                  {[]string{"customresourcedefinitions"}, nil, command.Found, "list customresourcedefinitions.apiextensions.k8s.io"},
		"no-resources":              {[]string{"*"}, nil, command.Found, "services.k8s.aws: "},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"plan", "--kubeconfig", world{w.In(t)}.restricted(name, test.without...)}, test.args...)
			got := run(t, "", args...)
			if got.code != test.code || !strings.Contains(got.errOut, test.want) {
				t.Errorf("%+v, want exit code %d and %q", got, test.code, test.want)
			}
		})
	}
}

// TestThePagesCommands runs the commands of docs/role-selectors-migration.md twice; the
// text behind a command is what it prints, but for the lines that it leaves out.
func TestThePagesCommands(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "role-selectors-migration.md")))(t)
	w := newWorld(t)
	folder := testkit.LinkSelf(t, "tabard")
	commands, compared := testkit.Blocks(string(page), "sh"), 0
	if len(commands) < 4 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	for _, command := range slices.Concat(commands, commands) {
		if strings.Contains(command, "verify --controllers-file") && !strings.Contains(command, "--live=false") {
			w.manage("Bucket", "team-a", "logs", "carm-c6cda6ed", "arn:aws:iam::444455556666:role/ack-s3")
			w.manage("VPC", "team-b", "main", "carm-07562ef0", "arn:aws:iam::444455556666:role/ack")
		}
		printed := w.Shell("cd " + folder + "\n" + command)
		_, behind, _ := strings.Cut(string(page), "\n```sh\n"+command+"\n```\n")
		said, isText := strings.CutPrefix(strings.TrimLeft(behind, "\n"), "```text\n")
		if !isText {
			continue
		}
		compared++
		said, _, _ = strings.Cut(said, "\n```")
		for _, part := range strings.Split(said, "\n...\n") {
			if !strings.Contains(printed, part) {
				t.Errorf("printed:\n%s\nthe page says:\n%s", printed, part)
			}
		}
	}
	if compared < 6 {
		t.Errorf("only %d outputs are on the page", compared)
	}
	manifest := strings.Join(testkit.Blocks(string(page), "yaml"), "\n")
	example := tree(t, filepath.Join(folder, "migration", "selectors"))["carm-c6cda6ed.yaml"]
	if example == "" || !strings.Contains(manifest+"\n", example) {
		t.Errorf("the page does not show the selector that is written:\n%s", example)
	}
	if !strings.Contains(string(page), strings.TrimSpace(dedent(rights))) {
		t.Errorf("the page does not name the rights:\n%s", dedent(rights))
	}
}

// dedent takes two blanks off each line.
func dedent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}
