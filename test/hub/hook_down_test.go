package hub

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// withoutHook has the hook down while the cluster's agents run: works still arrive. An agent that is
// to start anew waits, and starts when the hook is back.
func (a *anywhere) withoutHook(t *testing.T) {
	t.Helper()
	a.hook.Kill()
	wantWorkArrives(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1", "without-the-hook")
	must.Do(t, a.spoke.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(ocm.AgentNamespace), client.MatchingLabels{"app": "klusterlet-manifestwork-agent"}))
	a.spoke.Await(func() error {
		if refused := a.eventsOf(t, "FailedCreate"); !strings.Contains(refused, "pods.ocm.tabard.dev") {
			return fmt.Errorf("the events of the ReplicaSets do not name the hook: %s", refused)
		}
		return nil
	})
	a.hook.Restart()
	wantWorkArrives(t, a.Hub.Cluster, a.spoke.Cluster, "onprem-1", "with-the-hook-again")
}

// eventsOf are the messages of the agents' events of a reason.
func (a *anywhere) eventsOf(t *testing.T, reason string) (messages string) {
	t.Helper()
	for _, event := range must.Get(a.spoke.Kube.CoreV1().Events(ocm.AgentNamespace).List(t.Context(), metav1.ListOptions{}))(t).Items {
		if event.Reason == reason {
			messages += event.Message + "\n"
		}
	}
	return messages
}

// TestOCMWhatHappensWhileTheHookIsDown is the table of docs/hub.md: nothing starts that would have
// another identity than its Klusterlet says, and nothing else is held up.
func TestOCMWhatHappensWhileTheHookIsDown(t *testing.T) {
	cluster := testkit.StartCluster(t, testkit.ClusterOptions{Foreign: []testkit.ForeignKinds{testkit.OCMOperators}})
	applyFields(t, cluster)
	served := startHook(t, cluster, ocm.AgentNamespace)
	there := klusterlet(map[string]any{"hubClusterArn": hubARN})
	there.SetName("there")
	must.Do(t, unstructured.SetNestedField(there.Object, "there", "spec", "clusterName"))
	there.SetFinalizers([]string{"example.com/finalizer"})
	cluster.Make(there)
	cluster.MakeNamespaces("elsewhere")
	served.Kill()
	t.Run("down", func(t *testing.T) { wantDown(t, cluster.In(t), "down") })

	t.Run("slow", func(t *testing.T) {
		done := make(chan struct{})
		slow := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
		t.Cleanup(slow.Close)
		t.Cleanup(func() { close(done) })
		pointTo(t, cluster, slow.URL, 1)
		wantDown(t, cluster.In(t), "slow")
	})
	t.Run("another's", func(t *testing.T) {
		asked := false
		another := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		t.Cleanup(another.Close)
		pointTo(t, cluster, another.URL, 10)
		wantDown(t, cluster.In(t), "another")
		if asked {
			t.Error("a server with another certificate was told of an object")
		}
	})
	t.Run("silent", func(t *testing.T) {
		listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { _ = listener.Close() })
		pointTo(t, cluster, "https://"+listener.Addr().String(), 1)
		wantDown(t, cluster.In(t), "silent")
	})

	must.Do(t, cluster.Delete(t.Context(), there))
	cluster.Merge(there, `{"metadata":{"finalizers":null}}`) // as their operator does at the end
}

// pointTo has the API server ask another server in the place of the hook, for so many seconds.
func pointTo(t *testing.T, cluster *testkit.Cluster, url string, seconds int32) {
	t.Helper()
	configuration := &admissionv1.MutatingWebhookConfiguration{}
	must.Do(t, cluster.Get(t.Context(), client.ObjectKey{Name: "tabard-ocm"}, configuration))
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.URL, configuration.Webhooks[i].TimeoutSeconds = &url, &seconds
	}
	must.Do(t, cluster.Update(t.Context(), configuration))
	cluster.Await(func() error { // an API server learns of it in a moment
		err := cluster.Create(t.Context(), pod(ocm.AgentNamespace, "asks"), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), url) && !strings.Contains(err.Error(), strings.TrimPrefix(url, "https://")) {
			return fmt.Errorf("the API server says %w, want that %s does not answer", err, url)
		}
		return nil
	})
}

// wantDown says what is refused, and what is not, while nobody answers for the hook.
func wantDown(t *testing.T, cluster *testkit.Cluster, name string) {
	t.Helper()
	awsirsa, csr := klusterlet(map[string]any{"hubClusterArn": hubARN}), ocm.New(ocm.Klusterlet, "", name)
	csr.Object["spec"] = map[string]any{"clusterName": name}
	changed := ocm.New(ocm.Klusterlet, "", "there")
	must.Do(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(changed), changed))
	changed.SetLabels(map[string]string{"changed": name})
	for what, test := range map[string]struct {
		object  client.Object
		refused string
	}{
		"a Klusterlet of awsirsa":            {awsirsa, "klusterlets.ocm.tabard.dev"},
		"a Klusterlet of csr":                {csr, ""},
		"a pod where there is the label":     {pod(ocm.AgentNamespace, name), "pods.ocm.tabard.dev"},
		"a pod where there is none":          {pod("elsewhere", name), ""},
		"an account with a role":             {account(ocm.AgentNamespace, name, "arn:aws:iam::222222222222:role/own"), "serviceaccounts.ocm.tabard.dev"},
		"an account without one":             {account(ocm.AgentNamespace, name, ""), ""},
		"one with a role, without the label": {account("elsewhere", name, "arn:aws:iam::222222222222:role/own"), ""},
	} {
		err := cluster.Create(t.Context(), test.object, client.DryRunAll)
		if refused := err != nil; refused != (test.refused != "") || refused && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s: %v, want a refusal by %q", what, err, test.refused)
		}
	}
	if err := cluster.Update(t.Context(), changed, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "klusterlets.ocm.tabard.dev") {
		t.Errorf("a Klusterlet of awsirsa is changed: %v", err)
	}
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

func account(namespace, name, role string) *corev1.ServiceAccount {
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if role != "" {
		made.Annotations = map[string]string{"eks.amazonaws.com/role-arn": role}
	}
	return made
}
