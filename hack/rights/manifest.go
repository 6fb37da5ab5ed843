package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// world is what the manifests say.
type world struct {
	// accounts are the ServiceAccounts, sorted.
	accounts []account
	// namespaces are the labels of each that is created, or that an account is in.
	namespaces map[string]map[string]string
	roles      []role
	bindings   []binding
	workloads  []workload
	services   []corev1.Service
	mutating   []admissionv1.MutatingWebhookConfiguration
	validating []admissionv1.ValidatingWebhookConfiguration
	policies   []admissionv1.ValidatingAdmissionPolicy
	bound      []admissionv1.ValidatingAdmissionPolicyBinding
	guards     []guard
}

// account is a ServiceAccount.
type account struct{ namespace, name string }

func (a account) String() string { return a.namespace + "/" + a.name }
func (a account) user() string   { return "system:serviceaccount:" + a.namespace + ":" + a.name }
func (a account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.namespace, "system:authenticated"}
}

// role is a Role, or with an empty namespace a ClusterRole.
type role struct {
	namespace, name string
	labels          map[string]string
	aggregates      *rbacv1.AggregationRule
	rules           []rbacv1.PolicyRule
}

// binding is a RoleBinding, or with an empty namespace a ClusterRoleBinding.
type binding struct {
	namespace string
	to        rbacv1.RoleRef
	subjects  []rbacv1.Subject
}

// workload is a pod template of the manifests.
type workload struct {
	account account
	labels  map[string]string
	// configMaps and secrets steer the process: their content is in its environment or
	// its files.
	configMaps, secrets []string
}

// readFiles reads manifests, and those of folders.
func readFiles(paths []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
				return err
			}
			found[file], err = os.ReadFile(file) //nolint:gosec // what the caller names
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("there is no manifest in %s", strings.Join(paths, ", "))
	}
	return found, nil
}

// parse takes manifests apart. Kinds that give no rights are left out.
func parse(texts map[string][]byte) (*world, error) {
	return (&world{}).with(texts)
}

// with is the world with more manifests.
func (w *world) with(texts map[string][]byte) (*world, error) {
	out := &world{
		accounts: slices.Clone(w.accounts), namespaces: maps.Clone(w.namespaces), roles: slices.Clone(w.roles), bindings: slices.Clone(w.bindings),
		workloads: slices.Clone(w.workloads), services: slices.Clone(w.services), mutating: slices.Clone(w.mutating), validating: slices.Clone(w.validating),
		policies: slices.Clone(w.policies), bound: slices.Clone(w.bound), guards: w.guards,
	}
	if out.namespaces == nil {
		out.namespaces = map[string]map[string]string{}
	}
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		for document := range strings.SplitSeq("\n"+string(texts[file]), "\n---") {
			var object unstructured.Unstructured
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			if err := out.addAll(object, []byte(document)); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	slices.SortFunc(out.accounts, func(a, b account) int { return strings.Compare(a.String(), b.String()) })
	out.accounts = slices.Compact(out.accounts)
	if len(out.policies)+len(out.bound) == len(w.policies)+len(w.bound) {
		return out, nil
	}
	var err error
	out.guards, err = compile(out.policies, out.bound)
	return out, err
}

// addAll takes a document in: an object, a list of them, which may have lists in it, or nothing.
func (w *world) addAll(object unstructured.Unstructured, text []byte) error {
	if len(object.Object) == 0 {
		return nil
	}
	of, isList := strings.CutSuffix(object.GetKind(), "List")
	items, has := object.Object["items"].([]any)
	if !isList && !has {
		if err := w.add(object, text); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		return nil
	}
	for _, each := range items {
		fields, _ := each.(map[string]any)
		item := unstructured.Unstructured{Object: fields}
		if item.GetKind() == "" && len(fields) > 0 { // in a list of one kind the items may leave it out
			item.SetKind(of)
		}
		text, err := yaml.Marshal(fields)
		if err == nil {
			err = w.addAll(item, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rightless are the kinds that give nobody a right.
var rightless = []string{"ConfigMap", "CustomResourceDefinition", "NetworkPolicy", "PodDisruptionBudget", "PrometheusRule", "ServiceMonitor"}

// workloadsOf are the kinds with a pod template, and the Pod.
var workloadsOf = []string{"Pod", "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"}

// add takes one object in. A kind that is not known may give rights.
func (w *world) add(object unstructured.Unstructured, text []byte) error {
	name, namespace := object.GetName(), object.GetNamespace()
	switch object.GetKind() {
	case "Namespace":
		labels := map[string]string{corev1.LabelMetadataName: name}
		for key, value := range object.GetLabels() {
			labels[key] = value
		}
		w.namespaces[name] = labels
	case "ServiceAccount":
		w.accounts = append(w.accounts, account{namespace, name})
		if w.namespaces[namespace] == nil {
			w.namespaces[namespace] = map[string]string{corev1.LabelMetadataName: namespace}
		}
	case "ClusterRole", "Role":
		var read rbacv1.ClusterRole
		err := yaml.UnmarshalStrict(text, &read)
		w.roles = append(w.roles, role{namespace, name, read.Labels, read.AggregationRule, read.Rules})
		return err
	case "ClusterRoleBinding", "RoleBinding":
		var read rbacv1.ClusterRoleBinding
		err := yaml.UnmarshalStrict(text, &read)
		w.bindings = append(w.bindings, binding{namespace, read.RoleRef, read.Subjects})
		return err
	case "Service":
		return grow(&w.services, text)
	case "MutatingWebhookConfiguration":
		return grow(&w.mutating, text)
	case "ValidatingWebhookConfiguration":
		return grow(&w.validating, text)
	case "ValidatingAdmissionPolicy":
		return grow(&w.policies, text)
	case "ValidatingAdmissionPolicyBinding":
		return grow(&w.bound, text)
	default:
		if slices.Contains(workloadsOf, object.GetKind()) {
			return w.addWorkload(object)
		}
		if !slices.Contains(rightless, object.GetKind()) {
			return fmt.Errorf("it may give rights: hack/rights does not know the kind %q of %s", object.GetKind(), object.GetAPIVersion())
		}
	}
	return nil
}

// grow reads one more.
func grow[T any](list *[]T, text []byte) error {
	var read T
	err := yaml.UnmarshalStrict(text, &read)
	*list = append(*list, read)
	return err
}

// addWorkload takes a pod template in, of whatever kind has one.
func (w *world) addWorkload(object unstructured.Unstructured) error {
	for _, path := range [][]string{nil, {"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		template, ok, _ := unstructured.NestedMap(object.Object, path...)
		if isPod := object.GetKind() == "Pod"; !ok || isPod != (path == nil) {
			continue
		}
		var read struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     corev1.PodSpec    `json:"spec"`
		}
		text, err := yaml.Marshal(template)
		if err == nil {
			err = yaml.Unmarshal(text, &read)
		}
		if err != nil {
			return err
		}
		found := workload{account: account{object.GetNamespace(), read.Spec.ServiceAccountName}, labels: read.Metadata.Labels}
		found.steeredBy(read.Spec)
		w.workloads = append(w.workloads, found)
	}
	return nil
}

// steeredBy notes the ConfigMaps and Secrets of a pod.
func (l *workload) steeredBy(pod corev1.PodSpec) {
	for _, container := range append(slices.Clone(pod.InitContainers), pod.Containers...) {
		for _, env := range container.EnvFrom {
			if env.ConfigMapRef != nil {
				l.configMaps = append(l.configMaps, env.ConfigMapRef.Name)
			}
			if env.SecretRef != nil {
				l.secrets = append(l.secrets, env.SecretRef.Name)
			}
		}
		for _, env := range container.Env {
			if from := env.ValueFrom; from != nil && from.ConfigMapKeyRef != nil {
				l.configMaps = append(l.configMaps, from.ConfigMapKeyRef.Name)
			} else if from != nil && from.SecretKeyRef != nil {
				l.secrets = append(l.secrets, from.SecretKeyRef.Name)
			}
		}
	}
	for _, volume := range pod.Volumes {
		if volume.ConfigMap != nil {
			l.configMaps = append(l.configMaps, volume.ConfigMap.Name)
		}
		if volume.Secret != nil {
			l.secrets = append(l.secrets, volume.Secret.SecretName)
		}
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			if source.ConfigMap != nil {
				l.configMaps = append(l.configMaps, source.ConfigMap.Name)
			}
			if source.Secret != nil {
				l.secrets = append(l.secrets, source.Secret.Name)
			}
		}
	}
}
