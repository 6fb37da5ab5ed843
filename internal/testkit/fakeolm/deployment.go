package fakeolm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The labels that OLM gives to the Deployments that it makes.
const (
	ownerLabel     = "olm.owner"
	ownerKindLabel = "olm.owner.kind"
	hashLabel      = "olm.deployment-spec-hash"
)

// deployments are those that a ClusterServiceVersion should have: with the environment of its
// Subscription in each container.
func deployments(ns *namespace, csv *object) (out []appsv1.Deployment, err error) {
	var install struct {
		Deployments []struct {
			Name string                `json:"name"`
			Spec appsv1.DeploymentSpec `json:"spec"`
		} `json:"deployments"`
	}
	if err := decode(csv, &install, "spec", "install", "spec"); err != nil {
		return nil, err
	}
	env, err := environment(ns, csv.GetName())
	if err != nil {
		return nil, err
	}
	for _, each := range install.Deployments {
		for i := range each.Spec.Template.Spec.Containers {
			merge(&each.Spec.Template.Spec.Containers[i], env)
		}
		content, err := json.Marshal(each.Spec)
		if err != nil {
			return nil, fmt.Errorf("write the Deployment %s/%s: %w", ns.name, each.Name, err)
		}
		hash, yes := sha256.Sum256(content), true
		out = append(out, appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: ns.name, Name: each.Name,
				Labels: map[string]string{ownerLabel: csv.GetName(), ownerKindLabel: "ClusterServiceVersion", hashLabel: hex.EncodeToString(hash[:16])},
				OwnerReferences: []metav1.OwnerReference{{
					APIVersion: csv.GetAPIVersion(), Kind: csv.GetKind(), Name: csv.GetName(), UID: csv.GetUID(), Controller: &yes,
				}},
			},
			Spec: each.Spec,
		})
	}
	return out, nil
}

// decode reads a field into Go's type for it.
func decode(of *object, into any, path ...string) error {
	got, _, _ := unstructured.NestedFieldNoCopy(of.Object, path...)
	content, err := json.Marshal(got)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		return fmt.Errorf("read %v of %s %s/%s: %w", path, of.GetKind(), of.GetNamespace(), of.GetName(), err)
	}
	return nil
}

// environment is that of the Subscription which has a version.
func environment(ns *namespace, csv string) (env []corev1.EnvVar, err error) {
	for i := range ns.subscriptions {
		sub := &ns.subscriptions[i]
		if csv == text(sub, "status", "currentCSV") || csv == text(sub, "status", "installedCSV") {
			return env, decode(sub, &env, "spec", "config", "env")
		}
	}
	return nil, nil
}

// merge gives a container variables. They win over its own.
func merge(into *corev1.Container, env []corev1.EnvVar) {
	for _, each := range env {
		at := slices.IndexFunc(into.Env, func(had corev1.EnvVar) bool { return had.Name == each.Name })
		if at < 0 {
			into.Env = append(into.Env, each)
			continue
		}
		into.Env[at] = each
	}
}

// had is the Deployment of a name; nil where there is none.
func (n *namespace) had(name string) *appsv1.Deployment {
	for i := range n.deployments {
		if n.deployments[i].Name == name {
			return &n.deployments[i]
		}
	}
	return nil
}

// stale is the first Deployment that is not as it should be; empty where all are.
func stale(ns *namespace, wanted []appsv1.Deployment) string {
	for _, each := range wanted {
		if had := ns.had(each.Name); had == nil || had.Labels[hashLabel] != each.Labels[hashLabel] {
			return each.Name
		}
	}
	return ""
}

// makeDeployments makes Deployments, or makes those that are there as they should be.
func (o *OLM) makeDeployments(ctx context.Context, ns *namespace, wanted []appsv1.Deployment) (err error) {
	api := o.kube.AppsV1().Deployments(ns.name)
	for i := range wanted {
		each := &wanted[i]
		if had := ns.had(each.Name); had == nil {
			_, err = api.Create(ctx, each, metav1.CreateOptions{FieldManager: manager})
		} else if !equality.Semantic.DeepEqual(had.Labels, each.Labels) {
			had = had.DeepCopy()
			had.Labels, had.OwnerReferences, had.Spec = each.Labels, each.OwnerReferences, each.Spec
			_, err = api.Update(ctx, had, metav1.UpdateOptions{FieldManager: manager})
		}
		if err != nil {
			return fmt.Errorf("make the Deployment %s/%s: %w", ns.name, each.Name, err)
		}
	}
	return nil
}

// makeAvailable says of the Deployments of a ClusterServiceVersion that their pods run, which nothing
// else says here.
func (o *OLM) makeAvailable(ctx context.Context, ns *namespace, csv string) error {
	for _, each := range ns.deployments {
		if each.Labels[ownerLabel] != csv {
			continue
		}
		replicas := int32(1)
		if each.Spec.Replicas != nil {
			replicas = *each.Spec.Replicas
		}
		each.Status = appsv1.DeploymentStatus{
			ObservedGeneration: each.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
			Conditions: []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
				LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now(),
			}},
		}
		if _, err := o.kube.AppsV1().Deployments(ns.name).UpdateStatus(ctx, &each, metav1.UpdateOptions{FieldManager: manager}); err != nil {
			return fmt.Errorf("write the status of the Deployment %s/%s: %w", ns.name, each.Name, err)
		}
	}
	return nil
}
