// Package workload runs the command of a pod as the kubelet of its node would
// run it: the pod's environment, its volumes, its tokens, kept fresh for as
// long as the command runs. There is no container: the command is a program of
// this machine, run by whoever runs the lab.
package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// defaultContainerAnnotation names the container that commands mean if they
// name none, as for kubectl.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// Find returns the pod that a target means: pod/NAME, or deployment/NAME for
// the newest of its pods that is not being deleted.
func Find(ctx context.Context, client kubernetes.Interface, namespace, target string) (*corev1.Pod, error) {
	kind, name, found := strings.Cut(target, "/")
	if !found || name == "" {
		return nil, fmt.Errorf("%q names no workload; want pod/NAME or deployment/NAME", target)
	}
	switch kind {
	case "pod", "pods", "po":
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read the pod: %w", err)
		}
		return pod, nil
	case "deployment", "deployments", "deploy":
		deployment, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read the Deployment: %w", err)
		}
		return newestPod(ctx, client, deployment)
	}
	return nil, fmt.Errorf("%q is a workload of an unknown kind; want pod/NAME or deployment/NAME", target)
}

// newestPod returns the newest pod of a Deployment. Pods belong to ReplicaSets,
// which belong to the Deployment; labels alone could match pods of others.
func newestPod(ctx context.Context, client kubernetes.Interface, deployment *appsv1.Deployment) (*corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(deployment.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of the Deployment %s: %w", deployment.Name, err)
	}
	options := metav1.ListOptions{LabelSelector: selector.String()}
	sets, err := client.AppsV1().ReplicaSets(deployment.Namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list the ReplicaSets of the Deployment: %w", err)
	}
	pods, err := client.CoreV1().Pods(deployment.Namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list the pods of the Deployment: %w", err)
	}
	var newest *corev1.Pod
	for number := range pods.Items {
		pod := &pods.Items[number]
		owned := slices.ContainsFunc(sets.Items, func(set appsv1.ReplicaSet) bool {
			return metav1.IsControlledBy(pod, &set) && metav1.IsControlledBy(&set, deployment)
		})
		if owned && pod.DeletionTimestamp == nil && (newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			newest = pod
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("the Deployment %s/%s has no pod; its ReplicaSet's events say why", deployment.Namespace, deployment.Name)
	}
	return newest, nil
}

// container returns the container with a name; "" is the annotated one, else
// the first.
func container(pod *corev1.Pod, name string) (*corev1.Container, error) {
	if name == "" {
		name = pod.Annotations[defaultContainerAnnotation]
	}
	if name == "" && len(pod.Spec.Containers) > 0 {
		return &pod.Spec.Containers[0], nil
	}
	var names []string
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for number := range list {
			if list[number].Name == name {
				return &list[number], nil
			}
			names = append(names, list[number].Name)
		}
	}
	return nil, fmt.Errorf("the pod %s/%s has no container %q; it has %s", pod.Namespace, pod.Name, name, strings.Join(names, ", "))
}

// Objects are what a kubelet reads for one pod, and the tokens it asks for.
type Objects interface {
	ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error)
	Secret(ctx context.Context, name string) (*corev1.Secret, error)
	// Token asks for a token of the pod's ServiceAccount, bound to the pod. An
	// empty audience is the API server's own.
	Token(ctx context.Context, audience string, seconds *int64) (*authenticationv1.TokenRequest, error)
}

// cluster is Objects on an API server.
type cluster struct {
	client kubernetes.Interface
	pod    *corev1.Pod
}

// ConfigMap implements Objects.
func (cluster cluster) ConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	return cluster.client.CoreV1().ConfigMaps(cluster.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
}

// Secret implements Objects.
func (cluster cluster) Secret(ctx context.Context, name string) (*corev1.Secret, error) {
	return cluster.client.CoreV1().Secrets(cluster.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
}

// Token implements Objects.
func (cluster cluster) Token(ctx context.Context, audience string, seconds *int64) (*authenticationv1.TokenRequest, error) {
	pod := cluster.pod
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
	}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	answer, err := cluster.client.CoreV1().ServiceAccounts(pod.Namespace).
		CreateToken(ctx, pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("ask for a token of the ServiceAccount %s/%s with audience %q: %w",
			pod.Namespace, pod.Spec.ServiceAccountName, audience, err)
	}
	return answer, nil
}

// sorted returns the keys of a map in order.
func sorted[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }
