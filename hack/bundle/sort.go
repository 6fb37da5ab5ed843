package main

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// sorted are the objects of the chart by how OLM installs them.
type sorted struct {
	// namespace is that of all Deployments: OLM has one for a bundle.
	namespace   string
	deployments []*unstructured.Unstructured
	crds        []*unstructured.Unstructured
	// permissions become ClusterRoles, made by OLM, of the ServiceAccounts of the bundle.
	permissions []permission
	// manifests are files of the bundle. OLM puts all of them into its one namespace.
	manifests []*unstructured.Unstructured
	// prerequisites are what OLM cannot create: an administrator applies them before.
	prerequisites []*unstructured.Unstructured
}

// permission is an entry of clusterPermissions.
type permission struct {
	ServiceAccountName string              `json:"serviceAccountName"`
	Rules              []rbacv1.PolicyRule `json:"rules"`
}

// sortOut says of each object how it is installed.
//
// Namespaced rights are Roles among the bundle's manifests and no "permissions" of the
// ClusterServiceVersion: in an installation for all namespaces OLM makes permissions
// ClusterRoles (ensureSingletonRBAC), by which the right to get tokens of the account
// tabard-issuer would hold in every namespace.
func sortOut(objects []*unstructured.Unstructured) (sorted, error) {
	out, err := deploymentsOf(objects)
	if err != nil {
		return out, err
	}
	accounts := map[string]bool{}
	rules := map[string][]rbacv1.PolicyRule{}
	for _, o := range objects {
		inside := o.GetNamespace() == out.namespace
		switch kind := o.GetKind(); {
		case kind == "Deployment":
		case kind == "CustomResourceDefinition":
			out.crds = append(out.crds, o)
		case kind == "ServiceAccount" && inside:
			// OLM makes the accounts that permissions name.
			accounts[o.GetName()] = true
		case kind == "ClusterRole":
			var role rbacv1.ClusterRole
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
				return out, fmt.Errorf("the ClusterRole %s: %w", o.GetName(), err)
			}
			rules[role.Name] = role.Rules
		case kind == "ClusterRoleBinding":
		case (kind == "Role" || kind == "RoleBinding") && inside:
			out.manifests = append(out.manifests, o)
		case kind == "Role" || kind == "RoleBinding":
			out.prerequisites = append(out.prerequisites, o)
		case kind == "Namespace":
			if o.GetName() == out.namespace {
				out.prerequisites = append(out.prerequisites, o)
			}
		default:
			return out, fmt.Errorf("%s %s/%s: no rule says how OLM installs it; add one in hack/bundle/sort.go", kind, o.GetNamespace(), o.GetName())
		}
	}
	if err := out.bind(objects, rules); err != nil {
		return out, err
	}
	return out, out.checkAccounts(accounts)
}

// deploymentsOf sorts out the Deployments, which say the namespace.
func deploymentsOf(objects []*unstructured.Unstructured) (sorted, error) {
	var out sorted
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		if out.namespace != "" && out.namespace != o.GetNamespace() {
			return out, fmt.Errorf("the Deployment %s is in the namespace %s and another in %s: OLM installs a bundle in one namespace", o.GetName(), o.GetNamespace(), out.namespace)
		}
		out.namespace = o.GetNamespace()
		out.deployments = append(out.deployments, o)
	}
	if len(out.deployments) == 0 {
		return out, errors.New("there is no Deployment in the manifests")
	}
	return out, nil
}

// bind gives each ClusterRole to the accounts of its ClusterRoleBinding.
func (s *sorted) bind(objects []*unstructured.Unstructured, rules map[string][]rbacv1.PolicyRule) error {
	bound := map[string]bool{}
	for _, o := range objects {
		if o.GetKind() != "ClusterRoleBinding" {
			continue
		}
		var binding rbacv1.ClusterRoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &binding); err != nil {
			return fmt.Errorf("the ClusterRoleBinding %s: %w", o.GetName(), err)
		}
		role := binding.RoleRef.Name
		if rules[role] == nil {
			return fmt.Errorf("the ClusterRoleBinding %s names the ClusterRole %s, which is not in the manifests", binding.Name, role)
		}
		for _, subject := range binding.Subjects {
			if subject.Kind != rbacv1.ServiceAccountKind || subject.Namespace != s.namespace {
				return fmt.Errorf("the ClusterRoleBinding %s binds %s %s/%s, expected a ServiceAccount in %s", binding.Name, subject.Kind, subject.Namespace, subject.Name, s.namespace)
			}
			s.permissions = append(s.permissions, permission{ServiceAccountName: subject.Name, Rules: rules[role]})
		}
		bound[role] = true
	}
	for role := range rules {
		if !bound[role] {
			return fmt.Errorf("the ClusterRole %s is bound to no account", role)
		}
	}
	return nil
}

// checkAccounts refuses a Deployment with an account that OLM would not make, or that the chart does not have.
func (s *sorted) checkAccounts(accounts map[string]bool) error {
	for _, d := range s.deployments {
		name, _, err := unstructured.NestedString(d.Object, "spec", "template", "spec", "serviceAccountName")
		if err != nil {
			return fmt.Errorf("the Deployment %s: %w", d.GetName(), err)
		}
		has := slices.ContainsFunc(s.permissions, func(p permission) bool { return p.ServiceAccountName == name })
		if !accounts[name] || !has {
			return fmt.Errorf("the Deployment %s runs as %q: expected a ServiceAccount of %s with a ClusterRole, for which OLM makes it", d.GetName(), name, s.namespace)
		}
	}
	return nil
}

// images are those of all containers of the Deployments.
func (s *sorted) images() ([]string, error) {
	var out []string
	for _, d := range s.deployments {
		var containers struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.Object, &containers); err != nil {
			return nil, fmt.Errorf("the Deployment %s: %w", d.GetName(), err)
		}
		pod := containers.Spec.Template.Spec
		for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
			if !slices.Contains(out, container.Image) {
				out = append(out, container.Image)
			}
		}
	}
	return out, nil
}
