package fakeolm_test

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/testkit/fakeolm"
)

// of is a fault of the newest version of p.
func of(how fakeolm.Failure, message string, times int) map[string]fakeolm.Fault {
	return map[string]fakeolm.Fault{"p.v1.1.0": {How: how, Message: message, Times: times}}
}

func TestAVersionThatNeverResolvesSaysNothing(t *testing.T) {
	w := begin(t, of(fakeolm.NeverResolves, "", 0))
	w.subscribe("p", nil)
	w.awaitUnresolved("p")
	w.olm.Mend("p.v1.1.0")
	w.plan("p", "p.v1.1.0")
}

func TestAnUnsatisfiableVersionStopsAllSubscriptionsOfTheNamespace(t *testing.T) {
	w := begin(t, of(fakeolm.Unsatisfiable, "p needs r", 0))
	w.subscribe("p", nil)
	w.subscribe("q", nil)
	for _, each := range []string{"p", "q"} {
		w.awaitCondition("subscriptions", each, "ResolutionFailed ConstraintsNotSatisfiable constraints not satisfiable: p needs r")
		w.await("subscriptions", each, "status.currentCSV", "")
	}
	w.olm.Mend("p.v1.1.0")
	plan := w.plan("p", "p.v1.1.0", "q.v1.0.0")
	w.await("subscriptions", "q", "status.installPlanRef.name", plan)
	w.awaitCondition("subscriptions", "q", "InstallPlanPending RequiresApproval", "ResolutionFailed")
}

func TestASubscriptionOfWhatIsNotThereIsUnsatisfiable(t *testing.T) {
	const why = "ResolutionFailed ConstraintsNotSatisfiable constraints not satisfiable: subscription p exists, no operators found "
	for name, c := range map[string]struct {
		spec map[string]any
		want string
	}{
		"package": {map[string]any{"name": "r"}, "in package r in the catalog referenced by subscription p"},
		"channel": {map[string]any{"channel": "fast"}, "in channel fast of package p in the catalog referenced by subscription p"},
		"version": {map[string]any{"startingCSV": "p.v9.0.0"}, "with name p.v9.0.0 in channel stable of package p in the catalog referenced by subscription p"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, nil)
			w.subscribe("p", c.spec)
			w.awaitCondition("subscriptions", "p", why+c.want)
		})
	}
	t.Run("catalogue", func(t *testing.T) {
		w := begin(t, nil)
		w.subscribe("p", map[string]any{"source": "other"})
		w.awaitCondition("subscriptions", "p", why+"from catalog other in namespace "+w.namespace+" referenced by subscription p")
		w.awaitCondition("subscriptions", "p", "CatalogSourcesUnhealthy UnhealthyCatalogSourceFound targeted catalogsource "+w.namespace+"/other missing")
	})
}

func TestABundleThatIsUnpackedForLongHasNoPlan(t *testing.T) {
	w := begin(t, of(fakeolm.Unpacks, "ErrImagePull", 0))
	w.subscribe("p", nil)
	w.awaitCondition("subscriptions", "p", "BundleUnpacking UnpackingInProgress ErrImagePull")
	w.awaitLooks()
	w.awaitCondition("subscriptions", "p", "BundleUnpacking UnpackingInProgress ErrImagePull", "BundleUnpackFailed", "InstallPlanPending")
	w.olm.Mend("p.v1.1.0")
	w.plan("p", "p.v1.1.0")
	w.awaitCondition("subscriptions", "p", "InstallPlanPending RequiresApproval", "BundleUnpacking")
}

func TestABundleThatCannotBeUnpackedFailsAfterItWasTried(t *testing.T) {
	w := begin(t, of(fakeolm.UnpackFails, "the Job ran for too long", 0))
	const failed = "BundleUnpackFailed BundleUnpackFailed Bundle unpacking failed - DeadlineExceeded: the Job ran for too long"
	told := w.watchConditions("subscriptions")
	w.subscribe("p", nil)
	w.awaitCondition("subscriptions", "p", failed, "BundleUnpacking", "InstallPlanPending")
	if got := told("BundleUnpackFailed"); !slices.Equal(got, []string{"CatalogSourcesUnhealthy", "BundleUnpacking", "BundleUnpackFailed"}) {
		t.Errorf("the Subscription got the conditions %q", got)
	}
	w.olm.Mend("p.v1.1.0")
	w.plan("p", "p.v1.1.0")
	w.awaitCondition("subscriptions", "p", "InstallPlanPending RequiresApproval", "BundleUnpackFailed")
}

func TestAnApprovedPlanThatStaysInstallsNothing(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"frozen":    {"", ""},
		"forbidden": {"configmaps is forbidden", "retrying execution due to error: configmaps is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, of(fakeolm.PlanStays, c.message, 0))
			w.subscribe("p", nil)
			plan := w.plan("p", "p.v1.1.0")
			w.approve(plan)
			w.await("installplans", plan, "status.message", c.want)
			w.awaitLooks()
			w.await("installplans", plan, "status.phase", "Installing")
			w.awaitCondition("subscriptions", "p", "InstallPlanPending Installing")
			w.await("clusterserviceversions", "p.v1.1.0", "metadata.name", "")
			w.olm.Mend("p.v1.1.0")
			w.await("installplans", plan, "status.phase", "Complete")
			w.await("installplans", plan, "status.message", "")
		})
	}
}

// The Subscription says AtLatestKnown then, as was seen with OLM itself.
func TestAPlanThatFailsLeavesAVersionWhoseRequirementsAreNotMet(t *testing.T) {
	w := begin(t, of(fakeolm.PlanFails, "no matches for kind", 0))
	w.subscribe("p", nil)
	plan := w.plan("p", "p.v1.1.0")
	w.approve(plan)
	w.await("installplans", plan, "status.phase", "Failed")
	w.await("installplans", plan, "status.message", "no matches for kind")
	w.awaitCondition("installplans", plan, "Installed InstallComponentFailed no matches for kind")
	w.awaitCondition("subscriptions", "p", "InstallPlanFailed InstallComponentFailed no matches for kind", "InstallPlanPending")
	w.await("subscriptions", "p", "status.state", "AtLatestKnown")
	w.await("subscriptions", "p", "status.installedCSV", "p.v1.1.0")
	w.await("clusterserviceversions", "p.v1.1.0", "status.reason", "RequirementsNotMet")
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Pending")
	if got := w.field("clusterserviceversions", "p.v1.1.0", "status.requirementStatus"); got == "" {
		t.Error("no requirement is named")
	}
}

func TestAVersionThatFailsForGoodStaysFailed(t *testing.T) {
	w := begin(t, of(fakeolm.InstallFails, "the Deployment is refused", 0))
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.reason", "InstallComponentFailedNoRetry")
	w.await("clusterserviceversions", "p.v1.1.0", "status.message", "install strategy failed: the Deployment is refused")
	w.olm.Mend("p.v1.1.0")
	w.awaitLooks()
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Failed")
	if got, err := w.Kube.AppsV1().Deployments(w.namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(got.Items) > 0 {
		t.Errorf("there are Deployments: %v, %v", got.Items, err)
	}
}

func TestAVersionWhoseDeploymentsAreNotAvailableIsTriedAgain(t *testing.T) {
	round := []string{"InstallReady AllRequirementsMet", "Installing InstallSucceeded", "Installing InstallWaiting", "Failed InstallCheckFailed", "Pending NeedsReinstall"}
	w := begin(t, of(fakeolm.CheckFails, "waiting for the pods", 2))
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	if got := w.phases("p.v1.1.0"); !slices.Equal(got, slices.Concat(fresh[:1], round, round, fresh[1:])) {
		t.Errorf("the version came to %q", got)
	}
}

func TestAVersionThatIsTriedAgainForEverSucceedsWhenItIsMended(t *testing.T) {
	w := begin(t, of(fakeolm.CheckFails, "waiting for the pods", 0))
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic"})
	w.Await(func() error {
		if w.field("clusterserviceversions", "p.v1.1.0", "metadata.name") == "" {
			return fmt.Errorf("the version is not there")
		}
		failed := slices.DeleteFunc(w.phases("p.v1.1.0"), func(each string) bool { return each != "Failed InstallCheckFailed" })
		if len(failed) < 2 {
			return fmt.Errorf("it failed %d times", len(failed))
		}
		return nil
	})
	got, err := w.Kube.AppsV1().Deployments(w.namespace).Get(t.Context(), "p-controller", metav1.GetOptions{})
	if err != nil || got.Status.AvailableReplicas != 0 {
		t.Errorf("the Deployment: %v, %d available", err, got.Status.AvailableReplicas)
	}
	w.olm.Mend("p.v1.1.0")
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
}

func TestAVersionWaitsForTheOneThatItReplaces(t *testing.T) {
	w := begin(t, map[string]fakeolm.Fault{"p.v1.0.0": {How: fakeolm.CheckFails, Message: "waiting for the pods"}})
	w.subscribe("p", map[string]any{"installPlanApproval": "Automatic", "startingCSV": "p.v1.0.0"})
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Pending")
	w.awaitLooks()
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Pending")
	w.olm.Mend("p.v1.0.0")
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.await("clusterserviceversions", "p.v1.0.0", "metadata.name", "")
	if got := w.phases("p.v1.1.0"); !slices.Equal(got, fresh) {
		t.Errorf("the version came to %q", got)
	}
}

func TestACatalogueThatStopsStopsAllThatIsNotPlannedYet(t *testing.T) {
	w := begin(t, nil)
	catalogue := w.namespace + "/catalogue"
	failed := "ResolutionFailed ErrorPreventedResolution failed to populate resolver cache from source " + catalogue +
		": failed to list bundles: rpc error: code = Unavailable desc = connection refused"
	w.subscribe("p", nil)
	plan := w.plan("p", "p.v1.1.0")
	w.olm.Fail(catalogue, fakeolm.Fault{How: fakeolm.CatalogueStops, Message: "connection refused"})
	w.await("catalogsources", "catalogue", "status.connectionState.lastObservedState", "TRANSIENT_FAILURE")
	w.approve(plan)
	w.await("clusterserviceversions", "p.v1.1.0", "status.phase", "Succeeded")
	w.subscribe("q", nil)
	for _, each := range []string{"p", "q"} {
		w.awaitCondition("subscriptions", each, failed, "CatalogSourcesUnhealthy")
	}
	w.olm.Mend(catalogue)
	w.await("catalogsources", "catalogue", "status.connectionState.lastObservedState", "READY")
	w.plan("q", "q.v1.0.0")
	w.awaitCondition("subscriptions", "q", "InstallPlanPending RequiresApproval", "ResolutionFailed")
}
