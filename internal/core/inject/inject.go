// Package inject decides how a pod gets its AWS identity at admission: which
// environment variables, volumes and mounts are added to which containers, as a
// minimal JSON patch on the pod as the API server sent it. It does no I/O.
//
// The effective pod is the one that EKS's pod identity webhook makes for the
// same input; where it is meant to differ, docs/compatibility.md says so.
//
// What is not AWS's is in packages of its own: raw reads the pod, and podpatch
// writes the patch by a plan; azure and gcp decide by the same nouns about the
// identities of those clouds.
package inject

import (
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Reason says why a pod was changed, or was not. It labels metrics.
type Reason string

// The reasons.
const (
	// Injected: the pod gets what was missing.
	Injected Reason = "Injected"
	// Complete: the pod has opted in, and nothing was missing.
	Complete Reason = "Complete"
	// NotOptedIn: nothing names a role for the ServiceAccount.
	NotOptedIn Reason = "NotOptedIn"
	// UnknownServiceAccount: there is no such ServiceAccount, and nothing else
	// names a role for it.
	UnknownServiceAccount Reason = "UnknownServiceAccount"
	// MalformedRoleARN: what should be the ARN of a role is none.
	MalformedRoleARN Reason = "MalformedRoleARN"
	// BadMapping: the config map's entry for the ServiceAccount cannot be read,
	// so that it is not known what the pod should get.
	BadMapping Reason = "BadMapping"
	// TokenNotMounted: the pod has opted in, and something of its own is in the place
	// of the token in a container that looks for it there.
	TokenNotMounted Reason = "TokenNotMounted"
	// BadAnnotation: an annotation asks for what cannot be.
	BadAnnotation Reason = "BadAnnotation"
	// Declined: the pod's author keeps its identity from a container, where the namespace
	// requires it and does not allow that.
	Declined Reason = "Declined"
	// AnnotationsTooLong: the ServiceAccount has more annotations than are kept, so that
	// it is not known what they ask for.
	AnnotationsTooLong Reason = "AnnotationsTooLong"
	// Undecided: nothing that is known names a role, and something that says who
	// has one has never been readable. It is no decision: the pod may be another's.
	Undecided Reason = "Undecided"
)

// Method is how a pod gets credentials. It labels metrics, by the names that
// EKS's pod identity webhook uses.
type Method string

// The methods.
const (
	// NoMethod: it gets none.
	NoMethod Method = ""
	// WebIdentity: the SDK changes a token for a role's credentials at STS (IAM
	// roles for service accounts).
	WebIdentity Method = "sts_web_identity"
	// ContainerCredentials: the SDK shows a token to an agent on the node, which
	// answers with credentials (EKS Pod Identity).
	ContainerCredentials Method = "container_credentials"
)

// ServiceAccount is what matters of a pod's ServiceAccount.
type ServiceAccount struct {
	// Annotations may hold others than those of the configured prefix. Those of
	// the prefix decide; among the others, misspelt ones are warned of.
	Annotations map[string]string
	// Labels are for the bindings of a Mapping; nil if none of them asks.
	Labels map[string]string
	// TooLong says that the annotations of the prefix are longer than MaxAnnotations,
	// names and values together. Then none is here, and none counts.
	TooLong bool
}

// MaxAnnotations is how many bytes the annotations of a ServiceAccount may have that
// name its identity: an ARN has at most 2,048, and everybody who can write one
// ServiceAccount can write very many.
const MaxAnnotations = 4 << 10

// WarnTooLong tells of a ServiceAccount whose annotations are too long.
func WarnTooLong(account, cloud string, warnings *podpatch.Warnings) {
	warnings.Add("ServiceAccount %.63q has more than %d bytes of annotations that name its identity; the pod gets no %s identity", account, MaxAnnotations, cloud)
}

// Subject is whose identity a pod gets, and all that is said about it.
type Subject struct {
	// Namespace is that of the request; the one in the pod does not count.
	Namespace string
	// NamespaceLabels are for the bindings of a Mapping; nil if none of them
	// asks.
	NamespaceLabels map[string]string
	// Account is the pod's ServiceAccount, nil if it does not exist.
	Account *ServiceAccount
	// Mapping and Identities are what the cluster's administrators have
	// configured; nil is none.
	Mapping    *Mapping
	Identities *Identities
	// MappingUnread and IdentitiesUnread say of each that it is there and has
	// never been readable: it may say more than is known.
	MappingUnread, IdentitiesUnread bool
}

// Result is the decision about one pod.
type Result struct {
	// Patch is an RFC 6902 document, nil if there is nothing to change.
	Patch []byte
	// Warnings are for the person who creates the pod, one line each.
	Warnings []string
	// Method is how the pod gets credentials, also if it has all that it needs.
	Method Method
	// Reason is why.
	Reason Reason
	// Declined says by what the pod's author keeps the identity that its ServiceAccount asks
	// for from a container; empty if all get it.
	Declined string
	// Identity is whom the pod can be: a role, a client ID or a provider; empty where
	// others say. Source is what names it. Both are for people.
	Identity, Source string
}

// Refusal says why a pod is refused, by a cloud whose webhook does not let it pass
// without its identity.
type Refusal struct {
	Reason  Reason
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Pod is what matters of a pod, to every cloud. It shares the memory of the text
// it was read from.
type Pod = podpatch.Pod

// Read finds the parts of a pod. The error says what of it is not as the API has
// it: such an object is no pod.
func Read(object raw.Value) (Pod, error) { return podpatch.Read(object) }

// annotations are those of a pod that matter, absent for none.
type annotations struct {
	tokenExpiration, skipContainers, includeContainers, roleProfiles raw.Value
}

func (in *Injector) annotations(pod Pod) annotations {
	var asked annotations
	for c := pod.Annotations.Walk(); c.Next(); {
		switch string(c.Name()) {
		case in.names.tokenExpiration:
			asked.tokenExpiration = c.Value()
		case in.names.skipContainers:
			asked.skipContainers = c.Value()
		case in.names.includeContainers:
			asked.includeContainers = c.Value()
		case in.names.roleProfiles:
			asked.roleProfiles = c.Value()
		}
	}
	return asked
}

// AccountName is the ServiceAccount whose annotations decide about a pod, empty if
// there is none.
func (in *Injector) AccountName(pod Pod) string { return pod.ServiceAccountName }

// Grants says whether what is known gives the pod's ServiceAccount an identity.
func (in *Injector) Grants(pod Pod, subject Subject) bool {
	var unheard podpatch.Warnings
	found, _ := in.choose(pod, subject, &unheard)
	return found.method != NoMethod
}

// Inject decides about one pod. The error says what of the pod is not as the API
// has it.
func (in *Injector) Inject(pod Pod, subject Subject) (Result, error) {
	var warnings podpatch.Warnings
	found, reason := in.choose(pod, subject, &warnings)
	if subject.undecided(pod, found, reason) {
		return Result{Reason: Undecided}, nil
	}
	subject.adviseUnread(found, &warnings)
	asks := found.method != NoMethod
	in.adviseAccount(subject.Account, pod.ServiceAccountName, found, &warnings)
	in.advisePod(pod, in.annotations(pod), &warnings)
	plan := in.draft(pod, subject.Namespace, &found, &warnings)
	if plan == nil {
		return Result{Warnings: warnings, Reason: reason}, nil
	}
	containers, err := plan.Examine(pod)
	if err != nil {
		return Result{}, err
	}
	in.adviseContainers(pod, plan, containers, &warnings)
	declined := ""
	if asks {
		declined = plan.Declined(containers, credentialsGroup)
	}
	patch := plan.Write(pod, containers)
	return Result{
		Declined: declined,
		Patch:    patch, Warnings: warnings, Method: found.method, Reason: outcome(reason, patch, containers),
		Identity: found.roleARN, Source: found.source,
	}, nil
}

// draft is what a pod is to have by what was found for its ServiceAccount and by its
// own annotations, nil if that is nothing. What is found is completed.
func (in *Injector) draft(pod Pod, namespace string, found *binding, warnings *podpatch.Warnings) *podpatch.Plan {
	asked := in.annotations(pod)
	if seconds, ok := ParseExpiration(asked.tokenExpiration.Text()); ok {
		found.tokenExpiration = seconds
	}
	profiles := in.readProfiles(asked, warnings)
	if len(profiles) > 0 && found.method == NoMethod {
		found.method, found.source = WebIdentity, in.profilesSource // by the profiles alone
	}
	if found.method == NoMethod {
		return nil
	}
	plan := in.plan(pod, namespace, *found, profiles)
	plan.Selection = in.selection(asked, warnings)
	return plan
}

// outcome is the reason of a pod that has opted in. That something about its
// role is wrong goes before what it gets besides.
func outcome(reason Reason, patch []byte, containers []podpatch.Container) Reason {
	if reason == MalformedRoleARN || reason == BadMapping {
		return reason
	}
	return Outcome(patch, containers)
}

// Outcome is the reason of a pod that has opted in and gets its identity by a
// patch.
func Outcome(patch []byte, containers []podpatch.Container) Reason {
	switch {
	case podpatch.AnyLost(containers):
		return TokenNotMounted
	case patch == nil:
		return Complete
	}
	return Injected
}
