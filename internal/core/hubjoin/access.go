package hubjoin

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
)

// access is that the cluster's role is there, and is the cluster on the hub.
func (w walker) access() Finding {
	m, claim := w.Managed, w.claim()
	who, _ := w.maker()
	switch {
	case m.Trouble != "" || !m.Exists || !m.Accepted || claim.Class == hub.Malformed:
		return unknown(LinkAccess, notYet)
	case claim.Class == hub.Foreign:
		return holds(LinkAccess, "needs no role: it joins with a certificate")
	case who == unclear:
		return unknown(LinkAccess, notYet)
	case who == tabard && claim.Class == hub.Managed:
		return w.recorded()
	case who == theirs && claim.Class == hub.Managed && !meta.IsStatusConditionTrue(m.Conditions, acceptedCondition):
		return unknown(LinkAccess, notYet)
	case who == theirs && claim.Class == hub.Managed && w.AWS == nil:
		return holds(LinkAccess, "Open Cluster Management's driver made the role, as it says by HubAcceptedManagedCluster")
	}
	return w.inAWS()
}

// recorded is the access as the HubAccess has it.
func (w walker) recorded() Finding {
	r := w.Record
	waits := []string{"see that Tabard's controller runs:", "kubectl -n " + controllerNamespace(w.Controller.Name) + " get pods -l app.kubernetes.io/component=hub"}
	ready := meta.FindStatusCondition(r.Conditions, hubaccess.TypeReady)
	switch {
	case r.Trouble != "":
		return r.unread(LinkAccess, "the HubAccess "+w.Cluster)
	case !r.Exists:
		return broken(LinkAccess, waits, "there is no HubAccess %s: Tabard's controller has not looked at the cluster", w.Cluster)
	case ready == nil:
		return broken(LinkAccess, waits, "the HubAccess %s has no condition %s: Tabard's controller has not looked at it", w.Cluster, hubaccess.TypeReady)
	case ready.Status == metav1.ConditionTrue:
		return holds(LinkAccess, "HubAccess %s: %s: %s", w.Cluster, ready.Reason, ready.Message)
	}
	return broken(LinkAccess, w.mendRecord(hubaccess.Reason(ready.Reason)), "HubAccess %s: %s: %s", w.Cluster, ready.Reason, ready.Message)
}

// mendRecord is what the reason of a HubAccess asks for.
func (w walker) mendRecord(reason hubaccess.Reason) []string {
	switch reason {
	case hubaccess.ReasonSpokeRoleMissing:
		return w.spokeRole(remedy(reason))
	case hubaccess.ReasonNotAuthenticated, hubaccess.ReasonAccessDenied, hubaccess.ReasonHubARNMissing:
		return []string{remedy(reason), "tabard hub bootstrap --hub-cluster-arn " + w.hubText()}
	case hubaccess.ReasonActedOnByOCM:
		return onlyCSR(w.Manager.Name)
	case hubaccess.ReasonEntryNotOurs:
		return []string{remedy(reason), w.deleteEntry()}
	case hubaccess.ReasonRoleNotOurs:
		return []string{remedy(reason), w.deleteEntry(), "aws iam delete-role --role-name " + hub.RoleName(w.claim().Suffix)}
	case hubaccess.ReasonAnnotationsMalformed, hubaccess.ReasonAnnotationsMismatched:
		return w.askAgain()
	case hubaccess.ReasonAnnotationsChanged:
		return append([]string{
			remedy(reason), "kubectl patch managedcluster " + w.Cluster + ` --type=merge -p '{"spec":{"hubAcceptsClient":false}}'`,
			"kubectl wait --for=delete hubaccess/" + w.Cluster + " --timeout=10m",
		}, w.accept()...)
	}
	return []string{remedy(reason)}
}

// remedy is that of a reason, as its reference has it.
func remedy(reason hubaccess.Reason) string {
	known := hubaccess.Reference().Reasons
	at := slices.IndexFunc(known, func(e condition.Explanation) bool { return e.Reason == reason })
	if at < 0 {
		return "Follow the message of the HubAccess."
	}
	return known[at].Remedy
}

// inAWS is the access as people made it.
func (w walker) inAWS() Finding {
	arn, aws := w.whichHub(), w.AWS
	role := w.roleARN()
	switch {
	case aws == nil && w.isAlive():
		return holds(LinkAccess, "the agents come in with it; AWS itself was not looked at (--aws does)")
	case aws == nil:
		return unknown(LinkAccess, "AWS was not looked at: add --aws to look at the role and its access entry with your own session")
	case arn.IsZero():
		return unknown(LinkAccess, "the ClusterManager does not say the hub's ARN, and the role is found by it: add --hub-cluster-arn ARN")
	case aws.Trouble != "":
		return unknown(LinkAccess, "AWS could not be asked: %s", aws.Trouble)
	case aws.Account != arn.Account:
		return unknown(LinkAccess, "your session is of account %s, and the role is in account %s: sign in there", aws.Account, arn.Account)
	case aws.Role.Trouble != "":
		return unknown(LinkAccess, "the role %s could not be read, which needs the right iam:GetRole: %s", role, aws.Role.Trouble)
	case !aws.Role.Exists:
		return broken(LinkAccess, w.hubRole("in account "+arn.Account+", run what this prints:"), "there is no role %s", role)
	case w.claim().Class == hub.Managed && !w.isAlive() && !hub.SamePolicy(aws.Role.Trust, hub.Trust(arn, w.claim().Spoke, w.claim().Suffix)):
		return broken(LinkAccess, w.hubRole("compare its trust policy with the one that this prints:"), "the trust policy of %s is not the wanted one, so the agents cannot become it", role)
	}
	return w.entry(aws.Entry, aws.Role.ID)
}

// entry is the access entry of the role, as it shall be.
func (w walker) entry(entry Entry, id string) Finding {
	role, group := w.roleARN(), hub.Group(w.Cluster)
	bound := entry.Tags[hub.RoleTag]
	switch {
	case entry.Trouble != "":
		return unknown(LinkAccess, "the access entry of %s could not be read, which needs the right eks:DescribeAccessEntry: %s", role, entry.Trouble)
	case !entry.Exists:
		return broken(LinkAccess, w.hubRole("in account "+w.whichHub().Account+", run what this prints:"), "the role %s has no access entry on the hub, so its tokens are refused (401)", role)
	case bound != "" && bound != id:
		return broken(LinkAccess, w.entryAnew("delete it:"), "the access entry of %s was made for a former role of the name (%s), so the tokens of this one (%s) are refused (401)", role, bound, id)
	case entry.Type != hubaccess.Standard:
		return broken(LinkAccess, w.entryAnew("delete it:"), "the access entry of %s is of the type %s, and must be %s", role, entry.Type, hubaccess.Standard)
	case entry.Username != w.Cluster || !slices.Contains(entry.Groups, group):
		return broken(LinkAccess, w.entryAnew("delete it:"), "the access entry of %s has the username %q and the groups %q, and must have %q and %q", role, entry.Username, entry.Groups, w.Cluster, group)
	}
	return holds(LinkAccess, "the role %s is %s on the hub, in the group %s", role, w.Cluster, group)
}

// controllerNamespace is that of NAMESPACE/NAME.
func controllerNamespace(name string) string {
	namespace, _, _ := strings.Cut(name, "/")
	return namespace
}
