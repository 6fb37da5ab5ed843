package platform

import (
	"fmt"
	"strings"
	"time"
)

// The names of the flags, for messages.
const (
	PlatformFlag = "platform"
	OperatorFlag = "cloud-credential-operator"
)

// leaseTime is the shortest time that a Lease counts after it was renewed: the duration
// with which the Cloud Credential Operator holds it, which the Lease itself may say
// longer.
const leaseTime = 360 * time.Second

// longestLease bounds what a Lease may say, in seconds, far beyond what any does.
const longestLease = 1 << 20

// sign is what one object says of the Cloud Credential Operator.
type sign struct {
	// live says that the operator is there, or that the object does not tell.
	live bool
	// unread says that it does not tell, because it could not be read.
	unread bool
	// text is what was seen; empty for an object that is absent.
	text string
	// until is when the sign ends by itself.
	until time.Time
}

// operatorOf decides: any one sign is enough, and what cannot be read is a sign.
func operatorOf(objects Objects, override Override, now time.Time) Operator {
	signs := []sign{
		deploymentSign(objects.Deployment), clusterOperatorSign(objects.ClusterOperator), leaseSign(objects.Lease, now),
		flagSign(objects.Config, override.Platform),
	}
	var live, idle []string
	var until time.Time
	unseen := true
	for _, s := range signs {
		switch {
		case s.live:
			live, unseen = append(live, s.text), unseen && s.unread
			until = s.until // of no meaning unless it is the only one
		case s.text != "":
			idle = append(idle, s.text)
		}
	}
	seen := strings.Join(append(live, idle...), "; ")
	switch {
	case override.Operator == Absent && len(live) > 0:
		return Operator{Why: fmt.Sprintf("no Cloud Credential Operator: --%s=absent says so, against what is seen: %s", OperatorFlag, seen)}
	case override.Operator == Absent:
		return Operator{Why: fmt.Sprintf("no Cloud Credential Operator: --%s=absent says so", OperatorFlag)}
	case override.Operator == Present:
		return Operator{Live: true, Why: fmt.Sprintf("a Cloud Credential Operator is live: --%s=present says so", OperatorFlag)}
	case len(live) > 0:
		if len(live) > 1 {
			until = time.Time{}
		}
		return Operator{Live: true, Unseen: unseen, Why: "a Cloud Credential Operator is live: " + seen, Until: until}
	case seen != "":
		return Operator{Why: "no Cloud Credential Operator is live: " + seen}
	}
	return Operator{Why: "there is no Cloud Credential Operator"}
}

// deploymentSign: a Deployment that wants or has a replica. One of none is drained, and
// live while the ClusterOperator is there.
func deploymentSign(seen Seen) sign {
	if seen.Object == nil {
		return unread(deployment, seen)
	}
	o := opened{object: seen.Object}
	wanted, set := o.number("spec", "replicas")
	if !set {
		wanted = 1
	}
	running, _ := o.number("status", "replicas")
	switch {
	case o.wrong != "":
		return sign{live: true, text: fmt.Sprintf("%s: %s", deployment, o.wrong)}
	case wanted != 0:
		return sign{live: true, text: fmt.Sprintf("%s wants %d replicas", deployment, wanted)}
	case running != 0:
		return sign{live: true, text: fmt.Sprintf("%s still has %d replicas", deployment, running)}
	}
	return sign{text: fmt.Sprintf("%s wants no replica", deployment)}
}

func clusterOperatorSign(seen Seen) sign {
	if seen.Object == nil {
		return unread(clusterOperator, seen)
	}
	return sign{live: true, text: fmt.Sprintf("%s exists", clusterOperator)}
}

// leaseSign: a Lease with a holder that was renewed within its duration. A time ahead of
// this clock counts as now.
func leaseSign(seen Seen, now time.Time) sign {
	if seen.Object == nil {
		return unread(lease, seen)
	}
	o := opened{object: seen.Object}
	holder, renewed := o.text("spec", "holderIdentity"), o.text("spec", "renewTime")
	seconds, _ := o.number("spec", "leaseDurationSeconds")
	if o.wrong == "" && holder == "" {
		return sign{text: fmt.Sprintf("%s has no holder", lease)}
	}
	at, err := time.Parse(time.RFC3339Nano, renewed)
	if err != nil {
		o.fail("spec.renewTime is %.80q, expected a time", renewed)
	}
	if o.wrong != "" {
		return sign{live: true, text: fmt.Sprintf("%s: %s", lease, o.wrong)}
	}
	until := at.Add(max(leaseTime, time.Duration(min(seconds, longestLease))*time.Second))
	if now.After(until) {
		return sign{text: fmt.Sprintf("%s was last renewed at %s", lease, renewed)}
	}
	return sign{live: true, text: fmt.Sprintf("%s is held", lease), until: until}
}

// flagSign: what the flag says the cluster is, and the cluster is not, contradict.
func flagSign(config Config, kind Kind) sign {
	switch {
	case config == Unclear:
		return sign{live: true, unread: true, text: "it is not known whether " + ConfigGroup + " is served"}
	case config == NotServed && kind == OpenShift:
		return sign{live: true, text: fmt.Sprintf("--%s=OpenShift is set, and %s is not served", PlatformFlag, ConfigGroup)}
	}
	return sign{}
}

// unread: what cannot be read is a sign, what is absent is none.
func unread(what Reference, seen Seen) sign {
	if seen.Unread == "" {
		return sign{}
	}
	return sign{live: true, unread: true, text: what.missing(seen)}
}
