// Package restart proves that a pod outlives the kubelet and the container runtime,
// and that a node which is gone altogether comes back with its pods.
package restart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/test/node/bed"
)

const (
	team = "team-k"
	// wrote is in each line of a workload whose call succeeded.
	wrote = `"wrote"`
)

type restart struct {
	*bed.Bed
	t    *testing.T
	role bed.Role
}

func TestNodeARestartLosesNothing(t *testing.T) {
	r := &restart{Bed: bed.Open(t), t: t}
	r.LoadWorkload()
	r.role = r.Team(team, nil)
	r.Apply(team, "deployment.yaml", r.role)
	r.AwaitLine(team, "deployment/app", "app", wrote)
	r.kubeletAndRuntime()
	r.wholeNode()
}

// kubeletAndRuntime kills both at once. The pod has nobody who looks after it, and
// goes on.
func (r *restart) kubeletAndRuntime() {
	r.t.Helper()
	before := r.RunningPod(team, "app=app")
	token := must.Get(r.Token(string(before.UID)))(r.t)
	killed := r.kill(lab.Kubelet, lab.Containerd)
	r.awaitCalls()
	r.up()
	r.awaitNode(killed)
	after := r.RunningPod(team, "app=app")
	if after.UID != before.UID {
		r.t.Fatalf("the pod %s has become %s", before.UID, after.UID)
	}
	was, is := before.Status.ContainerStatuses[0], after.Status.ContainerStatuses[0]
	if is.ContainerID != was.ContainerID || is.RestartCount != 0 || !is.State.Running.StartedAt.Equal(&was.State.Running.StartedAt) {
		r.t.Errorf("the container was %+v and is %+v", was, is)
	}
	r.stillServes(string(after.UID), token, killed)
	r.SaysNothingBut(team, "pod/"+after.Name, "app", wrote)
	r.Kubectl("delete", "deployment", "app", "-n", team, "--wait", "--cascade=foreground", "--timeout=120s")
	r.noRefusals()
}

// stillServes asks for what a kubelet does for pods: new tokens, logs, and new pods.
func (r *restart) stillServes(pod string, old bed.Token, killed time.Time) {
	r.t.Helper()
	// It keeps no tokens but in the pods' volumes, and those it does not read: after
	// its start it asks for new ones.
	r.Eventually("the kubelet refreshes the pod's token", func(context.Context) error {
		next, err := r.Token(pod)
		if err == nil && next.ID == old.ID {
			return fmt.Errorf("the pod has %s", next)
		}
		return err
	})
	r.Since(killed, "from the kill to a new token for the old pod")
	r.awaitCalls()
	r.awaitLines()
	began := time.Now()
	r.Kubectl("scale", "deployment/app", "-n", team, "--replicas=2")
	r.Kubectl("rollout", "status", "deployment/app", "-n", team, "--timeout=180s")
	pods := r.pods()
	if len(pods) != 2 {
		r.t.Fatalf("%d pods, want 2", len(pods))
	}
	for _, each := range pods {
		r.AwaitLine(team, "pod/"+each.Name, "app", wrote)
	}
	r.Since(began, "from asking for another pod to its first AWS call")
}

// wholeNode kills what holds the node's namespaces. All of its pods are gone, and
// come back.
func (r *restart) wholeNode() {
	r.t.Helper()
	r.Apply(team, "deployment.yaml", r.role)
	r.AwaitLine(team, "deployment/app", "app", wrote)
	before := ready(r.containers())
	killed := r.kill(lab.Holder)
	r.up()
	began, seen := time.Now(), len(r.Calls(r.role))
	r.awaitNode(killed)
	r.Eventually("the pod calls AWS again", func(context.Context) error {
		if len(r.Calls(r.role)) == seen {
			return errors.New("it does not")
		}
		return nil
	})
	r.Since(began, "from \"lab up\" to the pod's first call on the new node")
	r.Eventually("each pod runs again, in a new container", func(context.Context) error { return cameBack(before, r.containers()) })
	r.Since(began, "from \"lab up\" until every pod is ready again")
	r.SaysNothingBut(team, "deployment/app", "app", wrote)
	r.stillInjects()
	r.noRefusals()
}

// containers are those of all pods of the cluster, by pod and name.
func (r *restart) containers() map[string]corev1.ContainerStatus {
	r.t.Helper()
	pods := must.Get(r.Kube.CoreV1().Pods(metav1.NamespaceAll).List(r.t.Context(), metav1.ListOptions{}))(r.t)
	out := map[string]corev1.ContainerStatus{}
	for _, pod := range pods.Items {
		for _, status := range pod.Status.ContainerStatuses {
			out[pod.Namespace+"/"+pod.Name+"/"+string(pod.UID)+"/"+status.Name] = status
		}
	}
	return out
}

// ready leaves out what serves nobody: a controller that nobody has set up waits for its
// ConfigMap, before the restart and after it.
func ready(containers map[string]corev1.ContainerStatus) map[string]corev1.ContainerStatus {
	maps.DeleteFunc(containers, func(_ string, status corev1.ContainerStatus) bool { return !status.Ready })
	return containers
}

// cameBack says which of the containers before is not ready again in one of another ID.
func cameBack(before, now map[string]corev1.ContainerStatus) error {
	if len(before) == 0 {
		return errors.New("there were no containers")
	}
	var missing []error
	for name, was := range before {
		if is := now[name]; !is.Ready || is.ContainerID == was.ContainerID {
			missing = append(missing, fmt.Errorf("%s: ready %t in %s", name, is.Ready, is.ContainerID))
		}
	}
	return errors.Join(missing...)
}

// awaitNode waits until the kubelet has said since an instant that the node is ready.
func (r *restart) awaitNode(since time.Time) {
	r.t.Helper()
	r.Eventually("the node is ready", func(ctx context.Context) error {
		nodes, err := r.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, condition := range nodes.Items[0].Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && condition.LastHeartbeatTime.After(since) {
				return nil
			}
		}
		return fmt.Errorf("it says %+v", nodes.Items[0].Status.Conditions)
	})
	r.Since(since, "from the kill until the node is ready")
}

// stillInjects makes another pod: the API server reaches the webhook at its new address.
func (r *restart) stillInjects() {
	r.t.Helper()
	began := time.Now()
	r.Kubectl("rollout", "restart", "deployment/app", "-n", team)
	r.Kubectl("rollout", "status", "deployment/app", "-n", team, "--timeout=180s")
	r.AwaitLine(team, "deployment/app", "app", wrote)
	r.Since(began, "a new pod on the new node, to its first AWS call")
}

// kill ends processes of the lab as a machine that runs out of memory would.
// It returns when they were gone.
func (r *restart) kill(names ...string) time.Time {
	r.t.Helper()
	status := r.status()
	for _, name := range names {
		if err := syscall.Kill(status[name].PID, syscall.SIGKILL); err != nil {
			r.t.Fatalf("kill %s: %v", name, err)
		}
	}
	r.Eventually("they are gone", func(context.Context) error {
		now := r.status()
		for _, name := range names {
			if now[name].State == lab.Running {
				return fmt.Errorf("%s runs", name)
			}
		}
		return nil
	})
	return time.Now()
}

// status is what runs of the lab, by name. It may be asked of a lab that is not up.
func (r *restart) status() map[string]lab.ProcessStatus {
	r.t.Helper()
	text, _ := r.RunTabard(r.t.Context(), "lab", "status", "--dir", r.Dir, "-o", "json") // it fails if something is missing
	var status lab.Status
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	out := map[string]lab.ProcessStatus{}
	for _, each := range status.Processes {
		out[each.Name] = each
	}
	return out
}

// up starts again what does not run.
func (r *restart) up() {
	r.t.Helper()
	began := time.Now()
	must.Do(r.t, r.Up(r.t.Context()))
	r.Since(began, "lab up")
}

// awaitCalls waits for two more calls of the pod: the first may have been under way.
func (r *restart) awaitCalls() {
	r.t.Helper()
	seen := len(r.Calls(r.role))
	r.Eventually("the pod goes on", func(context.Context) error {
		if got := len(r.Calls(r.role)); got < seen+2 {
			return fmt.Errorf("%d calls since", got-seen)
		}
		return nil
	})
}

// awaitLines waits until "kubectl logs" shows lines that it did not show.
func (r *restart) awaitLines() {
	r.t.Helper()
	before := must.Get(r.Said(r.t.Context(), team, "deployment/app", "app"))(r.t)
	r.Eventually("the log goes on", func(ctx context.Context) error {
		now, err := r.Said(ctx, team, "deployment/app", "app")
		if err == nil && len(now) <= len(before) {
			err = fmt.Errorf("%d lines, as before", len(now))
		}
		return err
	})
}

// noRefusals looks at every call so far, and logs the longest time without one.
func (r *restart) noRefusals() {
	r.t.Helper()
	if refused := r.Refused(r.role); len(refused) > 0 {
		r.t.Errorf("refused: %+v", refused)
	}
	var longest time.Duration
	calls := r.Calls(r.role)
	for i := 1; i < len(calls); i++ {
		longest = max(longest, calls[i].Time.Sub(calls[i-1].Time))
	}
	r.t.Logf("%d calls, the longest gap between two is %s", len(calls), longest)
}

func (r *restart) pods() []corev1.Pod {
	r.t.Helper()
	found := must.Get(r.Kube.CoreV1().Pods(team).List(r.t.Context(), metav1.ListOptions{}))(r.t)
	return found.Items
}
