package operators_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/operators"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// account is whom the controller runs as, with the shipped rights.
const account = "system:serviceaccount:tabard-system:tabard-operators"

const (
	issuer  = "https://oidc.example.com/c"
	roleARN = "arn:aws:iam::111122223333:role/p"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

var shared = testkit.SharedCluster(testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OLM, testkit.OpenShiftCredentials}}, func(c *testkit.Cluster) {
	grant(c)
	c.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.openshift.io/v1", "kind": "Authentication", "metadata": map[string]any{"name": "cluster"}, "spec": map[string]any{"serviceAccountIssuer": issuer},
	}})
})

// grant gives the controller the shipped rights.
func grant(c *testkit.Cluster) {
	c.MakeFiles("config/rbac/operators.yaml")
	c.Shell("kubectl create clusterrolebinding tabard-operators --clusterrole=tabard-operators --serviceaccount=tabard-system:tabard-operators")
}

// world is a namespace in which a fake of OLM acts, and what AWS says of roles.
type world struct {
	*testkit.Cluster
	olm       *fakeolm.OLM
	namespace string
	registry  *prometheus.Registry

	mu    sync.Mutex
	roles map[string]sufficiency.Documents
	asked int
}

// begin starts a fake in a namespace with a catalogue, an OperatorGroup and a package p with two
// versions.
func begin(t *testing.T) *world {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	w := &world{Cluster: shared(t), registry: prometheus.NewRegistry(), roles: map[string]sufficiency.Documents{}}
	w.namespace = w.NewNamespace()
	// After the fake has ended, nothing is left for the gauge of the next test.
	t.Cleanup(func() {
		for _, resource := range []string{"subscriptions", "installplans"} {
			must.Do(t, w.of(resource).DeleteCollection(context.WithoutCancel(t.Context()), metav1.DeleteOptions{}, metav1.ListOptions{}))
		}
	})
	w.olm = fakeolm.Start(t, w.Dynamic, w.Kube, fakeolm.Script{Namespaces: []string{w.namespace}, Packages: []fakeolm.Package{
		{Name: "p", Channel: "stable", CSVs: []fakeolm.CSV{w.version("p", "1.0.0", "s3:GetObject"), w.version("p", "1.1.0", "s3:GetObject", "s3:PutObject")}},
		{Name: "q", Channel: "stable", CSVs: []fakeolm.CSV{w.version("q", "1.0.0")}},
	}})
	w.create("v1alpha1", "CatalogSource", "catalogue", map[string]any{"sourceType": "grpc", "address": "catalogue:50051"})
	w.create("v1", "OperatorGroup", "group", map[string]any{"targetNamespaces": []any{w.namespace}})
	return w
}

// version is one that declares that it asks for actions; for nothing at all where there are none.
func (w *world) version(name, number string, actions ...string) fakeolm.CSV {
	labels := map[string]string{"app": name}
	out := fakeolm.CSV{
		Name: name + ".v" + number, Spec: map[string]any{"version": number},
		Deployments: map[string]appsv1.DeploymentSpec{name: {
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				ServiceAccountName: name, Containers: []corev1.Container{{Name: name, Image: "image"}},
			}},
		}},
	}
	if len(actions) > 0 {
		out.Annotations = map[string]string{
			"features.operators.openshift.io/token-auth-aws": "true",
			"operators.tabard.dev/credentials-requests": fmt.Sprintf(`[{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":%q},
				"spec":{"serviceAccountNames":[%q],"secretRef":{"name":"cloud","namespace":%q},"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec",
				"statementEntries":[{"effect":"Allow","action":["%s"],"resource":"arn:aws:s3:::b/*"}]}}}]`, name, name, w.namespace, strings.Join(actions, `","`)),
		}
	}
	return out
}

// allow makes the role of an ARN one that the package's ServiceAccount may become, with actions.
func (w *world) allow(arn string, actions ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.roles[arn] = sufficiency.Documents{
		ARN: arn,
		Trust: sufficiency.Document{Text: fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRoleWithWebIdentity",
			"Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/oidc.example.com/c"},
			"Condition":{"StringEquals":{"oidc.example.com/c:sub":"system:serviceaccount:%s:p"}}}]}`, w.namespace)},
		Policies: []sufficiency.Document{{Name: "all", Text: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["` + strings.Join(actions, `","`) + `"],"Resource":"*"}]}`}},
	}
}

func (w *world) documents(_ context.Context, arn string) (sufficiency.Documents, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	found, is := w.roles[arn]
	if !is {
		return found, errors.New("AWS has no such role")
	}
	return found, nil
}

// run runs the controller until it is stopped or the test ends.
func (w *world) run(t *testing.T, change ...func(*operators.Options)) (stop func()) {
	t.Helper()
	mgr := must.Get(ctrl.NewManager(w.As(account), ctrl.Options{
		Scheme: w.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	w.registry = prometheus.NewRegistry()
	options := operators.Options{OLM: olm.Client{Objects: must.Get(dynamic.NewForConfig(w.As(account)))(t)}, Roles: w.documents, Recheck: time.Second, Pace: 50 * time.Millisecond, Metrics: operators.NewMetrics(w.registry)}
	for _, each := range change {
		each(&options)
	}
	must.Do(t, operators.Add(mgr, options))
	return testkit.RunManager(t, mgr)
}

func (w *world) create(version, kind, name string, spec map[string]any) {
	w.Helper()
	w.Make(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "operators.coreos.com/" + version, "kind": kind, "metadata": map[string]any{"namespace": w.namespace, "name": name}, "spec": spec,
	}})
}

// subscribe makes a Manual Subscription of a package, named as the package, with a role or none.
func (w *world) subscribe(name, role string) {
	w.Helper()
	spec := map[string]any{
		"name": name, "channel": "stable", "source": "catalogue", "sourceNamespace": w.namespace, "installPlanApproval": "Manual", "startingCSV": name + ".v1.0.0",
	}
	if role != "" {
		spec["config"] = map[string]any{"env": []any{map[string]any{"name": "ROLEARN", "value": role}}}
	}
	w.create("v1alpha1", "Subscription", name, spec)
}

func (w *world) of(resource string) dynamic.ResourceInterface {
	return w.Dynamic.Resource(schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: resource}).Namespace(w.namespace)
}

func (w *world) patch(resource, name, patch string) {
	w.Helper()
	must.Get(w.of(resource).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))(w)
}

func (w *world) patchStatus(resource, name, patch string) {
	w.Helper()
	must.Get(w.of(resource).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"))(w)
}

// plan waits until there is a plan of exactly one version, and returns its name.
func (w *world) plan(csv string) (name string) {
	w.Helper()
	w.Await(func() error {
		list := must.Get(w.of("installplans").List(w.Context(), metav1.ListOptions{}))(w)
		for _, each := range list.Items {
			names, _, _ := unstructured.NestedStringSlice(each.Object, "spec", "clusterServiceVersionNames")
			if fmt.Sprint(names) == "["+csv+"]" {
				name = each.GetName()
				return nil
			}
		}
		return fmt.Errorf("none of %d plans is of %s", len(list.Items), csv)
	})
	return name
}

// upgrade installs p in version 1.0.0 with the role, and returns the plan that waits for 1.1.0.
func (w *world) upgrade() (plan string) {
	w.Helper()
	w.subscribe("p", roleARN)
	w.patch("installplans", w.plan("p.v1.0.0"), `{"spec":{"approved":true}}`)
	return w.plan("p.v1.1.0")
}

// noted is the annotation of a plan.
func (w *world) noted(plan string) string {
	w.Helper()
	return must.Get(w.of("installplans").Get(w.Context(), plan, metav1.GetOptions{}))(w).GetAnnotations()[operator.CheckedAnnotation]
}

// awaitVerdict waits until a plan has a verdict, and returns its annotation.
func (w *world) awaitVerdict(plan string, want operator.Verdict) (text string) {
	w.Helper()
	w.Await(func() error {
		text = w.noted(plan)
		if got, err := operator.ParseChecked(text); err != nil || got.Verdict != want {
			return fmt.Errorf("the plan has %q, want %s: %w", text, want, errors.Join(err))
		}
		return nil
	})
	return text
}

// events are those of the namespace's Subscriptions with a reason.
func (w *world) events(reason string) (out []eventsv1.Event) {
	w.Helper()
	var list eventsv1.EventList
	must.Do(w, w.List(w.Context(), &list, client.InNamespace(w.namespace)))
	for _, each := range list.Items {
		if each.Reason == reason && each.Regarding.Kind == "Subscription" {
			out = append(out, each)
		}
	}
	return out
}

// awaitEvents waits until there are exactly so many events of each reason.
func (w *world) awaitEvents(want map[string]int) {
	w.Helper()
	w.Await(func() error {
		for _, reason := range []string{operator.ReasonMissing, operator.ReasonUnknown, operator.ReasonSatisfied, operator.ReasonOutOfSync} {
			if got := len(w.events(reason)); got != want[reason] {
				return fmt.Errorf("there are %d events %s, want %d", got, reason, want[reason])
			}
		}
		return nil
	})
}

// settle waits until the controller has made some more passes.
func (w *world) settle() {
	w.Helper()
	passes := func() uint64 {
		for _, family := range must.Get(w.registry.Gather())(w) {
			if family.GetName() == "tabard_controller_pass_seconds" {
				return family.GetMetric()[0].GetHistogram().GetSampleCount()
			}
		}
		return 0
	}
	before := passes()
	w.Await(func() error {
		if now := passes(); now < before+3 {
			return fmt.Errorf("%d passes since", now-before)
		}
		return nil
	})
}

// awaitGauge waits until so many plans of a verdict wait, and none of another.
func (w *world) awaitGauge(verdict operator.Verdict, want int) {
	w.Helper()
	w.Await(func() error {
		found := map[string]int{}
		for _, family := range must.Get(w.registry.Gather())(w) {
			if family.GetName() == "tabard_operator_plans" {
				for _, each := range family.GetMetric() {
					found[each.GetLabel()[0].GetValue()] = int(each.GetGauge().GetValue())
				}
			}
		}
		for _, each := range operator.Verdicts() {
			count, is := found[string(each)]
			if expected := map[operator.Verdict]int{verdict: want}[each]; !is || count != expected {
				return fmt.Errorf("the gauge has %v, want %d of %s", found, want, verdict)
			}
		}
		return nil
	})
}
