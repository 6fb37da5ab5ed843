package hub

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Conditions of Open Cluster Management's objects (open-cluster-management.io/api v1.2.0).
const (
	ClusterAccepted  = "HubAcceptedManagedCluster"
	ClusterJoined    = "ManagedClusterJoined"
	ClusterAvailable = "ManagedClusterConditionAvailable"
)

// wanted is a condition and the status that an object has in the end.
type wanted struct {
	kind   string
	status metav1.ConditionStatus
	what   string
}

// ManagerWaits says what a ClusterManager lacks until the hub is there; none when it is. The
// object is as JSON decodes it.
func ManagerWaits(manager map[string]any) []string {
	return waits(manager, []wanted{
		{"Applied", metav1.ConditionTrue, "the operator has not applied the ClusterManager"},
		{"HubRegistrationDegraded", metav1.ConditionFalse, "the hub controller does not run"},
	})
}

// KlusterletWaits says what a Klusterlet lacks until its agents run; none when they do.
func KlusterletWaits(klusterlet map[string]any) []string {
	return waits(klusterlet, []wanted{
		{"Applied", metav1.ConditionTrue, "the operator has not applied the Klusterlet"},
		{"RegistrationDesiredDegraded", metav1.ConditionFalse, "the registration agent does not run"},
		{"WorkDesiredDegraded", metav1.ConditionFalse, "the work agent does not run"},
	})
}

// ClusterWaits says what a ManagedCluster lacks until it has joined; none when it has.
func ClusterWaits(cluster map[string]any) []string {
	return waits(cluster, []wanted{
		{ClusterAccepted, metav1.ConditionTrue, "the hub has not accepted it"},
		{ClusterJoined, metav1.ConditionTrue, "its agent has not joined"},
		{ClusterAvailable, metav1.ConditionTrue, "its agent does not report"},
	})
}

// waits are the conditions that do not have their status. One that is about an earlier state of
// the object counts as not there.
func waits(of map[string]any, all []wanted) (out []string) {
	generation, _, _ := unstructured.NestedInt64(of, "metadata", "generation")
	conditions := map[any]map[string]any{}
	for _, each := range listOf(object(of, "status")["conditions"]) {
		condition, _ := each.(map[string]any)
		if observed, is := condition["observedGeneration"].(int64); is && observed != 0 && observed < generation {
			continue
		}
		conditions[condition["type"]] = condition
	}
	for _, w := range all {
		condition := conditions[w.kind]
		switch {
		case condition["status"] == string(w.status):
		case condition == nil:
			out = append(out, w.what+" yet")
		default:
			out = append(out, fmt.Sprintf("%s: %s is %v (%v: %v)", w.what, w.kind, condition["status"], condition["reason"], condition["message"]))
		}
	}
	return out
}
