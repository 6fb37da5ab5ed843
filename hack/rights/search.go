package main

import (
	"fmt"
	"slices"
	"strings"
)

// edge is a way from an account to another, or to something else worth taking.
type edge struct{ from, to, how string }

// What is worth taking beside Tabard's own accounts.
const (
	theIssuer = "the issuer"
	everybody = "every account of the cluster"
	thePods   = "the accounts of pods that its hooks are asked about"
	selectors = "the roles of IAMRoleSelectors"
	minted    = "the roles of CredentialsRequests"
	bound     = "the record of who is bound to which role"
	accesses  = "the record of which cluster has which access"
	assumed   = "the roles of ServiceAccounts in namespaces of others"
	clusters  = "the clusters of an Open Cluster Management hub"
	agents    = "the agents of Open Cluster Management"
	traffic   = "the traffic of Services"
	unknown   = "what nobody has judged"
)

// roots are the ways that are there for a reason. A line that is not true any more is
// an error.
var roots = []struct{ from, to, reason string }{
	{"tabard-system/tabard-issuer", theIssuer, "it publishes the issuer's documents, which is its work; it runs alone, and nobody else reaches it"},
	{"tabard-system/tabard-webhook", thePods, "it changes pods when they are created, which is its work; the hooks leave out Tabard's own namespaces"},
	{"tabard-system/tabard-webhook", "tabard-probe/tabard-probe", "pods there are dry runs that are never made, and the account has no rights"},
	{"tabard-system/tabard-webhook", "tabard-probe/tabard-ocm-probe", "pods there are dry runs that are never made, and the account has no rights"},
	{"tabard-system/tabard-ocm", thePods, "it changes the pods and accounts of namespaces with its label when they are created, which is its work; the hooks leave out Tabard's own namespaces"},
	{"tabard-system/tabard-ocm", agents, "it changes Klusterlets, which is its work; a Klusterlet says which agents run"},
	{"tabard-system/tabard-ocm", "tabard-probe/tabard-probe", "pods there are dry runs that are never made, and the account has no rights"},
	{"tabard-system/tabard-ocm", "tabard-probe/tabard-ocm-probe", "pods there are dry runs that are never made, and the account has no rights"},
	{"tabard-system/tabard-credentials", bound, "it makes the roles of CredentialsRequests and binds them to ServiceAccounts, which is its work"},
	{"tabard-system/tabard-credentials", assumed, "it writes the role of a request to the request's ServiceAccount, which is its work: each ServiceAccount outside the namespaces of Tabard and Kubernetes can get any role that trusts it"},
	{"tabard-system/tabard-hub", accesses, "it keeps the record of the access of each cluster, and makes that access, which is its work"},
	{"tabard-certificate/tabard-certificate", secretOf("tabard-certificate/tabard-webhook-authority"), "it keeps the webhook's authority, which is its work"},
	{"tabard-certificate/tabard-certificate", secretOf("tabard-certificate/tabard-webhook-cert"), "it keeps the webhook's certificate, which is its work"},
	{"tabard-certificate/tabard-certificate", secretOf("tabard-certificate/tabard-ocm-authority"), "it keeps the authority of the webhook for Open Cluster Management, which is its work"},
	{"tabard-certificate/tabard-certificate", secretOf("tabard-certificate/tabard-ocm-cert"), "it keeps the certificate of the webhook for Open Cluster Management, which is its work"},
	{"tabard-certificate/tabard-certificate", secretOf("tabard-system/tabard-webhook-cert"), "an earlier version kept certificate and authority there; it goes on from them"},
	{"tabard-system/tabard-webhook", secretOf("tabard-certificate/tabard-webhook-cert"), "it serves by this certificate"},
	{"tabard-system/tabard-ocm", secretOf("tabard-certificate/tabard-ocm-cert"), "it serves by this certificate"},
	{"tabard-system/tabard-capacity", secretOf("openshift-machine-api/aws-cloud-credentials"), "on OpenShift it may ask AWS for the types of instances as the Machine API does"},
	{"tabard-system/tabard-credentials", secretOf("openshift-cloud-credential-operator/cloud-credential-operator-iam-ro-creds"), requested},
	{"tabard-system/tabard-credentials", secretOf("openshift-cloud-network-config-controller/cloud-credentials"), requested},
	{"tabard-system/tabard-credentials", secretOf("openshift-cluster-csi-drivers/ebs-cloud-credentials"), requested},
	{"tabard-system/tabard-credentials", secretOf("openshift-image-registry/installer-cloud-credentials"), requested},
	{"tabard-system/tabard-credentials", secretOf("openshift-ingress-operator/cloud-credentials"), requested},
	{"tabard-system/tabard-credentials", secretOf("openshift-machine-api/aws-cloud-credentials"), requested},
}

// requested is the reason for the Secrets of OpenShift's own CredentialsRequests.
const requested = "it writes this Secret of a CredentialsRequest of OpenShift's, and looks whether it is its own"

// secretOf is a Secret by namespace and name.
func secretOf(name string) string { return "the Secret " + name }

// reasonFor is why a way is there, if there is a reason.
func reasonFor(e edge) (string, bool) {
	for _, root := range roots {
		if root.from == e.from && root.to == e.to {
			return root.reason, true
		}
	}
	return "", false
}

// staleRoots are those of accounts that are there, and that are none any more.
func staleRoots(w *world, found []edge) []edge {
	var stale []edge
	isThere := func(name string) bool {
		return slices.ContainsFunc(w.accounts, func(a account) bool { return a.String() == name })
	}
	for _, root := range roots {
		// The rights on a Secret are of a part of the manifests that may be left out.
		there := isThere(root.from) && (!strings.Contains(root.to, "/") || isThere(root.to)) && !strings.HasPrefix(root.to, secretOf(""))
		if there && !slices.ContainsFunc(found, func(e edge) bool { return e.from == root.from && e.to == root.to }) {
			stale = append(stale, edge{from: root.from, to: root.to})
		}
	}
	return stale
}

// search finds for each account what it can take in one step.
func (w *world) search() ([]edge, error) {
	var found []edge
	for _, from := range w.accounts {
		taken, err := w.searchFrom(from)
		if err != nil {
			return nil, err
		}
		found = append(found, taken...)
	}
	return found, nil
}

// searchFrom finds what one account can take in one step.
func (w *world) searchFrom(from account) ([]edge, error) {
	grants, err := w.grants(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	var found []edge
	seen := map[string]bool{}
	for _, each := range w.attacks(from, grants) {
		if each.to == from.String() || seen[each.to] {
			continue
		}
		open, err := w.open(from, grants, each.needs)
		if err != nil {
			return nil, err
		}
		if !open {
			continue
		}
		seen[each.to] = true
		found = append(found, edge{from.String(), each.to, each.story()})
	}
	return append(found, unjudged(from, grants)...), nil
}

// open says that rights and policies let every request pass.
func (w *world) open(by account, grants []grant, needs []request) (bool, error) {
	for _, r := range needs {
		if !allows(grants, r) {
			return false, nil
		}
	}
	for _, r := range needs {
		if r.operation() == "" {
			continue // a reading verb, or one of its own: no policy is asked
		}
		if by, err := w.refuses(by, r); err != nil || by != "" {
			return false, err
		}
	}
	return true, nil
}

// beyond is where a way leads to in the end.
func (w *world) beyond(first edge, found []edge) []edge {
	var further []edge
	reached := map[string]bool{first.from: true, first.to: true}
	for next := []string{first.to}; len(next) > 0; next = next[1:] {
		for _, e := range found {
			if e.from == next[0] && !reached[e.to] {
				reached[e.to] = true
				further, next = append(further, e), append(next, e.to)
			}
		}
	}
	return further
}

// attack is one step: what it takes, and the requests that it needs.
type attack struct {
	to, how string
	needs   []request
}

func (a attack) story() string {
	var steps []string
	for _, r := range a.needs {
		steps = append(steps, r.String())
	}
	if len(steps) == 0 {
		return a.how
	}
	return a.how + ": " + strings.Join(steps, ", then ")
}
