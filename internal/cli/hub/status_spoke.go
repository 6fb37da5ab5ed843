package hub

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

var klusterlets = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "Klusterlet"}

// spokeSeen is what the joining cluster shows.
func spokeSeen(ctx context.Context, reader client.Reader, name string) *hubjoin.Spoke {
	out := &hubjoin.Spoke{Klusterlet: klusterletSeen(ctx, reader, name)}
	if !out.Klusterlet.Exists {
		return out
	}
	namespace := out.Klusterlet.Klusterlet.Namespace
	within := " in the namespace " + namespace
	space := &corev1.Namespace{}
	out.Namespace = readOf(reader.Get(ctx, client.ObjectKey{Name: namespace}, space), "get namespaces")
	out.Labelled = space.Labels[core.HookLabel] == core.HookLabelValue
	if secret := out.Klusterlet.IAMConfigSecret; secret != "" {
		seen := &corev1.Secret{}
		out.Secret.Read = readOf(reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: secret}, seen), "get secrets"+within)
		out.Secret.Keys = slices.Sorted(maps.Keys(seen.Data))
	}
	pods := &corev1.PodList{}
	which, err := labels.NewRequirement("app", selection.In, hubjoin.AgentApps())
	if err == nil {
		err = reader.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*which)}, client.Limit(page))
	}
	out.Pods = readOf(err, "list pods"+within)
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			out.PodsSeen = append(out.PodsSeen, podSeen(pod))
		}
	}
	return out
}

func klusterletSeen(ctx context.Context, reader client.Reader, name string) hubjoin.Klusterlet {
	seen, read := object(ctx, reader, klusterlets, client.ObjectKey{Name: name}, "get klusterlets.operator.open-cluster-management.io")
	out := hubjoin.Klusterlet{Read: read, Klusterlet: ocmhook.Klusterlet{Name: name}}
	if !read.Exists {
		return out
	}
	text, err := seen.MarshalJSON()
	if err == nil {
		out.Klusterlet, err = ocmhook.ReadKlusterlet(text)
	}
	if err != nil {
		return hubjoin.Klusterlet{Read: hubjoin.Read{Trouble: err.Error()}, Klusterlet: ocmhook.Klusterlet{Name: name}}
	}
	out.Condition = meta.FindStatusCondition(conditionsOf(seen.Object), "Applied")
	return out
}

// identities are the variables by which the pods of agents have an identity of AWS: those of IRSA, of
// EKS Pod Identity, and of a mounted iamConfigSecret.
var identities = []string{
	"AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
}

func podSeen(pod *corev1.Pod) hubjoin.Pod {
	out := hubjoin.Pod{Name: pod.Name, App: pod.Labels["app"], Phase: string(pod.Status.Phase), Ready: podstatus.IsReady(pod), Waiting: podstatus.WaitingOf(pod)}
	for _, container := range pod.Spec.Containers {
		out.Identity = out.Identity || slices.ContainsFunc(container.Env, func(v corev1.EnvVar) bool { return slices.Contains(identities, v.Name) })
	}
	return out
}
