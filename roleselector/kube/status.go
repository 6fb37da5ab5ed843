package kube

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/roleselector"
)

// status is what Roles reads of a resource's.
type status struct {
	Conditions []metav1.Condition `json:"conditions"`
	Metadata   struct {
		OwnerAccountID  string `json:"ownerAccountID"`
		Region          string `json:"region"`
		IAMRoleSelector struct {
			SelectorName string    `json:"selectorName"`
			UID          types.UID `json:"uid"`
			RoleARN      string    `json:"roleARN"`
		} `json:"iamRoleSelector"`
	} `json:"ackResourceMetadata"`
}

func (s status) recorded() roleselector.Recorded {
	used := s.Metadata.IAMRoleSelector
	return roleselector.Recorded{
		Account: s.Metadata.OwnerAccountID, Region: s.Metadata.Region,
		Selector: used.SelectorName, SelectorUID: used.UID, RoleARN: used.RoleARN,
	}
}

func statusOf(object client.Object) (status, error) {
	content, err := contentOf(object)
	if err != nil {
		return status{}, err
	}
	var held struct {
		Status status `json:"status"`
	}
	return held.Status, runtime.DefaultUnstructuredConverter.FromUnstructured(content, &held)
}

// contentOf is the object as JSON has it. That of an unstructured one is its own.
func contentOf(object client.Object) (map[string]any, error) {
	if object == nil {
		return nil, errors.New("there is no object")
	}
	if is, ok := object.(*unstructured.Unstructured); ok {
		return is.Object, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// change changes the status of an object of any kind.
func change(object client.Object, in func(content map[string]any) error) error {
	content, err := contentOf(object)
	if err == nil {
		if content["status"] == nil { // as some write one that is not there
			delete(content, "status")
		}
		err = in(content)
	}
	if _, is := object.(*unstructured.Unstructured); err == nil && !is {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(content, object)
	}
	if err != nil {
		return fmt.Errorf("change a status: %w", err)
	}
	return nil
}

// Report enters into the object's status what there is to say of the role, among the
// conditions that it has by now. Of a role that nothing stops that is one condition,
// and the others are the controller's.
func (r Role) Report(object client.Object) error {
	now, err := statusOf(object)
	if err != nil {
		return err
	}
	merged := Merge(now.Conditions, r.want, metav1.Now())
	list := make([]any, len(merged))
	for i := range merged {
		// A controller may have cleared them, and nothing has changed since.
		if old := meta.FindStatusCondition(r.have, merged[i].Type); old != nil && saysSame(*old, merged[i]) {
			merged[i].LastTransitionTime = old.LastTransitionTime
		}
		if list[i], err = runtime.DefaultUnstructuredConverter.ToUnstructured(&merged[i]); err != nil {
			return err
		}
	}
	return change(object, func(content map[string]any) error {
		return unstructured.SetNestedSlice(content, list, "status", "conditions")
	})
}

// Record enters into the object's status where the role manages the resource. Write it
// after a call with the role that changed nothing and was answered, so that a role that
// cannot be assumed ties the resource to no account, and before the first that makes
// something. As long as the selector says the same its resource version stays the
// one that was written first.
func (r Role) Record(object client.Object) error {
	used := r.Course.Selector
	return change(object, func(content map[string]any) error {
		metadata, _, err := unstructured.NestedMap(content, "status", "ackResourceMetadata")
		if err != nil {
			return err
		}
		old, _, _ := unstructured.NestedMap(metadata, "iamRoleSelector")
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata["ownerAccountID"], metadata["region"] = r.account, r.Identity.Region
		switch {
		case used.Name == "":
			delete(metadata, "iamRoleSelector")
		case old["uid"] != string(used.UID) || old["generation"] != used.Generation || old["decidedBy"] != string(r.decidedBy):
			metadata["iamRoleSelector"] = map[string]any{
				"selectorName": used.Name, "resourceVersion": used.ResourceVersion, "generation": used.Generation,
				"uid": string(used.UID), "roleARN": used.ARN, "decidedBy": string(r.decidedBy),
			}
		}
		return unstructured.SetNestedMap(content, metadata, "status", "ackResourceMetadata")
	})
}

// Forsake takes from the object's status where the resource was: it is gone there.
func (r Role) Forsake(object client.Object) error {
	return change(object, func(content map[string]any) error {
		unstructured.RemoveNestedField(content, "status", "ackResourceMetadata")
		return nil
	})
}
