package migrate

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/record"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// groupSuffix ends the API groups of ACK's services.
const groupSuffix = ".services.k8s.aws"

// bundle is what was read, sorted by what it is. It does not matter where the
// objects come from.
type bundle struct {
	// groups are those that were named beside ACK's own.
	groups map[string]bool
	seen   map[string]bool
	carm.Cluster
	kinds       map[string][]schema.GroupVersionKind
	deployments []unstructured.Unstructured
	// accounts are those of ServiceAccounts' roles, by NAMESPACE/NAME.
	accounts map[string]string
}

func newBundle(groups []string) *bundle {
	b := &bundle{
		groups: map[string]bool{}, seen: map[string]bool{}, kinds: map[string][]schema.GroupVersionKind{},
		accounts: map[string]string{}, Cluster: carm.Cluster{Maps: map[string]carm.Maps{}},
	}
	for _, group := range groups {
		b.groups[group] = true
	}
	return b
}

// isService says whether a group is that of a service's kinds.
func (b *bundle) isService(group string) bool {
	return strings.HasSuffix(group, groupSuffix) || b.groups[group]
}

// add sorts objects in. What is of no use is passed over; what is given twice is
// refused, because one of the two is wrong.
func (b *bundle) add(objects []unstructured.Unstructured) error {
	for i := range objects {
		o := &objects[i]
		gvk := o.GroupVersionKind()
		id := fmt.Sprintf("%s %s/%s", gvk.GroupKind(), o.GetNamespace(), o.GetName())
		if err := b.one(o, gvk, id); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	slices.SortFunc(b.Namespaces, func(x, y carm.Namespace) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(b.Resources, func(x, y carm.Resource) int { return strings.Compare(x.String(), y.String()) })
	slices.SortFunc(b.Selectors, func(x, y v1alpha1.IAMRoleSelector) int { return strings.Compare(x.Name, y.Name) })
	return nil
}

func (b *bundle) one(o *unstructured.Unstructured, gvk schema.GroupVersionKind, id string) error {
	var take func(*unstructured.Unstructured) error
	switch {
	case gvk.GroupKind() == schema.GroupKind{Kind: "Namespace"}:
		take = b.namespace
	case gvk.GroupKind() == schema.GroupKind{Kind: "ConfigMap"}:
		take = b.configMap
	case gvk.GroupKind() == schema.GroupKind{Kind: "ServiceAccount"}:
		take = b.serviceAccount
	case gvk.GroupKind() == schema.GroupKind{Group: "apps", Kind: "Deployment"}:
		take = b.deployment
	case gvk.GroupKind() == schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: "CustomResourceDefinition"}:
		take = b.definition
	case gvk.GroupKind() == schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "IAMRoleSelector"}:
		take = b.selector
	case b.isService(gvk.Group):
		take = b.resource
	default:
		return nil
	}
	if b.seen[id] {
		return fmt.Errorf("it is given twice")
	}
	b.seen[id] = true
	return take(o)
}

func (b *bundle) namespace(o *unstructured.Unstructured) error {
	b.Namespaces = append(b.Namespaces, carm.Namespace{Name: o.GetName(), Labels: o.GetLabels(), Annotations: o.GetAnnotations()})
	return nil
}

func (b *bundle) configMap(o *unstructured.Unstructured) error {
	if o.GetName() != carm.AccountMap && o.GetName() != carm.TeamMap {
		return nil
	}
	data, found, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return err
	}
	if !found {
		data = map[string]string{}
	}
	maps := b.Maps[o.GetNamespace()]
	if o.GetName() == carm.TeamMap {
		maps.Teams = data
	} else {
		maps.Accounts = data
	}
	b.Maps[o.GetNamespace()] = maps
	return nil
}

func (b *bundle) serviceAccount(o *unstructured.Unstructured) error {
	if role, ok := identity.ParseARN(o.GetAnnotations()["eks.amazonaws.com/role-arn"]); ok {
		b.accounts[o.GetNamespace()+"/"+o.GetName()] = role.Account
	}
	return nil
}

func (b *bundle) deployment(o *unstructured.Unstructured) error {
	b.deployments = append(b.deployments, *o)
	return nil
}

func (b *bundle) definition(o *unstructured.Unstructured) error {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &crd); err != nil {
		return err
	}
	if !b.isService(crd.Spec.Group) {
		return nil
	}
	for _, version := range crd.Spec.Versions {
		if version.Served {
			b.serve(schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind})
		}
	}
	if !slices.Contains(b.Groups, crd.Spec.Group) {
		b.Groups = append(b.Groups, crd.Spec.Group)
		slices.Sort(b.Groups)
	}
	return nil
}

// serve records a kind of a group.
func (b *bundle) serve(kind schema.GroupVersionKind) {
	if slices.Contains(b.kinds[kind.Group], kind) {
		return
	}
	b.kinds[kind.Group] = append(b.kinds[kind.Group], kind)
	slices.SortFunc(b.kinds[kind.Group], func(x, y schema.GroupVersionKind) int { return strings.Compare(x.String(), y.String()) })
}

func (b *bundle) selector(o *unstructured.Unstructured) error {
	var s v1alpha1.IAMRoleSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &s); err != nil {
		return err
	}
	b.Selectors = append(b.Selectors, s)
	return nil
}

func (b *bundle) resource(o *unstructured.Unstructured) error {
	b.serve(o.GroupVersionKind())
	recorded, err := record.Read(o)
	if err != nil {
		return err
	}
	b.Resources = append(b.Resources, carm.Resource{
		Kind: o.GroupVersionKind(), Namespace: o.GetNamespace(), Name: o.GetName(), Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
		OwnerAccount: recorded.Account, Region: recorded.Region,
		Recorded: carm.Recorded{Selector: recorded.Selector, Role: recorded.RoleARN},
	})
	return nil
}

// sufficient says what is missing, in the words of who has to give it.
func (b *bundle) sufficient(described []description) error {
	if len(b.Namespaces) == 0 {
		return fmt.Errorf("there is no Namespace in what was read: add the output of kubectl get namespaces -o yaml")
	}
	for _, d := range described {
		switch {
		case d.Group == "":
			return fmt.Errorf("controller %s: its API group is not known, because no CRD of %s is installed; describe it with --controllers-file", d.Name, d.Alias+groupSuffix)
		case d.Account == "":
			return fmt.Errorf("controller %s: the account that it runs in is not known; give --account, or describe it with --controllers-file", d.Name)
		case len(b.kinds[d.Group]) == 0 && len(d.Kinds) == 0:
			return fmt.Errorf("controller %s: no kind of the group %s is known; add its CRDs, or its kinds to the description", d.Name, d.Group)
		}
	}
	return nil
}

// controllersOf are the described controllers for the library.
func (b *bundle) controllersOf(described []description) []carm.Controller {
	var all []carm.Controller
	for i := range described {
		all = append(all, described[i].controller(b.kinds[described[i].Group]))
	}
	slices.SortFunc(all, func(x, y carm.Controller) int { return strings.Compare(x.Name, y.Name) })
	return all
}
