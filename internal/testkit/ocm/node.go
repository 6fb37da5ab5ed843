package ocm

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// NodeOptions say what a node can run.
type NodeOptions struct {
	// Programs are files of this machine by the paths at which containers call them,
	// beside Open Cluster Management's own. A container that calls another program is not
	// run: its pod stays as it is, unless it is an init container, which is left out.
	Programs map[string]string
	// Environment is added to that of each container, such as that of AWS. What a
	// container sets itself wins.
	Environment []string
}

// Node runs the pods of a cluster as processes, as a kubelet runs them as containers:
// with their volumes at their paths, tokens of their ServiceAccounts, and what their
// containers are told. It is for one container a pod, beside init containers. Probes,
// limits and images are left out.
type Node struct {
	t       testing.TB
	cluster *testkit.Cluster
	options NodeOptions
	dir     string

	mu   sync.Mutex
	pods map[types.UID]*pod
}

// components are those of Program, which Open Cluster Management's images have at /NAME.
var components = []string{"registration", "work", "registration-operator", "addon"}

// interval is how often a node looks for pods and renews their volumes. A kubelet does
// the latter each minute.
const interval = 300 * time.Millisecond

// StartNode starts a node for all pods of a cluster, and stops it with its processes at
// the end of the test.
func StartNode(t testing.TB, cluster *testkit.Cluster, options NodeOptions) *Node {
	t.Helper()
	programs := map[string]string{}
	for _, name := range components {
		programs["/"+name] = must.Get(filepath.EvalSymlinks(Program(t)))(t)
	}
	maps.Copy(programs, options.Programs)
	options.Programs = programs
	node := &Node{t: t, cluster: cluster.In(t), options: options, dir: t.TempDir(), pods: map[types.UID]*pod{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() { defer close(ended); node.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		for _, pod := range node.pods {
			pod.stop()
			pod.show()
		}
	})
	return node
}

// Log is what the containers of the pods have said whose names begin so, in the order of
// their names.
func (n *Node) Log(prefix string) (text string) {
	n.t.Helper()
	for _, pod := range n.named(prefix) {
		text += pod.log()
	}
	return text
}

// Starts is how often containers of such pods were started.
func (n *Node) Starts(prefix string) (count int) {
	for _, pod := range n.named(prefix) {
		count += int(pod.starts.Load())
	}
	return count
}

// Kill ends the processes of such pods without a chance to do anything. The node starts
// them anew.
func (n *Node) Kill(prefix string) {
	for _, pod := range n.named(prefix) {
		if process := pod.process.Load(); process != nil {
			_ = process.Kill() // it may have ended by now
		}
	}
}

func (n *Node) named(prefix string) (found []*pod) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, pod := range n.pods {
		if strings.HasPrefix(pod.object.Name, prefix) {
			found = append(found, pod)
		}
	}
	slices.SortFunc(found, func(a, b *pod) int { return a.object.CreationTimestamp.Compare(b.object.CreationTimestamp.Time) })
	return found
}

// run follows the cluster's pods until it is stopped.
func (n *Node) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := n.sync(ctx); err != nil && ctx.Err() == nil {
			n.t.Logf("the node: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(interval):
		}
	}
}

// sync starts pods that are new and ends those that are to be deleted.
func (n *Node) sync(ctx context.Context) error {
	list, err := n.cluster.Kube.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	there := map[types.UID]bool{}
	for _, object := range list.Items {
		there[object.UID] = object.DeletionTimestamp == nil
		switch running := n.pods[object.UID]; {
		case object.DeletionTimestamp != nil:
			if running != nil {
				running.stop()
			}
			zero := int64(0)
			_ = n.cluster.Kube.CoreV1().Pods(object.Namespace).Delete(ctx, object.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero})
		case running == nil && n.knows(&object):
			n.pods[object.UID] = n.start(ctx, object.DeepCopy())
		}
	}
	for uid, pod := range n.pods {
		if !there[uid] {
			pod.stop()
		}
	}
	return nil
}

// knows says whether the node has the program of the pod's container. Admission webhooks
// are not run: no API server here reaches a Service. The hub's operator registers them
// once all its pods are ready, which is never here.
func (n *Node) knows(pod *corev1.Pod) bool {
	return len(pod.Spec.Containers) == 1 && n.program(&pod.Spec.Containers[0]) != "" &&
		!slices.Contains(pod.Spec.Containers[0].Args, "webhook-server")
}

// program is the path that a container calls, if the node has it. The images of Open
// Cluster Management have no entry point: without a command, it is the first argument.
func (n *Node) program(container *corev1.Container) string {
	words := slices.Concat(container.Command, container.Args)
	if len(words) == 0 || n.options.Programs[words[0]] == "" {
		return ""
	}
	return words[0]
}
