package credentials

import (
	"encoding/json"
	"time"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// Annotation and label keys, tags, and the finalizer.
const (
	// ServiceAccountAnnotation on a request names its ServiceAccount, as NAMESPACE/NAME,
	// where the CRD has no spec.storage.
	ServiceAccountAnnotation = "identity.tabard.dev/service-account"
	// Finalizer holds a request while something of it may exist, and its grant.
	Finalizer = "identity.tabard.dev/credentials"
	// OwnerTag is the tag of a role whose value names its request: see Owner.
	OwnerTag = "tabard.dev/credentials-request"
	// ClusterTag is the tag of a role whose value is the infrastructure's name.
	ClusterTag = "tabard.dev/cluster"
	// RoleAnnotation on a ServiceAccount is the role of its pods.
	RoleAnnotation = "eks.amazonaws.com/role-arn"
	// RequestAnnotation on a target names its request, as NAMESPACE/NAME.
	RequestAnnotation = "identity.tabard.dev/credentials-request"
	// ManagedLabel, with the value "true", is on targets that Tabard made.
	ManagedLabel = "identity.tabard.dev/credentials"
	// RemoveStaticKeysAnnotation, with the value "true", on a Secret is its owner's
	// consent to lose the static keys.
	RemoveStaticKeysAnnotation = "identity.tabard.dev/remove-static-keys"
)

// Plan is what a pass decided.
type Plan struct {
	// LookLive says that the role must be looked at by itself before anything is
	// decided: the rest of the plan is void. The shell looks and decides again, once.
	LookLive bool
	// Acting says who fulfils the request, and why.
	Acting Acting
	// Steps are to be performed in order, up to the first that fails.
	Steps []Step
	// Grant is the grant's status to write: by the Record step, and at the end of the
	// pass if there still is a grant, or a step made one.
	Grant v1alpha1.CredentialsGrantStatus
	// Project is the request's status to write at the end of the pass; nil: nothing of
	// the request's status is written.
	Project *cloudv1.CredentialsRequestStatus
	// Events are what to tell, on the request.
	Events []Event
	// Again is when to look next, from now; 0 is never.
	Again time.Duration
}

// Event is what is told once. Its text holds nothing that changes from pass to pass.
type Event struct {
	Warning      bool
	Reason, Text string
}

// Step is one change to make. Steps are small comparable values.
type Step interface{ step() }

// Values are texts by key in a form that compares: JSON with sorted keys.
type Values string

// ValuesOf is the comparable form.
func ValuesOf(values map[string]string) Values {
	text, err := json.Marshal(values)
	if err != nil {
		panic("credentials: texts do not encode: " + err.Error())
	}
	return Values(text)
}

// Map is the values by key.
func (v Values) Map() map[string]string {
	out := map[string]string{}
	if v == "" {
		return out
	}
	if err := json.Unmarshal([]byte(v), &out); err != nil {
		panic("credentials: values were not made by ValuesOf: " + err.Error())
	}
	return out
}

// The steps, in the order in which a plan can hold them.
type (
	// Hold adds the request's finalizer.
	Hold struct{}
	// MakeGrant creates the grant with its finalizer. One that exists, made by a person's
	// command, gets the finalizer and is not changed otherwise.
	MakeGrant struct {
		Name    string
		Request v1alpha1.RequestRef
	}
	// Record writes the plan's Grant now: what a deletion needs is stored before
	// anything is made outside.
	Record struct{}
	// CreateRole makes the role in one call, without its inline policy. A role of that
	// name that carries the owner's tag is success, any other a fault Exists.
	CreateRole struct{ Want RoleWant }
	// PutPolicy writes an inline policy.
	PutPolicy struct{ Role, Owner, Name, Policy string }
	// SetTrust writes the trust policy.
	SetTrust struct{ Role, Owner, Trust string }
	// SetBoundary sets the permissions boundary.
	SetBoundary struct{ Role, Owner, Boundary string }
	// SetTags adds or changes tags; others stay.
	SetTags struct {
		Role, Owner string
		Tags        Values
	}
	// SetSession sets the longest session.
	SetSession struct {
		Role, Owner string
		MaxSession  time.Duration
	}
	// RemovePolicy deletes an inline policy: one that somebody else added, or one that is
	// withdrawn.
	RemovePolicy struct{ Role, Owner, Name string }
	// Detach detaches a managed policy that somebody else attached.
	Detach struct{ Role, Owner, Policy string }
	// WriteServiceAccount puts RoleAnnotation and RequestAnnotation on the account. With
	// Create it makes it, with ManagedLabel; one that is there by then is a fault
	// Changed.
	WriteServiceAccount struct {
		Target           Target
		RoleARN, Request string
		Create           bool
	}
	// WriteSecret writes a Secret of type Opaque with RequestAnnotation and ManagedLabel.
	// Keys of Remove go, other keys that Data does not name stay. With Create it makes
	// it; one that is there by then is a fault Changed. CCO puts the Cloud Credential
	// Operator's label and annotation on it too.
	WriteSecret struct {
		Target      Target
		Request     string
		Data        Values
		Remove      string // sorted, joined by commas
		Create, CCO bool
	}
	// ClearServiceAccount takes our annotations off, or with Delete deletes the account;
	// only while RequestAnnotation names the request. One that is gone is success.
	ClearServiceAccount struct {
		Target  Target
		Request string
		Delete  bool
	}
	// ClearSecret deletes the Secret, or without Delete takes the keys of Remove off, and
	// the labels and annotations that WriteSecret puts on it; only while it is the
	// request's. One that is gone is success.
	ClearSecret struct {
		Target  Target
		Request string
		Delete  bool
		Remove  string // sorted, joined by commas
	}
	// DeleteRole deletes the role that carries the owner's tag, with its inline policies;
	// what is attached is detached first by Detach. One that is gone is success.
	DeleteRole struct{ Role, Owner string }
	// Release removes the request's finalizer, with CCO also the Cloud Credential
	// Operator's. It is a request with this UID that is meant, and no other.
	Release struct {
		UID string
		CCO bool
	}
	// DeleteGrant removes the grant's finalizer and deletes it.
	DeleteGrant struct{ Name string }
)

func (Hold) step()                {}
func (MakeGrant) step()           {}
func (Record) step()              {}
func (CreateRole) step()          {}
func (PutPolicy) step()           {}
func (SetTrust) step()            {}
func (SetBoundary) step()         {}
func (SetTags) step()             {}
func (SetSession) step()          {}
func (RemovePolicy) step()        {}
func (Detach) step()              {}
func (WriteServiceAccount) step() {}
func (WriteSecret) step()         {}
func (ClearServiceAccount) step() {}
func (ClearSecret) step()         {}
func (DeleteRole) step()          {}
func (Release) step()             {}
func (DeleteGrant) step()         {}
