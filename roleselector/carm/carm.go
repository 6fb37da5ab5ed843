// Package carm is ACK's older way to a role, Cross Account Resource Management,
// as data: which role a namespace's annotations and two config maps give, the
// IAMRoleSelectors that give the same, and the proof that they do.
//
// Nothing here reads a cluster: everything goes in and comes out as plain data.
// All functions may be called concurrently as long as nobody changes what was
// passed in.
package carm

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// The config maps, in the system namespace of a controller. Their data are role
// ARNs by key; with ServiceLevelCARM also by ALIAS.KEY.
const (
	AccountMap = "ack-role-account-map"
	TeamMap    = "ack-role-team-map"
)

// The annotations of a namespace. An empty value is no value.
const (
	OwnerAccountAnnotation  = "services.k8s.aws/owner-account-id"
	TeamAnnotation          = "services.k8s.aws/team-id"
	DefaultRegionAnnotation = "services.k8s.aws/default-region"
	EndpointAnnotation      = "services.k8s.aws/endpoint-url"
	// DeletionPolicySuffix stands behind a controller's alias in lower case.
	DeletionPolicySuffix = ".services.k8s.aws/deletion-policy"
)

// The annotations of a resource that win over those of its namespace.
const (
	RegionAnnotation         = "services.k8s.aws/region"
	DeletionPolicyAnnotation = "services.k8s.aws/deletion-policy"
)

// ignoredNamespaces are never in CARM's cache of namespaces.
var ignoredNamespaces = []string{"kube-system", "kube-public", "kube-node-lease"}

// Controller is one Deployment of an ACK controller as CARM sees it.
type Controller struct {
	// Name tells controllers apart, such as NAMESPACE/NAME of the Deployment.
	Name string
	// Alias is the service's short name in keys of the config maps.
	Alias string
	// Group is the API group of its kinds, such as s3.services.k8s.aws.
	Group string
	// Kinds are the kinds that it serves, all of Group.
	Kinds []schema.GroupVersionKind
	// SystemNamespace holds its config maps.
	SystemNamespace string
	// Account is that of the identity that it runs as, twelve digits.
	Account string
	// Region, Endpoint and DeletionPolicy are those of its flags; empty if not set.
	Region, Endpoint, DeletionPolicy string
	// WatchNamespaces limits what it reconciles; empty is all namespaces.
	WatchNamespaces []string
	// DisableCARM is --enable-carm=false without the gate IAMRoleSelector.
	DisableCARM bool
	// TeamLevelCARM and ServiceLevelCARM are its feature gates.
	TeamLevelCARM, ServiceLevelCARM bool
}

// active says whether CARM's caches run. With exactly one watched namespace they
// are never started, although the flag stays on.
func (c *Controller) active() bool { return !c.DisableCARM && len(c.WatchNamespaces) != 1 }

// reconciles says whether it looks after resources of a namespace.
func (c *Controller) reconciles(namespace string) bool {
	return len(c.WatchNamespaces) == 0 || slices.Contains(c.WatchNamespaces, namespace)
}

// caches says whether CARM knows the annotations of a namespace.
func (c *Controller) caches(namespace string) bool {
	return c.active() && c.reconciles(namespace) && !slices.Contains(ignoredNamespaces, namespace)
}

// Namespace is what matters of a namespace.
type Namespace struct {
	Name                string
	Labels, Annotations map[string]string
}

// Maps are the config maps of one system namespace. A nil map does not exist;
// one without entries is empty and not nil.
type Maps struct {
	Accounts, Teams map[string]string
}

// Resource is one object that an ACK controller looks after.
type Resource struct {
	Kind                schema.GroupVersionKind
	Namespace, Name     string
	Labels, Annotations map[string]string
	// OwnerAccount and Region are those of its status; empty if there is none.
	OwnerAccount, Region string
	// Recorded is what its status says of the selector used last.
	Recorded Recorded
}

// Recorded is what a resource's status says of the selector that was used last.
type Recorded struct {
	// Selector is its name; empty if the status says nothing.
	Selector string
	// Role is its ARN; empty if the status does not say.
	Role string
}

// Cluster is all that a migration needs to know.
type Cluster struct {
	Namespaces []Namespace
	// Maps are the config maps by system namespace.
	Maps      map[string]Maps
	Resources []Resource
	// Selectors are those that the cluster has already.
	Selectors []v1alpha1.IAMRoleSelector
	// Groups are the API groups of all ACK controllers whose kinds are installed.
	Groups []string
}

// Validate finds what makes an answer impossible.
func Validate(cluster Cluster, controllers []Controller) error {
	if len(controllers) == 0 {
		return fmt.Errorf("no controller is described")
	}
	names := map[string]bool{}
	for i := range controllers {
		c := &controllers[i]
		if names[c.Name] {
			return fmt.Errorf("two controllers are called %q", c.Name)
		}
		names[c.Name] = true
		if err := c.validate(); err != nil {
			return fmt.Errorf("controller %s: %w", c.Name, err)
		}
	}
	known := map[string]bool{"": true} // of cluster-scoped resources
	for _, n := range cluster.Namespaces {
		if known[n.Name] {
			return fmt.Errorf("namespace %q is given twice or has no name", n.Name)
		}
		known[n.Name] = true
	}
	for _, r := range cluster.Resources {
		if !known[r.Namespace] {
			return fmt.Errorf("%s: its namespace is not among the namespaces", r)
		}
	}
	return nil
}

func (c *Controller) validate() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("it has no name")
	case c.Alias == "":
		return fmt.Errorf("its alias is missing")
	case c.Group == "":
		return fmt.Errorf("its API group is missing")
	case !identity.IsAccountID(c.Account):
		return fmt.Errorf("its account is %q; it must be the twelve digits of the account that it runs in", c.Account)
	case c.SystemNamespace == "":
		return fmt.Errorf("its system namespace is missing")
	case len(c.Kinds) == 0:
		return fmt.Errorf("no kind of its group %s is known", c.Group)
	}
	for _, kind := range c.Kinds {
		if kind.Group != c.Group || kind.Version == "" || kind.Kind == "" {
			return fmt.Errorf("it cannot serve %s", kindName(kind))
		}
	}
	return nil
}

// String is how a resource is called in reports.
func (r Resource) String() string {
	return fmt.Sprintf("%s %s/%s", kindName(r.Kind), r.Namespace, r.Name)
}

// kindName is GROUP/VERSION/KIND.
func kindName(kind schema.GroupVersionKind) string {
	return strings.Join([]string{kind.Group, kind.Version, kind.Kind}, "/")
}
