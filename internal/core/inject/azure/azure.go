// Package azure decides how a pod gets its Azure identity at admission (Microsoft
// Entra Workload ID), as a minimal JSON patch. It does no I/O.
//
// The effective pod is the one that the azure-workload-identity webhook makes for
// the same input, without its proxy sidecar; where it is meant to differ,
// docs/compatibility.md says so.
package azure

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// AnnotationPrefix begins the names of all annotations and of the label. It is
// fixed.
const AnnotationPrefix = "azure.workload.identity"

// WorkloadIdentity is the one method by which pods get Azure credentials: the SDK
// changes a token for an access token at Microsoft Entra ID.
const WorkloadIdentity inject.Method = "azure_workload_identity"

// UseLabel is the label by which pods opt in.
const UseLabel = AnnotationPrefix + "/use"

const (
	annotationPrefix = AnnotationPrefix + "/"
	// useLabel opts a pod in by the value useValue.
	useLabel, useValue = UseLabel, "true"
	// Annotations of ServiceAccounts; the expiration is one of pods, too.
	clientIDAnnotation   = annotationPrefix + "client-id"
	tenantIDAnnotation   = annotationPrefix + "tenant-id"
	expirationAnnotation = annotationPrefix + "service-account-token-expiration"
	// Annotations of pods.
	skipAnnotation  = annotationPrefix + "skip-containers"
	proxyAnnotation = annotationPrefix + "inject-proxy-sidecar"
	portAnnotation  = annotationPrefix + "proxy-sidecar-port"
	usePrefix       = "use-" // and the suffix of the custom token endpoint
)

// What is injected.
const (
	volumePrefix = "azure-workload-identity-reserved-"
	hashLength   = 30
	mountPath    = "/var/run/secrets/azure/wi"
	tokenFile    = "token/azure-identity-token"
	caFile       = "ca-cert/ca.crt"
	caKey        = "ca.crt"
)

// defaultAccount is the ServiceAccount of a pod that names none.
const defaultAccount = "default"

// Injector decides by fixed settings. It is safe for concurrent use.
type Injector struct {
	settings      Settings
	authorityHost string
	// customAnnotation asks for the custom token endpoint; empty if there is
	// none.
	customAnnotation string
	vocabulary       podpatch.Vocabulary
}

// New checks the settings. The error names the one that is wrong.
func New(settings Settings) (*Injector, error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	in := &Injector{settings: settings, authorityHost: settings.authorityHost(), vocabulary: podpatch.Vocabulary{
		Prefix:  annotationPrefix,
		Account: []string{"client-id", "tenant-id", "service-account-token-expiration"},
		Pod:     []string{"service-account-token-expiration", "skip-containers", "inject-proxy-sidecar", "proxy-sidecar-port"},
		Label:   []string{"use"},
	}}
	if settings.CustomTokenEndpoint != nil {
		in.customAnnotation = annotationPrefix + usePrefix + settings.CustomTokenEndpoint.AnnotationSuffix
		in.vocabulary.Pod = append(in.vocabulary.Pod, usePrefix+settings.CustomTokenEndpoint.AnnotationSuffix)
	}
	return in, nil
}

// annotations are those of a pod that matter, absent for none.
type annotations struct {
	expiration, skip, proxy, port, custom raw.Value
	// endpoint is an annotation that asks for another token endpoint than the one that is
	// configured, empty for none.
	endpoint string
}

func (in *Injector) annotations(pod inject.Pod) annotations {
	var asked annotations
	for c := pod.Annotations.Walk(); c.Next(); {
		switch string(c.Name()) {
		case expirationAnnotation:
			asked.expiration = c.Value()
		case skipAnnotation:
			asked.skip = c.Value()
		case proxyAnnotation:
			asked.proxy = c.Value()
		case portAnnotation:
			asked.port = c.Value()
		case in.customAnnotation:
			asked.custom = c.Value()
		default:
			if strings.HasPrefix(string(c.Name()), annotationPrefix+usePrefix) {
				asked.endpoint = string(c.Name())
			}
		}
	}
	return asked
}

// AccountName is the ServiceAccount whose annotations decide about a pod. It is
// empty for a pod that has not opted in: nothing has to be known about it.
func (in *Injector) AccountName(pod inject.Pod) string {
	switch {
	case !pod.Labels.Get(useLabel).Is(useValue):
		return ""
	case pod.ServiceAccountName == "":
		return defaultAccount
	}
	return pod.ServiceAccountName
}

// Inject decides about one pod. A *inject.Refusal refuses a pod that has opted in
// and cannot get its identity; another error says what of the pod is not as the
// API has it.
func (in *Injector) Inject(pod inject.Pod, subject inject.Subject) (inject.Result, error) {
	name := in.AccountName(pod)
	var warnings podpatch.Warnings
	in.vocabulary.AdvisePod(pod, &warnings)
	if name == "" {
		return inject.Result{Warnings: warnings, Reason: inject.NotOptedIn}, nil
	}
	if subject.Account == nil {
		return inject.Result{}, refuse(inject.UnknownServiceAccount,
			"there is no ServiceAccount %.63q, and the pod's label %s asks for its Azure identity", name, useLabel)
	}
	if subject.Account.TooLong {
		return inject.Result{}, refuse(inject.AnnotationsTooLong,
			"ServiceAccount %.63q has more than %d bytes of annotations that name its identity, and the pod's label %s asks for its Azure identity", name, inject.MaxAnnotations, useLabel)
	}
	asked := in.annotations(pod)
	seconds, err := expiration(asked, subject.Account.Annotations)
	if err != nil {
		return inject.Result{}, err
	}
	in.vocabulary.AdviseAccount(name, subject.Account.Annotations, &warnings)
	plan := in.plan(pod, seconds, subject.Account.Annotations, in.customEndpoint(asked, &warnings))
	plan.Selection.Skip = podpatch.SplitNames(asked.skip.Text(), ";")
	containers, err := plan.Examine(pod)
	if err != nil {
		return inject.Result{}, err
	}
	pod.AdviseSkipped(skipAnnotation, plan.Selection.Skip, &warnings)
	advise(asked, name, subject.Account.Annotations[clientIDAnnotation], containers, &warnings)
	plan.Advise(containers, "Azure", identityGroups, &warnings)
	if podpatch.AnyLost(containers) {
		return inject.Result{}, refuse(inject.TokenNotMounted, "the pod's label %s asks for its Azure identity, and it would start without: %s", useLabel, strings.Join(warnings, "; "))
	}
	patch := plan.Write(pod, containers)
	return inject.Result{
		Patch: patch, Warnings: warnings, Method: WorkloadIdentity, Reason: inject.Outcome(patch, containers),
		Identity: subject.Account.Annotations[clientIDAnnotation], Source: "annotation " + clientIDAnnotation,
	}, nil
}

// volumeName is one of its own for each pod, so that no pod's author has a volume
// of that name by accident.
func volumeName(pod inject.Pod) string {
	name := pod.Metadata.Get("name").Text()
	if name == "" {
		name = pod.Metadata.Get("generateName").Text() + " (prefix)"
	}
	sum := sha256.Sum256([]byte(name))
	return volumePrefix + hex.EncodeToString(sum[:])[:hashLength]
}
