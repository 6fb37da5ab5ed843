// Package cco is a stand-in for OpenShift's Cloud Credential Operator on AWS: it is not
// that operator. It does what that operator was seen to do to CredentialsRequests that
// somebody else serves too: it writes whole objects from its own types, which know
// nothing of spec.storage, it replaces statuses, it writes timestamps without end, it
// deletes Secrets that carry its label, and it makes users by the name in
// providerStatus.user.
package cco

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// The names that the operator uses.
const (
	finalizer  = "cloudcredential.openshift.io/deprovision"
	requestKey = "cloudcredential.openshift.io/credentials-request"
	mintedKey  = "cloudcredential.openshift.io/aws-policy-last-applied"
	manager    = "cloud-credential-operator"
	// tokenPath is the operator's own default on AWS.
	tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount/token"
)

// request is a CredentialsRequest as the operator knows it: what is not here is lost
// when it writes.
type request struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status,omitempty"`
}

// spec has no omitempty at secretRef: one that is absent becomes {}.
type spec struct {
	SecretRef           reference             `json:"secretRef"`
	ProviderSpec        *runtime.RawExtension `json:"providerSpec,omitempty"`
	ServiceAccountNames []string              `json:"serviceAccountNames,omitempty"`
	CloudTokenPath      string                `json:"cloudTokenPath,omitempty"`
}

type reference struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

type status struct {
	Provisioned        bool            `json:"provisioned"`
	LastSyncTimestamp  *metav1.Time    `json:"lastSyncTimestamp,omitempty"`
	LastSyncGeneration int64           `json:"lastSyncGeneration"`
	ProviderStatus     *providerStatus `json:"providerStatus,omitempty"`
	Conditions         []condition     `json:"conditions,omitempty"`
}

type providerStatus struct {
	metav1.TypeMeta `json:",inline"`
	User            string `json:"user"`
	Policy          string `json:"policy"`
}

type condition struct {
	Type               string      `json:"type"`
	Status             string      `json:"status"`
	LastProbeTime      metav1.Time `json:"lastProbeTime,omitempty"`
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	Reason             string      `json:"reason,omitempty"`
	Message            string      `json:"message,omitempty"`
}

// awsSpec is what is asked of AWS.
type awsSpec struct {
	Kind             string           `json:"kind"`
	StatementEntries []map[string]any `json:"statementEntries,omitempty"`
	STSIAMRoleARN    string           `json:"stsIAMRoleARN,omitempty"`
}

// decode reads an object into the operator's own type.
func decode(object *unstructured.Unstructured) (*request, error) {
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &request{}
	return out, json.Unmarshal(text, out)
}

// encode writes the whole object from the operator's own type.
func (r *request) encode() (*unstructured.Unstructured, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(text)
}

// key is NAMESPACE/NAME.
func (r *request) key() string { return r.Namespace + "/" + r.Name }

// fail sets the condition of a failure, or takes back one that was set.
func (s *status) fail(kind, reason, message string, failed bool) {
	value := "False"
	if failed {
		value = "True"
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == kind {
			if c.Status != value {
				*c = condition{kind, value, now, now, reason, message}
			}
			return
		}
	}
	if failed {
		s.Conditions = append(s.Conditions, condition{kind, value, now, now, reason, message})
	}
}
