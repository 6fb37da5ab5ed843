package hub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// annotations of a ManagedCluster that the agent with the driver awsirsa writes.
const (
	arnAnnotation    = "agent.open-cluster-management.io/managed-cluster-arn"
	suffixAnnotation = "agent.open-cluster-management.io/managed-cluster-iam-role-suffix"
)

// startHub starts a hub whose registration controller has the driver csr alone and
// knows nothing of AWS.
func startHub(t *testing.T) *ocm.Hub {
	t.Helper()
	return ocm.StartHub(t, testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}}), ocm.HubOptions{})
}

func startSpoke(t *testing.T) *testkit.Cluster {
	t.Helper()
	return testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMSpoke}})
}

// awaitAnnotations waits for a ManagedCluster, and returns those of its annotations that
// are the driver's.
func awaitAnnotations(hub *ocm.Hub, name string) map[string]string {
	hub.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	hub.Await(func() error { return hub.Get(hub.Context(), client.ObjectKeyFromObject(cluster), cluster) })
	written := map[string]string{}
	for key, value := range cluster.GetAnnotations() {
		if strings.HasPrefix(key, "agent.open-cluster-management.io/") {
			written[key] = value
		}
	}
	return written
}

// awaitCondition waits until a condition of a ManagedCluster has a status, and returns
// its message.
func awaitCondition(hub *ocm.Hub, name, kind, want string) (message string) {
	hub.Helper()
	cluster := ocm.New(ocm.ManagedCluster, "", name)
	hub.Await(func() error {
		if err := hub.Get(hub.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return err
		}
		var status string
		if status, message = ocm.Condition(cluster, kind); status != want {
			return fmt.Errorf("%s of the ManagedCluster %s is %q (%s), want %s", kind, name, status, message, want)
		}
		return nil
	})
	return message
}

func TestOCMAClusterWithoutAnARNJoinsAHubThatKnowsNothingOfAWS(t *testing.T) {
	hub, spoke := startHub(t), startSpoke(t)
	agent := ocm.StartAgent(t, ocm.AgentOptions{Klusterlet: spoke, Name: "onprem-1", Bootstrap: hub.Bootstrap, HubARN: hubARN, Suffix: suffixB})

	want := map[string]string{arnAnnotation: "", suffixAnnotation: suffixB}
	if diff := cmp.Diff(want, awaitAnnotations(hub, "onprem-1")); diff != "" {
		t.Errorf("the annotations of the ManagedCluster (-want +got):\n%s", diff)
	}
	hub.Accept("onprem-1")
	if message := awaitCondition(hub, "onprem-1", "HubAcceptedManagedCluster", "True"); message != "Accepted by hub cluster admin" {
		t.Errorf("the condition says %q", message)
	}
	wantGroups(hub, "onprem-1")
	wantExec(spoke, hub, "arn:aws:iam::111111111111:role/ocm-hub-"+suffixB)
	if hub.Controller.Ended() || agent.Registration.Ended() {
		t.Error("a program has ended")
	}
}

func TestOCMTheAnnotationsOfAClusterInEKSNameIt(t *testing.T) {
	hub, spoke := startHub(t), startSpoke(t)
	ocm.StartAgent(t, ocm.AgentOptions{Klusterlet: spoke, Name: "cluster1", Bootstrap: hub.Bootstrap, HubARN: hubARN, ManagedARN: arnA, Suffix: suffixA})

	want := map[string]string{arnAnnotation: arnA, suffixAnnotation: suffixA}
	if diff := cmp.Diff(want, awaitAnnotations(hub, "cluster1")); diff != "" {
		t.Errorf("the annotations of the ManagedCluster (-want +got):\n%s", diff)
	}
	hub.Accept("cluster1")
	wantExec(spoke, hub, "arn:aws:iam::111111111111:role/ocm-hub-"+suffixA)
}

func TestOCMAClusterJoinsByCertificateAndItsWorksArrive(t *testing.T) {
	hub := ocm.StartHub(t, ocm.StartCluster(t, ocm.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMHub}}), ocm.HubOptions{})
	spoke := startSpoke(t)
	agent := ocm.StartAgent(t, ocm.AgentOptions{Klusterlet: spoke, Name: "cluster1", Bootstrap: hub.Bootstrap})
	if diff := cmp.Diff(map[string]string{}, awaitAnnotations(hub, "cluster1")); diff != "" {
		t.Errorf("the annotations of the ManagedCluster (-want +got):\n%s", diff)
	}
	approve(t, hub.Cluster, "cluster1")
	hub.Accept("cluster1")
	awaitCondition(hub, "cluster1", "ManagedClusterJoined", "True")
	agent.StartWork(t)
	wantArrives(t, hub.Cluster, spoke, "cluster1")
}

// wantGroups says that the hub gives rights to the groups of both drivers, by the
// cluster's own role and in its namespace.
func wantGroups(hub *ocm.Hub, name string) {
	hub.Helper()
	groups := []string{"system:open-cluster-management:" + name, "open-cluster-management:" + name}
	hub.Await(func() error {
		var bindings rbacv1.ClusterRoleBindingList
		var inNamespace rbacv1.RoleBindingList
		must.Do(hub, hub.List(hub.Context(), &bindings))
		must.Do(hub, hub.List(hub.Context(), &inNamespace, client.InNamespace(name)))
		got := map[string][]string{}
		for _, binding := range bindings.Items {
			if strings.HasPrefix(binding.Name, "open-cluster-management:managedcluster:"+name) {
				got[binding.RoleRef.Name] = groupsOf(binding.Subjects)
			}
		}
		for _, binding := range inNamespace.Items {
			got[binding.RoleRef.Name] = groupsOf(binding.Subjects)
		}
		want := map[string][]string{
			"open-cluster-management:managedcluster:" + name:      groups,
			"open-cluster-management:managedcluster:registration": groups,
			"open-cluster-management:managedcluster:work":         groups,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("the groups with rights, by role (-want +got):\n%s", diff)
		}
		return nil
	})
}

func groupsOf(subjects []rbacv1.Subject) (groups []string) {
	for _, subject := range subjects {
		groups = append(groups, subject.Name)
		if subject.Kind != rbacv1.GroupKind {
			groups = append(groups, "is a "+subject.Kind)
		}
	}
	return groups
}

// wantExec says by which command the agent reaches the hub.
func wantExec(spoke *testkit.Cluster, hub *ocm.Hub, role string) {
	spoke.Helper()
	var secret corev1.Secret
	spoke.Await(func() error {
		if err := spoke.Get(spoke.Context(), client.ObjectKey{Namespace: ocm.AgentNamespace, Name: "hub-kubeconfig-secret"}, &secret); err != nil {
			return err
		}
		if len(secret.Data["kubeconfig"]) == 0 {
			return fmt.Errorf("the Secret %s has no kubeconfig yet", secret.Name)
		}
		return nil
	})
	written := must.Get(clientcmd.Load(secret.Data["kubeconfig"]))(spoke)
	context := written.Contexts[written.CurrentContext]
	if context == nil || written.Clusters[context.Cluster] == nil || written.AuthInfos[context.AuthInfo] == nil {
		spoke.Fatalf("the hub's kubeconfig has no complete context:\n%s", secret.Data["kubeconfig"])
	}
	if got := written.Clusters[context.Cluster].Server; got != hub.Config.Host {
		spoke.Errorf("the hub's kubeconfig leads to %s, want %s", got, hub.Config.Host)
	}
	want := clientcmdapi.NewAuthInfo()
	want.ImpersonateUserExtra = nil
	want.Exec = &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1beta1", Command: "/awscli/dist/aws",
		Args:            []string{"--region", "us-west-2", "eks", "get-token", "--cluster-name", "eks-hub", "--output", "json", "--role", role},
		InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode,
	}
	if diff := cmp.Diff(want, written.AuthInfos[context.AuthInfo]); diff != "" {
		spoke.Errorf("how the hub's kubeconfig proves who it is (-want +got):\n%s", diff)
	}
}
