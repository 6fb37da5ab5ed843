package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// said are the rights that docs/security.md speaks of.
type said struct {
	// writes is what the account may change beside events and leases, with the names to
	// which the right is limited.
	writes []string
	// secrets are those that it may read.
	secrets []string
}

// saidOfAccounts is what docs/security.md says of each account. Whoever changes a row
// changes the page.
var saidOfAccounts = map[string]said{
	"tabard-certificate/tabard-certificate": {
		[]string{
			"mutatingwebhookconfigurations tabard-ocm", "mutatingwebhookconfigurations tabard-webhook", "pods in tabard-probe", "secrets in tabard-certificate",
			"secrets tabard-ocm-authority in tabard-certificate", "secrets tabard-ocm-cert in tabard-certificate",
			"secrets tabard-webhook-authority in tabard-certificate", "secrets tabard-webhook-cert in tabard-certificate",
			"validatingwebhookconfigurations tabard-role-selectors",
		},
		[]string{
			"secrets tabard-ocm-authority in tabard-certificate", "secrets tabard-ocm-cert in tabard-certificate",
			"secrets tabard-webhook-authority in tabard-certificate", "secrets tabard-webhook-cert in tabard-certificate",
			"secrets tabard-webhook-cert in tabard-system", // of an earlier version
		}},
	"tabard-probe/tabard-ocm-probe": {},
	"tabard-probe/tabard-probe":     {},
	"tabard-system/tabard-capacity": {
		[]string{"machinedeployments", "machinesets"},
		[]string{"secrets aws-cloud-credentials in openshift-machine-api"}},
	"tabard-system/tabard-credentials": {
		[]string{
			"credentialsboundaries/status", "credentialsgrants", "credentialsgrants/status",
			"credentialsrequests", "credentialsrequests/status",
			"secrets aws-cloud-credentials in openshift-machine-api", "secrets cloud-credential-operator-iam-ro-creds in openshift-cloud-credential-operator",
			"secrets cloud-credentials in openshift-cloud-network-config-controller", "secrets cloud-credentials in openshift-ingress-operator",
			"secrets ebs-cloud-credentials in openshift-cluster-csi-drivers",
			"secrets in openshift-cloud-credential-operator", "secrets in openshift-cloud-network-config-controller", "secrets in openshift-cluster-csi-drivers",
			"secrets in openshift-image-registry", "secrets in openshift-ingress-operator", "secrets in openshift-machine-api",
			"secrets installer-cloud-credentials in openshift-image-registry", "serviceaccounts",
		},
		[]string{
			"secrets aws-cloud-credentials in openshift-machine-api", "secrets cloud-credential-operator-iam-ro-creds in openshift-cloud-credential-operator",
			"secrets cloud-credentials in openshift-cloud-network-config-controller", "secrets cloud-credentials in openshift-ingress-operator",
			"secrets ebs-cloud-credentials in openshift-cluster-csi-drivers", "secrets installer-cloud-credentials in openshift-image-registry",
		}},
	"tabard-system/tabard-hub": {[]string{"hubaccesses", "hubaccesses/status", "managedclusters"}, nil},
	"tabard-system/tabard-issuer": {
		[]string{"oidcissuers", "oidcissuers/status", "serviceaccounts/token tabard-issuer in tabard-system"}, nil},
	"tabard-system/tabard-ocm":            {nil, []string{"secrets tabard-ocm-cert in tabard-certificate"}},
	"tabard-system/tabard-operator":       {},
	"tabard-system/tabard-operators":      {[]string{"installplans"}, nil},
	"tabard-system/tabard-selectorreport": {[]string{"iamroleselectorreports", "iamroleselectorreports/status"}, nil},
	"tabard-system/tabard-webhook":        {nil, []string{"secrets tabard-webhook-cert in tabard-certificate"}},
	"tabard-system/tabard-webhookdeployment": {
		[]string{
			"deployments tabard-webhook in tabard-system", "mutatingwebhookconfigurations tabard-webhook",
			"poddisruptionbudgets tabard-webhook in tabard-system",
			"services tabard-webhook in tabard-system", "services tabard-webhook-probe in tabard-system",
		}, nil},
}

// named are a grant's resources with its names, each a text.
func (g grant) named() (found []string) {
	in := ""
	if g.namespace != "" {
		in = " in " + g.namespace
	}
	for _, resource := range g.Resources {
		if len(g.ResourceNames) == 0 {
			found = append(found, resource+in)
		}
		for _, name := range g.ResourceNames {
			found = append(found, resource+" "+name+in)
		}
	}
	return found
}

// rightsOf are the rights of an account in the form of the table.
func rightsOf(t *testing.T, w *world, account account) (found said) {
	t.Helper()
	grants, err := w.grants(account)
	if err != nil {
		t.Fatal(err)
	}
	changes := func(verb string) bool { return !reads(verb) }
	more := func(resource string) bool { return resource != "events" && resource != "leases" }
	for _, g := range grants {
		if slices.ContainsFunc(reading, func(verb string) bool { return g.covers(verb, "", "secrets") }) {
			found.secrets = append(found.secrets, g.named()...)
		}
		if slices.ContainsFunc(g.Verbs, changes) && slices.ContainsFunc(g.Resources, more) {
			found.writes = append(found.writes, g.named()...)
		}
	}
	for _, list := range []*[]string{&found.writes, &found.secrets} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return found
}

// TestEachAccountMayDoWhatThePageSays: one right more, though it leads nowhere, makes a
// sentence of docs/security.md wrong, such as that the webhook writes nothing, that the
// operator reads no Secret, or that the certificate's namespace has no other account.
func TestEachAccountMayDoWhatThePageSays(t *testing.T) {
	w, err := parse(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	alone := 0
	for _, account := range w.accounts {
		got, want := rightsOf(t, w, account), saidOfAccounts[account.String()]
		if !slices.Equal(got.writes, want.writes) {
			t.Errorf("%s may write\n%q, and docs/security.md says\n%q", account, got.writes, want.writes)
		}
		if !slices.Equal(got.secrets, want.secrets) {
			t.Errorf("%s may read\n%q, and docs/security.md says\n%q", account, got.secrets, want.secrets)
		}
		if _, is := saidOfAccounts[account.String()]; !is {
			t.Errorf("nothing is said of %s", account)
		}
		if account.namespace == "tabard-certificate" {
			alone++
		}
	}
	if alone != 1 || len(w.accounts) != len(saidOfAccounts) {
		t.Errorf("there are %d accounts, %d of them in tabard-certificate; want %d and one", len(w.accounts), alone, len(saidOfAccounts))
	}
}

// TestThePoliciesOfAccountsStandAlone: they go by no object that could be deleted, refuse
// what they cannot evaluate, and are asked about the requests of one account each.
func TestThePoliciesOfAccountsStandAlone(t *testing.T) {
	w, err := parse(map[string][]byte{policies: shipped(t)[policies]})
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Collect(maps.Keys(saidOfAccounts))
	for _, p := range w.policies {
		if p.Spec.FailurePolicy == nil || *p.Spec.FailurePolicy != admissionv1.Fail || p.Spec.ParamKind != nil {
			t.Errorf("%s: it lets pass what it cannot evaluate, or has a parameter", p.Name)
		}
		var of string
		if conditions := p.Spec.MatchConditions; len(conditions) == 1 {
			of, _ = strings.CutPrefix(conditions[0].Expression, "request.userInfo.username == 'system:serviceaccount:")
		}
		if of = strings.Replace(strings.TrimSuffix(of, "'"), ":", "/", 1); !slices.Contains(known, of) {
			t.Errorf("%s is asked under the conditions %+v, want that it is about one of Tabard's accounts", p.Name, p.Spec.MatchConditions)
		}
	}
	for _, b := range w.bound {
		if b.Spec.ParamRef != nil || b.Spec.MatchResources != nil || !slices.Equal(b.Spec.ValidationActions, []admissionv1.ValidationAction{admissionv1.Deny}) {
			t.Errorf("the binding %s does not always deny: %+v", b.Name, b.Spec)
		}
	}
	if len(w.policies) < 10 || len(w.guards) != len(w.policies) {
		t.Errorf("of %d policies %d are in force", len(w.policies), len(w.guards))
	}
}

// TestBeforeKubernetes130 no policy refuses anything, and these accounts lead further.
func TestBeforeKubernetes130(t *testing.T) {
	texts := shipped(t)
	delete(texts, policies)
	got := map[string]bool{}
	for _, way := range ways(t, texts) {
		from, _, _ := strings.Cut(way, " ")
		got[from] = true
	}
	want := []string{"tabard-certificate/tabard-certificate", "tabard-system/tabard-capacity", "tabard-system/tabard-credentials", "tabard-system/tabard-hub", "tabard-system/tabard-operators", "tabard-system/tabard-webhookdeployment"}
	if found := slices.Sorted(maps.Keys(got)); !slices.Equal(found, want) {
		t.Errorf("without the policies %q lead further, and docs/security.md names %q", found, want)
	}
}
