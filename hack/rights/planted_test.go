package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shipped is what users apply.
func shipped(t *testing.T) map[string][]byte {
	t.Helper()
	texts, err := readFiles([]string{"../../config/manifests", "../../config/rbac"})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// ways are those that have no reason.
func ways(t *testing.T, texts map[string][]byte) []string {
	t.Helper()
	w, err := parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	edges, err := w.search()
	if err != nil {
		t.Fatal(err)
	}
	found := withoutReason(edges)
	for _, stale := range staleRoots(w, edges) {
		found = append(found, "stale "+stale.from+" "+stale.to)
	}
	return found
}

func withoutReason(edges []edge) (found []string) {
	for _, e := range edges {
		if _, ok := reasonFor(e); !ok {
			found = append(found, e.from+" becomes "+e.to+": "+e.how)
		}
	}
	return found
}

// waysOf are those of one account. A right of its own gives no other account more.
func waysOf(t *testing.T, texts map[string][]byte, name string) []string {
	t.Helper()
	w, err := parse(texts)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(w.accounts, func(a account) bool { return a.String() == name })
	if at < 0 {
		t.Fatalf("there is no account %s", name)
	}
	edges, err := w.searchFrom(w.accounts[at])
	if err != nil {
		t.Fatal(err)
	}
	return withoutReason(edges)
}

func TestNothingOfWhatIsShippedLeadsFurther(t *testing.T) {
	if found := ways(t, shipped(t)); len(found) > 0 {
		t.Errorf("there are %d ways:\n%s", len(found), strings.Join(found, "\n"))
	}
}

// plant gives an account one right more, in a namespace or everywhere.
func plant(texts map[string][]byte, account, namespace, rule string) map[string][]byte {
	owner, name, _ := strings.Cut(account, "/")
	kind, meta := "ClusterRole", "{name: planted}"
	if namespace != "" {
		kind, meta = "Role", "{name: planted, namespace: "+namespace+"}"
	}
	out := map[string][]byte{}
	maps.Copy(out, texts)
	out["planted.yaml"] = fmt.Appendf(nil, `apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]s
metadata: %[2]s
rules: [%[3]s]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: %[1]sBinding
metadata: %[2]s
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %[1]s, name: planted}
subjects: [{kind: ServiceAccount, name: %[4]s, namespace: %[5]s}]
`, kind, meta, rule, name, owner)
	return out
}

// TestOneRightMoreIsFound gives an account one right more, each time another, and
// demands that what it leads to is found.
func TestOneRightMoreIsFound(t *testing.T) {
	const (
		operator    = "tabard-system/tabard-operator"
		certificate = "tabard-certificate/tabard-certificate"
		issuer      = "tabard-system/tabard-issuer"
		system      = "tabard-system"
	)
	tests := map[string]struct{ account, namespace, rule, to string }{
		"Secrets of the issuer's namespace":    {operator, system, `{apiGroups: [""], resources: [secrets], verbs: [create]}`, issuer},
		"the old right of the operator":        {certificate, system, `{apiGroups: [""], resources: [secrets], verbs: [create]}`, ""},
		"a list of all Secrets":                {operator, "", `{apiGroups: [""], resources: [secrets], verbs: [list]}`, issuer},
		"a watch of Secrets":                   {operator, system, `{apiGroups: [""], resources: [secrets], verbs: [watch]}`, issuer},
		"pods":                                 {operator, system, `{apiGroups: [""], resources: [pods], verbs: [create]}`, issuer},
		"images of pods":                       {operator, system, `{apiGroups: [""], resources: [pods], verbs: [patch]}`, issuer},
		"containers of pods":                   {operator, system, `{apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [update]}`, issuer},
		"a shell in pods":                      {operator, system, `{apiGroups: [""], resources: [pods/exec], verbs: [create]}`, issuer},
		"a shell in pods by websocket":         {operator, system, `{apiGroups: [""], resources: [pods/attach], verbs: [get]}`, issuer},
		"Deployments":                          {operator, system, `{apiGroups: [apps], resources: [deployments], verbs: [patch]}`, issuer},
		"Jobs":                                 {operator, system, `{apiGroups: [batch], resources: [jobs], verbs: [create]}`, issuer},
		"tokens":                               {operator, system, `{apiGroups: [""], resources: [serviceaccounts/token], verbs: [create]}`, issuer},
		"the issuer's token by name":           {operator, system, `{apiGroups: [""], resources: [serviceaccounts/token], resourceNames: [tabard-issuer], verbs: [create]}`, issuer},
		"names":                                {operator, "", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}`, issuer},
		"users":                                {operator, "", `{apiGroups: [""], resources: [users], verbs: [impersonate]}`, everybody},
		"bindings":                             {operator, system, `{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [create]}`, everybody},
		"rights beyond its own":                {operator, "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}`, everybody},
		"the bind of roles":                    {operator, "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}`, everybody},
		"webhooks":                             {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [create]}`, everybody},
		"Tabard's webhook, of another account": {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], resourceNames: [tabard-webhook], verbs: [patch]}`, everybody},
		"webhooks that only look":              {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], verbs: [update]}`, everybody},
		"the policies, which hold no policy":   {certificate, "", `{apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicybindings], verbs: [delete]}`, everybody},
		"policies that change":                 {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [mutatingadmissionpolicies], verbs: [create]}`, everybody},
		"client certificates":                  {operator, "", `{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval], verbs: [update]}`, everybody},
		"kubelets":                             {operator, "", `{apiGroups: [""], resources: [nodes/proxy], verbs: [get]}`, everybody},
		"disks":                                {operator, "", `{apiGroups: [""], resources: [persistentvolumes], verbs: [create]}`, everybody},
		"labels of namespaces":                 {operator, "", `{apiGroups: [""], resources: [namespaces], verbs: [patch]}`, everybody},
		"API servers":                          {operator, "", `{apiGroups: [apiregistration.k8s.io], resources: [apiservices], verbs: [create]}`, everybody},
		"kinds":                                {operator, "", `{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [patch]}`, everybody},
		"issuers":                              {operator, "", `{apiGroups: [identity.tabard.dev], resources: [oidcissuers], verbs: [patch]}`, theIssuer},
		"what an issuer remembers":             {operator, "", `{apiGroups: [identity.tabard.dev], resources: [oidcissuers/status], verbs: [update]}`, theIssuer},
		"the issuer's role":                    {operator, system, `{apiGroups: [""], resources: [configmaps], resourceNames: [tabard-issuer], verbs: [update]}`, issuer},
		"new ConfigMaps beside the issuer":     {operator, system, `{apiGroups: [""], resources: [configmaps], verbs: [create]}`, issuer},
		"selectors of roles":                   {operator, "", `{apiGroups: [services.k8s.aws], resources: [iamroleselectors], verbs: [create]}`, ""},
		"machines, of another account":         {operator, "", `{apiGroups: [cluster.x-k8s.io], resources: [machinesets], verbs: [patch]}`, everybody},
		"everything of a group":                {operator, system, `{apiGroups: [""], resources: ["*"], verbs: ["*"]}`, issuer},
		"a verb of all":                        {operator, system, `{apiGroups: ["*"], resources: [pods], verbs: ["*"]}`, issuer},
		"the Secrets of its own namespace":     {certificate, "tabard-certificate", `{apiGroups: [""], resources: [secrets], verbs: [list]}`, certificate + ", for ever"},
		"the pods of its own namespace":        {operator, "tabard-certificate", `{apiGroups: [""], resources: [pods], verbs: [create]}`, certificate},
		"Secrets beside the controller's":      {operator, "tabard-certificate", `{apiGroups: [""], resources: [secrets], verbs: [create]}`, certificate},
		"a right that nobody has thought of":   {operator, "", `{apiGroups: [example.com], resources: [things], verbs: [create]}`, unknown},
		"a verb that nobody has thought of":    {operator, "", `{apiGroups: [""], resources: [configmaps], verbs: [attack]}`, unknown},
		"ManagedClusters":                      {operator, "", `{apiGroups: [cluster.open-cluster-management.io], resources: [managedclusters], verbs: [patch]}`, clusters},
		"what is said of ManagedClusters":      {operator, "", `{apiGroups: [cluster.open-cluster-management.io], resources: [managedclusters/status], verbs: [update]}`, clusters},
		"the acceptance of clusters":           {operator, "", `{apiGroups: [register.open-cluster-management.io], resources: [managedclusters/accept], verbs: [update]}`, unknown},
		"a cluster that it makes, of the hub":  {"tabard-system/tabard-hub", "", `{apiGroups: [cluster.open-cluster-management.io], resources: [managedclusters], verbs: [create, delete]}`, ""},
		"InstallPlans":                         {operator, "", `{apiGroups: [operators.coreos.com], resources: [installplans], verbs: [patch]}`, everybody},
		"what is said of InstallPlans":         {operator, "", `{apiGroups: [operators.coreos.com], resources: [installplans/status], verbs: [update]}`, everybody},
		"a plan that it makes, of the watcher": {"tabard-system/tabard-operators", "", `{apiGroups: [operators.coreos.com], resources: [installplans, installplans/status], verbs: [create, delete, update]}`, ""},
		"the name of a controller":             {operator, "", `{apiGroups: [""], resources: [users], resourceNames: ["system:kube-controller-manager"], verbs: [impersonate]}`, everybody},
		"the name of another's account":        {operator, "kube-system", `{apiGroups: [""], resources: [serviceaccounts], resourceNames: [escalator], verbs: [impersonate]}`, "kube-system/escalator"},
		"a token of another's account":         {operator, "kube-system", `{apiGroups: [""], resources: [serviceaccounts/token], resourceNames: [escalator], verbs: [create]}`, "kube-system/escalator"},
		"a signer by its name":                 {operator, "", `{apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: [kubernetes.io/kube-apiserver-client], verbs: [approve]}`, everybody},
		"a Secret by its name":                 {operator, "default", `{apiGroups: [""], resources: [secrets], resourceNames: [cloud], verbs: [get]}`, "the Secret default/cloud"},
		"a list of one Secret":                 {operator, "default", `{apiGroups: [""], resources: [secrets], resourceNames: [cloud], verbs: [list]}`, "the Secret default/cloud"},
		"a Secret of a name everywhere":        {operator, "", `{apiGroups: [""], resources: [secrets], resourceNames: [cloud], verbs: [watch]}`, "the Secret somebody-elses/cloud"},
		"all webhooks, deleted":                {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], verbs: [deletecollection]}`, everybody},
		"all policies, deleted":                {operator, "", `{apiGroups: [admissionregistration.k8s.io], resources: [validatingadmissionpolicies], verbs: [deletecollection]}`, everybody},
		"all pods, deleted":                    {operator, system, `{apiGroups: [""], resources: [pods], verbs: [deletecollection]}`, unknown},
		"grants":                               {operator, "", `{apiGroups: [identity.tabard.dev], resources: [credentialsgrants], verbs: [patch]}`, bound},
		"what is said of grants":               {operator, "", `{apiGroups: [identity.tabard.dev], resources: [credentialsgrants/status], verbs: [update]}`, bound},
		"the record of the hub":                {operator, "", `{apiGroups: [identity.tabard.dev], resources: [hubaccesses], verbs: [create]}`, accesses},
		"another account's boundaries' status": {operator, "", `{apiGroups: [identity.tabard.dev], resources: [credentialsboundaries/status], verbs: [update]}`, unknown},
		"everything of a new group":            {operator, "", `{apiGroups: [example.com], resources: ["*"], verbs: [create]}`, unknown},
		"one kind of all groups":               {operator, "", `{apiGroups: ["*"], resources: [widgets], verbs: [create]}`, unknown},
		"every verb on leases":                 {operator, system, `{apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}`, unknown},
		"a path that is no object":             {operator, "", `{nonResourceURLs: ["/*"], verbs: [post]}`, unknown},
		"requests, of the controller":          {"tabard-system/tabard-credentials", "", `{apiGroups: [cloudcredential.openshift.io], resources: [credentialsrequests], verbs: [create, delete, update]}`, ""},
		"Services":                             {operator, system, `{apiGroups: [""], resources: [services], verbs: [patch]}`, traffic},
	}
	clean := shipped(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planted := plant(clean, test.account, test.namespace, test.rule)
			if test.to == "" { // held by a policy, which is asked about this account too
				if found := ways(t, planted); len(found) > 0 {
					t.Errorf("a policy refuses it, and it was found: %q", found)
				}
				return
			}
			found, want := waysOf(t, planted, test.account), test.account+" becomes "+test.to+": "
			for _, way := range found {
				if strings.HasPrefix(way, want) {
					return
				}
			}
			t.Errorf("not found; there is %q", found)
		})
	}
}

// TestRightsOfGroupsAreFound gives a right to a group that the account is in, and by a
// label that another role gathers.
func TestRightsOfGroupsAreFound(t *testing.T) {
	texts := shipped(t)
	group := plant(texts, "tabard-system/tabard-operator", "", `{apiGroups: [""], resources: [secrets], verbs: [list]}`)
	group["planted.yaml"] = []byte(strings.Replace(string(group["planted.yaml"]), "{kind: ServiceAccount, name: tabard-operator, namespace: tabard-system}",
		"{kind: Group, apiGroup: rbac.authorization.k8s.io, name: system:serviceaccounts}", 1))
	user := plant(texts, "tabard-system/tabard-operator", "", `{apiGroups: [""], resources: [secrets], verbs: [list]}`)
	user["planted.yaml"] = []byte(strings.Replace(string(user["planted.yaml"]), "{kind: ServiceAccount, name: tabard-operator, namespace: tabard-system}",
		"{kind: User, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccount:tabard-system:tabard-operator'}", 1))
	gathered := maps.Clone(texts)
	gathered["planted.yaml"] = []byte(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: planted, labels: {identity.tabard.dev/aggregate-to-selectorreport: "true"}}
rules: [{apiGroups: [""], resources: [pods], verbs: [create]}]
`)
	administrator := maps.Clone(texts)
	administrator["planted.yaml"] = []byte(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: planted}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: tabard-capacity, namespace: tabard-system}]
`)
	for name, texts := range map[string]map[string][]byte{"a group": group, "a user": user, "a gathered role": gathered, "the administrator": administrator} {
		if found := ways(t, texts); !strings.Contains(strings.Join(found, "\n"), "becomes tabard-system/tabard-issuer: ") {
			t.Errorf("%s: not found; there is %q", name, found)
		}
	}
	missing := maps.Clone(texts)
	delete(missing, "../../config/rbac/issuer.yaml")
	if w, err := parse(missing); err != nil {
		t.Error(err)
	} else if _, err := w.search(); err == nil || !strings.Contains(err.Error(), "which no manifest has") {
		t.Errorf("a role that is not there: %v, want an error", err)
	}
}

// TestAListIsTakenApart: what "kubectl apply" applies is searched, in whatever lists it stands.
func TestAListIsTakenApart(t *testing.T) {
	const binding = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: planted},
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin},
  subjects: [{kind: ServiceAccount, name: tabard-capacity, namespace: tabard-system}]}`
	for name, text := range map[string]string{
		"a list":             "apiVersion: v1\nkind: List\nitems: [" + binding + "]\n",
		"a list in a list":   "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: [" + binding + "]}]\n",
		"a list of bindings": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBindingList\nitems: [" + strings.Replace(binding, "kind: ClusterRoleBinding, ", "", 1) + "]\n",
		"JSON":               `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"planted"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"ServiceAccount","name":"tabard-capacity","namespace":"tabard-system"}]}]}`,
	} {
		texts := shipped(t)
		texts["planted.yaml"] = []byte(text)
		if found := ways(t, texts); !strings.Contains(strings.Join(found, "\n"), "tabard-system/tabard-capacity becomes ") {
			t.Errorf("%s: not found; there is %q", name, found)
		}
	}
}

// TestAKindThatMayGiveRightsIsRefused: nothing that is not known is left out.
func TestAKindThatMayGiveRightsIsRefused(t *testing.T) {
	for _, text := range []string{
		"apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: a}\n",
		"apiVersion: rbac.authorization.k8s.io/v2\nkind: Grant\nmetadata: {name: a}\n",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Unknown, metadata: {name: a}}]\n",
		"apiVersion: v1\nmetadata: {name: a}\n",
	} {
		texts := shipped(t)
		texts["planted.yaml"] = []byte(text)
		if _, err := parse(texts); err == nil || !strings.Contains(err.Error(), "it may give rights") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAPodIsReadAsItsTemplateIs, with what its volumes are made of.
func TestAPodIsReadAsItsTemplateIs(t *testing.T) {
	texts := plant(shipped(t), "tabard-system/tabard-operator", "tabard-probe", `{apiGroups: [""], resources: [configmaps], resourceNames: [told], verbs: [update]}`)
	texts["pod.yaml"] = []byte(`{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: tabard-probe}, spec: {serviceAccountName: tabard-probe,
  containers: [{name: a, image: a}], volumes: [{name: a, projected: {sources: [{configMap: {name: told}}]}}]}}`)
	if found := ways(t, texts); !strings.Contains(strings.Join(found, "\n"), "tabard-system/tabard-operator becomes tabard-probe/tabard-probe: what its process is told by") {
		t.Errorf("not found; there is %q", found)
	}
}
