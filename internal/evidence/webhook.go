package evidence

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// patience is how long a new pod is waited for: an API server waits for a webhook that hangs.
const patience = 20 * time.Second

// admission is what is read of webhooks.
type admission struct {
	pod    chain.Seen[corev1.Pod]
	hooks  chain.Seen[[]chain.Hook]
	labels chain.Seen[map[string]string]
}

// readWebhook asks the API server for a pod by dry run: admission sees it, and nothing is stored
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run). Which hooks there are, and
// which labels the namespace has, says why it comes back without an identity: most users may not read
// that.
func readWebhook(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod) (out admission) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all together.Group
	all.Go(func() {
		made, err := kube.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			out.pod.Unread, out.pod.Needs = line.Of(err.Error()), neededFor(err, pod.Namespace)
			return
		}
		out.pod.Value = chain.Prune(made)
	})
	all.Go(func() {
		all, err := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
		if err != nil {
			out.hooks.Unread, out.hooks.Needs = line.Of(err.Error()), "list mutatingwebhookconfigurations in the cluster"
			return
		}
		out.hooks.Value = new(chain.PruneHooks(all.Items, time.Now()))
	})
	all.Go(func() {
		namespace, err := kube.CoreV1().Namespaces().Get(ctx, pod.Namespace, metav1.GetOptions{})
		if err != nil {
			out.labels.Unread, out.labels.Needs = line.Of(err.Error()), "get the namespace "+pod.Namespace
			return
		}
		labels := map[string]string{}
		maps.Copy(labels, namespace.Labels)
		out.labels.Value = &labels
	})
	all.Wait()
	return out
}

// neededFor is what is missing where no pod comes back. Authorizers and policies refuse with the same
// status: the first say what the user cannot do.
func neededFor(err error, namespace string) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "webhooks that answer within " + patience.String()
	case strings.Contains(err.Error(), `cannot create resource "pods"`):
		return "create pods in the namespace " + namespace
	}
	return "an API server that lets a new pod into the namespace " + namespace
}
