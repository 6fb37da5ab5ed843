package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	agents  = "open-cluster-management-agent"
	suffixB = "347a66776893e40615516d2e0491e696"
)

// join is a cluster that is a hub and its own joining cluster, with the kinds of both.
type join struct {
	*testkit.Cluster
	// as is who asks it, and aws what the session sees.
	as   *rest.Config
	aws  hubjoin.AWS
	seen []string
}

func newJoin(t *testing.T) *join {
	t.Helper()
	j := &join{Cluster: testkit.StartCluster(t, testkit.ClusterOptions{
		Issuer: "https://issuer.example.com", CRDs: []string{testkit.CRDs}, Foreign: []testkit.ForeignKinds{testkit.OCMHub, testkit.OCMOperators},
	})}
	j.as = j.Config
	return j
}

// status types the command, and returns its exit code, what it prints and what it says.
func (j *join) status(args ...string) (code int, out, said string) {
	j.Helper()
	return j.run(append([]string{"status", "onprem-1"}, args...)...)
}

func (j *join) run(args ...string) (code int, out, said string) {
	j.Helper()
	var stdout, stderr bytes.Buffer
	root := New(World{
		Streams: command.Streams{Out: &stdout, Err: &stderr}, Manager: hubaccess.ReadManager,
		Hub:     func(*command.Kubeconfig) (client.Reader, error) { return client.New(j.as, client.Options{}) },
		Cluster: func(*command.Kubeconfig) (Cluster, error) { return Cluster{Client: j}, nil },
		Access: func(_ context.Context, hub core.ARN, role string) hubjoin.AWS {
			j.seen = append(j.seen, hub.String()+" "+role)
			return j.aws
		},
	})
	root.SetArgs(args)
	if exit, ok := errors.AsType[*command.Exit](root.ExecuteContext(j.Context())); ok {
		code = exit.Code
	}
	return code, stdout.String(), stderr.String()
}

// stops says that the join stops at a link, of which a part is said.
func (j *join) stops(link, says string, args ...string) {
	j.Helper()
	code, out, said := j.status(args...)
	if code != command.Found || !strings.Contains(out, fmt.Sprintf(" ✗ %-12s ", link)) || !strings.Contains(out, says) || !strings.Contains(said, "stops at the link "+link) {
		j.Errorf("exit code %d, want ✗ %s with %q:\n%s%s", code, link, says, out, said)
	}
}

func made(kind schema.GroupVersionKind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	out.SetGroupVersionKind(kind)
	out.SetNamespace(namespace)
	out.SetName(name)
	return out
}

// conditions are a merge patch of a status.
func conditions(pairs ...string) string {
	var out []string
	for i := 0; i < len(pairs); i += 3 {
		out = append(out, fmt.Sprintf(`{"type":%q,"status":%q,"reason":"Tested","message":%q,"lastTransitionTime":"2026-01-01T00:00:00Z"}`, pairs[i], pairs[i+1], pairs[i+2]))
	}
	return `{"status":{"conditions":[` + strings.Join(out, ",") + `]}}`
}

const fromTheHub = ` ✓ hub          ClusterManager cluster-manager: drivers csr; people make the roles: there is no Deployment tabard-system/tabard-hub
 ✓ asked        ManagedCluster onprem-1, by its suffix 347a…e696, without an ARN
 ✗ accepted     hubAcceptsClient is false
                mend: tabard hub accept --clusters onprem-1
 - access       waits for the above
 - joined       waits for the above; seen: ManagedClusterJoined is not True: the agents have not come in with their own identity
 - available    waits for the above; seen: ManagedClusterConditionAvailable is not there; it has no lease yet
 - works        waits for the above; seen: there are no ManifestWorks
`

// TestStatusWalksTheJoin: on a real API server with Open Cluster Management's own kinds, the join
// stops one link later after each thing that is mended, and nothing is written.
func TestStatusWalksTheJoin(t *testing.T) {
	j := newJoin(t)
	named := []string{"--hub-cluster-arn", hubARN}
	j.stops("hub", "the cluster has no ClusterManager", named...)
	j.Make(made(clusterManagers, "", "cluster-manager", map[string]any{"registrationConfiguration": map[string]any{"registrationDrivers": []any{map[string]any{"authType": "csr"}}}}))
	j.stops("asked", "the hub has no ManagedCluster onprem-1", named...)
	cluster := made(managedClusters, "", "onprem-1", map[string]any{"hubAcceptsClient": false})
	cluster.SetAnnotations(map[string]string{core.SuffixAnnotation: suffixB})
	j.Make(cluster)
	if code, out, said := j.status(named...); code != command.Found || out != fromTheHub || said != "tabard: the join of onprem-1 stops at the link accepted\n" {
		t.Errorf("exit code %d, %s(-want +got):\n%s", code, said, cmp.Diff(fromTheHub, out))
	}
	j.Merge(cluster, `{"spec":{"hubAcceptsClient":true}}`)
	j.stops("accepted", "has not answered", named...)
	j.MergeStatus(cluster, conditions("HubAcceptedManagedCluster", "True", "Accepted by hub cluster admin"))
	j.stops("joined", " ? access       AWS was not looked at: add --aws", named...)
	if len(j.seen) > 0 {
		t.Errorf("AWS was asked without --aws: %q", j.seen)
	}
	j.aws = hubjoin.AWS{Account: "111111111111"}
	j.stops("access", "there is no role arn:aws:iam::111111111111:role/ocm-hub-"+suffixB, append(named, "--aws")...)
	if len(j.seen) != 1 || j.seen[0] != hubARN+" ocm-hub-"+suffixB {
		t.Errorf("looked at %q", j.seen)
	}
	j.MergeStatus(cluster, conditions("HubAcceptedManagedCluster", "True", "x", "ManagedClusterJoined", "True", "x", "ManagedClusterConditionAvailable", "True", "Managed cluster is available"))
	j.MakeNamespaces("onprem-1")
	j.Make(&coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "onprem-1", Name: leaseName},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: time.Now().Add(-time.Hour)}},
	})
	j.stops("available", "its lease was renewed 1h0m", named...)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "onprem-1", Name: leaseName}}
	j.Merge(lease, `{"spec":{"renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
	if code, out, said := j.status(named...); code != 0 || said != "" || strings.Count(out, " ✓ ") != 7 || !strings.Contains(out, "✓ access       the agents come in with it") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	work := made(manifestWorks, "onprem-1", "app", map[string]any{})
	j.Make(work)
	j.stops("works", "0 of 1 ManifestWorks are applied; app is not: its agent has not taken it yet", named...)
	j.MergeStatus(work, conditions("Applied", "False", "no kind Foo"))
	j.stops("works", "app is not: no kind Foo", named...)
	j.MergeStatus(work, conditions("Applied", "True", ""))
	code, out, _ := j.status(append(named, "-o", "json")...)
	var report joinReport
	must.Do(t, json.Unmarshal([]byte(out), &report))
	if code != 0 || report.Kind != "HubStatus" || report.APIVersion != "tabard.dev/v1alpha1" || !report.Holds || report.Broken != "" || len(report.Links) != 7 || report.Links[6].Text != "1 of 1 ManifestWorks are applied" {
		t.Errorf("exit code %d: %+v", code, report)
	}
	j.spoke(t, named)
	j.refused(t, named)
}

// spoke goes on from the joining cluster's side.
func (j *join) spoke(t *testing.T, named []string) {
	t.Helper()
	args := append(named, "--spoke-context", "spoke")
	j.stops("klusterlet", "has no Klusterlet klusterlet", args...)
	if code, _, said := j.run("fields", "--apply"); code != 0 {
		t.Fatal(said)
	}
	klusterlet := made(klusterlets, "", "klusterlet", map[string]any{"clusterName": "onprem-1", "registrationConfiguration": map[string]any{"registrationDriver": map[string]any{
		"authType": "awsirsa", "awsIrsa": map[string]any{"hubClusterArn": hubARN, "managedClusterArn": "arn:aws:eks:us-west-2:000000000000:cluster/no-arn-12345678", "iamConfigSecret": "iam-config"},
	}}})
	j.Await(func() error { // until the API server keeps the field
		_ = j.Delete(t.Context(), klusterlet.DeepCopy())
		fresh := klusterlet.DeepCopy()
		if err := j.Create(t.Context(), fresh); err != nil {
			return err
		}
		if _, kept, _ := unstructured.NestedString(fresh.Object, "spec", "registrationConfiguration", "registrationDriver", "awsIrsa", "iamConfigSecret"); !kept {
			return errors.New("the API server drops iamConfigSecret")
		}
		return nil
	})
	j.MakeNamespaces(agents)
	j.stops("klusterlet", "kubectl label namespace "+agents+" tabard.dev/ocm=enabled", args...)
	j.Merge(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: agents}}, `{"metadata":{"labels":{"tabard.dev/ocm":"enabled"}}}`)
	j.stops("identity", "there is no Secret iam-config", args...)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: agents, Name: "iam-config"}, StringData: map[string]string{"other": "sesame"}}
	j.Make(secret)
	j.stops("identity", `has the keys ["other"]`, args...)
	j.Merge(secret, `{"stringData":{"config":"sesame"}}`)
	j.stops("agents", "no pod of the registration agent", args...)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: agents, Name: "reg-1", Labels: map[string]string{"app": "klusterlet-registration-agent"}},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "load-awscli", Image: "a"}},
			Containers:     []corev1.Container{{Name: "agent", Image: "a", Env: []corev1.EnvVar{{Name: "AWS_CONFIG_FILE", Value: "/.aws/config"}}}},
		},
	}
	j.Make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: agents, Name: "default"}}, pod)
	j.stops("agents", "the pod reg-1 is Pending", args...)
	const waits = `{"status":{"phase":"Pending","initContainerStatuses":[{"name":"load-awscli","image":"a","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}],` +
		`"containerStatuses":[{"name":"agent","image":"a","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"PodInitializing"}}}]}}`
	j.MergeStatus(pod, waits)
	j.stops("agents", "load-awscli of the pod reg-1 waits: ImagePullBackOff no such image", args...)
	j.MergeStatus(pod, `{"status":{"phase":"Running","initContainerStatuses":[],"containerStatuses":[],"conditions":[{"type":"Ready","status":"True"}]}}`)
	code, out, said := j.status(append(args, "-o", "yaml")...)
	if code != 0 || strings.Count(out, "state: Holds") != 10 || strings.Contains(out+said, "sesame") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

// refused asks as somebody who may read very little.
func (j *join) refused(t *testing.T, named []string) {
	t.Helper()
	j.Grant("nobody", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "nobody"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{klusterlets.Group}, Resources: []string{"klusterlets"}, Verbs: []string{"get"}},
	}})
	j.as = j.As("nobody")
	code, out, said := j.status(append(named, "--spoke-context", "spoke")...)
	for _, right := range []string{
		"list clustermanagers.operator.open-cluster-management.io", "get managedclusters.cluster.open-cluster-management.io",
		"get namespaces", "get secrets in the namespace " + agents, "list pods in the namespace " + agents,
	} {
		if !strings.Contains(out, "it needs the right to "+right+"\n") {
			t.Errorf("it does not name the right to %s", right)
		}
	}
	if code != command.Found || strings.Contains(out, "✗") || strings.Contains(out, "✓") || !strings.Contains(said, "not all links were seen") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
}

func TestStatusRefusesWhatItCannotUse(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no name":                       {nil, "takes the name of one ManagedCluster"},
		"a name that is none":           {[]string{"a;b"}, "the argument is"},
		"a Klusterlet's name that none": {[]string{"a", "--klusterlet-name", "a b"}, "--klusterlet-name is"},
		"an ARN that is none":           {[]string{"a", "--hub-cluster-arn", "eks-hub"}, "--hub-cluster-arn"},
		"a format that is none":         {[]string{"a", "-o", "wide"}, "-o is"},
	} {
		t.Run(name, func(t *testing.T) {
			out, said, code, asked := run(nil, append([]string{"status"}, c.args...)...)
			if code != command.Unusable || asked || out != "" || !strings.Contains(said, c.says) {
				t.Errorf("exit code %d, asked %t: %s%s", code, asked, out, said)
			}
		})
	}
}

// TestTheControllerSaysWhatItIsTold: its flags, and the ConfigMap that one of them is from.
func TestTheControllerSaysWhatItIsTold(t *testing.T) {
	b := newBed(t, deployed("--hubaccess-managed-iam=Off", "--hubaccess-hub-cluster-arn=$(HUB_ARN)"),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: core.ControllerName}, Data: map[string]string{"hubARN": hubARN}})
	if got := controllerSeen(t.Context(), b.client, "tabard-system"); !got.Exists || got.IAM != core.Off || got.HubARN != hubARN || got.Name != "tabard-system/tabard-hub" {
		t.Errorf("it says %+v", got)
	}
	b = newBed(t, deployed("--hubaccess-hub-cluster-arn="+spokeARN))
	if got := controllerSeen(t.Context(), b.client, "tabard-system"); got.IAM != "" || got.HubARN != spokeARN {
		t.Errorf("it says %+v", got)
	}
	if got := controllerSeen(t.Context(), newBed(t).client, "tabard-system"); got.Exists || got.Trouble != "" {
		t.Errorf("without one, it says %+v", got)
	}
}

// deployed is the controller's Deployment with arguments.
func deployed(args ...string) *appsv1.Deployment {
	out := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: core.ControllerName}}
	out.Spec.Template.Spec.Containers = []corev1.Container{{Name: "hub", Args: args}}
	return out
}

// silent is a cluster that does not answer.
type silent struct{}

func (silent) Get(ctx context.Context, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silent) List(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestALookAtASilentClusterEnds: after half a minute each, and nothing is said to be broken.
func TestALookAtASilentClusterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		root := New(World{
			Streams: command.Streams{Out: &stdout, Err: &stderr}, Manager: hubaccess.ReadManager,
			Hub: func(*command.Kubeconfig) (client.Reader, error) { return silent{}, nil },
		})
		root.SetArgs([]string{"status", "onprem-1", "--spoke-context", "a"})
		began := time.Now()
		exit, is := errors.AsType[*command.Exit](root.ExecuteContext(t.Context()))
		if took := time.Since(began); !is || exit.Code != command.Found || took != time.Minute || strings.Count(stdout.String(), " ? ") != 10 || !strings.Contains(stdout.String(), "has not answered for 30s") {
			t.Errorf("%v after %s: %s%s", exit, took, &stdout, &stderr)
		}
	})
}
