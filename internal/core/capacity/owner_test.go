package capacity_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/capacity"
)

func TestOwnersAreReadFromManagedFields(t *testing.T) {
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, APIVersion: "machine.openshift.io/v1beta1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	status := entry("machineset", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{"f:machine.openshift.io/vCPU":{}}}}`)
	status.Subresource = "status"
	got := capacity.OwnersOf([]metav1.ManagedFieldsEntry{
		entry("capa-annotator", metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:annotations":{"f:machine.openshift.io/vCPU":{},"f:machine.openshift.io/GPU":{}}}}`),
		entry("kubectl-edit", metav1.ManagedFieldsOperationUpdate,
			`{"f:metadata":{"f:annotations":{".":{},"f:machine.openshift.io/vCPU":{},"f:capacity.cluster-autoscaler.kubernetes.io/labels":{},"f:example.com/other":{}}},"f:spec":{}}`),
		// The same manager at two versions of the API is one owner.
		entry("kubectl-edit", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{"f:machine.openshift.io/vCPU":{}}}}`),
		entry("spec", metav1.ManagedFieldsOperationUpdate, `{"f:spec":{"f:replicas":{}}}`),
		entry("broken", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":7}`),
		{Manager: "empty", Operation: metav1.ManagedFieldsOperationUpdate},
		status,
	})
	want := map[string][]capacity.Owner{
		vcpu:   {ours(), wrote("kubectl-edit")},
		gpu:    {ours()},
		labels: {wrote("kubectl-edit")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owners (-want +got):\n%s", diff)
	}
}
