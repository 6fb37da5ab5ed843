package credentials

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// boundTargets says whether a request may name its targets, and whether what it says of
// them can be written as it is.
func boundTargets(w World, boundary *v1alpha1.CredentialsBoundary) condition.Verdict {
	targets, invalid := Targets(w.Request)
	if invalid != "" {
		return condition.No(ReasonInvalidTarget, "%s", invalid)
	}
	for _, target := range targets {
		if v := boundTarget(w, boundary, target); !v.IsTrue() {
			return v
		}
	}
	for _, name := range w.Request.Spec.ServiceAccountNames {
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
			return condition.No(ReasonInvalidTarget, "spec.serviceAccountNames has %q, expected the name of a ServiceAccount: %s", name, wrong[0])
		}
	}
	// The path is written into configuration files line by line: a second line would be
	// a setting of its own, such as a program to run.
	path := w.Request.Spec.CloudTokenPath
	if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsFunc(path, isOdd)) {
		return condition.No(ReasonTokenPathInvalid, "spec.cloudTokenPath is %q, expected an absolute path of letters, digits and ._-/", path)
	}
	return within(boundary.Name)
}

// isOdd says that a character is none of those of an ordinary path.
func isOdd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-/", r)
}

func boundTarget(w World, boundary *v1alpha1.CredentialsBoundary, target Target) condition.Verdict {
	if wrong := validation.IsDNS1123Label(target.Namespace); len(wrong) > 0 {
		return condition.No(ReasonInvalidTarget, "the target's namespace is %q, expected the name of a namespace: %s", target.Namespace, wrong[0])
	}
	if wrong := validation.IsDNS1123Subdomain(target.Name); len(wrong) > 0 {
		return condition.No(ReasonInvalidTarget, "the target's name is %q, expected the name of a %s: %s", target.Name, target.Kind, wrong[0])
	}
	if whose := closedTo(target.Namespace); whose != "" {
		return condition.No(ReasonTargetNotAllowed, "%s is in a namespace %s, where the controller writes for no request, whatever its CredentialsBoundary says: name a %s in another namespace", target, whose, target.Kind)
	}
	own := w.Request.Namespace
	if isOwn(w, own) {
		return within(boundary.Name)
	}
	if why := reserved(w, target.Namespace); why != "" && target.Namespace != own && !isOfPayload(w, target) {
		return condition.No(ReasonTargetNotAllowed, "%s is in a namespace %s, which no request of the namespace %s may write to, whatever its CredentialsBoundary says: name a %s in %s", target, why, own, target.Kind, own)
	}
	allowed := boundary.Spec.TargetNamespaces
	if len(allowed) == 0 {
		allowed = []string{own}
	}
	if !slices.Contains(allowed, target.Namespace) {
		return condition.No(ReasonTargetNotAllowed, "%s is in the namespace %s, expected one that the CredentialsBoundary %s allows to the requests of %s (%s): name another target, or have an administrator add the namespace to spec.targetNamespaces", target, target.Namespace, boundary.Name, own, strings.Join(allowed, ", "))
	}
	return within(boundary.Name)
}

// payloadNamespace is that of OpenShift's Cloud Credential Operator. A release of OpenShift
// has its own operators' requests there, and their Secrets in the operators' namespaces.
const payloadNamespace = "openshift-cloud-credential-operator"

// isOfPayload says whether a target is one of a request that belongs to OpenShift itself: the
// CredentialsBoundary decides on it then. A live operator fulfils these requests, and on plain
// Kubernetes whoever may make namespaces may make one of that name.
func isOfPayload(w World, target Target) bool {
	return w.Platform.OpenShift && !w.Platform.Operator.Live && w.Request.Namespace == payloadNamespace &&
		reserved(w, target.Namespace) == ofOpenShift && strings.HasPrefix(target.Namespace, "openshift-")
}

// closed are the beginnings of the names of namespaces in which the controller writes for no
// request, and whose they are (Kubernetes: Namespaces, for kube-). The admission policies
// tabard-credentials-accounts and tabard-credentials-secrets refuse the writes, too.
var closed = map[string]string{"kube-": "of Kubernetes", "tabard-": ofTabard}

const ofTabard, ofOpenShift = "of Tabard", "of OpenShift"

// closedTo says whose a namespace is in which the controller writes for no request; empty for
// others.
func closedTo(namespace string) string {
	for head, whose := range closed {
		if strings.HasPrefix(namespace, head) {
			return whose
		}
	}
	return ""
}

// reserved says what namespaces a team's request never reaches from outside; empty for others.
func reserved(w World, namespace string) string {
	switch {
	case isOwn(w, namespace):
		return ofTabard
	case namespace == "openshift" || strings.HasPrefix(namespace, "openshift-"):
		return ofOpenShift
	}
	return ""
}
