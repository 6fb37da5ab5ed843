// Package memory has the programs follow a cluster in which one namespace holds what its edit
// role may make, as long as an API server takes it, within the memory of their manifests.
package memory

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	// crowd is how many objects of a kind there are, and fill how long the annotations of
	// each are: a little less than all that Kubernetes allows.
	crowd = 600
	fill  = 250 << 10
	team  = "crowd"
	role  = "arn:aws:iam::111122223333:role/app"
	// prefix is the webhook's: what has it counts, and is read.
	prefix = "eks.amazonaws.com/"
)

// programs are what is started, each with what shows that it has read all.
var programs = map[string]struct {
	manifest string
	args     []string
	done     func(t *testing.T, c *testkit.Cluster, metrics string) error
}{
	"injection": {"operator.yaml", []string{"operator", "--controllers=injection"}, func(t *testing.T, _ *testkit.Cluster, metrics string) error {
		if text := get(t, metrics); !regexp.MustCompile(`(?m)^tabard_injection_pods_without_identity\S* [1-9]`).MatchString(text) {
			return fmt.Errorf("no pod is counted that is without identity")
		}
		return nil
	}},
	"selectorreport": {"role-selectors/report.yaml", []string{"operator", "--controllers=selectorreport", "--feature-gates=IAMRoleSelector=true"}, func(t *testing.T, c *testkit.Cluster, _ string) error {
		report := &unstructured.Unstructured{}
		report.SetAPIVersion("identity.tabard.dev/v1alpha1")
		report.SetKind("IAMRoleSelectorReport")
		return c.Get(t.Context(), client.ObjectKey{Name: "all"}, report)
	}},
	"credentials": {"credentials/controller.yaml", []string{
		"operator", "--controllers=credentials", "--service-account=tabard-credentials", "--infrastructure-name=test",
		"--credentials-permissions-boundary=arn:aws:iam::111122223333:policy/boundary",
	}, func(t *testing.T, c *testkit.Cluster, _ string) error {
		grants := &unstructured.UnstructuredList{}
		grants.SetAPIVersion("identity.tabard.dev/v1alpha1")
		grants.SetKind("CredentialsGrantList")
		must.Do(t, c.List(t.Context(), grants, client.InNamespace("tabard-system")))
		// Nothing is looked at before all has been read, and then each with all of what it
		// asks for, several at a time.
		if len(grants.Items) < crowd/10 {
			return fmt.Errorf("there are %d grants, want %d", len(grants.Items), crowd/10)
		}
		return nil
	}},
}

// TestRootACrowdOfLongObjectsFitsIntoTheLimit: at each start, as a kubelet makes it.
func TestRootACrowdOfLongObjectsFitsIntoTheLimit(t *testing.T) {
	c := testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: "https://issuer.example.com", CRDs: []string{"config/crd", "test/roleselector/kube/testdata/bucket.yaml"},
	})
	c.MakeNamespaces("tabard-system", team)
	fatten(t, c)
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			limit := limitOf(t, program.manifest)
			group := newGroup(t, limit)
			port := testkit.FreePort(t)
			args := append([]string{
				"--kubeconfig=" + c.Kubeconfig(c.Config), "--namespace=tabard-system", "--health-probe-bind-address=0",
				fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port),
			}, program.args[1:]...)
			process := group.start(t, limit, append([]string{program.args[0]}, args...))
			testkit.Await(t, func() error {
				if process.Ended() {
					t.Fatalf("it has ended, %s", group.says(t))
				}
				return program.done(t, c, fmt.Sprintf("http://127.0.0.1:%d/metrics", port))
			})
			t.Logf("%s; its limit is %d MiB", group.says(t), limit>>20)
			process.End()
		})
	}
}

// fatten makes the crowd.
func fatten(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	long := map[string]string{prefix + "fill": strings.Repeat("x", fill)}
	c.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "services.k8s.aws/v1alpha1", "kind": "IAMRoleSelector", "metadata": map[string]any{"name": "all"},
		"spec": map[string]any{"arn": role},
	}})
	c.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "app", Annotations: map[string]string{prefix + "role-arn": role}}})
	c.Make(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "app"}, Spec: podSpec()})
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4) // other tests of nodes run beside
	for i := range crowd {
		meta := metav1.ObjectMeta{Namespace: team, Name: fmt.Sprintf("long-%d", i), Annotations: long}
		for _, object := range []client.Object{
			&corev1.ServiceAccount{ObjectMeta: meta},
			&corev1.Pod{ObjectMeta: meta, Spec: podSpec()},
			custom(meta, "s3.services.k8s.aws/v1alpha1", "Bucket", map[string]any{"fill": strings.Repeat("y", fill)}),
			custom(meta, "cloudcredential.openshift.io/v1", "CredentialsRequest", request(meta.Name)),
		} {
			group.Go(func() error { return c.Create(ctx, object) })
		}
	}
	must.Do(t, group.Wait())
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{ServiceAccountName: "app", SchedulerName: "nobody", Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}
}

func custom(meta metav1.ObjectMeta, version, kind string, spec map[string]any) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind, "spec": spec}}
	made.SetNamespace(meta.Namespace)
	made.SetName(meta.Name)
	made.SetAnnotations(meta.Annotations)
	return made
}

// request is one whose policy is long, too.
func request(name string) map[string]any {
	return map[string]any{
		"secretRef": map[string]any{"namespace": team, "name": name}, "serviceAccountNames": []any{"app"},
		"providerSpec": map[string]any{
			"apiVersion": "cloudcredential.openshift.io/v1", "kind": "AWSProviderSpec",
			"statementEntries": []any{map[string]any{"effect": "Allow", "action": []any{"s3:GetObject"}, "resource": "arn:aws:s3:::" + strings.Repeat("y", fill)}},
		},
	}
}

// limitOf is the memory that a manifest allows, in bytes.
func limitOf(t *testing.T, manifest string) int64 {
	t.Helper()
	text := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config", "manifests", manifest)))(t))
	found := regexp.MustCompile(`limits:\s+memory: (\S+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s limits no memory", manifest)
	}
	quantity := must.Get(resource.ParseQuantity(found[1]))(t)
	return quantity.Value()
}

// group is a control group whose memory is limited.
type group struct {
	folder string
	names  [3]string
}

// newGroup makes one, of version 2 or 1.
func newGroup(t *testing.T, limit int64) group {
	t.Helper()
	g := group{"/sys/fs/cgroup/memory", [3]string{"memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.failcnt"}}
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		g = group{"/sys/fs/cgroup", [3]string{"memory.max", "memory.peak", "memory.events"}}
	}
	g.folder = must.Get(os.MkdirTemp(g.folder, "tabard-test-"))(t)
	t.Cleanup(func() { _ = os.Remove(g.folder) })
	must.Do(t, os.WriteFile(filepath.Join(g.folder, g.names[0]), []byte(strconv.FormatInt(limit, 10)), 0o600))
	return g
}

// start starts Tabard in the group. The runtime is told as Tabard tells it in a container.
func (g group) start(t *testing.T, limit int64, args []string) *testkit.Process {
	t.Helper()
	shell := append([]string{"-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, g.folder, testkit.Tabard(t)}, args...)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", shell...)
	command.Env = []string{
		"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin", fmt.Sprintf("GOMEMLIMIT=%d", limit/100*75), "AWS_REGION=us-west-2",
		"AWS_ROLE_ARN=" + role, "AWS_WEB_IDENTITY_TOKEN_FILE=/nowhere", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
	}
	return testkit.StartProcess(t, command)
}

// says is what the group's memory was.
func (g group) says(t *testing.T) string {
	t.Helper()
	read := func(name string) string {
		return strings.Join(strings.Fields(string(must.Get(os.ReadFile(filepath.Join(g.folder, name)))(t))), " ")
	}
	peak, err := strconv.ParseInt(read(g.names[1]), 10, 64)
	must.Do(t, err)
	return fmt.Sprintf("the most memory that it had is %d MiB, and %s says %s", peak>>20, g.names[2], read(g.names[2]))
}

func get(t *testing.T, url string) string {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "" // it has not begun to listen
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	var text strings.Builder
	if err := response.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
