package credentials_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
)

// payload is the namespace in which OpenShift's releases have their requests.
const payload = "openshift-cloud-credential-operator"

// alone is OpenShift without a live Cloud Credential Operator.
func alone() platform.Facts {
	out := openshift(platform.Manual)
	out.Operator = platform.Operator{Why: "no Cloud Credential Operator is live: its Deployment wants no replica"}
	return out
}

// payloadWorld is a request of a namespace for a Secret of another, with a boundary whose
// targets are in YAML.
func payloadWorld(t *testing.T, facts platform.Facts, namespace, target, targets string) credentials.World {
	t.Helper()
	w := teamWorld(
		requestOf(t, namespace, "{secretRef: {namespace: "+target+", name: cloud-credentials}, serviceAccountNames: [operator], providerSpec: {kind: AWSProviderSpec, statementEntries: "+allow("s3:GetObject", "arn:aws:s3:::b/x")+"}}"),
		boundaryOf(t, "payload", "{namespaces: ["+namespace+"], targetNamespaces: "+targets+", aws: {"+small+"}}"),
	)
	w.Platform = facts
	return w
}

// TestTheTargetsOfOpenShiftsOwnRequests: those of the operator's namespace reach the other
// namespaces of OpenShift that their boundary lists, where nothing else would fulfil them.
func TestTheTargetsOfOpenShiftsOwnRequests(t *testing.T) {
	const every = "[openshift-ingress-operator, openshift-cloud-credential-operator, openshift, openshift-tabard, kube-system, kube-dns, tabard-system, tabard-x, tabard-credentials, team]"
	plain := platform.Facts{Infrastructure: "prod-x7k2p"}
	noted := func(f platform.Facts) platform.Facts {
		f.Operator.Live, f.Operator.Why = true, "a Cloud Credential Operator is live: its Lease is renewed"
		return f
	}
	for name, each := range map[string]struct {
		facts             platform.Facts
		namespace, target string
		targets           string
		want              credentials.Reason
		says              string
	}{
		"a namespace of OpenShift's":                           {alone(), payload, "openshift-ingress-operator", every, credentials.ReasonAccepted, "payload"},
		"the request's own":                                    {alone(), payload, payload, every, credentials.ReasonAccepted, ""},
		"the request's own, with no list":                      {alone(), payload, payload, "[]", credentials.ReasonAccepted, ""},
		"one of OpenShift's, with no list":                     {alone(), payload, "openshift-ingress-operator", "[]", credentials.ReasonTargetNotAllowed, "spec.targetNamespaces"},
		"one of OpenShift's that is not listed":                {alone(), payload, "openshift-ingress-operator", "[openshift-image-registry]", credentials.ReasonTargetNotAllowed, "openshift-image-registry"},
		"openshift alone, which holds no operator":             {alone(), payload, "openshift", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"kube-system":                                          {alone(), payload, "kube-system", every, credentials.ReasonTargetNotAllowed, "of Kubernetes"},
		"another one of Kubernetes'":                           {alone(), payload, "kube-dns", every, credentials.ReasonTargetNotAllowed, "of Kubernetes"},
		"tabard-system":                                        {alone(), payload, "tabard-system", every, credentials.ReasonTargetNotAllowed, "of Tabard"},
		"another one with Tabard's prefix":                     {alone(), payload, "tabard-x", every, credentials.ReasonTargetNotAllowed, "of Tabard"},
		"Tabard's own":                                         {alone(), payload, ownNamespace, every, credentials.ReasonTargetNotAllowed, "of Tabard"},
		"Tabard's own with OpenShift's prefix":                 {alone(), payload, "openshift-tabard", every, credentials.ReasonTargetNotAllowed, "of Tabard"},
		"a team's that is listed":                              {alone(), payload, "team", every, credentials.ReasonAccepted, ""},
		"a namespace of that name on plain Kubernetes":         {plain, payload, "openshift-ingress-operator", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"OpenShift's operator is live":                         {noted(alone()), payload, "openshift-ingress-operator", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"an operator may be there, for nothing else was read":  {noted(plain), payload, "openshift-ingress-operator", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"a team's request":                                     {alone(), "team", "openshift-ingress-operator", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"a request of another namespace of OpenShift's":        {alone(), "openshift-ingress-operator", "openshift-image-registry", "[openshift-image-registry]", credentials.ReasonTargetNotAllowed, "of OpenShift"},
		"a request of a namespace with the operator's as head": {alone(), payload + "-x", "openshift-ingress-operator", every, credentials.ReasonTargetNotAllowed, "of OpenShift"},
	} {
		t.Run(name, func(t *testing.T) {
			w := payloadWorld(t, each.facts, each.namespace, each.target, each.targets)
			w.Settings.OwnNamespaces = append(w.Settings.OwnNamespaces, "openshift-tabard")
			if reason, message := verdictOf(w); reason != each.want || !strings.Contains(message, each.says) {
				t.Errorf("%s (%s), want %s saying %q", reason, message, each.want, each.says)
			}
		})
	}
}

// TestAnAdministratorsDecisionReachesNoFurther: an adopted request, and one with a bound role,
// reach the namespaces that any other one of OpenShift's reaches.
func TestAnAdministratorsDecisionReachesNoFurther(t *testing.T) {
	for name, spec := range map[string]v1alpha1.CredentialsGrantSpec{
		"adopted": {Adopted: true}, "bound": {Bound: &v1alpha1.BoundIdentity{RoleARN: givenARN}},
	} {
		for live, want := range map[bool]credentials.Reason{false: credentials.ReasonAccepted, true: credentials.ReasonTargetNotAllowed} {
			w := payloadWorld(t, alone(), payload, "openshift-ingress-operator", "[openshift-ingress-operator]")
			w.Platform.Operator.Live = live
			w.Grant = &v1alpha1.CredentialsGrant{Spec: spec}
			w.Grant.Spec.Request = v1alpha1.RequestRef{Namespace: payload, Name: w.Request.Name, UID: w.Request.UID}
			if reason, message := verdictOf(w); reason != want {
				t.Errorf("%s, an operator is live: %t: %s (%s), want %s", name, live, reason, message, want)
			}
		}
	}
}

// TestTheRolesOfOpenShiftsRequestsAreNotTabards: a request of the same name in Tabard's
// namespace has another role. One whose name there is made to have the same role's does not
// get it, nor does it lose it: who has it is told by the tags.
func TestTheRolesOfOpenShiftsRequestsAreNotTabards(t *testing.T) {
	w := payloadWorld(t, alone(), payload, "openshift-ingress-operator", "[openshift-ingress-operator]")
	name := credentials.RoleNameOf(w)
	own := func(request string) string {
		return credentials.RoleName(w.Settings, w.Platform.Infrastructure, ownNamespace, request)
	}
	if own(w.Request.Name) == name {
		t.Fatalf("requests of two namespaces have the role %s", name)
	}
	met := strings.TrimPrefix(name, w.Platform.Infrastructure+"-")
	if own(met) != name {
		t.Fatalf("the request %s of %s has the role %s, want %s for this test", met, ownNamespace, own(met), name)
	}
	theirs := v1alpha1.RequestRef{Namespace: ownNamespace, Name: met, UID: "another"}
	w.Targets = []credentials.TargetState{{Target: credentials.Target{Kind: credentials.KindSecret, Namespace: "openshift-ingress-operator", Name: "cloud-credentials"}}}
	w.Role = credentials.RoleState{Seen: true, Live: true, Exists: true, Role: credentials.Role{
		Name: name, Path: "/tabard/", Tags: map[string]string{credentials.OwnerTag: credentials.Owner(theirs)},
	}}
	plan := credentials.Decide(w)
	if v := says(plan, credentials.TypeRolePresent); v.Reason != credentials.ReasonRoleNotOurs || kinds(plan.Steps) != "MakeGrant" {
		t.Errorf("RolePresent is %+v, the steps are %s, want RoleNotOurs, and a grant alone", v, kinds(plan.Steps))
	}
}
