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
	{"services.k8s.aws", "v1alpha1", "iamroleselectors", "", writing, selectors, "a selector of any role"},
	{"", "v1", "services", "", writing, traffic, "a Service that leads elsewhere"},
	{"", "v1", "services", "proxy", wide, traffic, "requests as the API server"},
	{"", "v1", "endpoints", "", writing, traffic, "a Service that leads elsewhere"},
	{"discovery.k8s.io", "v1", "endpointslices", "", writing, traffic, "a Service that leads elsewhere"},
}

// harmless are rights to write that take nothing, with the reason.
var harmless = map[string]string{
	"/events":                                                 "an event changes nothing",
	"events.k8s.io/events":                                    "an event changes nothing",
	"coordination.k8s.io/leases":                              "whoever takes a lease stops the controller that waits for it, and becomes nobody",
	"identity.tabard.dev/iamroleselectorreports":              "a report is read by people; what it says gives nothing",
	"identity.tabard.dev/iamroleselectorreports/status":       "a report is read by people; what it says gives nothing",
	"identity.tabard.dev/credentialsgrants":                   "the record of the controller credentials, which reads what it has written; it has to be its own alone",
	"identity.tabard.dev/credentialsgrants/status":            "the record of the controller credentials, which reads what it has written; it has to be its own alone",
	"identity.tabard.dev/credentialsboundaries/status":        "what the controller credentials says of boundaries; nothing goes by it",
	"cloudcredential.openshift.io/credentialsrequests/status": "no decision goes by it",
	"identity.tabard.dev/hubaccesses":                         "the record of the controller hubaccess, which reads what it has written; it has to be its own alone",
	"identity.tabard.dev/hubaccesses/status":                  "the record of the controller hubaccess, which reads what it has written; it has to be its own alone",
	"identity.tabard.dev/oidcissuers/finalizers":              "it lets an object be named as an owner, and nothing else",
	"policy/poddisruptionbudgets":                             "a budget puts evictions off, and gives no identity",
}

// judged are resources that the catalogue looks at by itself.
var judged = []string{
	"/secrets", "/pods", "/pods/ephemeralcontainers", "/pods/exec", "/pods/attach", "/pods/portforward", "/pods/proxy", "/serviceaccounts/token",
	"/replicationcontrollers", "apps/deployments", "apps/daemonsets", "apps/statefulsets", "apps/replicasets", "batch/jobs", "batch/cronjobs",
	"admissionregistration.k8s.io/mutatingwebhookconfigurations", "admissionregistration.k8s.io/validatingwebhookconfigurations",
	"cluster.open-cluster-management.io/managedclusters", "cluster.open-cluster-management.io/managedclusters/status",
	"cluster.x-k8s.io/machinesets", "cluster.x-k8s.io/machinedeployments", "machine.openshift.io/machinesets",
	"operators.coreos.com/installplans", "operators.coreos.com/installplans/status",
}

// powerAttacks use the powers in a namespace, or with an empty one everywhere.
func powerAttacks(grants []grant, namespace string) []attack {
	var found []attack
	for _, p := range powers {
		for _, name := range append(p.names(grants, namespace), "attack") {
			for _, verb := range p.verbs {
				r := request{verb: verb, group: p.group, version: p.version, resource: p.resource, sub: p.sub, namespace: namespace, name: name}
				if slices.Contains(writing, verb) {
					r.object = map[string]any{"metadata": map[string]any{"name": name, "namespace": namespace}}
					r.old = r.object
				}
				found = append(found, attack{p.to, p.how, []request{r}})
			}
		}
	}
	return found
}

// names are those to which an account's rights of a power are limited in a namespace.
func (p power) names(grants []grant, namespace string) []string {
	resource := p.resource
	if p.sub != "" {
		resource += "/" + p.sub
	}
	return namesOf(grants, p.group, resource, namespace)
}

// unjudged are rights to change something that nothing here speaks of. A new right is
// put into one of the tables, with its reason.
func unjudged(from account, grants []grant) []edge {
	var found []edge
	for _, g := range grants {
		for _, group := range g.APIGroups {
			for _, resource := range g.Resources {
				key := group + "/" + resource
				if isJudged(key, g) {
					continue
				}
				found = append(found, edge{from.String(), unknown, fmt.Sprintf("the right to %s %s is in no table of hack/rights", strings.Join(g.Verbs, ", "), key)})
			}
		}
	}
	return found
}

// isJudged says that a rule's verbs on a resource are known for harmless, or are looked
// at.
func isJudged(key string, g grant) bool {
	if strings.Contains(key, "*") || harmless[key] != "" || slices.Contains(judged, key) {
		return true
	}
	for _, p := range powers {
		name := p.group + "/" + p.resource
		if p.sub != "" {
			name += "/" + p.sub
		}
		if key == name {
			return !slices.ContainsFunc(g.Verbs, func(verb string) bool { return verb != "*" && !reads(verb) && !slices.Contains(p.verbs, verb) })
		}
	}
	return !slices.ContainsFunc(g.Verbs, func(verb string) bool { return !reads(verb) })
}
