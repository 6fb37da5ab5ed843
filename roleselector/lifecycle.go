package roleselector

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// Recorded is what a resource's status says of the last call to AWS that went
// well. The zero value is a resource for which none has.
type Recorded struct {
	// Account and Region are where the resource is.
	Account, Region string
	// Selector and SelectorUID are what it was managed with; empty for the
	// controller's own role.
	Selector    string
	SelectorUID types.UID
	// RoleARN is that selector's role; empty if it is not on record.
	RoleARN string
}

// After is what is recorded after calls with a role: it is changed by a call that
// went well, and by nothing else, so that a role that could not be assumed does
// not tie the resource to its account.
func (r Recorded) After(succeeded bool, used Reference, account, region string) Recorded {
	if !succeeded {
		return r
	}
	return Recorded{Account: account, Region: region, Selector: used.Name, SelectorUID: used.UID, RoleARN: used.ARN}
}

// isOf says that a selector is the one on record.
func (r Recorded) isOf(s Reference) bool {
	return r.Selector != "" && r.Selector == s.Name && r.SelectorUID == s.UID
}

// hasRole says that a selector's role is the one on record.
func (r Recorded) hasRole(s Reference) bool { return r.RoleARN != "" && r.RoleARN == s.ARN }

// Situation is all that the rules for an existing resource look at.
type Situation struct {
	Decision Decision
	Recorded Recorded
	// DefaultAccount is the account of the controller's own role; empty if it is
	// not known.
	DefaultAccount string
	// Region is where the resource is wanted.
	Region string
	// Deleting says that the resource has a deletion timestamp.
	Deleting bool
	// Retain says that its deletion policy leaves it in AWS.
	Retain bool
	// LastUsed is Index.LastUsed of what is recorded. Only its role deletes what exists.
	LastUsed *Selector
	// Announced is the message of the change of account that has been announced for
	// a whole resync; empty if none has. It is due if it is the change at hand.
	Announced string
}

// Step is what a controller does next.
type Step string

// The steps.
const (
	// GoOn: call AWS with the course's role.
	GoOn Step = "GoOn"
	// Blocked: do nothing, keep the finalizer, and say why.
	Blocked Step = "Blocked"
	// AccountChangePending: do nothing yet, and announce the change of account.
	AccountChangePending Step = "AccountChangePending"
	// DeleteBeforeMove: delete the resource where it is, with the course's role, which
	// is the one on record. Once it is gone, record nothing of it any longer: then it
	// is as new, and is made with the role that is decided on.
	DeleteBeforeMove Step = "DeleteBeforeMove"
)

// The reasons of a course that the decision does not have.
const (
	// ReasonAccountMismatch: the role is of another account than the resource.
	ReasonAccountMismatch Reason = "AccountMismatch"
	// ReasonRegionMismatch: the resource is in another region.
	ReasonRegionMismatch Reason = "RegionMismatch"
	// ReasonSelectorGone: the selector that a resource was managed with is no more,
	// or does not select it any longer, and no other one has its role for the resource.
	ReasonSelectorGone Reason = "SelectorGone"
	// ReasonAccountChangePending: the account changes soon.
	ReasonAccountChangePending Reason = "AccountChangePending"
	// ReasonTooManySessions: the selector has as many sessions as it may have. It is
	// Sessions.Admit's, and no course has it by itself.
	ReasonTooManySessions Reason = "TooManySessions"
)

// Course is what follows from a situation.
type Course struct {
	Step Step
	// Reason and Message say why.
	Reason  Reason
	Message string
	// Selector is the role to call AWS with, with GoOn and DeleteBeforeMove; the
	// zero value is the controller's own.
	Selector Reference
	// TrustNotFound says that "not found" means gone: the role is the one that the
	// resource was last managed with. Otherwise it may be that this role does not
	// see it, and a finalizer stays.
	TrustNotFound bool
}

// IsSameAs says that another course asks for the same step with the same role, by a
// selector that says the same.
func (c Course) IsSameAs(other Course) bool {
	c.Selector.ResourceVersion = other.Selector.ResourceVersion // it changes with labels, too
	return c.Step == other.Step && c.Selector == other.Selector
}

// Proceed says whether AWS may be called for a resource, and with which role. An
// existing resource never changes its account unless its selector and its
// deletion policy allow that, and then not before it is gone from the account where
// it is. It never falls to the controller's role in another account, and it is
// deleted with what it was managed with, or not at all.
func Proceed(s Situation) Course {
	if s.Deleting && s.Recorded.Selector != "" {
		return deleteAsRecorded(s)
	}
	if !s.Decision.MayCallAWS() {
		return blocked(s.Decision.Reason, s.Decision.Message())
	}
	used, account := s.Decision.Selector, s.Decision.Selector.Account
	if s.Decision.Outcome == NoSelector {
		account = s.DefaultAccount
	}
	// Region first: no rule allows a resource to change it.
	if course, fits := s.fitsRegion(); !fits {
		return course
	}
	if s.Recorded.Account != "" && s.Recorded.Account != account {
		return s.otherAccount(account)
	}
	return Course{Step: GoOn, Reason: s.Decision.Reason, Message: s.Decision.Message(), Selector: used, TrustNotFound: s.recordedWith(used)}
}

// deleteAsRecorded deletes with the selector on record, even where it conflicts
// with others by now, but never against a Deny or past what is not known.
func deleteAsRecorded(s Situation) Course {
	switch {
	case s.Decision.Outcome == NotYetKnown, s.Decision.Outcome == Invalid, s.Decision.Reason == ReasonDenied:
		return blocked(s.Decision.Reason, s.Decision.Message())
	case s.LastUsed == nil:
		return blocked(ReasonSelectorGone, fmt.Sprintf(
			"The resource was managed with the IAMRoleSelector %s (UID %s), which does not select it any longer. It is not deleted with another role.%s",
			s.Recorded.Selector, s.Recorded.SelectorUID, s.wayBack()))
	}
	used := s.LastUsed.reference
	if s.Recorded.Account != "" && s.Recorded.Account != used.Account {
		return s.mismatch(used.Account)
	}
	if course, fits := s.fitsRegion(); !fits {
		return course
	}
	return Course{
		Step: GoOn, Reason: ReasonSelected, Selector: used, TrustNotFound: true,
		Message: s.deletedWith(used),
	}
}

func (s Situation) deletedWith(used Reference) string {
	if s.Recorded.isOf(used) {
		return fmt.Sprintf("The resource is deleted with the IAMRoleSelector %s, with which it was managed.", used.Name)
	}
	return fmt.Sprintf("The resource is deleted with the IAMRoleSelector %s, whose role it was managed with.", used.Name)
}

// wayBack is what a person can do about a selector that is gone.
func (s Situation) wayBack() string {
	if s.Recorded.RoleARN == "" {
		return ""
	}
	return fmt.Sprintf(" An IAMRoleSelector of any name with the role %s deletes it, once it selects it.", s.Recorded.RoleARN)
}

func (s Situation) fitsRegion() (Course, bool) {
	if s.Recorded.Region == "" || s.Recorded.Region == s.Region {
		return Course{}, true
	}
	return blocked(ReasonRegionMismatch, fmt.Sprintf("The resource is in the region %s and is wanted in %s.", s.Recorded.Region, s.Region)), false
}

// otherAccount is for a resource whose role is of another account than it. Who may
// not delete it where it is would leave it behind there, so that it stays.
func (s Situation) otherAccount(account string) Course {
	stays := s.mismatch(account)
	if s.Decision.Outcome != Use || s.Decision.OnAccountChange != v1alpha1.Recreate || s.Deleting {
		return stays
	}
	switch {
	case s.Retain:
		stays.Message += " It is not made anew there, because its deletion policy is to retain it."
		return stays
	case s.Recorded.Selector == "":
		stays.Message += " It was managed with the controller's own role, which is not its role any longer" + whoMoves
		return stays
	case s.LastUsed == nil || s.LastUsed.reference.Account != s.Recorded.Account:
		stays.Message += fmt.Sprintf(" It was managed with the IAMRoleSelector %s (UID %s), which does not select it any longer",
			s.Recorded.Selector, s.Recorded.SelectorUID) + whoMoves
		return stays
	}
	change := Course{
		Step: AccountChangePending, Reason: ReasonAccountChangePending,
		Message: fmt.Sprintf("The resource is in the account %s. It will be deleted there, and then made anew in %s.", s.Recorded.Account, account),
	}
	if s.Announced == change.Message {
		change.Step, change.Selector, change.TrustNotFound = DeleteBeforeMove, s.LastUsed.reference, true
	}
	return change
}

// whoMoves is what a person can do about a resource that nobody may delete where it
// is.
const whoMoves = ", so that nobody may delete it where it is. Let that role be offered to it too until it has moved, " +
	"or leave it behind on purpose: delete the object with the deletion policy retain, and make it anew."

func (s Situation) mismatch(account string) Course {
	if account == "" {
		account = "that is not known"
	}
	return blocked(ReasonAccountMismatch, fmt.Sprintf(
		"The resource is in the account %s, and the role to use is in the account %s.", s.Recorded.Account, account))
}

// recordedWith says that a role is the one on record, or that nothing is.
func (s Situation) recordedWith(used Reference) bool {
	r := s.Recorded
	return r.Account == "" || r.isOf(used) || r.hasRole(used) || r.Selector == "" && used.Name == ""
}

func blocked(reason Reason, message string) Course {
	return Course{Step: Blocked, Reason: reason, Message: message}
}
