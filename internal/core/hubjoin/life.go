package hubjoin

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// An agent renews its lease once in its duration, a minute unless the ManagedCluster says
// otherwise; the hub waits five times as long (v1.2.1, pkg/registration/hub/lease).
const (
	usualLease = time.Minute
	patience   = 5
)

// isAlive says that the agents come in with what they have: they have renewed their lease of late.
func (w walker) isAlive() bool {
	return w.Lease.Trouble == "" && !w.Lease.Renewed.IsZero() && w.age() <= w.grace() && meta.IsStatusConditionTrue(w.Managed.Conditions, available)
}

const available = "ManagedClusterConditionAvailable"

// age is how long ago the lease was renewed. Two clocks may differ.
func (w walker) age() time.Duration { return max(0, w.Now.Sub(w.Lease.Renewed)).Round(time.Second) }

func (w walker) grace() time.Duration {
	if s := w.Managed.LeaseSeconds; s > 0 && s < 1e6 {
		return patience * time.Duration(s) * time.Second
	}
	return patience * usualLease
}

// joined is that the agents have come in with their own identity.
func (w walker) joined() Finding {
	if m := w.Managed; m.Trouble != "" || !m.Exists {
		return unknown(LinkJoined, notYet)
	}
	seen := meta.FindStatusCondition(w.Managed.Conditions, "ManagedClusterJoined")
	if seen != nil && seen.Status == metav1.ConditionTrue {
		return holds(LinkJoined, "%s", strings.TrimSpace("ManagedClusterJoined: "+seen.Message))
	}
	return broken(LinkJoined, w.mendJoined(), "ManagedClusterJoined is not True: the agents have not come in with their own identity")
}

// mendJoined looks where agents that are accepted stop.
func (w walker) mendJoined() []string {
	claim := w.claim()
	who, _ := w.maker()
	managed := claim.Class == hub.Managed
	switch {
	case claim.Class == hub.Foreign:
		return w.agentLogs("see whether its certificate was approved (kubectl get csr), and look at its agents:")
	case w.AWS == nil && (who == people || !managed):
		return []string{"see whether its role and access entry are there:", "tabard hub status " + w.Cluster + " --aws"}
	case w.Spoke == nil:
		return w.agentLogs("look at its agents:")
	case managed:
		return append(w.spokeRole("if their log says AccessDenied at AssumeRole, the role "+w.spokeRoleName()+" lacks its tags or its policy; this prints it:"), w.agentLogs("their log:")...)
	}
	return w.agentLogs("AccessDenied at AssumeRole: the trust policy of the role does not name them. 401: the clock of the cluster is more than 15 minutes off, or the token was refused before the access entry was there, and is for 2 minutes more. Their log:")
}

// available is that the agents report.
func (w walker) available() Finding {
	if m := w.Managed; m.Trouble != "" || !m.Exists {
		return unknown(LinkAvailable, notYet)
	}
	lease := "it has no lease yet"
	switch {
	case w.Lease.Trouble != "":
		lease = w.Lease.unread("", "its lease").Text
	case !w.Lease.Renewed.IsZero():
		lease = "its lease was renewed " + w.age().String() + " ago"
	}
	seen := meta.FindStatusCondition(w.Managed.Conditions, available)
	switch {
	case seen == nil:
		return broken(LinkAvailable, w.agentLogs("look at its agents:"), "%s is not there; %s", available, lease)
	case seen.Status != metav1.ConditionTrue:
		return broken(LinkAvailable, w.mendAvailable(), "%s is %s: %s; %s", available, seen.Status, seen.Message, lease)
	case w.Lease.Trouble == "" && !w.Lease.Renewed.IsZero() && w.age() > w.grace():
		return broken(LinkAvailable, hubLogs("the hub controller has to say so; its log:"), "%s is True, and yet %s, more than %s", available, lease, w.grace())
	}
	return holds(LinkAvailable, "%s; %s", seen.Message, lease)
}

// mendAvailable looks where agents that had come in stop.
func (w walker) mendAvailable() []string {
	if w.claim().Class != hub.Foreign && w.AWS == nil && w.Spoke != nil {
		return []string{"its agents run; see whether its role and access entry are still there:", "tabard hub status " + w.Cluster + " --aws"}
	}
	return w.agentLogs("see whether its agents run, and what they say:")
}

// works is that what the hub sends is applied.
func (w walker) works() Finding {
	k := w.Works
	switch {
	case w.Managed.Trouble != "" || !w.Managed.Exists:
		return unknown(LinkWorks, notYet)
	case k.Trouble != "":
		return k.unread(LinkWorks, "the ManifestWorks of the namespace "+w.Cluster)
	case k.Total == 0:
		return holds(LinkWorks, "there are no ManifestWorks")
	case k.Applied < k.Total:
		return broken(LinkWorks, []string{"see what it says:", "kubectl -n " + w.Cluster + " get manifestwork " + k.First + " -o yaml"}, "%d of %d ManifestWorks are applied; %s is not: %s", k.Applied, k.Total, k.First, orElse(k.Message, "its agent has not taken it yet"))
	}
	return holds(LinkWorks, "%d of %d ManifestWorks are applied", k.Applied, k.Total)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
