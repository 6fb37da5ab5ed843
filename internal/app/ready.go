package app

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/ready"
)

func readyCommand() *cobra.Command { return ready.New(program.StandardStreams(), askReady) }

// askReady reads what a cluster has of Tabard, with no more rights than the chart's test has.
func askReady(ctx context.Context, kubeconfig *command.Kubeconfig, namespaces []string) (seen ready.Seen, err error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return seen, err
	}
	scheme, err := newScheme()
	if err != nil {
		return seen, err
	}
	cluster, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return seen, err
	}
	for _, namespace := range namespaces {
		var list appsv1.DeploymentList
		if err := cluster.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "tabard"}); err != nil {
			return seen, err
		}
		seen.Deployments = append(seen.Deployments, list.Items...)
		if !slices.ContainsFunc(list.Items, func(d appsv1.Deployment) bool { return !ready.IsReady(d) }) {
			continue
		}
		var pods corev1.PodList
		err := cluster.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": "tabard"})
		if err != nil && !apierrors.IsForbidden(err) { // who may not look at pods learns what to type
			return seen, err
		}
		seen.Pods = append(seen.Pods, pods.Items...)
	}
	var hooks admissionv1.MutatingWebhookConfiguration
	switch err := cluster.Get(ctx, client.ObjectKey{Name: "tabard-webhook"}, &hooks); {
	case err == nil:
		seen.Hooks = &hooks
	case !apierrors.IsNotFound(err):
		return seen, err
	}
	seen.Told = map[string]bool{}
	for _, name := range []string{"tabard-issuer", "tabard-credentials", "tabard-hub"} {
		err := cluster.Get(ctx, client.ObjectKey{Namespace: command.Namespace, Name: name}, &corev1.ConfigMap{})
		if client.IgnoreNotFound(err) != nil {
			return seen, err
		}
		seen.Told[name] = err == nil
	}
	return seen, nil
}
