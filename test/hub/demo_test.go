package hub

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// TestOCMDemoTellsTheHubsStory is what make demo-hub tells.
func TestOCMDemoTellsTheHubsStory(t *testing.T) {
	newTale(t).tell([]chapter{
		{"A hub in EKS is up, with Open Cluster Management's driver csr alone", (*tale).hubIsUp},
		{"Tabard's controller runs on the hub, with a role of its own", (*tale).controllerRuns},
		{"Spoke 1, a cluster in EKS, asks to join, and has nothing yet", (*tale).spokeAsks},
		{"The administrator accepts spoke 1, and Tabard gives it its access", (*tale).spokeIsAccepted},
		{"A ManifestWork arrives on spoke 1", (*tale).workArrives},
		{"With the token of spoke 1, nothing of another cluster can be read", (*tale).spokeIsAlone},
		{"Spoke 1 is denied, and its access is gone", (*tale).spokeIsDenied},
		{"Spoke 1 is accepted again, and its agents go on without joining anew", (*tale).spokeGoesOn},
		{"disableManagedIam is set, and Tabard lets go of what it has made", (*tale).managedIAMIsDisabled},
		{"Spoke 1 loses nothing, a new cluster gets nothing, and AWS is not called", (*tale).nothingIsLost},
		{"Spoke 2, outside EKS, joins with a key in a Secret, and its work arrives", (*tale).joinsWithAKey},
		{"Spoke 3, outside EKS, joins without any key, and its work arrives", (*tale).joinsWithAToken},
	})
}

// hubIsUp starts the hub and its account.
func (a *tale) hubIsUp() {
	t := a.t
	var hub operated
	issuer := testkit.ServeIssuer(t, func(ctx context.Context) ([]byte, error) { return hub.Keys(ctx) }) //nolint:gocritic // there is no hub yet
	aws := startEKSOf(t, awslocal.Cluster{Issuer: issuer.URL}, issuerRoots(t))
	hub = startOperator(t, ocm.ClusterManagerOperator, ocm.ClusterOptions{Authenticator: asEKS(t, aws), Issuer: issuer.URL}, ocm.NodeOptions{
		Programs: map[string]string{"operator": tabardImage(t)}, Environment: []string{"AWS_ENDPOINT_URL=" + aws.PlainURL()},
	})
	a.hub, a.story = hub, &story{aws: aws, Hub: &ocm.Hub{Cluster: hub.Cluster}, role: "arn:aws:iam::111111111111:role/ocm-hub-" + suffixA}
	aws.Provider(hubAccount, issuer.URL, "sts.amazonaws.com")
	key := aws.Administrator(hubAccount)
	a.person = []string{
		"HOME=" + t.TempDir(), "KUBECONFIG=" + hub.Kubeconfig(hub.Config), "AWS_REGION=us-west-2", "AWS_ENDPOINT_URL=" + aws.PlainURL(),
		"AWS_ACCESS_KEY_ID=" + key.AccessKeyID, "AWS_SECRET_ACCESS_KEY=" + key.SecretAccessKey,
	}
	ocm.MakeClusterManager(t, hub.Cluster, map[string]any{"authType": "csr"})
	a.Await(func() error {
		if now := a.activities(t); !slices.Equal(now, []corehub.Activity{corehub.Idle}) {
			return fmt.Errorf("the hub controllers are %v, want one that makes no roles", now)
		}
		return nil
	})
	a.say("the hub is %s", hubARN)
	a.sayHubController()
}

// tabardImage is what Tabard's image runs for the argument "operator". Pods share the network of this
// machine, so its ports stay closed.
func tabardImage(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "operator")
	must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\nexec "+testkit.Tabard(t)+` operator "$@" --metrics-bind-address=0 --health-probe-bind-address=0
`), 0o700))
	return program
}

// sayHubController tells of the pods that are hub controllers, and their drivers.
func (a *tale) sayHubController() {
	for _, pod := range podsIn(a.Cluster, ocm.HubNamespace) {
		if activityOf(pod.Labels, &pod.Spec) == corehub.NoController {
			continue
		}
		for _, argument := range pod.Spec.Containers[0].Args {
			if strings.HasPrefix(argument, "--enabled-registration-drivers") {
				a.say("the pod %s/%s runs %s", pod.Namespace, pod.Name, argument)
			}
		}
	}
}

// controllerRuns installs the controller as docs/hub.md says.
func (a *tale) controllerRuns() {
	t := a.t
	a.tabard("hub", "fields", "--apply")
	a.InstallCRDs(t)
	a.MakeNamespaces("tabard-system")
	a.aws.Admin().ClearJournal()
	a.tabard("hub", "bootstrap", "--hub-cluster-arn", hubARN)
	config := &corev1.ConfigMap{}
	must.Do(t, a.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: corehub.ControllerName}, config))
	a.controller = config.Data["roleARN"]
	if want := "arn:aws:iam::111111111111:role/" + corehub.ControllerRoleName(must.Get(corehub.ParseARN(hubARN))(t)); a.controller != want {
		t.Fatalf("the ConfigMap tabard-hub has the role %q, want %s", a.controller, want)
	}
	a.MakeFiles("config/rbac/hubaccess.yaml", "config/manifests/hub/controller.yaml", "config/manifests/policies.yaml")
	deployment := &appsv1.Deployment{}
	a.Await(func() error {
		must.Do(t, a.Get(t.Context(), client.ObjectKey{Namespace: "tabard-system", Name: corehub.ControllerName}, deployment))
		if deployment.Status.ReadyReplicas != 1 {
			return fmt.Errorf("%d pods of the Deployment tabard-hub are ready, want 1; its log is\n%s", deployment.Status.ReadyReplicas, a.hub.Log("tabard-hub-"))
		}
		return nil
	})
	container := deployment.Spec.Template.Spec.Containers[0]
	a.say("the Deployment tabard-system/tabard-hub is ready: %s", strings.Join(container.Args, " "))
	var names []string
	for _, variable := range container.Env {
		names = append(names, variable.Name)
	}
	a.say("its pod has of AWS: %s", strings.Join(names, " "))
	if slices.Contains(names, "AWS_SECRET_ACCESS_KEY") {
		t.Error("the pod has an access key, want none")
	}
}

// spokeAsks starts spoke 1 with its own role, which its own administrator makes.
func (a *tale) spokeAsks() {
	t := a.t
	a.environment = spokeSession(t, a.aws)
	annotations := a.ask(t)
	for _, name := range []string{arnAnnotation, suffixAnnotation} {
		a.say("%s: %s", name, annotations[name])
	}
	if annotations[arnAnnotation] != arnA || annotations[suffixAnnotation] != suffixA {
		t.Errorf("the annotations of the ManagedCluster are %v, want the ARN %s and the suffix %s", annotations, arnA, suffixA)
	}
	err := a.Get(t.Context(), client.ObjectKey{Name: "cluster1"}, &v1alpha1.HubAccess{})
	a.say("%v", err)
	if entries := a.entries(); !apierrors.IsNotFound(err) || len(entries) > 0 || a.roleID(t) != "" {
		t.Errorf("before it is accepted, the cluster has the role %q, the entries %v, and of its HubAccess the hub says %v; want none of them", a.roleID(t), entries, err)
	}
}

// spokeIsAccepted accepts it.
func (a *tale) spokeIsAccepted() {
	t := a.t
	a.aws.Admin().ClearJournal()
	a.join(t)
	a.sayReady()
	own := a.called()
	made := slices.DeleteFunc(own, func(operation string) bool { return !strings.HasPrefix(operation, "Create") })
	if !slices.Equal(made, []string{"CreateRole", "CreateAccessEntry"}) {
		t.Errorf("as %s, Tabard has made %v in AWS, want CreateRole and CreateAccessEntry", a.controller, made)
	}
	a.id = a.roleID(t)
	a.sayAccess()
	wantExec(a.spoke.Cluster, a.Hub, a.role)
	a.say("the kubeconfig by which its agents reach the hub has a command that makes tokens, and no key")
}

// sayAccess tells of the cluster's role and entry, which have to belong together.
func (a *tale) sayAccess() {
	t := a.t
	t.Helper()
	entries := a.entries()
	if len(entries) != 1 || entries[0].PrincipalARN != a.role || entries[0].PrincipalID != a.id || entries[0].Username != "cluster1" || entries[0].Stale || a.id == "" {
		t.Fatalf("the cluster's role has the ID %q, and the access entries are %+v; want one of %s with this ID, as cluster1", a.id, entries, a.role)
	}
	a.say("the role %s has the ID %s", a.role, a.id)
	a.say("its access entry makes it the user %s of %s", entries[0].Username, strings.Join(entries[0].Groups, ", "))
	a.say("ManagedClusterJoined: %s", awaitCondition(a.Hub, "cluster1", "ManagedClusterJoined", "True"))
}

// sayReady tells the condition of the cluster's HubAccess.
func (a *tale) sayReady() {
	a.t.Helper()
	var access v1alpha1.HubAccess
	must.Do(a.t, a.Get(a.t.Context(), client.ObjectKey{Name: "cluster1"}, &access))
	ready := meta.FindStatusCondition(access.Status.Conditions, core.TypeReady)
	a.say("HubAccess cluster1: Ready is %s, %s: %s", ready.Status, ready.Reason, ready.Message)
}

// workArrives has a work for the cluster.
func (a *tale) workArrives() { a.arrives("greeting") }

func (a *tale) arrives(name string) {
	t := a.t
	t.Helper()
	wantWorkArrives(t, a.Cluster, a.spoke.Cluster, "cluster1", name)
	var arrived corev1.ConfigMap
	must.Do(t, a.spoke.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, &arrived))
	a.say("on the hub:  ManifestWork cluster1/%s, Applied", name)
	a.say("on spoke 1:  ConfigMap default/%s, from %q", name, arrived.Data["from"])
}

// spokeIsAlone has another cluster on the hub.
func (a *tale) spokeIsAlone() {
	for _, refusal := range wantAlone(a.t, a.Cluster, func(cluster string) string { return mint(a.t, a.environment, cluster, a.role) }) {
		a.say("the hub says %s: %v", apierrors.ReasonForError(refusal), refusal)
	}
}

// spokeIsDenied takes its work back and denies it: a cluster keeps its access as long as there are works.
func (a *tale) spokeIsDenied() {
	t := a.t
	work := ocm.New(ocm.ManifestWork, "cluster1", "greeting")
	a.Remove(work)
	a.awaitNone(work)
	arrived := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "greeting"}}
	if err := a.spoke.Get(t.Context(), client.ObjectKeyFromObject(arrived), arrived); !apierrors.IsNotFound(err) {
		t.Errorf("the work is gone from the hub, and of its ConfigMap spoke 1 says %v, want NotFound", err)
	}
	a.say("the ManifestWork is deleted, and spoke 1 has removed its ConfigMap")
	fresh := a.mint(t) // it is not used before: the API server remembers tokens for ten seconds
	a.aws.Admin().ClearJournal()
	deny(t, a.Cluster, "cluster1")
	a.awaitNoEntry()
	a.awaitNone(&v1alpha1.HubAccess{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}})
	own := slices.DeleteFunc(a.called(), func(operation string) bool { return !strings.HasPrefix(operation, "Delete") })
	if !slices.Equal(own, []string{"DeleteAccessEntry", "DeleteRole"}) {
		t.Errorf("Tabard has deleted with %v in AWS, want DeleteAccessEntry and then DeleteRole", own)
	}
	if id := a.roleID(t); id != "" {
		t.Errorf("the role of the denied cluster is there with the ID %s, want none", id)
	}
	awaitUnauthorized(t, a.Cluster, func() string { return fresh })
	refused := readCluster(a.Cluster, fresh, "cluster1")
	a.say("to a fresh token from right before, the hub says %s: %v", apierrors.ReasonForError(refused), refused)
	token, refusal := tryMint(t, a.environment, "eks-hub", a.role)
	if token != "" || !strings.Contains(refusal, "AccessDenied") {
		t.Errorf("the program for tokens says %q to the denied cluster, want that AWS answers AccessDenied", refusal)
	}
	a.say("for another, the agents' program says: %s", refusal)
	awaitCondition(a.Hub, "cluster1", "HubAcceptedManagedCluster", "False")
}

// spokeGoesOn accepts it again. Nobody who has not joined is let in any more.
func (a *tale) spokeGoesOn() {
	t := a.t
	a.Remove(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.OperatorNamespace, Name: "agent-registration-bootstrap"}})
	a.say("the ServiceAccount agent-registration-bootstrap is deleted: nobody can join anew")
	first, starts := a.id, a.starts()
	a.join(t)
	a.sayReady()
	a.id = a.roleID(t)
	a.sayAccess()
	if a.id == first {
		t.Errorf("the role has the ID %s as before, want a role that was made anew", a.id)
	}
	a.arrives("greeting")
	a.say("ManagedClusterConditionAvailable: %s", awaitCondition(a.Hub, "cluster1", "ManagedClusterConditionAvailable", "True"))
	if now := a.starts(); now != starts {
		t.Errorf("the agents were started %d times, want %d as before the cluster was accepted again", now, starts)
	}
	a.say("its agents are the same processes")
}

// managedIAMIsDisabled sets the field where the hub controller makes no roles. The operator of
// Open Cluster Management v1.2.1 does not know the field, and would start the hub controller with the
// driver that makes roles: it is stopped, so that the hub controller runs as one that knows the field.
func (a *tale) managedIAMIsDisabled() {
	t := a.t
	a.Merge(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.OperatorNamespace, Name: "cluster-manager"}}, `{"spec": {"replicas": 0}}`)
	a.Await(func() error {
		if pods := podsIn(a.Cluster, ocm.OperatorNamespace); len(pods) > 0 {
			return fmt.Errorf("the operator's pod %s is there, want none", pods[0].Name)
		}
		return nil
	})
	a.say("Open Cluster Management v1.2.1 does not know the field, and its operator would start the driver all the same: it is stopped here")
	manager := ocm.New(ocm.ClusterManager, "", "cluster-manager")
	a.Merge(manager, `{"spec": {"registrationConfiguration": {"registrationDrivers": [{"authType": "awsirsa", "awsirsa": {"hubClusterArn": "`+hubARN+`", "disableManagedIam": true}}]}}}`)
	if !isDisabled(manager) {
		t.Fatalf("the ClusterManager is stored without disableManagedIam: true: %v", manager.Object["spec"])
	}
	a.say("the ClusterManager has the driver awsirsa, with disableManagedIam: true")
	a.sayHubController()
	awaitAccess(t, a.Cluster, "Unknown", core.ReasonManagedIAMDisabled)
	a.sayReady()
	a.letGo("cluster1")
}

// letGo waits until Tabard holds a ManagedCluster no more.
func (a *tale) letGo(name string) {
	a.t.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	a.Await(func() error {
		must.Do(a.t, a.Get(a.t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		if slices.Contains(cluster.GetFinalizers(), core.Finalizer) {
			return fmt.Errorf("the ManagedCluster %s has the finalizers %q, want none of Tabard's", name, cluster.GetFinalizers())
		}
		return nil
	})
	a.say("the finalizer %s is off the ManagedCluster %s", core.Finalizer, name)
}

// nothingIsLost has a new cluster with Tabard's finalizer, which shows that Tabard has looked at it.
func (a *tale) nothingIsLost() {
	t := a.t
	starts := a.starts()
	suffix := suffixOf(t, arnB, "cluster3")
	a.aws.Role(spokeAccount, corehub.SpokeRoleName(suffix), trustAnyone, "")
	a.aws.Admin().ClearJournal()
	late := ocm.New(ocm.ManagedCluster, "", "cluster3")
	late.SetAnnotations(map[string]string{arnAnnotation: arnB, suffixAnnotation: suffix})
	late.SetFinalizers([]string{core.Finalizer})
	a.Make(late)
	a.Accept("cluster3")
	a.say("ManagedCluster cluster3: %s", awaitCondition(a.Hub, "cluster3", "HubAcceptedManagedCluster", "True"))
	a.letGo("cluster3")
	err := a.Get(t.Context(), client.ObjectKey{Name: "cluster3"}, &v1alpha1.HubAccess{})
	a.say("%v", err)
	if !apierrors.IsNotFound(err) {
		t.Errorf("of a HubAccess cluster3 the hub says %v, want NotFound", err)
	}
	a.arrives("later")
	must.Do(t, readCluster(a.Cluster, a.mint(t), "cluster1"))
	awaitCondition(a.Hub, "cluster1", "ManagedClusterConditionAvailable", "True")
	if now := a.starts(); now != starts {
		t.Errorf("the agents were started %d times, want %d as before", now, starts)
	}
	if own := a.called(); len(own) > 0 {
		t.Errorf("with managed IAM off, Tabard has called %v, want nothing", own)
	}
	a.wantNoCall(t)
	a.say("none of these calls is Tabard's")
	entries := a.entries()
	if id := a.roleID(t); id != a.id || len(entries) != 1 || entries[0].PrincipalID != id || entries[0].Stale {
		t.Errorf("the role has the ID %q, and the entries are %+v; want %s as before, and one entry of it", id, entries, a.id)
	}
	a.say("the role %s has the ID %s as before, and its access entry", a.role, a.id)
}
