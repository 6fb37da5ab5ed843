package main

import (
	"fmt"
	"slices"
	"strings"
)

// power is a right by which something is taken whatever the object says.
type power struct {
	group, version, resource, sub string
	verbs                         []string
	to, how                       string
}

// wide is every verb by which something is done.
var wide = append(slices.Clone(writing), "get")

// powers are judged by their verb and resource alone.
var powers = []power{
	{"rbac.authorization.k8s.io", "v1", "roles", "", append(writing, "escalate", "bind"), everybody, "rights that it gives away"},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", "", append(writing, "escalate", "bind"), everybody, "rights that it gives away"},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "", writing, everybody, "rights that it gives itself"},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "", writing, everybody, "rights that it gives itself"},
	{"", "v1", "users", "", []string{"impersonate"}, everybody, "a name that it speaks in"},
	{"", "v1", "groups", "", []string{"impersonate"}, everybody, "a group that it speaks for"},
	{"authentication.k8s.io", "v1", "uids", "", []string{"impersonate"}, everybody, "a name that it speaks in"},
	{"authentication.k8s.io", "v1", "userextras", "", []string{"impersonate"}, everybody, "a name that it speaks in"},
	{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "", writing, everybody, "policies that hold it no more"},
	{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "", writing, everybody, "policies that hold it no more"},
	{"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "", writing, everybody, "a policy that changes each pod"},
	{"admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "", writing, everybody, "a policy that changes each pod"},
	{"certificates.k8s.io", "v1", "certificatesigningrequests", "approval", writing, everybody, "a client certificate"},
	{"certificates.k8s.io", "v1", "certificatesigningrequests", "status", writing, everybody, "a client certificate"},
	{"certificates.k8s.io", "v1", "signers", "", []string{"approve", "sign", "attest"}, everybody, "a client certificate"},
	{"", "v1", "nodes", "", writing, everybody, "a node of its own"},
	{"", "v1", "nodes", "status", writing, everybody, "a node that it leads elsewhere"},
	{"", "v1", "nodes", "proxy", wide, everybody, "the kubelet, which runs commands in all pods"},
	{"", "v1", "persistentvolumes", "", writing, everybody, "the files of a node"},
	{"", "v1", "namespaces", "", writing, everybody, "labels of namespaces, by which hooks and pod security go"},
	{"", "v1", "namespaces", "status", writing, everybody, "labels of namespaces, by which hooks and pod security go"},
	{"", "v1", "namespaces", "finalize", writing, everybody, "labels of namespaces, by which hooks and pod security go"},
	{"", "v1", "serviceaccounts", "", writing, everybody, "annotations by which pods get roles of a cloud"},
	{"apiregistration.k8s.io", "v1", "apiservices", "", writing, everybody, "an API server of its own, to which all show their tokens"},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "", writing, everybody, "a conversion by which it changes stored objects"},
	{"identity.tabard.dev", "v1alpha1", "oidcissuers", "", writing, theIssuer, "a key that the publisher publishes"},
	{"identity.tabard.dev", "v1alpha1", "oidcissuers", "status", writing, theIssuer, "a key that the publisher takes for its own"},
	{"cloudcredential.openshift.io", "v1", "credentialsrequests", "", writing, minted, "a request for a role"},
	{"identity.tabard.dev", "v1alpha1", "credentialsboundaries", "", writing, minted, "a wider boundary"},
	{"identity.tabard.dev", "v1alpha1", "credentialsgrants", "", writing, bound, "a grant, which says who is bound to which role"},
	{"identity.tabard.dev", "v1alpha1", "credentialsgrants", "status", writing, bound, "a grant, which says who is bound to which role"},
	{"identity.tabard.dev", "v1alpha1", "hubaccesses", "", writing, accesses, "the record of which cluster has which access"},
	{"identity.tabard.dev", "v1alpha1", "hubaccesses", "status", writing, accesses, "the record of which cluster has which access"},
	{"services.k8s.aws", "v1alpha1", "iamroleselectors", "", writing, selectors, "a selector of any role"},
	{"", "v1", "services", "", writing, traffic, "a Service that leads elsewhere"},
	{"", "v1", "services", "proxy", wide, traffic, "requests as the API server"},
	{"", "v1", "endpoints", "", writing, traffic, "a Service that leads elsewhere"},
	{"discovery.k8s.io", "v1", "endpointslices", "", writing, traffic, "a Service that leads elsewhere"},
}

// harmless is a right to write that takes nothing, with the reason. It is of one account, or with
// an empty one of all: what is harmless in the hands of the controller that keeps a record is a way
// in the hands of another.
var harmless = []struct {
	account, key string
	verbs        []string
	reason       string
}{
	{"", "/events", making, "an event changes nothing"},
	{"", "events.k8s.io/events", making, "an event changes nothing"},
	{"", "coordination.k8s.io/leases", making, "whoever takes a lease stops the controller that waits for it, and becomes nobody"},
	{"tabard-system/tabard-selectorreport", "identity.tabard.dev/iamroleselectorreports", writing, "a report is read by people; what it says gives nothing"},
	{"tabard-system/tabard-selectorreport", "identity.tabard.dev/iamroleselectorreports/status", making, "a report is read by people; what it says gives nothing"},
	{"tabard-system/tabard-credentials", "identity.tabard.dev/credentialsboundaries/status", making, "what the controller says of boundaries; nothing goes by it"},
	{"tabard-system/tabard-credentials", "cloudcredential.openshift.io/credentialsrequests/status", making, "no decision goes by it"},
	{"tabard-system/tabard-issuer", "identity.tabard.dev/oidcissuers/finalizers", making, "it lets an object be named as an owner, and nothing else"},
	{"tabard-system/tabard-webhookdeployment", "policy/poddisruptionbudgets", writing, "a budget puts evictions off, and gives no identity"},
	{"tabard-system/tabard-webhookdeployment", "apps/deployments", []string{"delete"}, "without the webhook's Deployment pods get no identity, or are refused; nobody gets one more"},
}

// making are the verbs by which objects are made and changed, and none is removed.
var making = []string{"create", "update", "patch"}

// into are the verbs by which a connection to a pod is made.
var into = []string{"create", "get"}

// judged are the resources that the catalogue looks at by itself, and by which verbs.
var judged = map[string][]string{
	"/secrets": writing, "/pods": making, "/pods/ephemeralcontainers": making, "/pods/exec": into, "/pods/attach": into, "/pods/portforward": into, "/pods/proxy": into,
	"/serviceaccounts/token": {"create"}, "/serviceaccounts": {"impersonate"},
	"/replicationcontrollers": making, "apps/deployments": making, "apps/daemonsets": making, "apps/statefulsets": making, "apps/replicasets": making,
	"batch/jobs": making, "batch/cronjobs": making,
	"admissionregistration.k8s.io/mutatingwebhookconfigurations": writing, "admissionregistration.k8s.io/validatingwebhookconfigurations": writing,
	"cluster.open-cluster-management.io/managedclusters": writing, "cluster.open-cluster-management.io/managedclusters/status": writing,
	"cluster.x-k8s.io/machinesets": making, "cluster.x-k8s.io/machinedeployments": making, "machine.openshift.io/machinesets": making,
	"operators.coreos.com/installplans": writing, "operators.coreos.com/installplans/status": writing,
}

// own are the marks by which an account writes objects of a power, and what it reaches by them
// alone: nothing where to is empty. What they reach is not in the namespaces of Tabard and Kubernetes.
var own = []struct{ account, key, annotation, finalizer, to string }{
	{"tabard-system/tabard-credentials", "cloudcredential.openshift.io/credentialsrequests", "", "identity.tabard.dev/credentials", ""},
	{"tabard-system/tabard-credentials", "cloudcredential.openshift.io/credentialsrequests", "", "cloudcredential.openshift.io/deprovision", ""},
	{"tabard-system/tabard-credentials", "/serviceaccounts", "identity.tabard.dev/credentials-request", "", assumed},
}

// reaches is what an account takes by a power with a shape.
func (s shape) reaches(from account, p power) string {
	for _, each := range own {
		if each.account != from.String() || each.key != p.key() || !s.has(each.annotation, each.finalizer) {
			continue
		}
		if each.to == "" || !strings.HasPrefix(s.namespace, "tabard-") && !strings.HasPrefix(s.namespace, "kube-") {
			return each.to
		}
	}
	return p.to
}

// powerAttacks use the powers in a namespace, or with an empty one everywhere.
func (w *world) powerAttacks(from account, grants []grant, namespace string) []attack {
	var found []attack
	for _, p := range powers {
		for _, name := range append(namesOf(grants, p.group, withSub(p.resource, p.sub), namespace), "attack") {
			asked := map[string]bool{}
			for _, verb := range p.verbs {
				r := request{verb: verb, group: p.group, version: p.version, resource: p.resource, sub: p.sub, namespace: namespace, name: name}
				if !allows(grants, r) || r.operation() != "" && asked[r.operation()] {
					continue // the shapes would be most of the catalogue, for nothing
				}
				asked[r.operation()] = true
				switch object := map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace}}; {
				case slices.Contains(making, verb):
					r.object, r.old = object, object
				case slices.Contains(writing, verb):
					r.old = object
				}
				for _, s := range w.shapes(r) {
					if to := s.reaches(from, p); to != "" {
						found = append(found, attack{to, p.how, []request{s.request}})
					}
				}
			}
		}
	}
	return found
}

// unjudged are rights to change something that nothing here speaks of. A new right is
// put into one of the tables, with its reason.
func unjudged(from account, grants []grant) []edge {
	var found []edge
	for _, g := range grants {
		for _, url := range g.NonResourceURLs {
			if slices.ContainsFunc(g.Verbs, func(verb string) bool { return verb != "get" && verb != "head" }) {
				found = append(found, edge{from.String(), unknown, fmt.Sprintf("the right to %s %s is more than to read it", strings.Join(g.Verbs, ", "), url)})
			}
		}
		for _, group := range g.APIGroups {
			for _, resource := range g.Resources {
				key := group + "/" + resource
				verbs := slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool { return isJudged(from, key, verb) })
				if len(verbs) > 0 {
					found = append(found, edge{from.String(), unknown, fmt.Sprintf("the right to %s %s is in no table of hack/rights for this account", strings.Join(verbs, ", "), key)})
				}
			}
		}
	}
	return found
}

// isJudged says that an account's verb on a resource is known for harmless, or is looked at. One on
// all of something is not: tomorrow there is more of it.
func isJudged(from account, key, verb string) bool {
	if reads(verb) {
		return true
	}
	if slices.Contains(judged[key], verb) {
		return true
	}
	for _, h := range harmless {
		if (h.account == "" || h.account == from.String()) && h.key == key && slices.Contains(h.verbs, verb) {
			return true
		}
	}
	return slices.ContainsFunc(powers, func(p power) bool { return p.key() == key && slices.Contains(p.verbs, verb) })
}

// key is the resource with its group, as the tables name it.
func (p power) key() string { return p.group + "/" + withSub(p.resource, p.sub) }
