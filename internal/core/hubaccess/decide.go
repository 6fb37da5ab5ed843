package hubaccess

import (
	"slices"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

const (
	// LookAgain is when to look next at access that is as wanted: what others do in AWS
	// announces itself by nothing.
	LookAgain = time.Hour
	// waitAgain is when to look at what waits for a person.
	waitAgain = 5 * time.Minute
	// retryAgain is when to look at what goes by itself.
	retryAgain = 30 * time.Second
	// lookSoon is when to look at what a plan has changed.
	lookSoon = time.Second
)

// Decide compares the world with what the cluster shall have. It is the whole decision:
// for a cluster that is accepted, denied, deleted, gone, and made anew.
func Decide(w World) Plan {
	switch {
	case w.Record == nil:
		return begin(w)
	case IsOver(w.Record, w.Cluster):
		return takeBack(w)
	case w.Record.Spec.Access == nil:
		return wait(w)
	}
	return keep(w)
}

// begin is for a cluster without a record: nothing of it exists in AWS. While roles are made,
// each accepted cluster gets a record at the first look, one without AWS annotations too:
// what it is accepted with has to be known when others come. Such a record costs one object
// of some hundred bytes, is looked at when its cluster changes, and calls nobody.
func begin(w World) Plan {
	switch {
	case w.Cluster == nil:
		return Plan{}
	case w.Cluster.Deleting || !w.Cluster.Accepted:
		return Plan{Steps: letGo(w)}
	}
	access, verdict := judge(w)
	if w.Setting.IAM != hub.On {
		return Plan{Steps: letGo(w), Events: mismatch(w, verdict)}
	}
	steps := letGo(w)
	if access != nil {
		steps = hold(w)
	}
	return Plan{Steps: append(steps, MakeRecord{w.Name, w.Cluster.UID, remembered(w.Cluster), access}), Again: lookSoon}
}

// mismatch tells people who make roles themselves that an agent looks for another role
// than they make.
func mismatch(w World, v condition.Verdict) []Event {
	if v.Reason != ReasonAnnotationsMismatched {
		return nil
	}
	return []Event{{v.Reason, v.Message}}
}

// hold puts the finalizer on the cluster, should it not be there.
func hold(w World) []Step {
	if w.Cluster.Held {
		return nil
	}
	return []Step{Hold{w.Cluster.UID}}
}

// letGo takes the finalizer off the cluster, should it be there.
func letGo(w World) []Step {
	if w.Cluster == nil || !w.Cluster.Held {
		return nil
	}
	return []Step{Release{w.Cluster.UID}}
}

// wait is for a cluster whose record has no access: nothing of it exists in AWS. When it
// may have some with the annotations that it was accepted with, the record gets it.
func wait(w World) Plan {
	if v, closed := gate(w); closed {
		return say(w, v, letGo(w), LookAgain)
	}
	if wasOther(w.Record, w.Cluster) {
		return say(w, laterAnnotations(w.Record), letGo(w), 0)
	}
	access, v := judge(w)
	if access != nil {
		return Plan{Status: w.Record.Status, Steps: append(hold(w), CompleteRecord{remembered(w.Cluster), access}), Again: lookSoon}
	}
	steps := letGo(w)
	if w.Record.Spec.AcceptedAnnotations == "" { // it is of an earlier version
		steps = append(steps, CompleteRecord{remembered(w.Cluster), nil})
	}
	again := waitAgain
	if v.IsTrue() {
		again = 0
	}
	return say(w, v, steps, again)
}

// keep is for a cluster that has access, or shall have it. Where managed IAM is off nothing
// waits for its deletion, so it is let go; the record remembers what it has. While it is not
// known whether managed IAM is on, the cluster is held as it was.
func keep(w World) Plan {
	if v, closed := gate(w); closed {
		var steps []Step
		if w.Setting.IAM == hub.Off {
			steps = letGo(w)
		}
		return say(w, v, steps, LookAgain)
	}
	was, _ := condition.Read(w.Record.Status.Conditions, TypeReady)
	if hasMoved(w) {
		return say(w, moved(w.Record), hold(w), 0)
	}
	if w.AWS.Look == LookNowhere {
		if was.IsTrue() {
			return Plan{Look: LookQuietly}
		}
		return Plan{Look: LookLive}
	}
	if w.AWS.Fault != nil {
		return sayTrouble(w, *w.AWS.Fault, hold(w))
	}
	if w.AWS.Look == LookQuietly {
		if isAsRecorded(w, was) {
			return say(w, was, hold(w), LookAgain)
		}
		return Plan{Look: LookLive}
	}
	return mend(w)
}

// isAsRecorded says that a quiet look found what the condition says.
func isAsRecorded(w World, was condition.Verdict) bool {
	role, entry := w.AWS.Role, w.AWS.Entry
	if !role.Exists || !hub.SamePolicy(role.Trust, trust(w)) || !isAsWanted(w, entry) {
		return false
	}
	if was.Reason == ReasonMadeByHand {
		return !isOurs(w.Record, entry.Tags) && mayFit(entry, role)
	}
	return entry.Tags[hub.RoleTag] == role.ID && isOurs(w.Record, entry.Tags)
}

// mayFit says that an entry of others is not known to be that of a former role: one that
// Tabard made for a cluster that it forgot since still has its tags.
func mayFit(entry Entry, role Role) bool {
	id := entry.Tags[hub.RoleTag]
	return id == "" || id == role.ID
}

// isAsWanted says that the entry makes of the role what it shall be.
func isAsWanted(w World, entry Entry) bool {
	user := w.Record.Spec.Access.Username
	return entry.Exists && entry.Type == Standard && entry.Username == user && slices.Equal(entry.Groups, []string{hub.Group(user)})
}

// moved is the verdict on annotations that are not those that were accepted. The agent of an
// accepted cluster may write them, so they move nothing, whether it was made yet or not.
func moved(record *v1alpha1.HubAccess) condition.Verdict {
	access := record.Spec.Access
	return condition.No(ReasonAnnotationsChanged, "the access is that of %s, suffix %s, which was accepted, and the annotations have changed since; set spec.hubAcceptsClient of the ManagedCluster to false, and when this HubAccess is gone to true, if the cluster is another one now", access.ManagedClusterARN, access.Suffix)
}

// hasMoved says that the annotations are not those that the record has.
func hasMoved(w World) bool {
	claim, access := hub.Classify(w.Cluster.Annotations), w.Record.Spec.Access
	return claim.Class != hub.Managed || claim.Suffix != access.Suffix || claim.Spoke.String() != access.ManagedClusterARN
}
