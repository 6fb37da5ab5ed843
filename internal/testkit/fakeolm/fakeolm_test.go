package fakeolm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fresh are the phases of a ClusterServiceVersion that is installed without a fault.
var fresh = []string{"Pending RequirementsUnknown", "InstallReady AllRequirementsMet", "Installing InstallSucceeded", "Succeeded InstallSucceeded"}

func TestAManualSubscriptionComesToItsVersionWhenItsPlanIsApproved(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", map[string]any{"config": map[string]any{"env": []any{map[string]any{"name": "ROLEARN", "value": "a"}}}})
	w.await("catalogsources", "catalogue", "status.connectionState.lastObservedState", "READY")
	w.await("operatorgroups", "group", "status.namespaces", "["+w.namespace+"]")
	plan := w.plan("p", "p.v1.1.0")
	w.awaitCondition("subscriptions", "p", "InstallPlanPending RequiresApproval")
	for path, want := range map[string]string{"status.currentCSV": "p.v1.1.0", "status.installedCSV": "", "status.state": "UpgradePending", "status.installPlanGeneration": "1", "status.installplan.name": plan} {
		w.await("subscriptions", "p", path, want)
	}
	for path, want := range map[string]string{"metadata.generateName": "install-", "spec.approval": "Manual", "spec.approved": "false", "spec.generation": "1", "status.phase": "RequiresApproval"} {
		w.await("installplans", plan, path, want)
	}
	if got := w.field("clusterserviceversions", "p.v1.1.0", "metadata.name"); got != "" {
		t.Error("the version is there before its plan was approved")
	}

	phases := w.watch("installplans", "status", "phase")
	w.approve(plan)
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.await("installplans", plan, "status.phase", "Complete")
	w.awaitCondition("installplans", plan, "Installed")
	if got := phases("Complete"); !slices.Equal(got, []string{"RequiresApproval", "Installing", "Complete"}) {
		t.Errorf("the plan came to %q", got)
	}
	if got := w.phases("p.v1.1.0"); !slices.Equal(got, fresh) {
		t.Errorf("the version came to %q", got)
	}
	w.await("clusterserviceversions", "p.v1.1.0", "metadata.annotations.says", "1.1.0")
	w.await("clusterserviceversions", "p.v1.1.0", "spec.version", "1.1.0")
	w.await("clusterserviceversions", "p.v1.1.0", "spec.replaces", "p.v1.0.0")
	w.await("subscriptions", "p", "status.installedCSV", "p.v1.1.0")
	w.await("subscriptions", "p", "status.state", "AtLatestKnown")
	w.awaitEnvironment("image:1.1.0", map[string]string{"ROLEARN": "a", "OWN": "kept"}, map[string]string{"ROLEARN": "a"})
	if got := w.conditions("subscriptions", "p"); len(got) > 0 {
		t.Errorf("the Subscription has %q", got)
	}
}

func TestAChangedEnvironmentComesToTheDeployments(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.awaitEnvironment("image:1.1.0", map[string]string{"ROLEARN": "none", "OWN": "kept"}, map[string]string{})
	w.patch("subscriptions", "p", `{"spec":{"config":{"env":[{"name":"ROLEARN","value":"b"}]}}}`)
	w.awaitEnvironment("image:1.1.0", map[string]string{"ROLEARN": "b", "OWN": "kept"}, map[string]string{"ROLEARN": "b"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	if got := w.phases("p.v1.1.0"); !slices.Equal(got, slices.Concat(fresh, []string{"InstallReady ComponentUnhealthy"}, fresh[2:])) {
		t.Errorf("the version came to %q", got)
	}
}

func TestTheNextVersionIsPlannedAtOnceAndReplacesTheOneBefore(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", map[string]any{"startingCSV": "p.v1.0.0"})
	first := w.plan("p", "p.v1.0.0")
	w.approve(first)
	second := w.plan("p", "p.v1.1.0")
	w.await("installplans", second, "spec.generation", "2")
	w.await("installplans", second, "spec.approved", "false")
	w.await("subscriptions", "p", "status.installedCSV", "p.v1.0.0")
	w.await("subscriptions", "p", "status.currentCSV", "p.v1.1.0")
	w.await("clusterserviceversions", "p.v1.0.0", "status.phase", "Succeeded")
	w.awaitEnvironment("image:1.0.0", map[string]string{"ROLEARN": "none", "OWN": "kept"}, map[string]string{})

	w.approve(second)
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.await("clusterserviceversions", "p.v1.0.0", "metadata.name", "")
	w.awaitEnvironment("image:1.1.0", map[string]string{"ROLEARN": "none", "OWN": "kept"}, map[string]string{})
	w.await("subscriptions", "p", "status.installedCSV", "p.v1.1.0")

	w.olm.Publish("p", version("p", "1.2.0"))
	w.plan("p", "p.v1.2.0")
}

func TestADeletedPlanThatWaitedIsPlannedAnew(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", nil)
	first := w.plan("p", "p.v1.1.0")
	w.olm.Publish("p", version("p", "1.2.0")) // a plan that waits stops all newer ones
	must.Do(t, w.of("installplans").Delete(t.Context(), first, metav1.DeleteOptions{}))
	w.await("installplans", w.plan("p", "p.v1.2.0"), "spec.generation", "2")
}

func TestADeletedPlanThatWasCompleteIsMissing(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	must.Do(t, w.of("installplans").Delete(t.Context(), w.plan("p", "p.v1.1.0"), metav1.DeleteOptions{}))
	w.awaitCondition("subscriptions", "p", "InstallPlanMissing ReferencedInstallPlanNotFound")
	w.await("subscriptions", "p", "status.state", "AtLatestKnown")
}

func TestAPlanIsSharedByAllSubscriptionsOfTheNamespace(t *testing.T) {
	w := begin(t, nil)
	w.subscribe("p", map[string]any{"startingCSV": "p.v1.0.0"})
	w.approve(w.plan("p", "p.v1.0.0"))
	upgrade := w.plan("p", "p.v1.1.0")
	w.subscribe("q", map[string]any{"installPlanApproval": "Automatic"})
	shared := w.plan("q", "p.v1.1.0", "q.v1.0.0")
	w.await("installplans", shared, "spec.approval", "Manual")
	w.await("subscriptions", "p", "status.installPlanRef.name", upgrade)
	w.approve(shared)
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.await("clusterserviceversions", "q.v1.0.0", "status.phase", "Succeeded")
}

func TestNothingIsResolvedWithoutExactlyOneOperatorGroup(t *testing.T) {
	w := begin(t, nil)
	w.create("v1", "OperatorGroup", "another", map[string]any{})
	w.await("operatorgroups", "another", "status.namespaces", "[]")
	w.subscribe("p", nil)
	w.awaitUnresolved("p")
	must.Do(t, w.of("operatorgroups").Delete(t.Context(), "another", metav1.DeleteOptions{}))
	w.plan("p", "p.v1.1.0")
}

func TestAFakeActsInItsNamespacesOnly(t *testing.T) {
	w, other := begin(t, nil), cluster(t).NewNamespace()
	at := &world{Cluster: w.Cluster, namespace: other}
	at.create("v1alpha1", "CatalogSource", "catalogue", map[string]any{"sourceType": "grpc"})
	w.awaitLooks()
	at.await("catalogsources", "catalogue", "metadata.name", "catalogue")
	if got := at.field("catalogsources", "catalogue", "status"); got != "" {
		t.Errorf("the catalogue of another namespace has the status %s", got)
	}
}

// noted is a test that notes by what it fails.
type noted struct {
	testing.TB
	failures chan string
}

func (n noted) Errorf(format string, args ...any) { n.failures <- fmt.Sprintf(format, args...) }

func TestAScriptThatOLMCouldNotHaveWrittenFailsTheTest(t *testing.T) {
	w := &world{Cluster: cluster(t)}
	w.namespace = w.NewNamespace()
	n := noted{t, make(chan string, 9)}
	wrong := version("p", "1.0.0")
	wrong.Spec = map[string]any{"installModes": "all"}
	olm := fakeolm.Start(n, w.Dynamic, w.Kube, fakeolm.Script{
		Packages: []fakeolm.Package{{Name: "p", Channel: "stable", CSVs: []fakeolm.CSV{wrong}}}, Namespaces: []string{w.namespace},
	})
	olm.Publish("r", wrong)
	if got := <-n.failures; !strings.Contains(got, "the script has no package r") {
		t.Errorf("a version of no package failed by %q", got)
	}
	w.create("v1alpha1", "CatalogSource", "catalogue", map[string]any{"sourceType": "grpc"})
	w.create("v1", "OperatorGroup", "group", map[string]any{})
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	if got := <-n.failures; !strings.Contains(got, "fakeolm: make the ClusterServiceVersion") || !strings.Contains(got, "spec.installModes") {
		t.Errorf("a wrong version failed by %q", got)
	}
}

// watch notes the values of a field of the objects of a kind from now on, each once.
// What it returns gives them up to one that is the last.
func (w *world) watch(resource string, path ...string) (until func(last string) []string) {
	w.Helper()
	return w.watchAll(resource, func(object map[string]any) []string {
		value, _, _ := unstructured.NestedString(object, path...)
		return []string{value}
	})
}

// watchConditions is watch for the types of the conditions.
func (w *world) watchConditions(resource string) (until func(last string) []string) {
	w.Helper()
	return w.watchAll(resource, func(object map[string]any) (kinds []string) {
		all, _, _ := unstructured.NestedSlice(object, "status", "conditions")
		for _, each := range all {
			kinds = append(kinds, each.(map[string]any)["type"].(string))
		}
		return kinds
	})
}

// watchAll notes values of the objects of a kind from now on, each once.
func (w *world) watchAll(resource string, values func(map[string]any) []string) (until func(last string) []string) {
	w.Helper()
	watch, err := w.of(resource).Watch(w.Context(), metav1.ListOptions{})
	must.Do(w, err)
	w.Cleanup(watch.Stop)
	return func(last string) (all []string) {
		for event := range watch.ResultChan() {
			for _, value := range values(event.Object.(*unstructured.Unstructured).Object) {
				if !slices.Contains(all, value) {
					all = append(all, value)
				}
				if value == last {
					return all
				}
			}
		}
		return all
	}
}

// awaitLooks waits until the fake has looked at all that is there now.
func (w *world) awaitLooks() {
	w.Helper()
	for range 2 { // it looks at catalogues first: at the second, it has looked at all once
		w.looks++
		name := fmt.Sprintf("look-%d", w.looks)
		w.create("v1alpha1", "CatalogSource", name, map[string]any{"sourceType": "grpc"})
		w.await("catalogsources", name, "status.connectionState.lastObservedState", "READY")
	}
}

// awaitUnresolved waits until the fake has looked at a Subscription, and finds that it goes nowhere and
// has no condition.
func (w *world) awaitUnresolved(subscription string) {
	w.Helper()
	for range 2 { // the first look writes the Subscription's status, and resolves nothing
		w.awaitLooks()
	}
	if got := w.field("subscriptions", subscription, "status.currentCSV"); got != "" {
		w.Errorf("the Subscription goes to %s", got)
	}
	if got := w.conditions("subscriptions", subscription); len(got) > 0 {
		w.Errorf("the Subscription has %q", got)
	}
}

func (w *world) patch(resource, name, content string) {
	w.Helper()
	_, err := w.of(resource).Patch(w.Context(), name, types.MergePatchType, []byte(content), metav1.PatchOptions{})
	must.Do(w, err)
}

// awaitEnvironment waits until the Deployment of p is available with an image, and with the
// environments of its containers.
func (w *world) awaitEnvironment(image string, want ...map[string]string) {
	w.Helper()
	w.Await(func() error {
		got, err := w.Kube.AppsV1().Deployments(w.namespace).Get(w.Context(), "p-controller", metav1.GetOptions{})
		if err != nil {
			return err
		}
		var all []map[string]string
		for _, container := range got.Spec.Template.Spec.Containers {
			env := map[string]string{}
			for _, each := range container.Env {
				env[each.Name] = each.Value
			}
			all = append(all, env)
		}
		if fmt.Sprint(all) != fmt.Sprint(want) || got.Spec.Template.Spec.Containers[0].Image != image || got.Status.AvailableReplicas != 1 {
			return fmt.Errorf("the Deployment has %v, image %s, %d available", all, got.Spec.Template.Spec.Containers[0].Image, got.Status.AvailableReplicas)
		}
		return nil
	})
}
