package hubaccess

import (
	"fmt"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fieldsWorld is a cluster with Open Cluster Management's own definitions.
type fieldsWorld struct{ *testkit.Cluster }

// fields types "tabard hub fields".
func (w fieldsWorld) fields(args ...string) (said string, code int) {
	w.Helper()
	called := exec.CommandContext(w.Context(), testkit.Tabard(w), append([]string{"hub", "fields", "--kubeconfig", w.Kubeconfig(w.Config)}, args...)...)
	out, _ := called.CombinedOutput()
	return string(out), called.ProcessState.ExitCode()
}

func (w fieldsWorld) want(code int, says string, args ...string) {
	w.Helper()
	if said, got := w.fields(args...); got != code || !strings.Contains(said, says) {
		w.Fatalf("tabard hub fields %v: exit code %d, want %d and %q in\n%s", args, got, code, says, said)
	}
}

// definitions are those of both, each value by its path.
func (w fieldsWorld) definitions() map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, name := range []string{hub.ManagerDefinition, hub.KlusterletDefinition} {
		definition := w.definition(name)
		flatten(definition.GetName()+" spec", definition.Object["spec"], out)
		for key, value := range definition.GetAnnotations() {
			out[name+" "+key] = value
		}
	}
	return out
}

func (w fieldsWorld) definition(name string) *unstructured.Unstructured {
	w.Helper()
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion("apiextensions.k8s.io/v1")
	out.SetKind("CustomResourceDefinition")
	must.Do(w, w.Get(w.Context(), client.ObjectKey{Name: name}, out))
	return out
}

func flatten(path string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, each := range v {
			flatten(path+"."+key, each, into)
		}
	case []any:
		for i, each := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), each, into)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

// differences are the last words of the paths at which two differ.
func differences(a, b map[string]string) []string {
	seen := map[string]bool{}
	note := func(path string) {
		name, rest, _ := strings.Cut(path, " ")
		kind, _, _ := strings.Cut(name, ".")
		steps := strings.Split(rest, ".")
		seen[kind+" "+strings.Join(steps[max(0, len(steps)-2):], ".")] = true
	}
	for path, value := range a {
		if other, there := b[path]; !there || other != value {
			note(path)
		}
	}
	for path := range b {
		if _, there := a[path]; !there {
			note(path)
		}
	}
	var out []string
	for each := range seen {
		out = append(out, each)
	}
	sort.Strings(out)
	return out
}

// TestFieldsLeaveAllOfTheirsAsItIs types the command in its order with the definitions that Open
// Cluster Management releases, and compares them field by field: what differs is what the
// requirement asks for, and after the undo nothing does.
func TestFieldsLeaveAllOfTheirsAsItIs(t *testing.T) {
	w := fieldsWorld{testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})}
	before := w.definitions()
	unchanged := func() {
		t.Helper()
		if now := differences(before, w.definitions()); len(now) > 0 {
			t.Fatalf("the definitions differ: %q", now)
		}
	}
	w.want(2, "--dry-run is for --apply", "--dry-run")
	w.want(0, "nothing was changed; to change it: tabard hub fields --apply")
	unchanged()
	w.want(0, "the API server takes the change; nothing was stored", "--apply", "--dry-run")
	unchanged()
	w.want(0, "awsirsa.disableManagedIam is added, a boolean", "--apply")
	want := []string{
		"clustermanagers tabard.dev/hub-fields",
		"clustermanagers disableManagedIam.description", "clustermanagers disableManagedIam.type", "clustermanagers hubClusterArn.pattern",
		"klusterlets tabard.dev/hub-fields", "klusterlets awsIrsa.required[1]", "klusterlets hubClusterArn.pattern",
		"klusterlets iamConfigSecret.description", "klusterlets iamConfigSecret.maxLength", "klusterlets iamConfigSecret.pattern", "klusterlets iamConfigSecret.type",
		"klusterlets managedClusterArn.minLength", "klusterlets managedClusterArn.pattern",
	}
	sort.Strings(want)
	if got := differences(before, w.definitions()); !slices.Equal(got, want) {
		t.Errorf("the definitions differ at\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	w.want(0, hub.ManagerDefinition+": as wanted", "--apply")
	w.wantTaken()
	w.want(1, "the ClusterManager cluster-manager uses the fields: awsirsa.disableManagedIam is true; change that first", "--undo", "--apply")
	w.Remove(w.object("ClusterManager", "cluster-manager", ""))
	w.want(1, "the Klusterlet outside uses the fields", "--undo", "--apply")
	w.Remove(w.object("Klusterlet", "outside", ""))
	w.want(0, "nothing was changed; to change it: tabard hub fields --undo --apply", "--undo")
	w.want(0, "changed", "--undo", "--apply")
	unchanged()
	w.want(0, "there is nothing to take back", "--undo", "--apply")
	said, _ := w.fields("--apply")
	typesWhat(w.Cluster, []string{"KUBECONFIG=" + w.Kubeconfig(w.Config)}, said, "to take it back later: ", "")
	unchanged()
}

// wantTaken makes objects as the requirement has them, and some that it does not have.
func (w fieldsWorld) wantTaken() {
	w.Helper()
	const arn = "arn:aws:eks:us-west-2:111111111111:cluster/eks-hub"
	driver := func(text string) string {
		return "registrationConfiguration: {registrationDriver: {authType: awsirsa, awsIrsa: {" + text + "}}}"
	}
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		taken  bool
	}{
		"the requirement's ClusterManager":     {w.object("ClusterManager", "cluster-manager", "registrationConfiguration: {registrationDrivers: [{authType: awsirsa, awsirsa: {disableManagedIam: true, hubClusterArn: '"+arn+"'}}]}"), true},
		"the requirement's Klusterlet":         {w.object("Klusterlet", "outside", driver("hubClusterArn: '"+arn+"', iamConfigSecret: iam-config")), true},
		"an empty ARN":                         {w.object("Klusterlet", "empty", driver("hubClusterArn: '"+arn+"', managedClusterArn: ''")), true},
		"a hub in another partition":           {w.object("Klusterlet", "china", driver("hubClusterArn: 'arn:aws-cn:eks:cn-north-1:111111111111:cluster/eks_hub', managedClusterArn: 'arn:aws-us-gov:eks:us-gov-west-1:111111111111:cluster/spoke_1'")), true},
		"an ARN that is none":                  {w.object("Klusterlet", "wrong", driver("hubClusterArn: '"+arn+"', managedClusterArn: spoke-1")), false},
		"a Secret's name that is none":         {w.object("Klusterlet", "wrong", driver("hubClusterArn: '"+arn+"', iamConfigSecret: '../token'")), false},
		"no ARN of the hub":                    {w.object("Klusterlet", "wrong", driver("iamConfigSecret: iam-config")), false},
		"disableManagedIam that is no boolean": {w.object("ClusterManager", "wrong", "registrationConfiguration: {registrationDrivers: [{authType: awsirsa, awsirsa: {disableManagedIam: 'yes'}}]}"), false},
	} {
		var err error
		w.Await(func() error { // the API server serves a changed schema a moment later
			if err = w.Create(w.Context(), test.object.DeepCopy()); (err == nil) != test.taken {
				return fmt.Errorf("%s: taken is %t: %w", name, err == nil, err)
			}
			return nil
		})
	}
	stored := w.object("ClusterManager", "cluster-manager", "")
	must.Do(w, w.Get(w.Context(), client.ObjectKeyFromObject(stored), stored))
	if uses := hub.FieldsInUse(stored.Object); !slices.Equal(uses, []string{"awsirsa.disableManagedIam is true"}) {
		w.Errorf("of what was written is stored %q", uses)
	}
	for _, name := range []string{"empty", "china"} {
		w.Remove(w.object("Klusterlet", name, ""))
	}
}

// object is one of Open Cluster Management's operators, with a spec in YAML.
func (w fieldsWorld) object(kind, name, spec string) *unstructured.Unstructured {
	w.Helper()
	out := &unstructured.Unstructured{}
	must.Do(w, yaml.Unmarshal([]byte("apiVersion: operator.open-cluster-management.io/v1\nkind: "+kind+"\nmetadata: {name: "+name+"}\nspec: {"+spec+"}"), &out.Object))
	return out
}
