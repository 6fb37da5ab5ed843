package hubjoin

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

// row is a change of a join that works, with the link that it breaks, a part of what is said of
// it, and a part of what mends it.
type row struct {
	of               func() Evidence
	change           func(*Evidence)
	link, says, mend string
}

func (r row) check(t *testing.T) {
	t.Helper()
	e := r.of()
	r.change(&e)
	findings := Walk(e)
	first, is := First(findings)
	mend := strings.Join(first.Mend, "\n")
	if !is || first.Link != r.link || !strings.Contains(first.Text, r.says) || !strings.Contains(mend, r.mend) {
		t.Errorf("broken is %t %s: %s\nmend: %s\nwant %s: %s\nmend: %s", is, first.Link, first.Text, mend, r.link, r.says, r.mend)
	}
	at := slices.IndexFunc(findings, func(f Finding) bool { return f.Link == r.link })
	for _, f := range findings[at+1:] {
		if f.State != Waits || !strings.HasPrefix(f.Text, "waits for the above") || len(f.Mend) > 0 {
			t.Errorf("behind it: %+v", f)
		}
	}
}

// acceptedSays is what Open Cluster Management's hub controller has met in AWS.
func acceptedSays(message string) func(*Evidence) {
	return func(e *Evidence) {
		e.Managed.Conditions = []metav1.Condition{state("HubAcceptedManagedCluster", "False", "Error", message)}
	}
}

func theirDriver() Evidence {
	e := cluster1()
	e.Controller = Controller{Name: "tabard-system/tabard-hub"}
	e.Manager.Seen = hub.ClusterManager{Drivers: []hub.Driver{{AuthType: "awsirsa", HubARN: hubARN}}, Pods: []hub.Pod{acting()}}
	return e
}

func acting() hub.Pod {
	return hub.Pod{Name: "hub-1", Controller: true, Commands: [][]string{{"/registration", "controller", "--enabled-registration-drivers=csr,awsirsa"}}}
}

func lookedNotIn() Evidence { return looked(notIn(onprem())) }

func podWaits(container, reason string) func(*Evidence) {
	return func(e *Evidence) {
		e.Spoke.PodsSeen[0].Waiting = []podstatus.Waiting{{Container: container, Reason: reason, Message: "as the kubelet says"}}
	}
}

// TestTheFailureModes: each failure mode of Open Cluster Management's awsirsa registration that the
// objects show, with what mends it.
func TestTheFailureModes(t *testing.T) {
	for name, r := range map[string]row{
		"the hub's ARN at join was another, as the driver says": {theirDriver, acceptedSays("HubClusterARN provided during join by ManagedCluster cluster1 is different from the current hub cluster"), LinkAccepted, "is different from", "kubectl delete managedcluster cluster1"},
		"the hub's ARN at join was another, by the suffix":      {onprem, func(e *Evidence) { e.Managed.Annotations[hub.SuffixAnnotation] = suffixA }, LinkAsked, "must be " + suffixB, "kubectl delete managedcluster onprem-1"},
		"the hub's ARN at join was another, by the Klusterlet":  {func() Evidence { return withSpoke(onprem()) }, func(e *Evidence) { e.Spoke.Klusterlet.HubARN = spokeARN }, LinkKlusterlet, "was joined to another hub", `"hubClusterArn":"` + hubARN + `"`},
		"the role of the cluster's own account is missing":      {theirDriver, acceptedSays("operation error IAM: CreateRole, MalformedPolicyDocument: Invalid principal in policy"), LinkAccepted, "MalformedPolicyDocument", "tabard hub role cluster1 --in spoke"},
		"that role is missing, and Tabard makes the other":      {cluster1, recordSays("SpokeRoleMissing"), LinkAccess, "SpokeRoleMissing", "tabard hub role cluster1 --in spoke"},
		"EKS does not know a new role":                          {theirDriver, acceptedSays("CreateAccessEntry, InvalidParameterException: The specified principalArn is invalid"), LinkAccepted, "InvalidParameter", "kubectl -n open-cluster-management-hub logs"},
		"the acceptance hangs":                                  {cluster1, func(e *Evidence) { e.Managed.Conditions = nil }, LinkAccepted, "has not answered", "kubectl -n open-cluster-management-hub logs"},
		"the hub controller may not make access entries":        {theirDriver, acceptedSays("CreateAccessEntry, StatusCode: 403, AccessDeniedException"), LinkAccepted, "AccessDenied", `"registrationDrivers":[{"authType":"csr"}]`},
		"the hub knows no access entries":                       {theirDriver, acceptedSays("The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP]"), LinkAccepted, "authentication mode", "aws eks update-cluster-config --region us-west-2 --name eks-hub"},
		"401: there is no access entry":                         {lookedNotIn, func(e *Evidence) { e.AWS.Entry = Entry{} }, LinkAccess, "no access entry", "tabard hub role onprem-1 --hub-cluster-arn " + hubARN},
		"401: the entry is of a former role": {lookedNotIn, func(e *Evidence) { e.AWS.Entry.Tags = map[string]string{hub.RoleTag: "AROA1"} }, LinkAccess, "former role of the name (AROA1)",
			"aws eks delete-access-entry --region us-west-2 --cluster-name eks-hub --principal-arn arn:aws:iam::111111111111:role/ocm-hub-" + suffixB},
		"401: the clock, or a token of before":            {func() Evidence { return withSpoke(lookedNotIn()) }, func(*Evidence) {}, LinkJoined, "have not come in", "15 minutes off"},
		"AssumeRole: the tags of the cluster's own role":  {func() Evidence { return withSpoke(notIn(cluster1())) }, func(*Evidence) {}, LinkJoined, "have not come in", "tabard hub role cluster1 --in spoke"},
		"AssumeRole: another suffix":                      {cluster1, func(e *Evidence) { e.Managed.Annotations[hub.SuffixAnnotation] = suffixB }, LinkAsked, "must be " + suffixA, "kubectl delete managedcluster cluster1"},
		"a pod is stuck: the Secret is missing":           {func() Evidence { return withSpoke(onprem()) }, func(e *Evidence) { e.Spoke.Secret = Secret{} }, LinkIdentity, "no Secret iam-config", "create secret generic iam-config --from-file=config"},
		"a pod is stuck: the image of AWS's command line": {unlabelled, podWaits("load-awscli", "ImagePullBackOff"), LinkAgents, "load-awscli", "kubectl label namespace open-cluster-management-agent tabard.dev/ocm=enabled"},
		"a pod was made before its ServiceAccount's role": {func() Evidence { return withSpoke(cluster1()) }, func(e *Evidence) { e.Spoke.PodsSeen[0].Identity = false }, LinkAgents, "no identity of AWS", "delete pod reg-1"},
		"their driver panics at a cluster without an ARN": {onprem, func(e *Evidence) { e.Manager.Seen.Pods = []hub.Pod{acting()} }, LinkHub, "panics", "kubectl patch clustermanager cluster-manager"},
	} {
		t.Run(name, r.check)
	}
}

// unlabelled is a cluster in EKS whose agents the admission hook is not asked about.
func unlabelled() Evidence {
	e := withSpoke(cluster1())
	e.Spoke.Labelled = false
	return e
}

func recordSays(reason string) func(*Evidence) {
	return func(e *Evidence) {
		e.Record.Conditions = []metav1.Condition{state("Ready", "False", reason, "the message")}
	}
}

func TestTheFirstBrokenLinkOnTheHub(t *testing.T) {
	denied := state("HubAcceptedManagedCluster", "False", "HubClusterAdminDenied", "Denied by hub cluster admin")
	for name, r := range map[string]row{
		"no hub":                       {onprem, func(e *Evidence) { e.Manager = Manager{Read: Read{Unserved: true}} }, LinkHub, "does not know ClusterManagers", "--context"},
		"no ClusterManager":            {onprem, func(e *Evidence) { e.Manager = Manager{} }, LinkHub, "no ClusterManager", "tabard hub init"},
		"nobody knows who makes roles": {cluster1, func(e *Evidence) { e.Manager.Seen.HasField = false }, LinkHub, "tabard hub fields --apply", "kubectl get hubaccesses"},
		"two ARNs of the hub": {cluster1, func(e *Evidence) {
			e.Manager.Seen.Drivers = []hub.Driver{{AuthType: "awsirsa", HubARN: spokeARN}}
			e.Manager.Seen.Pods = idle()
		}, LinkHub, "correct one of both", "tabard hub bootstrap"},
		"another hub than is said":               {theirDriver, func(e *Evidence) { e.HubARN.Account = "333333333333" }, LinkHub, "the hub says that it is " + hubARN, "leave --hub-cluster-arn out"},
		"disabled, and done all the same":        {theirDriver, func(e *Evidence) { e.Manager.Seen.Drivers[0].DisableManagedIAM = true }, LinkHub, "all the same", "kubectl patch clustermanager cluster-manager"},
		"nobody has asked":                       {onprem, func(e *Evidence) { e.Managed = ManagedCluster{} }, LinkAsked, "no ManagedCluster onprem-1", "--spoke-context"},
		"nobody has asked, and the agents run":   {func() Evidence { return withSpoke(onprem()) }, func(e *Evidence) { e.Managed = ManagedCluster{} }, LinkAsked, "no ManagedCluster onprem-1", "logs -l 'app in ("},
		"it goes":                                {onprem, func(e *Evidence) { e.Managed.Deleting, e.Managed.Finalizers = true, []string{"a/b"} }, LinkAsked, "a/b", "kubectl wait --for=delete managedcluster/onprem-1"},
		"annotations that cannot be read":        {onprem, func(e *Evidence) { e.Managed.Annotations[hub.SuffixAnnotation] = "x" }, LinkAsked, "must be 32", "kubectl delete managedcluster onprem-1"},
		"it was made before it joined with AWS":  {func() Evidence { return withSpoke(onprem()) }, func(e *Evidence) { e.Managed.Annotations = nil }, LinkAsked, "made before", "kubectl delete managedcluster onprem-1"},
		"not accepted":                           {onprem, func(e *Evidence) { e.Managed.Accepted, e.Managed.Conditions = false, nil }, LinkAccepted, "hubAcceptsClient is false", "tabard hub accept --clusters onprem-1"},
		"denied":                                 {onprem, func(e *Evidence) { e.Managed.Accepted, e.Managed.Conditions = false, []metav1.Condition{denied} }, LinkAccepted, "was denied", "tabard hub accept --clusters onprem-1"},
		"another error of the hub controller":    {onprem, acceptedSays("namespace is terminating"), LinkAccepted, "terminating", "logs -l app=clustermanager-registration-controller"},
		"no HubAccess":                           {cluster1, func(e *Evidence) { e.Record = Record{} }, LinkAccess, "no HubAccess cluster1", "kubectl -n tabard-system get pods"},
		"a HubAccess without a condition":        {cluster1, func(e *Evidence) { e.Record.Conditions = nil }, LinkAccess, "no condition Ready", "kubectl -n tabard-system get pods"},
		"no role":                                {lookedNotIn, func(e *Evidence) { e.AWS.Role = Role{} }, LinkAccess, "there is no role arn:aws:iam::111111111111:role/ocm-hub-" + suffixB, "tabard hub role onprem-1"},
		"another trust policy":                   {func() Evidence { return looked(byHand(notIn(cluster1()))) }, func(e *Evidence) { e.AWS.Role.Trust = "{}" }, LinkAccess, "trust policy", "tabard hub role cluster1"},
		"an entry of another type":               {lookedNotIn, func(e *Evidence) { e.AWS.Entry.Type = "EC2_LINUX" }, LinkAccess, "EC2_LINUX", "delete-access-entry"},
		"an entry of another user":               {lookedNotIn, func(e *Evidence) { e.AWS.Entry.Username = "other" }, LinkAccess, `"other"`, "delete-access-entry"},
		"an entry without the group":             {lookedNotIn, func(e *Evidence) { e.AWS.Entry.Groups = nil }, LinkAccess, "open-cluster-management:onprem-1", "delete-access-entry"},
		"not in, and AWS was not looked at":      {func() Evidence { return notIn(onprem()) }, func(*Evidence) {}, LinkJoined, "have not come in", "tabard hub status onprem-1 --aws"},
		"not in, and Tabard made the role":       {func() Evidence { return notIn(cluster1()) }, func(*Evidence) {}, LinkJoined, "have not come in", "--spoke-context"},
		"not in, with a certificate":             {func() Evidence { return notIn(onprem()) }, func(e *Evidence) { e.Managed.Annotations = nil }, LinkJoined, "have not come in", "kubectl get csr"},
		"the lease is not renewed":               {onprem, stopped, LinkAvailable, "renewed 10m0s ago", "--spoke-context"},
		"the lease is not renewed, by the agent": {func() Evidence { return withSpoke(onprem()) }, stopped, LinkAvailable, "stopped updating", "tabard hub status onprem-1 --aws"},
		"nobody looks at the lease":              {cluster1, func(e *Evidence) { e.Lease.Renewed = now.Add(-time.Hour) }, LinkAvailable, "and yet", "open-cluster-management-hub logs"},
		"it never reported":                      {cluster1, func(e *Evidence) { e.Managed.Conditions = alive()[:2] }, LinkAvailable, "is not there", "--spoke-context"},
		"a work is not applied":                  {onprem, func(e *Evidence) { e.Works = Works{there, 3, 2, "app", "no kind Foo"} }, LinkWorks, "2 of 3 ManifestWorks are applied; app is not: no kind Foo", "kubectl -n onprem-1 get manifestwork app"},
		"a work is not taken":                    {onprem, func(e *Evidence) { e.Works = Works{there, 1, 0, "app", ""} }, LinkWorks, "has not taken it", "get manifestwork app"},
	} {
		t.Run(name, r.check)
	}
}

func idle() []hub.Pod {
	return []hub.Pod{{Name: "hub-1", Controller: true, Commands: [][]string{{"/registration", "controller"}}}}
}

func byHand(e Evidence) Evidence {
	e.Controller = Controller{Name: "tabard-system/tabard-hub"}
	return e
}

func stopped(e *Evidence) {
	e.Managed.Conditions = append(alive()[:2], state("ManagedClusterConditionAvailable", "Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease."))
	e.Lease.Renewed = now.Add(-10 * time.Minute)
}

func TestTheFirstBrokenLinkOnTheJoiningCluster(t *testing.T) {
	both := func() Evidence { return withSpoke(onprem()) }
	eks := func() Evidence { return withSpoke(cluster1()) }
	klusterlet := func(change func(*Klusterlet)) func(*Evidence) {
		return func(e *Evidence) { change(&e.Spoke.Klusterlet) }
	}
	for name, r := range map[string]row{
		"no kind":                  {both, klusterlet(func(k *Klusterlet) { k.Read = Read{Unserved: true} }), LinkKlusterlet, "not installed", "tabard hub join"},
		"no Klusterlet":            {both, klusterlet(func(k *Klusterlet) { k.Read = Read{} }), LinkKlusterlet, "no Klusterlet klusterlet", "--klusterlet-name"},
		"it goes":                  {both, klusterlet(func(k *Klusterlet) { k.Deleting = true }), LinkKlusterlet, "being deleted", "kubectl wait --for=delete klusterlet/klusterlet"},
		"another name":             {both, klusterlet(func(k *Klusterlet) { k.ClusterName = "onprem-2" }), LinkKlusterlet, `joins as "onprem-2"`, "tabard hub status onprem-2"},
		"a name that is none":      {both, klusterlet(func(k *Klusterlet) { k.ClusterName = "a; reboot" }), LinkKlusterlet, `joins as "a; reboot"`, "tabard hub status NAME"},
		"no name, outside EKS":     {both, klusterlet(func(k *Klusterlet) { k.ClusterName = "" }), LinkKlusterlet, "spec.clusterName is empty", `"clusterName":"onprem-1"`},
		"two sources of identity":  {both, klusterlet(func(k *Klusterlet) { k.HubRole = ocmhook.WebIdentity }), LinkKlusterlet, "remove one of both", "kubectl edit klusterlet klusterlet"},
		"the hook has not seen it": {both, klusterlet(func(k *Klusterlet) { k.ManagedARN = "" }), LinkKlusterlet, "has not seen it", "--set ocm.enabled=true"},
		"no label":                 {both, func(e *Evidence) { e.Spoke.Labelled = false }, LinkKlusterlet, "lacks the label tabard.dev/ocm=enabled", "kubectl label namespace open-cluster-management-agent tabard.dev/ocm=enabled"},
		"their operator is refused": {eks, klusterlet(func(k *Klusterlet) {
			k.Condition = &metav1.Condition{Type: "Applied", Status: "False", Message: "forbidden"}
		}), LinkKlusterlet, "forbidden", "kubectl -n open-cluster-management logs"},
		"a Secret without its keys":  {both, func(e *Evidence) { e.Spoke.Secret.Keys = []string{"key"} }, LinkIdentity, `"key"`, "kubectl -n open-cluster-management-agent delete secret iam-config\nkubectl -n open-cluster-management-agent create secret"},
		"no pod":                     {both, func(e *Evidence) { e.Spoke.PodsSeen = e.Spoke.PodsSeen[1:] }, LinkAgents, "no pod of the registration agent", "get deployments"},
		"a pod that ends":            {both, podWaits("registration-controller", "CrashLoopBackOff"), LinkAgents, "CrashLoopBackOff as the kubelet says", "logs reg-1 -c registration-controller --previous"},
		"a pod that waits":           {both, podWaits("registration-controller", "ContainerCreating"), LinkAgents, "ContainerCreating", "describe pod reg-1"},
		"the image of Tabard's own":  {both, podWaits("load-awscli", "ImagePullBackOff"), LinkAgents, "ImagePullBackOff", "describe pod reg-1"},
		"a pod that is placed by no": {both, func(e *Evidence) { e.Spoke.PodsSeen[0].Phase = "Pending" }, LinkAgents, "is Pending", "describe pod reg-1"},
		"a pod that is not ready":    {both, func(e *Evidence) { e.Spoke.PodsSeen[1].Ready = false }, LinkAgents, "not ready", "logs work-1"},
	} {
		t.Run(name, r.check)
	}
}

// TestEachReasonOfAHubAccessHasWhatMendsIt: also one of a version that is not known.
func TestEachReasonOfAHubAccessHasWhatMendsIt(t *testing.T) {
	reasons := []string{"OfALaterVersion"}
	for _, each := range hubaccess.Reference().Reasons {
		reasons = append(reasons, string(each.Reason))
	}
	for _, reason := range reasons {
		e := cluster1()
		recordSays(reason)(&e)
		first, is := First(Walk(e))
		if !is || first.Link != LinkAccess || len(first.Mend) == 0 || slices.Contains(first.Mend, "") {
			t.Errorf("%s: %+v", reason, first)
		}
	}
	for reason, command := range map[string]string{
		"AccessDenied": "tabard hub bootstrap --hub-cluster-arn " + hubARN, "NotAuthenticated": "tabard hub bootstrap", "EntryNotOurs": "aws eks delete-access-entry",
		"RoleNotOurs": "aws iam delete-role --role-name ocm-hub-" + suffixA, "AnnotationsChanged": "tabard hub accept --clusters cluster1", "AnnotationsMismatched": "kubectl delete managedcluster cluster1",
		"ActedOnByOCM": "kubectl patch clustermanager",
	} {
		row{cluster1, recordSays(reason), LinkAccess, reason, command}.check(t)
	}
}
