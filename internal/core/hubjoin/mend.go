package hubjoin

import (
	"strings"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// accept is how a person accepts the cluster.
func (w walker) accept() []string { return []string{"tabard hub accept --clusters " + w.Cluster} }

// ask is how a cluster that the hub does not know comes to ask.
func (w walker) ask() []string {
	if w.Spoke == nil {
		return []string{"join it, or look at its agents:", "tabard hub status " + w.Cluster + " --spoke-context CONTEXT"}
	}
	return w.agentLogs("its agents run; their log says why they have not asked:")
}

// askAgain is how a cluster whose ManagedCluster is wrong asks anew. Agents do not change one that is
// there.
func (w walker) askAgain() []string {
	out := []string{"see that its Klusterlet has the ARN of this hub, " + w.hubText() + ", and delete the ManagedCluster, which its agent makes anew:"}
	if w.Managed.Accepted {
		out = append(out, "(its works on the cluster are removed with it)")
	}
	return append(out, "kubectl delete managedcluster "+w.Cluster)
}

// hubText is the hub's ARN, or what stands for it.
func (w walker) hubText() string {
	if arn := w.whichHub(); !arn.IsZero() {
		return arn.String()
	}
	return "ARN"
}

// named is the hub for a command: what the person has to fill in stands where it is not known.
func (w walker) named() hub.ARN {
	if arn := w.whichHub(); !arn.IsZero() {
		return arn
	}
	return hub.ARN{Partition: "aws", Region: "REGION", Account: "ACCOUNT", Name: "NAME"}
}

// hubLogs shows what the hub controller says.
func hubLogs(why string) []string {
	return []string{why, "kubectl -n " + hub.ControllerNamespace + " logs -l " + hub.ControllerLabel + "=" + hub.ControllerApp + " --tail=50"}
}

// mendAccepted mends what Open Cluster Management's driver has met in AWS, by its text (v1.2.1,
// pkg/registration/register/aws_irsa).
func (w walker) mendAccepted(message string) []string {
	has := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(message, text) {
				return true
			}
		}
		return false
	}
	switch {
	case has("is different from the current hub"):
		return w.askAgain()
	case has("MalformedPolicyDocument"):
		return w.spokeRole("AWS knows no role " + w.spokeRoleName() + " in the cluster's account; make it there, with its tags:")
	case has("authentication mode"):
		arn := w.named()
		return []string{
			"let the hub know access entries:",
			"aws eks update-cluster-config --region " + arn.Region + " --name " + arn.Name + " --access-config authenticationMode=API_AND_CONFIG_MAP",
		}
	case has("InvalidParameter"):
		return hubLogs("EKS may not know a new role for some minutes; the driver tries again, and its log says how often:")
	case has("AccessDenied", "not authorized", "UnauthorizedOperation", "credentials"):
		return append([]string{"Open Cluster Management's driver acts in AWS and lacks the rights."}, onlyCSR(w.Manager.Name)...)
	}
	return hubLogs("the hub controller tries again by itself; its log says more:")
}

// hubRole prints what people make in the hub's account.
func (w walker) hubRole(why string) []string {
	command := "tabard hub role " + w.Cluster + " --hub-cluster-arn " + w.hubText()
	if w.claim().Class == hub.External {
		return []string{why, command + " --issuer URL   # or --principal ARN"}
	}
	return []string{why, command}
}

// spokeRole prints what people make in the account of a cluster in EKS.
func (w walker) spokeRole(why string) []string {
	return []string{why, "tabard hub role " + w.Cluster + " --in spoke --hub-cluster-arn " + w.hubText() + " --issuer URL"}
}

func (w walker) spokeRoleName() string { return hub.SpokeRoleName(w.claim().Suffix) }

// entryAnew deletes the access entry of the role, and makes it again.
func (w walker) entryAnew(why string) []string {
	return append([]string{why, w.deleteEntry()}, w.hubRole("then make it anew, by:")...)
}

func (w walker) deleteEntry() string {
	arn := w.named()
	return "aws eks delete-access-entry --region " + arn.Region + " --cluster-name " + arn.Name + " --principal-arn " + w.roleARN()
}

// roleARN is that of the cluster's role in the hub's account.
func (w walker) roleARN() string { return w.named().RoleARN(hub.RoleName(w.claim().Suffix)) }

// agentLogs shows what the registration agent says, on the cluster itself.
func (w walker) agentLogs(why string) []string {
	if w.Spoke == nil {
		return []string{why, "tabard hub status " + w.Cluster + " --spoke-context CONTEXT"}
	}
	selector := "'app in (" + registrationApp + ", " + singletonApp + ")'"
	return []string{why, "kubectl -n " + w.agentNamespace() + " logs -l " + selector + " --all-containers --tail=50"}
}
