package hubaccess

import (
	"time"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// takeBack is for a record whose life is over: the works go first, by which the agents
// remove what they have made; then the entry, then the role, then the cluster is let go,
// and the record goes last.
func takeBack(w World) Plan {
	if w.Record.Spec.Access == nil {
		return Plan{Status: w.Record.Status, Steps: append(releaseOwn(w), DeleteRecord{}), Again: lookSoon}
	}
	if v, closed := gate(w); closed {
		return leave(w, v)
	}
	if v, waits := waitForWorks(w); waits {
		return say(w, v, nil, retryAgain)
	}
	switch {
	case w.AWS.Look != LookLive:
		return Plan{Look: LookLive}
	case w.AWS.Fault != nil:
		return sayTrouble(w, *w.AWS.Fault, nil)
	}
	access, by := w.Record.Spec.Access, owner(w.Record)
	var steps []Step
	var events []Event
	switch {
	case isOurs(w.Record, w.AWS.Entry.Tags):
		steps = append(steps, DeleteEntry{access.RoleARN, by})
	case w.AWS.Entry.Exists:
		events = append(events, Event{ReasonEntryNotOurs, "the access entry of " + access.RoleARN + " lacks Tabard's tags of this cluster: it is left as it is, with username " + w.AWS.Entry.Username})
	}
	switch {
	case isOurs(w.Record, w.AWS.Role.Tags):
		steps = append(steps, DeleteRole{hub.RoleName(access.Suffix), by})
	case w.AWS.Role.Exists:
		events = append(events, Event{ReasonRoleNotOurs, "the role " + access.RoleARN + " lacks Tabard's tags of this cluster: it is left as it is"})
	}
	steps = append(append(steps, releaseOwn(w)...), DeleteRecord{})
	out := say(w, condition.No(ReasonRemoving, "the role %s and its access entry are being removed", access.RoleARN), steps, lookSoon)
	out.Events = events
	return out
}

// releaseOwn lets go the cluster that the record is for, and no later one of its name.
func releaseOwn(w World) []Step {
	if w.Cluster == nil || w.Cluster.UID != w.Record.Spec.ClusterUID {
		return nil
	}
	return letGo(w)
}

// leave is for a record whose life is over while nothing may be done in AWS. It does not
// keep the cluster, and remembers what is left; a person who deletes the record by hand
// says that nobody shall. While it is not known whether something may be done, it stays.
func leave(w World, v condition.Verdict) Plan {
	var steps []Step
	if w.Cluster != nil && w.Cluster.Deleting {
		steps = releaseOwn(w)
	}
	if w.Record.DeletionTimestamp.IsZero() || v.Reason == ReasonManagedIAMUnknown || v.Reason == ReasonHubARNMissing {
		return say(w, v, steps, LookAgain)
	}
	out := say(w, v, append(releaseOwn(w), DeleteRecord{}), lookSoon)
	out.Events = []Event{{v.Reason, "the HubAccess is deleted by hand: " + v.Message}}
	return out
}

// waitForWorks says which works are still there. Those of a later cluster of the same
// name are not this one's, and add-ons of a cluster that stays keep nothing: a denial
// would take no access.
func waitForWorks(w World) (v condition.Verdict, waits bool) {
	if w.Works.Trouble != "" {
		return condition.Unknown(ReasonWorksUnread, "the works of the cluster could not be read: %s", condition.Steady(w.Works.Trouble)), true
	}
	stays := w.Cluster != nil && w.Cluster.UID == w.Record.Spec.ClusterUID && !w.Cluster.Deleting
	until := time.Time{}
	if w.Cluster != nil && w.Cluster.UID != w.Record.Spec.ClusterUID {
		until = w.Cluster.Created
	}
	var first string
	count := 0
	for _, work := range w.Works.Items {
		if !until.IsZero() && !work.Created.Before(until) || stays && work.AddOn {
			continue
		}
		if count++; first == "" || work.Name < first {
			first = work.Name
		}
	}
	if count == 0 {
		return condition.Verdict{}, false
	}
	return condition.No(ReasonWaitingForWorks, "%d works or add-ons are left in namespace %s, such as %s; the agents need their access to remove them, so it goes after them", count, w.Name, first), true
}
