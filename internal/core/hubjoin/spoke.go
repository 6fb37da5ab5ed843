package hubjoin

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

// The label app of the agents' pods (v1.2.1, manifests/klusterlet/management).
const (
	registrationApp = "klusterlet-registration-agent"
	workApp         = "klusterlet-manifestwork-agent"
	singletonApp    = "klusterlet-agent"
)

// AgentApps are the values of the label app of the agents' pods.
func AgentApps() []string { return []string{registrationApp, workApp, singletonApp} }

// loader is the init container that fetches the command line of AWS.
const loader = "load-awscli"

// agentNamespace is where the agents run.
func (w walker) agentNamespace() string { return w.Spoke.Klusterlet.Klusterlet.Namespace }

// onSpoke is for commands that are meant for the joining cluster.
const onSpoke = "on the joining cluster:"

// klusterlet is that the Klusterlet leads to this hub, under this name.
func (w walker) klusterlet() Finding {
	k := w.Spoke.Klusterlet
	const link = LinkKlusterlet
	about := fmt.Sprintf("Klusterlet %s, agents in %s", k.Name, k.Klusterlet.Namespace)
	switch {
	case k.Trouble != "":
		return k.unread(link, "the Klusterlet")
	case k.Unserved:
		return broken(link, []string{"choose the joining cluster with --spoke-context, or join it with tabard hub join"}, "the joining cluster does not know Klusterlets: Open Cluster Management is not installed in it")
	case !k.Exists:
		return broken(link, []string{"choose the joining cluster with --spoke-context or another Klusterlet with --klusterlet-name, or join it with tabard hub join"}, "the joining cluster has no Klusterlet %s", k.Name)
	case k.Deleting:
		return broken(link, []string{onSpoke, "kubectl wait --for=delete klusterlet/" + k.Name + " --timeout=10m"}, "the Klusterlet %s is being deleted", k.Name)
	case k.ClusterName != "" && k.ClusterName != w.Cluster:
		return broken(link, []string{"choose its own cluster with --spoke-context, or look at the other one:", "tabard hub status " + quotedName(k.ClusterName)}, "%s joins as %q, and not as %s", about, k.ClusterName, w.Cluster)
	case k.AuthType != hub.DriverAWS:
		return holds(link, "%s, joins with %s", about, orElse(k.AuthType, "csr"))
	}
	return w.awsKlusterlet(about)
}

// awsKlusterlet is a Klusterlet of the driver for AWS.
func (w walker) awsKlusterlet(about string) Finding {
	k, arn := w.Spoke.Klusterlet, w.whichHub()
	const link = LinkKlusterlet
	patch := func(fields string) []string {
		return []string{onSpoke, "kubectl patch klusterlet " + k.Name + " --type=merge -p '" + fields + "'"}
	}
	fault := k.Fault()
	switch {
	case fault != "" && k.ClusterName == "" && k.HasNoARN():
		return broken(link, patch(`{"spec":{"clusterName":"`+w.Cluster+`"}}`), "%s: %s", about, fault)
	case !arn.IsZero() && k.HubARN != arn.String():
		return broken(link, patch(`{"spec":{"registrationConfiguration":{"registrationDriver":{"awsIrsa":{"hubClusterArn":"`+arn.String()+`"}}}}}`),
			"%s has the hub's ARN %.200q, and must have %s: the cluster was joined to another hub, or this one was made anew", about, k.HubARN, arn)
	case fault != "":
		return broken(link, []string{"correct it " + onSpoke, "kubectl edit klusterlet " + k.Name}, "%s: %s", about, fault)
	case k.ManagedARN == "":
		return broken(link, []string{"turn the admission hook on there, and write the Klusterlet again:", "helm upgrade tabard charts/tabard --namespace tabard-system --reset-then-reuse-values --set ocm.enabled=true", "kubectl annotate klusterlet " + k.Name + " tabard.dev/seen=yes --overwrite"},
			"%s has no ARN, and their operator cannot read that: the admission hook has not seen it", about)
	case k.HasNoARN() && w.Spoke.Namespace.Trouble != "":
		return w.Spoke.Namespace.unread(link, "the namespace "+w.agentNamespace())
	case k.HasNoARN() && !w.Spoke.Labelled:
		return broken(link, w.label(), "%s has no ARN, and the namespace lacks the label %s=%s, by which the admission hook is asked about the agents", about, hub.HookLabel, hub.HookLabelValue)
	case k.Condition != nil && k.Condition.Status != metav1.ConditionTrue:
		return broken(link, []string{onSpoke, "kubectl -n open-cluster-management logs -l app=klusterlet --tail=50"}, "%s: %s is %s: %s", about, k.Condition.Type, k.Condition.Status, k.Condition.Message)
	case k.HasNoARN():
		return holds(link, "%s, without an ARN, to the hub %s", about, k.HubARN)
	}
	return holds(link, "%s, as %s, to the hub %s", about, k.ManagedARN, k.HubARN)
}

// label has the admission hook asked about the agents, whose pods are made anew.
func (w walker) label() []string {
	return []string{
		onSpoke, "kubectl label namespace " + w.agentNamespace() + " " + hub.HookLabel + "=" + hub.HookLabelValue,
		"kubectl -n " + w.agentNamespace() + " delete pods -l 'app in (" + strings.Join(AgentApps(), ", ") + ")'",
	}
}

// identity is that the agents have an identity of AWS to begin with.
func (w walker) identity() Finding {
	k, secret := w.Spoke.Klusterlet, w.Spoke.Secret
	const link = LinkIdentity
	where := k.IAMConfigSecret + " of the namespace " + k.Klusterlet.Namespace
	create := []string{onSpoke, "kubectl -n " + k.Klusterlet.Namespace + " create secret generic " + k.IAMConfigSecret + " --from-file=config --from-file=credentials"}
	switch {
	case k.Trouble != "" || !k.Exists:
		return unknown(link, notYet)
	case k.AuthType != hub.DriverAWS:
		return holds(link, "needs none of AWS")
	case k.HubRole == ocmhook.WebIdentity:
		return holds(link, "the tokens of the agents' ServiceAccounts")
	case k.IAMConfigSecret == "" && k.HasNoARN():
		return holds(link, "what the agents find by themselves: the Klusterlet names no iamConfigSecret, and lacks the annotation %s=%s", ocmhook.HubRoleAnnotation, ocmhook.WebIdentity)
	case k.IAMConfigSecret == "":
		return holds(link, "the role of its own account, by the ServiceAccounts of the agents")
	case secret.Trouble != "":
		return secret.unread(link, "the Secret "+where)
	case !secret.Exists:
		return broken(link, create, "there is no Secret %s, so the agents' pods cannot start", where)
	case !slices.Contains(secret.Keys, "config") && !slices.Contains(secret.Keys, "credentials"):
		return broken(link, slices.Insert(create, 1, "kubectl -n "+k.Klusterlet.Namespace+" delete secret "+k.IAMConfigSecret), "the Secret %s has the keys %q, and must have config or credentials", where, secret.Keys)
	}
	return holds(link, "the Secret %s has %s", where, strings.Join(secret.Keys, ", "))
}

// agents is that the agents run.
func (w walker) agents() Finding {
	s := w.Spoke
	const link = LinkAgents
	switch {
	case s.Klusterlet.Trouble != "" || !s.Klusterlet.Exists:
		return unknown(link, notYet)
	case s.Pods.Trouble != "":
		return s.Pods.unread(link, "the pods of the namespace "+w.agentNamespace())
	case !slices.ContainsFunc(s.PodsSeen, func(p Pod) bool { return p.App != workApp }):
		return broken(link, []string{onSpoke, "kubectl -n " + w.agentNamespace() + " get deployments,replicasets,events", "kubectl -n open-cluster-management logs -l app=klusterlet --tail=50"}, "no pod of the registration agent is in the namespace %s", w.agentNamespace())
	}
	var names []string
	for _, pod := range s.PodsSeen {
		if f := w.pod(pod); f != nil {
			return *f
		}
		names = append(names, pod.Name)
	}
	return holds(link, "run: %s", strings.Join(names, ", "))
}

// pod says what is wrong with a pod; nil for nothing.
func (w walker) pod(p Pod) *Finding {
	kubectl := "kubectl -n " + w.agentNamespace()
	wrong := func(mend, format string, args ...any) *Finding {
		f := broken(LinkAgents, []string{onSpoke, mend}, format, args...)
		return &f
	}
	switch {
	case len(p.Waiting) > 0:
		f := w.waiting(p, p.Waiting[0])
		return &f
	case p.Phase != "Running":
		return wrong(kubectl+" describe pod "+p.Name, "the pod %s is %s", p.Name, orElse(p.Phase, "not placed"))
	case w.Spoke.Klusterlet.AuthType == hub.DriverAWS && p.App != workApp && !p.Identity && w.hasSource():
		return wrong(kubectl+" delete pod "+p.Name, "the pod %s has no identity of AWS: it was made before its ServiceAccount had a role, or while the webhook that gives it was away", p.Name)
	case !p.Ready:
		return wrong(kubectl+" logs "+p.Name+" --all-containers --tail=50", "the pod %s runs and is not ready", p.Name)
	}
	return nil
}

// waiting is a container that does not run.
func (w walker) waiting(p Pod, c podstatus.Waiting) Finding {
	kubectl := "kubectl -n " + w.agentNamespace()
	mend := []string{onSpoke, kubectl + " describe pod " + p.Name}
	switch {
	case c.Container == loader && strings.Contains(c.Reason, "Image") && !w.Spoke.Labelled:
		mend = append([]string{"let the admission hook put Tabard's own image in the place of that of AWS:"}, w.label()...)
	case c.Reason == "CrashLoopBackOff" || c.Reason == "Error":
		mend = []string{onSpoke, kubectl + " logs " + p.Name + " -c " + c.Container + " --previous"}
	}
	return broken(LinkAgents, mend, "the container %s of the pod %s waits: %s", c.Container, p.Name, strings.TrimSpace(c.Reason+" "+c.Message))
}

// hasSource says that the Klusterlet names where its agents have their identity from.
func (w walker) hasSource() bool {
	k := w.Spoke.Klusterlet
	return k.IAMConfigSecret != "" || k.HubRole == ocmhook.WebIdentity || !k.HasNoARN()
}

// quotedName is a name for a command, if it is one.
func quotedName(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return "NAME"
	}
	return text
}
