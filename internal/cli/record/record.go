// Package record reads what controllers write into the status of a resource of
// AWS about the IAM role that they used.
package record

import (
	"fmt"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Record is what a status says. What it does not say is empty.
type Record struct {
	// Account and Region are where the resource is.
	Account, Region string
	// Selector is the IAMRoleSelector that was used last, of that UID and
	// Generation, with the role RoleARN, as DecidedBy says.
	Selector   string
	UID        types.UID
	Generation int64
	RoleARN    string
	DecidedBy  string
	// Since is when the condition that says so came to be true.
	Since *metav1.Time
}

// condition is one of a resource's conditions. ACK's have all their text in the
// reason at times.
type condition struct {
	Type               string                 `json:"type"`
	Status             metav1.ConditionStatus `json:"status"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
	LastTransitionTime *metav1.Time           `json:"lastTransitionTime,omitempty"`
}

// selected is the condition that tells of the role.
const selected = "ACK.IAMRoleSelected"

// text is how ACK writes into a condition which selector it used.
var text = regexp.MustCompile(`roleARN: (\S+), selectorName: ([^\s,]+)`)

// status is the part of a resource that is read.
type status struct {
	Status struct {
		Metadata struct {
			OwnerAccountID  string `json:"ownerAccountID"`
			Region          string `json:"region"`
			IAMRoleSelector struct {
				SelectorName string    `json:"selectorName"`
				UID          types.UID `json:"uid"`
				Generation   int64     `json:"generation"`
				RoleARN      string    `json:"roleARN"`
				DecidedBy    string    `json:"decidedBy"`
			} `json:"iamRoleSelector"`
		} `json:"ackResourceMetadata"`
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// Read reads a resource's status.
func Read(o *unstructured.Unstructured) (Record, error) {
	var s status
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &s); err != nil {
		return Record{}, fmt.Errorf("its status cannot be read: %w", err)
	}
	metadata := s.Status.Metadata
	used := metadata.IAMRoleSelector
	r := Record{
		Account: metadata.OwnerAccountID, Region: metadata.Region,
		Selector: used.SelectorName, UID: used.UID, Generation: used.Generation, RoleARN: used.RoleARN, DecidedBy: used.DecidedBy,
	}
	for _, c := range s.Status.Conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		// ACK's own controllers have no such field. Their text may stand in reason or
		// message, and under another type where the resource has references.
		found := text.FindStringSubmatch(c.Reason + "\n" + c.Message)
		if found != nil && r.Selector == "" {
			r.Selector, r.RoleARN = found[2], found[1]
		}
		if c.Type == selected || found != nil && r.Since == nil {
			r.Since = c.LastTransitionTime
		}
	}
	return r, nil
}
