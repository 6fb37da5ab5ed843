package hub

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// typed is a cluster with Open Cluster Management's kinds, at which a person types commands.
type typed struct {
	*testkit.Cluster
	kubeconfig string
}

// startTyped starts one with the Deployment of an operator. In the kubeconfig, the cluster is
// called as it is said.
func startTyped(t *testing.T, operator, called string) *typed {
	t.Helper()
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub, testkit.OCMOperators}})
	cluster.MakeNamespaces(operatorNamespace)
	labels := map[string]string{"app": operator}
	cluster.Make(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operator}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "operator", Image: "quay.io/ocm/registration-operator:v1.2.1"}},
		}},
	}})
	return &typed{cluster, calling(t, cluster.Kubeconfig(cluster.Config), called)}
}

// calling is a copy of a kubeconfig in which the cluster is called so.
func calling(t *testing.T, file, called string) string {
	t.Helper()
	config := must.Get(clientcmd.LoadFromFile(file))(t)
	context := config.Contexts[config.CurrentContext]
	config.Clusters[called] = config.Clusters[context.Cluster]
	context.Cluster = called
	out := filepath.Join(t.TempDir(), "kubeconfig")
	must.Do(t, clientcmd.WriteToFile(*config, out))
	return out
}

// run types a command.
func (c *typed) run(args ...string) (code int, out, said string) {
	c.Helper()
	var stdout, stderr bytes.Buffer
	root := New(World{
		Streams: command.Streams{Out: &stdout, Err: &stderr},
		Cluster: func(k *command.Kubeconfig) (Cluster, error) {
			config, err := k.Config()
			if err != nil {
				return Cluster{}, err
			}
			live, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
			return Cluster{Client: live, Server: config.Host}, err
		},
		Bootstrap: func(config *rest.Config) (client.Client, error) { return client.New(config, client.Options{}) },
	})
	root.SetArgs(append(args, "--kubeconfig="+c.kubeconfig))
	if exit, ok := errors.AsType[*command.Exit](root.ExecuteContext(c.Context())); ok {
		code = exit.Code
	}
	return code, stdout.String(), stderr.String()
}

// want types a command, and says that it ended so and said this.
func (c *typed) want(code int, says string, args ...string) (out string) {
	c.Helper()
	got, out, said := c.run(args...)
	if got != code || !strings.Contains(out+said, says) {
		c.Errorf("tabard hub %s: exit code %d, want %d and %q:\n%s%s", strings.Join(args, " "), got, code, says, out, said)
	}
	return out + said
}

func (c *typed) registration(of client.Object) map[string]any {
	c.Helper()
	must.Do(c, c.Get(c.Context(), client.ObjectKeyFromObject(of), of))
	out, _, _ := unstructured.NestedMap(of.(*unstructured.Unstructured).Object, "spec", "registrationConfiguration")
	return out
}

func (c *typed) drivers() any { return c.registration(theManager.empty())["registrationDrivers"] }

// TestInitAsTheRequirementCallsIt: the ARN is the kubeconfig's name of the cluster, as EKS's own
// command writes it.
func TestInitAsTheRequirementCallsIt(t *testing.T) {
	c := startTyped(t, "cluster-manager", hubARN)
	story := []string{"init", "--registration-drivers", "awsirsa", "--disable-managed-iam"}
	c.want(1, "tabard hub fields --apply", story...)
	if err := c.Get(t.Context(), client.ObjectKey{Name: clusterManager}, theManager.empty()); err == nil {
		t.Fatal("the ClusterManager was written without the field")
	}
	c.want(0, "changed", "fields", "--apply")
	printed := c.want(0, "hubClusterArn: "+hubARN, append(story, "--dry-run", "-o", "yaml")...)
	if !strings.Contains(printed, "disableManagedIam: true") || !strings.Contains(printed, "nothing was written") || strings.Contains(printed, "managedFields") {
		t.Errorf("the dry run prints:\n%s", printed)
	}
	said := c.want(0, "+ ClusterManager cluster-manager", story...)
	for _, want := range []string{"kubectl label namespace open-cluster-management-hub tabard.dev/ocm=enabled", "--registration-auth awsirsa --hub-cluster-arn " + hubARN + " --cluster-name CLUSTER\n", "as the kubeconfig names it", "tabard hub join --hub-token TOKEN --hub-apiserver " + c.Config.Host} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if want := []any{map[string]any{"authType": "awsirsa", "awsirsa": map[string]any{"hubClusterArn": hubARN, "disableManagedIam": true}}}; !cmp.Equal(want, c.drivers()) {
		t.Errorf("the drivers are %v", c.drivers())
	}
	c.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: core.ControllerNamespace, Labels: map[string]string{core.HookLabel: core.HookLabelValue}}})
	if again := c.want(0, "= ClusterManager cluster-manager", story...); strings.Contains(again, "warning") {
		t.Errorf("in a labelled namespace it says:\n%s", again)
	}
}

// TestInitChangesOnlyWhatItsFlagsName, of a ClusterManager that somebody else has made.
func TestInitChangesOnlyWhatItsFlagsName(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	c.want(0, "changed", "fields", "--apply")
	manager := theManager.empty()
	must.Do(t, yaml.Unmarshal([]byte(`
spec:
  registrationImagePullSpec: mirror.example/registration:1
  registrationConfiguration:
    autoApproveUsers: [somebody]
    registrationDrivers:
    - authType: csr
    - authType: awsirsa
      awsirsa: {hubClusterArn: "`+hubARN+`", disableManagedIam: true}
`), &manager.Object))
	manager.SetGroupVersionKind(clusterManagers)
	manager.SetName(clusterManager)
	c.Make(manager)
	said := c.want(0, "~ ClusterManager", "init", "--registration-drivers", "awsirsa", "--aws-resource-tags", "env=test")
	if !strings.Contains(said, "lists the driver csr too") {
		t.Errorf("it says:\n%s", said)
	}
	c.want(0, "~ ClusterManager", "init", "--feature-gates", "ManagedClusterAutoApproval=true")
	aws := map[string]any{"hubClusterArn": hubARN, "disableManagedIam": true, "tags": []any{"env=test"}}
	want := map[string]any{
		"autoApproveUsers":    []any{"somebody"},
		"featureGates":        []any{map[string]any{"feature": core.AutoApproval, "mode": "Enable"}},
		"registrationDrivers": []any{map[string]any{"authType": "csr"}, map[string]any{"authType": "awsirsa", "awsirsa": aws}},
	}
	if diff := cmp.Diff(want, c.registration(manager)); diff != "" {
		t.Errorf("the ClusterManager says of registration (-want +got):\n%s", diff)
	}
	if image, _, _ := unstructured.NestedString(manager.Object, "spec", "registrationImagePullSpec"); image != "mirror.example/registration:1" {
		t.Errorf("the image is %s", image)
	}
	c.want(0, "~ ClusterManager", "init", "--registration-drivers", "awsirsa", "--disable-managed-iam=false")
	if disabled, said := disabledIn(map[string]any{"spec": map[string]any{"registrationConfiguration": c.registration(manager)}}); disabled || !said {
		t.Errorf("managed IAM is off: %t, and that is said: %t", disabled, said)
	}
}

func TestInitWaitsForTheHub(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	c.want(1, "the hub controller does not run yet", "init", "--wait", "--timeout", "0")
	c.MergeStatus(theManager.empty(), `{"status":{"conditions":[
		{"type":"Applied","status":"True","reason":"a","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1},
		{"type":"HubRegistrationDegraded","status":"False","reason":"a","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1}]}}`)
	c.want(0, "the hub runs", "init", "--wait", "--timeout", "1m")
}

func TestInitRefuses(t *testing.T) {
	c := startTyped(t, "cluster-manager", "kubernetes")
	c.want(2, "--disable-managed-iam is for the driver awsirsa", "init", "--disable-managed-iam", "--registration-drivers", "csr")
	c.want(2, "say it with --hub-cluster-arn", "init", "--registration-drivers", "awsirsa")
	c.want(2, "--hub-cluster-arn:", "init", "--registration-drivers", "awsirsa", "--hub-cluster-arn", "eks-hub")
	c.want(2, "expected true or false", "init", "--feature-gates", "ManagedClusterAutoApproval=on?")
	c.Remove(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "cluster-manager"}})
	c.want(1, "clusteradm init --wait", "init")
	if err := c.Get(t.Context(), client.ObjectKey{Name: clusterManager}, theManager.empty()); err == nil {
		t.Error("a ClusterManager was written")
	}
	bare := testkit.StartCluster(t, testkit.ClusterOptions{})
	(&typed{bare, bare.Kubeconfig(bare.Config)}).want(1, "does not know the kind ClusterManager", "init")
}

func TestATimeIsInSecondsOrHasItsUnit(t *testing.T) {
	for text, want := range map[string]time.Duration{"300": 300 * time.Second, "5m": 5 * time.Minute, "0": 0, "1m30s": 90 * time.Second} {
		var got seconds
		must.Do(t, got.Set(text))
		if time.Duration(got) != want {
			t.Errorf("%s is %s, want %s", text, time.Duration(got), want)
		}
	}
	for _, text := range []string{"soon", "-1", "-5m", "", "99999999999"} {
		if err := new(seconds).Set(text); err == nil || !strings.Contains(err.Error(), "expected seconds such as 300") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
