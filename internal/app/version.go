package app

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/version"
)

func versionCommand() *cobra.Command {
	return version.New(program.StandardStreams(), version.Program{
		Version: program.Version, Commit: program.Commit, CommitDate: program.CommitDate,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}, askVersions)
}

// kinds are Tabard's own kinds, in the API version that this program speaks.
var kinds = map[string][]string{
	"identity.tabard.dev/v1alpha1":    {"credentialsboundaries", "credentialsgrants", "hubaccesses", "iamrolechoices", "iamroleselectorreports", "oidcissuers"},
	"services.k8s.aws/v1alpha1":       {"iamroleselectors"},
	"cloudcredential.openshift.io/v1": {"credentialsrequests"},
}

// askVersions reads what is installed in a cluster.
func askVersions(ctx context.Context, kubeconfig *command.Kubeconfig) (*version.Cluster, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	deployments, err := appsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	server, err := served.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", config.Host, err)
	}
	out := &version.Cluster{Kubernetes: server.GitVersion}
	if out.Kinds, err = servedKinds(served); err != nil {
		return out, err
	}
	found, err := deployments.Deployments("").List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=tabard"})
	if err != nil {
		return out, fmt.Errorf("list Tabard's Deployments: %w", err)
	}
	for _, d := range found.Items {
		image := d.Spec.Template.Spec.Containers[0].Image
		out.Workloads = append(out.Workloads, version.Workload{Namespace: d.Namespace, Name: d.Name, Version: tagOf(image)})
	}
	return out, nil
}

// tagOf is the tag of an image, or its digest if it is named by that.
func tagOf(image string) string {
	if _, digest, ok := strings.Cut(image, "@"); ok {
		return digest
	}
	last := image[strings.LastIndex(image, "/")+1:]
	if _, tag, ok := strings.Cut(last, ":"); ok {
		return tag
	}
	return "latest"
}

// servedKinds are Tabard's kinds with the versions that the cluster serves them in.
func servedKinds(api discovery.DiscoveryInterface) (out []version.Kind, err error) {
	_, lists, err := api.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask which kinds are served: %w", err)
	}
	served := map[string][]string{}
	for _, list := range lists {
		group, at, _ := strings.Cut(list.GroupVersion, "/")
		for _, resource := range list.APIResources {
			name := resource.Name + "." + group
			served[name] = append(served[name], at)
		}
	}
	for groupVersion, names := range kinds {
		group, speaks, _ := strings.Cut(groupVersion, "/")
		for _, name := range names {
			out = append(out, version.Kind{Name: name + "." + group, Version: speaks, Served: served[name+"."+group]})
		}
	}
	slices.SortFunc(out, func(a, b version.Kind) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
