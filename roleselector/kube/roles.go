package kube

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/roleselector"
)

// RolesOptions say which controller it is, besides what its administrator says.
type RolesOptions struct {
	Options
	// Settings are the flags' for AssumeRole.
	Settings roleselector.Settings
	// Base is who the controller is by itself, Account the account that it is in.
	Base    identity.Identity
	Account string
	// ClusterID and Namespace are variables of templates: the cluster's, and the
	// controller's own namespace.
	ClusterID, Namespace string
	// Resync is how long a change of account is announced before it is made.
	Resync time.Duration
}

// Roles say who to be for a resource: Selectors, and the rules for what exists
// already, the whole input of AssumeRole, and what a status says of all that. The
// status is like that of ACK's kinds: conditions, and ackResourceMetadata. It is
// safe for concurrent use.
type Roles struct {
	*Selectors
	options  RolesOptions
	sessions *roleselector.Sessions
}

// NewRoles adds to the manager what follows the cluster, and the check that it is
// ready. It is an error if the settings do not go together.
func NewRoles(mgr ctrl.Manager, options RolesOptions) (*Roles, error) {
	if problems := options.Settings.Problems(); len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	selectors, err := New(mgr, options.Options)
	if err != nil {
		return nil, err
	}
	return newRoles(selectors, options), mgr.AddReadyzCheck("role-selectors", selectors.Ready)
}

func newRoles(selectors *Selectors, options RolesOptions) *Roles {
	sessions := roleselector.NewSessions(options.Settings.SessionLimit)
	sessions.OnRoom(selectors.Wake)
	return &Roles{Selectors: selectors, options: options, sessions: sessions}
}

// Sessions is how many distinct sessions there are for resources now, for the InUse of
// awsauth's Options: then none of them is ever exchanged again before its time.
func (r *Roles) Sessions() int { return r.sessions.Open() }

// Wish is what the controller wants for one resource.
type Wish struct {
	// Region is where it is wanted; empty is the base identity's.
	Region string
	// Retain says that its deletion policy leaves it in AWS.
	Retain bool
}

// Role is who to be for a resource, and what its status says of that.
type Role struct {
	// Course says what to do. With Blocked and AccountChangePending no call may be
	// made of any kind.
	Course roleselector.Course
	// Identity is who to be, if MayCall.
	Identity identity.Identity
	// Guard says, whenever it is asked, whether the course still holds: see
	// Selectors.Guard. Hand it to awsauth.Guarded.
	Guard func() error
	// Event is worth telling; nil for none.
	Event *Event

	recorded   roleselector.Recorded
	account    string
	decidedBy  roleselector.DecidedBy
	have, want []metav1.Condition
}

// Account is where the resource is managed.
func (r Role) Account() string { return r.account }

// MayCall says whether AWS may be called for the resource.
func (r Role) MayCall() bool {
	return r.Course.Step == roleselector.GoOn || r.Course.Step == roleselector.DeleteBeforeMove
}

// IsRecorded says whether the status leads to where Identity manages the resource.
// Nothing may be made in AWS before it does: a process that dies between the call and
// the record would make it once more somewhere else, or leave it behind.
func (r Role) IsRecorded() bool {
	return r.recorded == r.recorded.After(true, r.Course.Selector, r.account, r.Identity.Region)
}

// Of decides who to be for a resource as it is now. An error is a status that cannot
// be read.
func (r *Roles) Of(kind schema.GroupVersionKind, object client.Object, wish Wish) (Role, error) {
	status, err := statusOf(object)
	if err != nil {
		return Role{}, fmt.Errorf("read the status of %s %s: %w", kind.Kind, client.ObjectKeyFromObject(object), err)
	}
	base := r.options.Base
	if wish.Region != "" {
		base = base.In(wish.Region)
	}
	recorded := status.recorded()
	situation := roleselector.Situation{
		Decision: r.Decide(kind, object), Recorded: recorded, DefaultAccount: r.options.Account, Region: base.Region,
		Deleting: !object.GetDeletionTimestamp().IsZero(), Retain: wish.Retain,
		Announced: Announced(status.Conditions, time.Now(), r.options.Resync),
		LastUsed:  r.LastUsed(kind, object, recorded),
	}
	role := r.become(kind, object, situation, base)
	role.Guard = r.Guard(kind, object, situation)
	want := Conditions(situation.Decision, role.Course)
	if event, changed := Transition(status.Conditions, want); changed {
		role.Event = &event
	}
	role.have, role.want, role.recorded, role.decidedBy = status.Conditions, want, recorded, situation.Decision.DecidedBy
	return role, nil
}

// become is who to be by the rules for a situation. A selector's templates may have no
// value for the resource, or its sessions may be too many: then there is nobody to be.
func (r *Roles) become(kind schema.GroupVersionKind, object client.Object, situation roleselector.Situation, base identity.Identity) Role {
	role := Role{Course: roleselector.Proceed(situation), Identity: base, account: r.options.Account}
	ref := refOf(kind, client.ObjectKeyFromObject(object))
	chosen := Chosen(situation, role.Course)
	if chosen == nil {
		r.sessions.Release(ref)
		if !role.MayCall() || role.Course.Selector != (roleselector.Reference{}) {
			role.Identity = identity.Identity{} // nobody's, rather than the controller's own
		}
		return role
	}
	subject := r.Subject(kind, object)
	subject.ClusterID, subject.ControllerNamespace = r.options.ClusterID, r.options.Namespace
	input, problems := chosen.AssumeRole(subject, r.options.Settings)
	if len(problems) > 0 {
		r.sessions.Release(ref)
		return blockedBy(problems[0])
	}
	role.Identity, role.account = base.Via(input.Role), role.Course.Selector.Account
	if problem := r.sessions.Admit(ref, role.Course.Selector, role.Identity.Roles); problem != nil {
		return blockedBy(*problem)
	}
	return role
}

func blockedBy(problem roleselector.Problem) Role {
	return Role{Course: roleselector.Course{Step: roleselector.Blocked, Reason: problem.Reason, Message: problem.String()}}
}

// Gone tells that a resource does not exist any more.
func (r *Roles) Gone(kind schema.GroupVersionKind, key client.ObjectKey) {
	r.Forget(kind, key)
	r.sessions.Release(refOf(kind, key))
}
