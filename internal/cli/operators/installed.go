package operators

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// subscriptions are what people install an operator by, with OLM v0.
var subscriptions = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}

// offer is a package of a CatalogSource.
type offer struct{ pkg, namespace, name string }

// installs are the Subscriptions of a cluster. Those of one offer are in the order of their
// namespaces.
type installs map[offer][]listing.Install

// installsOf reads Subscriptions, a page at a time. Without a namespace it reads all.
func installsOf(ctx context.Context, client dynamic.Interface, namespace string) (installs, error) {
	const page = 500
	out := installs{}
	options := metav1.ListOptions{Limit: page}
	for {
		found, err := client.Resource(subscriptions).Namespace(namespace).List(ctx, options)
		switch {
		case apierrors.IsForbidden(err):
			where := "in all namespaces"
			if namespace != "" {
				where = "in namespace " + namespace
			}
			return nil, fmt.Errorf("what is installed is unknown: the right to list %s %s is missing: %w", subscriptions.GroupResource(), where, err)
		case apierrors.IsNotFound(err):
			return nil, errors.New("what is installed is unknown: this cluster serves no Subscriptions of operators.coreos.com")
		case err != nil:
			return nil, fmt.Errorf("list the Subscriptions: %w", err)
		}
		for i := range found.Items {
			out.add(&found.Items[i])
		}
		if options.Continue = found.GetContinue(); options.Continue == "" {
			break
		}
	}
	for _, all := range out {
		slices.SortFunc(all, func(a, b listing.Install) int { return strings.Compare(a.Namespace, b.Namespace) })
	}
	return out, nil
}

func (i installs) add(s *unstructured.Unstructured) {
	// A field that is absent or no text is empty.
	field := func(path ...string) string {
		found, _, _ := unstructured.NestedString(s.Object, path...)
		return found
	}
	at := offer{field("spec", "name"), field("spec", "sourceNamespace"), field("spec", "source")}
	i[at] = append(i[at], listing.Install{Namespace: s.GetNamespace(), CSV: field("status", "installedCSV"), State: field("status", "state")})
}

// of are the Subscriptions of a package.
func (i installs) of(p *catalogue.Package) []listing.Install {
	return i[offer{p.Name, p.Source.Namespace, p.Source.Name}]
}

// installs are the Subscriptions of the cluster.
func (f *listFlags) installs(ctx context.Context, streams command.Streams, world World) (installs, error) {
	client, err := world.Connect(&f.kubeconfig)
	if err != nil {
		return nil, err
	}
	out, err := installsOf(ctx, client, f.namespace)
	if err != nil {
		return nil, streams.Refuse(command.Found, err)
	}
	return out, nil
}

// installedText is what is installed, for a table.
func installedText(all []listing.Install) string {
	var out []string
	for _, one := range all {
		out = append(out, one.Namespace+": "+orDash(one.CSV))
	}
	return orDash(listing.Few(out))
}
