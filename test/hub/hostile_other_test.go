package hub

import (
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	corehub "github.com/tabard-dev/tabard/internal/core/hub"
	core "github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

func kindOf(group, version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}

var (
	addonKind     = kindOf("addon.open-cluster-management.io", "v1alpha1", "ManagedClusterAddOn")
	bindingKind   = kindOf("cluster.open-cluster-management.io", "v1beta2", "ManagedClusterSetBinding")
	setKind       = kindOf("cluster.open-cluster-management.io", "v1beta2", "ManagedClusterSet")
	leaseKind     = kindOf("coordination.k8s.io", "v1", "Lease")
	secretKind    = kindOf("", "v1", "Secret")
	configMapKind = kindOf("", "v1", "ConfigMap")
	accountKind   = kindOf("", "v1", "ServiceAccount")
	namespaceKind = kindOf("", "v1", "Namespace")
	podKind       = kindOf("", "v1", "Pod")
	eventKind     = kindOf("", "v1", "Event")
	accessKind    = kindOf("identity.tabard.dev", "v1alpha1", "HubAccess")
	requestKind   = kindOf("certificates.k8s.io", "v1", "CertificateSigningRequest")
	roleKind      = kindOf("rbac.authorization.k8s.io", "v1", "Role")
	bindKind      = kindOf("rbac.authorization.k8s.io", "v1", "RoleBinding")
	bindAllKind   = kindOf("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding")
	webhookKind   = kindOf("admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration")
	crdKind       = kindOf("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
)

const nothing = `{"metadata":{"annotations":{"example.com/a":"b"}}}`

// onOthers is what is tried on other clusters, and on what is in their namespaces.
func onOthers() []attack {
	return []attack{
		{"read cluster2", read(ocm.ManagedCluster, "", "cluster2"), forbidden, nil},
		{"list all clusters", list(ocm.ManagedCluster, ""), forbidden, nil},
		{"cluster2 gets other annotations", update(ocm.ManagedCluster, "", "cluster2", claim(arnA, suffixA)), forbidden, nil},
		{"cluster2 is patched", patch(ocm.ManagedCluster, "", "cluster2", nothing), forbidden, nil},
		{"cluster2 is denied", update(ocm.ManagedCluster, "", "cluster2", set(false, "spec", "hubAcceptsClient")), forbidden, nil},
		{"cluster2 is deleted", remove(ocm.ManagedCluster, "", "cluster2"), forbidden, nil},
		{"all clusters are deleted", removeAll(ocm.ManagedCluster, ""), forbidden, nil},
		{"the status of cluster2", patchStatus(ocm.ManagedCluster, "", "cluster2", `{"status":{"conditions":[]}}`), forbidden, nil},
		{"cluster3 is accepted", update(ocm.ManagedCluster, "", "cluster3", set(true, "spec", "hubAcceptsClient")), forbidden, nil},
		{"cluster3 gets the annotations of cluster2", update(ocm.ManagedCluster, "", "cluster3", claim(arnB, suffixOfB)), forbidden, nil},
		{"a new cluster as cluster2", create(ocm.ManagedCluster, "", "cluster4", claim(arnB, suffixOfB)), forbidden, nil},
		{"the works of cluster2 are read", list(ocm.ManifestWork, "cluster2"), forbidden, nil},
		{"all works are read", list(ocm.ManifestWork, ""), forbidden, nil},
		{"a work for cluster2", create(ocm.ManifestWork, "cluster2", "mine"), forbidden, nil},
		{"a work of cluster2 is changed", update(ocm.ManifestWork, "cluster2", "work", set("mine", "spec", "deleteOption", "propagationPolicy")), forbidden, nil},
		{"a work of cluster2 is patched", patch(ocm.ManifestWork, "cluster2", "work", nothing), forbidden, nil},
		{"a work of cluster2 has a status", patchStatus(ocm.ManifestWork, "cluster2", "work", `{"status":{"conditions":[]}}`), forbidden, nil},
		{"a work of cluster2 is deleted", remove(ocm.ManifestWork, "cluster2", "work"), forbidden, nil},
		{"the lease of cluster2", update(leaseKind, "cluster2", "lease", set("cluster1", "spec", "holderIdentity")), forbidden, nil},
		{"an add-on of cluster2", patchStatus(addonKind, "cluster2", "addon", `{"status":{"namespace":"cluster1"}}`), forbidden, nil},
		{"an event of cluster2", create(eventKind, "cluster2", "mine", about("cluster2")), forbidden, nil},
		{"a Secret of cluster2", create(secretKind, "cluster2", "mine"), forbidden, nil},
		{"the Secrets of cluster2 are read", list(secretKind, "cluster2"), forbidden, nil},
	}
}

// about says what an event is about.
func about(namespace string) change {
	return set(map[string]any{"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "namespace": namespace, "name": "work"}, "involvedObject")
}

// onOwnNamespace is what is tried in the cluster's own namespace.
func onOwnNamespace() []attack {
	feedback := strings.Repeat("a", 1<<20)
	manifest := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "mine"}}
	return []attack{
		{"a new work", create(ocm.ManifestWork, "cluster1", "mine"), forbidden, nil},
		{"its work has another content", update(ocm.ManifestWork, "cluster1", "work", set([]any{manifest}, "spec", "workload", "manifests")), "", nil},
		{"its work has a finalizer", update(ocm.ManifestWork, "cluster1", "work", func(o *object) { o.SetFinalizers(append(o.GetFinalizers(), "example.com/never")) }), "", nil},
		{"its work has an owner elsewhere", ownedByCluster2(func(changes ...change) try { return update(ocm.ManifestWork, "cluster1", "work", changes...) }), "", nil},
		{"its work moves to cluster2", update(ocm.ManifestWork, "cluster1", "work", func(o *object) { o.SetNamespace("cluster2") }), forbidden, nil},
		{"its work has a long status", patchStatus(ocm.ManifestWork, "cluster1", "work", `{"status":{"resourceStatus":{"manifests":[{"resourceMeta":{"ordinal":0},"conditions":[],"statusFeedback":{"values":[{"name":"a","fieldValue":{"type":"String","string":"`+feedback+`"}}]}}]}}}`), "", nil},
		{"its work is deleted", remove(ocm.ManifestWork, "cluster1", "work"), forbidden, nil},
		{"its lease is another's", update(leaseKind, "cluster1", "lease", set("cluster2", "spec", "holderIdentity"), set("2099-01-01T00:00:00.000000Z", "spec", "renewTime")), "", nil},
		{"its own lease is renewed for ever", update(leaseKind, "cluster1", "managed-cluster-lease", set("2099-01-01T00:00:00.000000Z", "spec", "renewTime")), "", nil},
		{"a lease with annotations of 1 MiB", update(leaseKind, "cluster1", "lease", annotate(map[string]*string{"a": new(strings.Repeat("a", 1<<20))})), "metadata.annotations: Too long", nil},
		{"a new lease", create(leaseKind, "cluster1", "mine"), forbidden, nil},
		{"a new add-on", create(addonKind, "cluster1", "mine"), forbidden, nil},
		{"its add-on is another's", patchStatus(addonKind, "cluster1", "addon", `{"status":{"namespace":"cluster2","registrations":[{"signerName":"kubernetes.io/kube-apiserver-client","subject":{"user":"system:open-cluster-management:cluster2:agent","groups":["system:masters","open-cluster-management:cluster2"]}}]}}`), "", nil},
		{"its add-on is patched", patch(addonKind, "cluster1", "addon", nothing), forbidden, nil},
		{"an event about cluster2", create(eventKind, "cluster1", "mine", about("cluster2")), "does not match event.namespace", nil},
		{"an event about itself", create(eventKind, "cluster1", "mine", about("cluster1")), "", nil},
		{"a Secret", create(secretKind, "cluster1", "mine"), forbidden, nil},
		{"the Secrets are read", list(secretKind, "cluster1"), forbidden, nil},
		{"a ConfigMap", create(configMapKind, "cluster1", "mine"), forbidden, nil},
		{"a ServiceAccount", create(accountKind, "cluster1", "mine"), forbidden, nil},
		{"a token of a ServiceAccount", tokenFor("cluster1", "default"), forbidden, nil},
		{"a Role", create(roleKind, "cluster1", "mine"), forbidden, nil},
		{"a RoleBinding", create(bindKind, "cluster1", "mine", bound), forbidden, nil},
		{"a pod", create(podKind, "cluster1", "mine"), forbidden, nil},
		{"a binding of a set of clusters", create(bindingKind, "cluster1", "default", set("default", "spec", "clusterSet")), forbidden, nil},
	}
}

// bound makes a binding one of cluster1's group to the administrator's rights.
func bound(o *object) {
	set(map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}, "roleRef")(o)
	set([]any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "open-cluster-management:cluster1"}}, "subjects")(o)
}

// onRights is what is tried on what gives rights on the hub, and on what others go by.
func onRights() []attack {
	return []attack{
		{"a HubAccess", create(accessKind, "", "cluster4"), forbidden, nil},
		{"its HubAccess has other annotations", patch(accessKind, "", "cluster1", `{"spec":{"acceptedAnnotations":"None"}}`), forbidden, nil},
		{"the status of its HubAccess", patchStatus(accessKind, "", "cluster1", `{"status":{"conditions":[]}}`), forbidden, nil},
		{"its HubAccess is deleted", remove(accessKind, "", "cluster1"), forbidden, nil},
		{"the HubAccess of cluster2 is read", read(accessKind, "", "cluster2"), forbidden, nil},
		{"the HubAccess of cluster2 is deleted", remove(accessKind, "", "cluster2"), forbidden, nil},
		{"the ConfigMap of the hub is read", read(configMapKind, "tabard-system", "tabard-hub"), forbidden, nil},
		{"the ConfigMap of the hub is changed", patch(configMapKind, "tabard-system", "tabard-hub", nothing), forbidden, nil},
		{"the ClusterManager is changed", patch(ocm.ClusterManager, "", "cluster-manager", nothing), forbidden, nil},
		{"a definition is changed", patch(crdKind, "", "clustermanagers.operator.open-cluster-management.io", nothing), forbidden, nil},
		{"the webhook is removed", remove(webhookKind, "", "managedclustervalidators.admission.cluster.open-cluster-management.io"), forbidden, nil},
		{"a set of clusters", create(setKind, "", "mine"), forbidden, nil},
		{"the Secrets of kube-system are read", list(secretKind, "kube-system"), forbidden, nil},
		{"a pod of the hub controller", create(podKind, ocm.HubNamespace, "mine"), forbidden, nil},
		{"a token of the hub controller", tokenFor(ocm.HubNamespace, "registration-controller-sa"), forbidden, nil},
		{"a token of Tabard's controller", tokenFor(corehub.ControllerNamespace, "tabard-hub"), forbidden, nil},
		{"the bootstrap token", tokenFor(ocm.OperatorNamespace, "agent-registration-bootstrap"), forbidden, nil},
		{"the administrator's rights", create(bindAllKind, "", "mine", bound), forbidden, nil},
		{"its namespace is deleted", remove(namespaceKind, "", "cluster1"), forbidden, nil},
		{"the namespace of cluster2 is deleted", remove(namespaceKind, "", "cluster2"), forbidden, nil},
		{"as cluster2", as("cluster2", "open-cluster-management:cluster2", read(ocm.ManagedCluster, "", "cluster2")), `cannot impersonate resource "users"`, nil},
		{"as an administrator", as("cluster1", "system:masters", read(ocm.ManagedCluster, "", "cluster2")), `cannot impersonate resource "users"`, nil},
	}
}

// certificatesOf are certificates in the name of cluster2, that a hub's name asks for.
func certificatesOf(by string) []attack {
	const client, second = certificatesv1.KubeAPIServerClientSignerName, "system:open-cluster-management:cluster2"
	ask := func(name, signer, label, commonName string, organizations ...string) try {
		return request{by + "-" + name, signer, label, commonName, organizations}.ask
	}
	return []attack{
		{"a certificate of the agent of cluster2", ask("agent", client, "cluster2", second+":agent", second), "", nil},
		{"the same with the label of cluster1", ask("label", client, "cluster1", second+":agent", second), "", nil},
		{"the group of cluster2 by its own name", ask("group", client, "cluster2", "cluster1", second), "", nil},
		{"the group of an access entry", ask("entry", client, "cluster2", "cluster2", "open-cluster-management:cluster2"), "", nil},
		{"two groups", ask("groups", client, "cluster1", "system:open-cluster-management:cluster1:agent", "system:open-cluster-management:cluster1", second), "", nil},
		{"a certificate of an administrator", ask("masters", client, "cluster1", "system:open-cluster-management:cluster1:agent", "system:masters"), "system:masters group is not allowed", nil},
		{"a certificate of a node", ask("node", certificatesv1.KubeAPIServerClientKubeletSignerName, "cluster1", "system:node:mine", "system:nodes"), "", nil},
		{"a certificate by another signer", ask("signer", "open-cluster-management.io/mine", "cluster2", second+":agent", second), "", nil},
	}
}

// withCertificates is what is tried with certificates.
func withCertificates() []attack {
	return append(certificatesOf("own"),
		attack{"it approves its certificate", approval("own-agent"), forbidden, nil},
		attack{"it deletes one", remove(requestKind, "", "own-agent"), forbidden, nil},
		attack{"it patches one", patch(requestKind, "", "own-agent", nothing), forbidden, nil})
}

// withTheBootstrapToken is what is tried with the token of who has not joined.
func withTheBootstrapToken() []attack {
	second := claim(arnB, suffixOfB)
	held := func(o *object) { o.SetFinalizers([]string{core.Finalizer}) }
	return append(certificatesOf("stranger"), []attack{
		{"a cluster with the annotations of cluster2", create(ocm.ManagedCluster, "", "claims-cluster2", second), "", nil},
		{"one that is accepted", create(ocm.ManagedCluster, "", "cluster5", second, set(true, "spec", "hubAcceptsClient")), "cannot update the HubAcceptsClient field", nil},
		{"one that says it was accepted by itself", create(ocm.ManagedCluster, "", "cluster6", second, annotate(map[string]*string{"open-cluster-management.io/automatically-accepted-on": new("2026-01-01T00:00:00Z")})), "", nil},
		{"one with a status", create(ocm.ManagedCluster, "", "cluster7", set([]any{map[string]any{"type": "HubAcceptedManagedCluster", "status": "True"}}, "status", "conditions")), "", nil},
		{"one with Tabard's finalizer", create(ocm.ManagedCluster, "", "cluster8", second, held), "", nil},
		{"one that looks like cluster2 by a space", create(ocm.ManagedCluster, "", "cluster2 "), "Invalid value", nil},
		{"one that looks like cluster2 by its case", create(ocm.ManagedCluster, "", "Cluster2"), "Invalid value", nil},
		{"one with a separator of suffixes", create(ocm.ManagedCluster, "", "cluster2#mine"), "Invalid value", nil},
		{"one of cluster2 and more groups", create(ocm.ManagedCluster, "", "cluster2:agent"), "Invalid value", nil},
		{"one of the name of a namespace of the hub", create(ocm.ManagedCluster, "", ocm.OperatorNamespace), "", nil},
		{"cluster2 once more", create(ocm.ManagedCluster, "", "cluster2", second), "already exists", nil},
		{"its own cluster is changed", update(ocm.ManagedCluster, "", "claims-cluster2", set(true, "spec", "hubAcceptsClient")), forbidden, nil},
		{"cluster2 is changed", update(ocm.ManagedCluster, "", "cluster2", claim(arnA, suffixA)), forbidden, nil},
		{"cluster2 is deleted", remove(ocm.ManagedCluster, "", "cluster2"), forbidden, nil},
		{"cluster3 is accepted", patch(ocm.ManagedCluster, "", "cluster3", `{"spec":{"hubAcceptsClient":true}}`), forbidden, nil},
		{"the status of cluster2", patchStatus(ocm.ManagedCluster, "", "cluster2", `{"status":{"conditions":[]}}`), forbidden, nil},
		{"the works of cluster2 are read", list(ocm.ManifestWork, "cluster2"), forbidden, nil},
		{"the lease of cluster2", update(leaseKind, "cluster2", "lease", set("mine", "spec", "holderIdentity")), forbidden, nil},
		{"a HubAccess", create(accessKind, "", "cluster6"), forbidden, nil},
		{"the Secrets are read", list(secretKind, ""), forbidden, nil},
		{"it approves its certificate", approval("stranger-agent"), forbidden, nil},
		{"as cluster2", as("cluster2", "open-cluster-management:cluster2", read(ocm.ManagedCluster, "", "cluster2")), `cannot impersonate resource "users"`, nil},
	}...)
}
