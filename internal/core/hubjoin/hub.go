package hubjoin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// maker is who makes the roles and access entries of clusters in EKS.
type maker string

const (
	people  maker = "people make the roles"
	tabard  maker = "Tabard makes the roles"
	theirs  maker = "Open Cluster Management's driver makes the roles"
	unclear maker = "it is not known who makes the roles"
)

// setting is what Tabard's controller goes by.
func (w walker) setting() hub.Setting {
	return hub.Decide(w.Controller.IAM, w.Controller.HubARN, w.Manager.Seen)
}

// maker says who makes the roles, and why.
func (w walker) maker() (maker, string) {
	setting := w.setting()
	switch {
	case setting.ByOCM:
		return theirs, setting.Why
	case w.Controller.Trouble != "":
		return unclear, ""
	case !w.Controller.Exists && w.Manager.Seen.PodTrouble != "" && w.lists(hub.DriverAWS):
		return unclear, setting.Why
	case !w.Controller.Exists:
		return people, "there is no Deployment " + w.Controller.Name
	case setting.IAM == hub.Off:
		return people, setting.Why
	case setting.IAM == hub.On:
		return tabard, setting.Why
	}
	return unclear, setting.Why
}

// lists says that the ClusterManager lists a driver.
func (w walker) lists(driver string) bool {
	return slices.ContainsFunc(w.Manager.Seen.Drivers, func(d hub.Driver) bool { return d.AuthType == driver })
}

// whichHub is the ARN of the hub; the zero value if it is not known.
func (w walker) whichHub() hub.ARN {
	if !w.HubARN.IsZero() {
		return w.HubARN
	}
	return w.setting().Hub
}

// hub is the ClusterManager, and who makes the roles.
func (w walker) hub() Finding {
	m := w.Manager
	switch {
	case m.Trouble != "":
		return m.unread(LinkHub, "the ClusterManager")
	case m.Unserved:
		return broken(LinkHub, []string{"choose the hub with --context, or install Open Cluster Management there"}, "the cluster is no hub: it does not know ClusterManagers")
	case !m.Exists:
		return broken(LinkHub, []string{"choose the hub with --context, or make this cluster one:", "tabard hub init --registration-drivers csr"}, "the cluster has no ClusterManager")
	}
	if m.Seen.Trouble != "" {
		return unknown(LinkHub, "the ClusterManager %s could not be read whole: %s", m.Name, m.Seen.Trouble)
	}
	return w.makers()
}

// makers is who makes the roles, as the drivers and what runs say.
func (w walker) makers() Finding {
	m := w.Manager
	drivers := make([]string, 0, len(m.Seen.Drivers))
	for _, driver := range m.Seen.Drivers {
		drivers = append(drivers, driver.AuthType)
	}
	if len(drivers) == 0 {
		drivers = append(drivers, "csr")
	}
	about := fmt.Sprintf("ClusterManager %s: drivers %s", m.Name, strings.Join(drivers, ", "))
	who, why := w.maker()
	setting := w.setting()
	switch {
	case who == unclear && w.Controller.Trouble != "":
		return w.Controller.unread(LinkHub, "whether Tabard's controller "+w.Controller.Name+" is there")
	case who == unclear && m.Seen.PodTrouble != "":
		return unknown(LinkHub, "%s; %s: %s", about, who, why)
	case who == unclear:
		return broken(LinkHub, []string{"repair what is said here; then each HubAccess says how it is:", "kubectl get hubaccesses -o wide"}, "%s; %s: %s", about, who, why)
	case !w.HubARN.IsZero() && !setting.Hub.IsZero() && setting.Hub != w.HubARN:
		return broken(LinkHub, []string{"leave --hub-cluster-arn out if the hub is right about itself, or choose the other hub with --context"}, "%s; --hub-cluster-arn is %s, and the hub says that it is %s", about, w.HubARN, setting.Hub)
	case who == theirs && slices.ContainsFunc(m.Seen.Drivers, func(d hub.Driver) bool { return d.DisableManagedIAM }):
		return broken(LinkHub, onlyCSR(m.Name), "%s; %s", about, why)
	case who == theirs && w.claim().Class == hub.External:
		return broken(LinkHub, onlyCSR(m.Name), "%s; %s, and it panics at a cluster without an ARN: %s", about, who, why)
	case who == tabard && setting.HubProblem != "":
		return broken(LinkHub, []string{"tabard hub bootstrap --hub-cluster-arn ARN"}, "%s; %s, and %s", about, who, setting.HubProblem)
	}
	return holds(LinkHub, "%s; %s: %s", about, who, why)
}

// onlyCSR takes the driver for AWS out of a ClusterManager.
func onlyCSR(manager string) []string {
	return []string{
		"give the ClusterManager the driver csr alone; clusters with an identity of AWS join all the same:",
		"kubectl patch clustermanager " + manager + ` --type=merge -p '{"spec":{"registrationConfiguration":{"registrationDrivers":[{"authType":"csr"}]}}}'`,
	}
}

// claim is what the ManagedCluster says of itself.
func (w walker) claim() hub.Claim { return hub.Classify(w.Managed.Annotations) }

// asked is that the cluster's agent has made its ManagedCluster, as one that belongs to this hub.
func (w walker) asked() Finding {
	m := w.Managed
	switch {
	case m.Trouble != "":
		return m.unread(LinkAsked, "the ManagedCluster "+w.Cluster)
	case !m.Exists:
		return broken(LinkAsked, w.ask(), "the hub has no ManagedCluster %s: no agent has asked under this name", w.Cluster)
	case m.Deleting:
		return broken(LinkAsked, []string{"wait until it is gone, then join the cluster again:", "kubectl wait --for=delete managedcluster/" + w.Cluster + " --timeout=10m"},
			"the ManagedCluster %s is being deleted; its finalizers are %s", w.Cluster, strings.Join(m.Finalizers, ", "))
	}
	claim, arn := w.claim(), w.whichHub()
	switch {
	case claim.Class == hub.Malformed:
		return broken(LinkAsked, w.askAgain(), "ManagedCluster %s: %s", w.Cluster, claim.Problem)
	case claim.Class == hub.Foreign && w.Spoke != nil && w.Spoke.Klusterlet.AuthType == hub.DriverAWS:
		return broken(LinkAsked, w.askAgain(), "the ManagedCluster %s has no annotations of AWS, and its Klusterlet joins with AWS: it was made before, and agents do not change one that is there", w.Cluster)
	case claim.Class == hub.Foreign:
		return holds(LinkAsked, "ManagedCluster %s, without annotations of AWS: it joins with a certificate", w.Cluster)
	}
	as := "without an ARN"
	if claim.Class == hub.Managed {
		as = "as " + claim.Spoke.String()
	}
	about := fmt.Sprintf("ManagedCluster %s, by its suffix %s…%s, %s", w.Cluster, claim.Suffix[:4], claim.Suffix[len(claim.Suffix)-4:], as)
	switch {
	case arn.IsZero() && w.isAlive():
		return holds(LinkAsked, "%s", about)
	case arn.IsZero():
		return unknown(LinkAsked, "%s; the suffix was not compared, because the ClusterManager does not say the hub's ARN: add --hub-cluster-arn ARN", about)
	}
	if err := claim.Verify(arn, w.Cluster); err != nil {
		return broken(LinkAsked, w.askAgain(), "ManagedCluster %s: %s", w.Cluster, err.Error())
	}
	return holds(LinkAsked, "%s", about)
}

const acceptedCondition = "HubAcceptedManagedCluster"

// accepted is that a person has accepted the cluster, and the hub has given it its rights.
func (w walker) accepted() Finding {
	m := w.Managed
	if m.Trouble != "" || !m.Exists {
		return unknown(LinkAccepted, notYet)
	}
	seen := meta.FindStatusCondition(m.Conditions, acceptedCondition)
	switch {
	case !m.Accepted && seen != nil && seen.Reason == "HubClusterAdminDenied":
		return broken(LinkAccepted, w.accept(), "hubAcceptsClient is false: the cluster was denied")
	case !m.Accepted:
		return broken(LinkAccepted, w.accept(), "hubAcceptsClient is false")
	case seen == nil:
		return broken(LinkAccepted, hubLogs("the hub controller has to answer within a minute; if it does not, its log says why:"), "hubAcceptsClient is true, and Open Cluster Management's hub controller has not answered")
	case seen.Status != metav1.ConditionTrue:
		return broken(LinkAccepted, w.mendAccepted(seen.Message), "HubAcceptedManagedCluster is %s (%s): %s", seen.Status, seen.Reason, seen.Message)
	}
	return holds(LinkAccepted, "hubAcceptsClient is true: %s", seen.Message)
}

// Target is what there is to look at in AWS: the hub, and the name of the cluster's role in its
// account; false where the evidence names none.
func Target(e Evidence) (arn hub.ARN, role string, ok bool) {
	w := walker{e}
	arn, claim := w.whichHub(), w.claim()
	return arn, hub.RoleName(claim.Suffix), !arn.IsZero() && (claim.Class == hub.Managed || claim.Class == hub.External)
}
