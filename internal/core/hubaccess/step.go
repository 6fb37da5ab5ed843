package hubaccess

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// Finalizer is on a ManagedCluster whose agents have a role or an access entry, and on
// each HubAccess.
const Finalizer = "identity.tabard.dev/hub-access"

// Plan is what a pass decided.
type Plan struct {
	// Look is what has to be seen in AWS before anything can be decided. Then there are
	// no steps, and Decide is asked again with World.AWS.
	Look Look
	// Steps are to be performed in order, up to the first that fails.
	Steps []Step
	// Status is to be written to the record, if there is one.
	Status v1alpha1.HubAccessStatus
	// Events are for the ManagedCluster, or for the record where that is gone.
	Events []Event
	// Again is when to look next; 0 if nothing but a change of an object counts.
	Again time.Duration
}

// Event is something to tell that no condition tells.
type Event struct {
	Reason Reason
	Text   string
}

// Step is one change to make.
type Step interface{ step() }

// The steps, in the order in which a plan can hold them.
type (
	// Hold adds the Finalizer to the ManagedCluster of the UID.
	Hold struct{ UID types.UID }
	// MakeRecord makes the HubAccess with its finalizer. One that is there is an error of
	// which the next pass knows more.
	MakeRecord struct {
		Name                string
		UID                 types.UID
		AcceptedAnnotations string
		Access              *v1alpha1.ClusterAccess
	}
	// CompleteRecord writes into the HubAccess that was seen what it lacks. Access is nil
	// where it still gets none.
	CompleteRecord struct {
		AcceptedAnnotations string
		Access              *v1alpha1.ClusterAccess
	}
	// DeleteEntry deletes the access entry that carries the owner's tag. One that is gone
	// is success.
	DeleteEntry struct{ RoleARN, Owner string }
	// CreateRole makes the role in one call with its tags. One that is there and carries
	// the owner's tag is success, any other a fault Exists.
	CreateRole struct {
		Role, Owner, Trust string
		Tags               map[string]string
	}
	// SetTrust writes the trust policy.
	SetTrust struct{ Role, Owner, Trust string }
	// CreateEntry makes the access entry with its tags, and hub.RoleTag for the role of the
	// unique ID: the one given, or if that is empty, the one of the role that CreateRole has
	// made in this pass. One that is there is a fault Exists.
	CreateEntry struct {
		RoleARN, RoleID, Username, Group string
		Tags                             map[string]string
	}
	// UpdateEntry writes username and groups of the entry.
	UpdateEntry struct{ RoleARN, Owner, Username, Group string }
	// DeleteRole deletes the role that carries the owner's tag, and nothing that others
	// gave it: then it is a fault Invalid. One that is gone is success.
	DeleteRole struct{ Role, Owner string }
	// Release removes the Finalizer from the ManagedCluster of the UID, and of no other.
	Release struct{ UID types.UID }
	// DeleteRecord removes the record's finalizer and deletes it.
	DeleteRecord struct{}
)

func (Hold) step()           {}
func (MakeRecord) step()     {}
func (CompleteRecord) step() {}
func (DeleteEntry) step()    {}
func (CreateRole) step()     {}
func (SetTrust) step()       {}
func (CreateEntry) step()    {}
func (UpdateEntry) step()    {}
func (DeleteRole) step()     {}
func (Release) step()        {}
func (DeleteRecord) step()   {}
