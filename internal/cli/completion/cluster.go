package completion

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// patience is how long a person waits for names.
const patience = 2 * time.Second

// grace is for an answer to come back at the end of the time.
const grace = 200 * time.Millisecond

// page is how many names one answer has at most.
const page = 500

// What is listed.
var (
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	accounts   = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	requests   = schema.GroupVersionResource{Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"}
	issuers    = schema.GroupVersionResource{Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "oidcissuers"}
)

// arguments complete the first argument of commands, by their path.
var arguments = sync.OnceValue(func() map[string]cobra.CompletionFunc {
	return map[string]cobra.CompletionFunc{
		"credentials adopt":      first(namesIn(requests)),
		"credentials bind":       first(namesIn(requests)),
		"credentials describe":   first(namesIn(requests)),
		"credentials render":     first(namesIn(requests)),
		"credentials resync":     first(namesIn(requests)),
		"credentials unbind":     first(namesIn(requests)),
		"issuer status":          first(namesOf(issuers)),
		"issuer verify":          first(namesOf(issuers)),
		"explain":                first(resources("resource/")),
		"explain pod":            first(namesIn(pods)),
		"explain serviceaccount": first(namesIn(accounts)),
		"selector explain":       first(resources("")),
	}
})

// first completes the first argument, and no other.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, typed)
	}
}

// contexts complete flags by the kubeconfig alone.
var contexts = map[string]cobra.CompletionFunc{
	"context": entries(func(c *clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.Contexts)) }),
	"cluster": entries(func(c *clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.Clusters)) }),
	"user":    entries(func(c *clientcmdapi.Config) []string { return slices.Collect(maps.Keys(c.AuthInfos)) }),
}

func entries(of func(*clientcmdapi.Config) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		config, err := kubeconfigOf(c).Contents()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := of(config)
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// kubeconfigOf is the cluster that the flags of a command name.
func kubeconfigOf(c *cobra.Command) *command.Kubeconfig {
	var k command.Kubeconfig
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	k.AddFlags(own)
	own.VisitAll(func(flag *pflag.Flag) {
		given := c.Flag(flag.Name)
		if given == nil || !given.Changed {
			return
		}
		texts := []string{given.Value.String()}
		if several, ok := given.Value.(pflag.SliceValue); ok {
			texts = several.GetSlice()
		}
		for _, text := range texts {
			_ = flag.Value.Set(text) // it was taken for the same flag before
		}
	})
	return &k
}

// namesOf completes a name of an object that is in no namespace.
func namesOf(resource schema.GroupVersionResource) cobra.CompletionFunc {
	return asking(func(ctx context.Context, at place, _ string) []string { return at.names(ctx, resource, "") })
}

// namesIn completes a name of an object in the namespace of the command.
func namesIn(resource schema.GroupVersionResource) cobra.CompletionFunc {
	return asking(func(ctx context.Context, at place, _ string) []string { return at.names(ctx, resource, at.namespace) })
}

// resources completes [resource/]KIND/NAME, a part at a time.
func resources(prefix string) cobra.CompletionFunc {
	ask := asking(func(ctx context.Context, at place, typed string) []string {
		kind, _, named := strings.Cut(strings.TrimPrefix(typed, prefix), "/")
		var offered []string
		for resource, namespaced := range at.managed(ctx) {
			called := resource.GroupResource().String()
			switch {
			case !named:
				offered = append(offered, prefix+called+"/")
			case kind == called || kind == resource.Resource:
				in := ""
				if namespaced {
					in = at.namespace
				}
				for _, name := range at.names(ctx, resource, in) {
					offered = append(offered, prefix+kind+"/"+name)
				}
			}
		}
		slices.Sort(offered)
		return offered
	})
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		offered, directive := ask(c, args, typed)
		if len(offered) > 0 && strings.HasSuffix(offered[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return offered, directive
	}
}

// asking completes by asking the cluster, in silence where that fails.
func asking(ask func(ctx context.Context, at place, typed string) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		klog.SetLogger(logr.Discard()) // client-go's logs would be between the names
		ctx, cancel := context.WithTimeout(c.Context(), patience)
		defer cancel()
		answer := make(chan []string, 1)
		// A kubeconfig's own programs for credentials cannot be told to stop.
		go func() {
			at, err := placeOf(c)
			if err != nil {
				answer <- nil
				return
			}
			answer <- ask(ctx, at, typed)
		}()
		select {
		case names := <-answer:
			others := func(name string) bool { return !strings.HasPrefix(name, typed) }
			return slices.DeleteFunc(names, others), cobra.ShellCompDirectiveNoFileComp
		case <-time.After(patience + grace): // with what was read by the end of the time
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// place is the cluster of a command, and the namespace in it.
type place struct {
	config    *rest.Config
	namespace string
}

func placeOf(c *cobra.Command) (place, error) {
	kubeconfig := kubeconfigOf(c)
	config, err := kubeconfig.Config()
	if err != nil {
		return place{}, err
	}
	config.Timeout, config.WarningHandler = patience, rest.NoWarnings{}
	namespace := ""
	if flag := c.Flag("namespace"); flag != nil {
		namespace = flag.Value.String()
	}
	if namespace == "" {
		namespace, err = kubeconfig.Namespace()
	}
	return place{config, namespace}, err
}

// names are those of objects, as many as could be read.
func (p place) names(ctx context.Context, resource schema.GroupVersionResource, namespace string) (names []string) {
	client, err := metadata.NewForConfig(p.config)
	if err != nil {
		return nil
	}
	options := metav1.ListOptions{Limit: page}
	for {
		found, err := client.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return names
		}
		for i := range found.Items {
			names = append(names, found.Items[i].Name)
		}
		if options.Continue = found.Continue; options.Continue == "" {
			return names
		}
	}
}

// managed are the resources of ACK's controllers, and whether they are in namespaces.
func (p place) managed(ctx context.Context) map[schema.GroupVersionResource]bool {
	found := map[schema.GroupVersionResource]bool{}
	client, err := discovery.NewDiscoveryClientForConfig(p.config)
	if err != nil {
		return found
	}
	lists, _ := client.ServerPreferredResourcesWithContext(ctx) // what fails is left out
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || !strings.HasSuffix(version.Group, ".services.k8s.aws") {
			continue
		}
		for i := range list.APIResources {
			if !strings.Contains(list.APIResources[i].Name, "/") {
				found[version.WithResource(list.APIResources[i].Name)] = list.APIResources[i].Namespaced
			}
		}
	}
	return found
}
