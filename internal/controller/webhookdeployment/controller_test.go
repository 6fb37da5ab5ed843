package webhookdeployment_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tabard-dev/tabard/internal/controller/webhookdeployment"
	core "github.com/tabard-dev/tabard/internal/core/webhookdeployment"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// account is whom the controller runs as, with the shipped rights and policies.
const account = "system:serviceaccount:tabard-system:tabard-webhookdeployment"

// fixture is a cluster in which the controller runs as its account.
type fixture struct {
	*testkit.Cluster
	registry *prometheus.Registry
}

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// shared is a cluster with what users apply, but for the webhook itself. Each test begins
// by prepare, without what others have left.
var shared = testkit.SharedCluster(
	testkit.ClusterOptions{Issuer: "https://issuer.example.com", Foreign: []testkit.ForeignKinds{testkit.OpenShiftConfig}},
	func(c *testkit.Cluster) {
		c.MakeFiles("config/manifests/00-namespace.yaml", "config/rbac/webhookdeployment.yaml", "config/manifests/policies.yaml",
			"config/manifests/webhookdeployment/controller.yaml")
		c.MakeNamespaces(ccoNamespace)
	})

// ccoNamespace is the Cloud Credential Operator's.
const ccoNamespace = "openshift-cloud-credential-operator"

// prepare is the cluster without what tests and the controller make in it.
func prepare(t *testing.T) *fixture {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	f := &fixture{Cluster: shared(t), registry: prometheus.NewRegistry()}
	infrastructure := &unstructured.Unstructured{}
	infrastructure.SetAPIVersion("config.openshift.io/v1")
	infrastructure.SetKind("Infrastructure")
	for namespace, kinds := range map[string][]client.Object{
		"tabard-system": {&appsv1.Deployment{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}, &eventsv1.Event{}},
		ccoNamespace:    {&appsv1.Deployment{}},
		"":              {&admissionv1.MutatingWebhookConfiguration{}, infrastructure},
	} {
		for _, kind := range kinds {
			must.Do(t, f.DeleteAllOf(t.Context(), kind, client.InNamespace(namespace)))
		}
	}
	f.Await(func() error { // until the policies are in force
		made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"selector": map[string]any{"a": "b"}, "ports": []any{map[string]any{"name": "webhook", "port": int64(443)}}}}}
		made.SetAPIVersion("v1")
		made.SetKind("Service")
		made.SetNamespace("tabard-system")
		made.SetName("tabard-webhook")
		err := f.ClientFor(f.As(account)).Apply(t.Context(), client.ApplyConfigurationFromUnstructured(made), client.FieldOwner("canary"), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy 'tabard-webhookdeployment-services'") {
			return fmt.Errorf("the policies are not in force: %w", errors.Join(err))
		}
		return nil
	})
	return f
}

// run runs the controller until the test ends.
func (f *fixture) run(t *testing.T) {
	t.Helper()
	yes := true
	mgr := must.Get(ctrl.NewManager(f.As(account), ctrl.Options{
		Scheme: f.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &yes},
	}))(t)
	manifest := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config/manifests/webhook.yaml")))(t)
	must.Do(t, webhookdeployment.Add(mgr, webhookdeployment.Options{
		Settings: core.Settings{Manifest: manifest, Namespace: "tabard-system", Region: "us-west-2"}, Metrics: webhookdeployment.NewMetrics(f.registry),
	}))
	testkit.RunManager(t, mgr)
}

// TestTheControllerIsAddedWithTheManagersMetrics, as the program adds it: other tests have
// a registry of their own.
func TestTheControllerIsAddedWithTheManagersMetrics(t *testing.T) {
	f := &fixture{Cluster: shared(t)}
	mgr := must.Get(ctrl.NewManager(f.Config, ctrl.Options{
		Scheme: f.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	}))(t)
	manifest := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "config/manifests/webhook.yaml")))(t)
	must.Do(t, webhookdeployment.Add(mgr, webhookdeployment.Options{Settings: core.Settings{Manifest: manifest, Namespace: "tabard-system"}}))
}

func key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "tabard-system", Name: name}
}

func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-webhook"}}
}

func service() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-webhook"}}
}

func budget() *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "tabard-system", Name: "tabard-webhook"}}
}

func hooks(name string) *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// awaitAll waits until all that is wanted is there.
func (f *fixture) awaitAll(t *testing.T) {
	t.Helper()
	f.Await(func() error {
		return errors.Join(f.Get(t.Context(), key("tabard-webhook"), deployment()), f.Get(t.Context(), key("tabard-webhook"), service()),
			f.Get(t.Context(), key("tabard-webhook-probe"), service()), f.Get(t.Context(), client.ObjectKey{Name: "tabard-webhook"}, hooks("")))
	})
}

// awaitState waits for what the metric says.
func (f *fixture) awaitState(t *testing.T, want core.Reason) {
	t.Helper()
	f.Await(func() error {
		found := must.Get(f.registry.Gather())(t)
		for _, family := range found {
			for _, metric := range family.GetMetric() {
				if family.GetName() == "tabard_webhookdeployment_state" && metric.GetGauge().GetValue() == 1 && metric.GetLabel()[0].GetValue() == string(want) {
					return nil
				}
			}
		}
		return fmt.Errorf("the state is not %s", want)
	})
}

// awaitEvent waits for an event about an object of the webhook.
func (f *fixture) awaitEvent(t *testing.T, reason, says string) {
	t.Helper()
	f.Await(func() error {
		var list eventsv1.EventList
		err := f.List(t.Context(), &list)
		for _, event := range list.Items {
			if event.Reason == reason && strings.Contains(event.Note, says) && event.Regarding.Name == "tabard-webhook" {
				return nil
			}
		}
		return fmt.Errorf("no event %s says %q among %d: %w", reason, says, len(list.Items), errors.Join(err))
	})
}

// undone makes an edit as a person does, and waits until all is as it was.
func (f *fixture) undone(t *testing.T, object client.Object, patch string) {
	t.Helper()
	id := client.ObjectKeyFromObject(object)
	must.Do(t, f.Get(t.Context(), id, object))
	want, version, kind := bare(t, object), object.GetResourceVersion(), client.Patch(client.RawPatch(types.MergePatchType, []byte(patch)))
	if strings.HasPrefix(patch, "[") {
		kind = client.RawPatch(types.JSONPatchType, []byte(patch))
	}
	if err := f.Patch(t.Context(), object, kind, client.FieldOwner("kubectl-edit")); err != nil || object.GetResourceVersion() == version {
		t.Fatalf("the edit %s changes nothing: %v", patch, err)
	}
	f.Await(func() error {
		must.Do(t, f.Get(t.Context(), id, object))
		if got := bare(t, object); got != want {
			return fmt.Errorf("after %s it is\n%s\nwant\n%s", patch, got, want)
		}
		return nil
	})
}

// bare is an object without what each write changes.
func bare(t *testing.T, object client.Object) string {
	t.Helper()
	object = object.DeepCopyObject().(client.Object)
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object.SetGeneration(0)
	if service, ok := object.(*corev1.Service); ok {
		service.Spec.ClusterIP, service.Spec.ClusterIPs, service.Spec.InternalTrafficPolicy = "", nil, nil
	}
	return string(must.Get(json.Marshal(object))(t))
}

// TestDriftIsReverted makes one edit after another, by an event each, of every class of
// fields, and demands that what others added is there at the end.
func TestDriftIsReverted(t *testing.T) {
	f := prepare(t)
	f.run(t)
	f.awaitAll(t)
	f.Await(func() error { return f.Get(t.Context(), key("tabard-webhook"), budget()) })
	stored := deployment()
	must.Do(t, f.Get(t.Context(), key("tabard-webhook"), stored))
	if *stored.Spec.Replicas != 2 || !slices.Contains(stored.Spec.Template.Spec.Containers[0].Args, "--aws-default-region=us-west-2") {
		t.Errorf("the Deployment has %d replicas and %q", *stored.Spec.Replicas, stored.Spec.Template.Spec.Containers[0].Args)
	}
	ours := hooks("tabard-webhook")
	must.Do(t, f.Patch(t.Context(), ours, client.RawPatch("application/json-patch+json", []byte(
		`[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"`+bundle+`"},{"op":"add","path":"/webhooks/3/clientConfig/caBundle","value":"`+bundle+`"}]`)), client.FieldOwner("tabard")))
	f.Merge(hooks("tabard-webhook"), `{"metadata":{"labels":{"env":"prod"},"annotations":{"note":"x"}}}`)
	f.Merge(service(), `{"metadata":{"labels":{"env":"prod"}},"spec":{"ports":[{"name":"webhook","port":443,"targetPort":"webhook","appProtocol":"https"},{"name":"more","port":9999,"targetPort":"metrics"}]}}`)
	f.Merge(deployment(), `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}},"spec":{"nodeSelector":{"a":"b"},"priorityClassName":"system-cluster-critical"}}}}`)

	for name, edit := range map[string]struct {
		object client.Object
		patch  string
	}{
		"the replicas":                {deployment(), `{"spec":{"replicas":0}}`},
		"the image":                   {deployment(), `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"example.com/x"}]`},
		"an environment":              {deployment(), `[{"op":"add","path":"/spec/template/spec/containers/0/env","value":[{"name":"A","value":"b"}]}]`},
		"rights of the container":     {deployment(), `[{"op":"add","path":"/spec/template/spec/containers/0/securityContext/runAsUser","value":0}]`},
		"one more container":          {deployment(), `[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"x","image":"x"}}]`},
		"a container before":          {deployment(), `{"spec":{"template":{"spec":{"initContainers":[{"name":"x","image":"x"}]}}}}`},
		"the host's network":          {deployment(), `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`},
		"the account":                 {deployment(), `{"spec":{"template":{"spec":{"serviceAccountName":"tabard-issuer","serviceAccount":"tabard-issuer"}}}}`},
		"a probe":                     {deployment(), `[{"op":"remove","path":"/spec/template/spec/containers/0/readinessProbe"}]`},
		"a label of ours":             {deployment(), `{"metadata":{"labels":{"app.kubernetes.io/component":"x"}}}`},
		"the selector of the Service": {service(), `{"spec":{"selector":{"app.kubernetes.io/component":"x"}}}`},
		"the target of our port":      {service(), `[{"op":"replace","path":"/spec/ports/0/targetPort","value":1}]`},
		"the number of our port":      {service(), `[{"op":"replace","path":"/spec/ports/0/port","value":444}]`},
		"where the Service leads":     {service(), `{"spec":{"type":"ExternalName","externalName":"x.example.com","clusterIP":null,"clusterIPs":null}}`},
		"the budget":                  {budget(), `{"spec":{"minAvailable":2}}`},
		"the budget's other side":     {budget(), `{"spec":{"minAvailable":null,"maxUnavailable":0}}`},
		"a failure policy":            {hooks("tabard-webhook"), `[{"op":"replace","path":"/webhooks/1/failurePolicy","value":"Ignore"}]`},
		"pods that are left out":      {hooks("tabard-webhook"), `[{"op":"add","path":"/webhooks/1/objectSelector","value":{"matchLabels":{"a":"b"}}}]`},
		"conditions of a hook":        {hooks("tabard-webhook"), `[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"x","expression":"false"}]}]`},
		"other objects of a hook":     {hooks("tabard-webhook"), `[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["pods","secrets"]}]`},
		"the order of hooks":          {hooks("tabard-webhook"), `[{"op":"move","from":"/webhooks/0","path":"/webhooks/1"}]`},
		"a hook of somebody's server": {hooks("tabard-webhook"), `[{"op":"add","path":"/webhooks/0","value":{"name":"x.example.com","clientConfig":{"url":"https://x.example.com"},"sideEffects":"None","admissionReviewVersions":["v1"]}}]`},
		"a path":                      {hooks("tabard-webhook"), `[{"op":"replace","path":"/webhooks/0/clientConfig/service/path","value":"/x"}]`},
		"one hook less":               {hooks("tabard-webhook"), `[{"op":"remove","path":"/webhooks/2"}]`},
	} {
		t.Log(name)
		f.undone(t, edit.object, edit.patch)
	}
	final := hooks("")
	must.Do(t, f.Get(t.Context(), client.ObjectKey{Name: "tabard-webhook"}, final))
	if string(final.Webhooks[0].ClientConfig.CABundle) != pem || string(final.Webhooks[3].ClientConfig.CABundle) != pem || final.Labels["env"] != "prod" {
		t.Errorf("a CA bundle or a label is gone: %+v", final)
	}
	for _, object := range []client.Object{deployment(), service(), budget(), hooks("tabard-webhook")} {
		f.Remove(object)
	}
	f.awaitAll(t)
	f.awaitEvent(t, "DriftReverted", "MutatingWebhookConfiguration tabard-webhook was not as the manifest has it, and was put back")
}

// pem is a CA bundle, or what an API server takes for one.
const pem = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"

var bundle = base64.StdEncoding.EncodeToString([]byte(pem))

// TestOneReplicaHasNoBudget follows the topology of OpenShift's Infrastructure.
func TestOneReplicaHasNoBudget(t *testing.T) {
	f := prepare(t)
	f.infrastructure(t, core.SingleReplica, core.SingleReplica)
	must.Do(t, f.Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: budget().ObjectMeta, Spec: policyv1.PodDisruptionBudgetSpec{}}, client.FieldOwner("kubectl")))
	f.run(t)
	f.awaitAll(t)
	f.Await(func() error {
		stored := deployment()
		if err := f.Get(t.Context(), key("tabard-webhook"), stored); err != nil || *stored.Spec.Replicas != 1 {
			return fmt.Errorf("not one replica: %w", errors.Join(err))
		}
		if err := f.Get(t.Context(), key("tabard-webhook"), budget()); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the budget is there: %w", errors.Join(err))
		}
		return nil
	})
}

// infrastructure makes OpenShift's, as it says of a cluster's topology.
func (f *fixture) infrastructure(t *testing.T, nodes, controlPlane string) {
	t.Helper()
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	made.SetAPIVersion("config.openshift.io/v1")
	made.SetKind("Infrastructure")
	made.SetName("cluster")
	f.Make(made)
	f.MergeStatus(made, fmt.Sprintf(`{"status":{"infrastructureTopology":%q,"controlPlaneTopology":%q}}`, nodes, controlPlane))
}

// TestNothingIsDeployed beside another's webhook, and what is there is left alone.
func TestNothingIsDeployed(t *testing.T) {
	theirs := func(kind admissionv1.WebhookClientConfig) *admissionv1.MutatingWebhookConfiguration {
		none := admissionv1.SideEffectClassNone
		made := hooks("pod-identity-webhook")
		made.Webhooks = []admissionv1.MutatingWebhook{{Name: "pod-identity-webhook.amazonaws.com", ClientConfig: kind, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}}}
		return made
	}
	url := "https://127.0.0.1:4443/mutate"
	tests := map[string]struct {
		prepare func(*testing.T, *fixture)
		want    core.Reason
		says    string
	}{
		"the Cloud Credential Operator's Deployment": {func(_ *testing.T, f *fixture) {
			labels := map[string]string{"app": "pod-identity-webhook"}
			f.Make(&appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Namespace: ccoNamespace, Name: "pod-identity-webhook"},
				Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}},
				}},
			})
		}, core.TheirWebhook, "Deployment openshift-cloud-credential-operator/pod-identity-webhook"},
		"the Cloud Credential Operator's hooks": {func(_ *testing.T, f *fixture) {
			f.Make(theirs(admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: ccoNamespace, Name: "pod-identity-webhook"}}))
		}, core.TheirWebhook, "is the Cloud Credential Operator's"},
		"a hosted control plane's hook": {func(t *testing.T, f *fixture) {
			f.infrastructure(t, "HighlyAvailable", core.External)
			f.Make(theirs(admissionv1.WebhookClientConfig{URL: &url}))
		}, core.HostedHook, "hosted control plane"},
		"Helm's hooks": {func(_ *testing.T, f *fixture) {
			f.Shell(`sed '/^kind: MutatingWebhookConfiguration/,/^webhooks/s/{app.kubernetes.io\/name: tabard,/{app.kubernetes.io\/managed-by: Helm, app.kubernetes.io\/name: tabard,/' config/manifests/webhook.yaml |
sed 's/failurePolicy: Fail$/failurePolicy: Ignore/' | kubectl apply -f -`)
		}, core.OtherManager, "MutatingWebhookConfiguration tabard-webhook is kept by Helm"},
		"another's apply": {func(_ *testing.T, f *fixture) {
			f.Shell(`sed 's/failurePolicy: Fail$/failurePolicy: Ignore/' config/manifests/webhook.yaml | kubectl apply --server-side --field-manager=argocd-controller -f -`)
		}, core.OtherManager, "the field manager argocd-controller"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := prepare(t)
			test.prepare(t, f)
			before := f.everything(t)
			f.run(t)
			f.awaitState(t, test.want)
			f.awaitEvent(t, string(test.want), test.says)
			if after := f.everything(t); after != before {
				t.Errorf("something was written:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// everything is what there is of the kinds that are kept, with the version of each.
func (f *fixture) everything(t *testing.T) string {
	t.Helper()
	var out []string
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &policyv1.PodDisruptionBudgetList{}, &admissionv1.MutatingWebhookConfigurationList{},
	} {
		must.Do(t, f.List(t.Context(), list))
		must.Do(t, meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			out = append(out, fmt.Sprintf("%T %s/%s %s", object, object.GetNamespace(), object.GetName(), object.GetResourceVersion()))
			return nil
		}))
	}
	return strings.Join(out, "\n")
}

// TestAHandedOverHookIsKept begins where the other webhook has gone.
func TestAHandedOverHookIsKept(t *testing.T) {
	f := prepare(t)
	f.Shell(`sed 's/failurePolicy: Fail$/failurePolicy: Ignore/' config/manifests/webhook.yaml | kubectl apply -f -
kubectl label mutatingwebhookconfiguration tabard-webhook app.kubernetes.io/managed-by=Helm`)
	f.run(t)
	f.awaitState(t, core.OtherManager)
	f.Shell(`kubectl label mutatingwebhookconfiguration tabard-webhook app.kubernetes.io/managed-by-`)
	f.awaitState(t, core.Kept)
	f.Await(func() error {
		stored := hooks("")
		if err := f.Get(t.Context(), client.ObjectKey{Name: "tabard-webhook"}, stored); err != nil || *stored.Webhooks[1].FailurePolicy != admissionv1.Fail {
			return fmt.Errorf("the failure policy is not put back: %w", errors.Join(err))
		}
		return nil
	})
}
