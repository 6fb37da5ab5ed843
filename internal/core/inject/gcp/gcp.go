// Package gcp decides how a pod gets its Google Cloud identity at admission, in a
// cluster outside Google Cloud (Workload Identity Federation), as a minimal JSON
// patch. It does no I/O.
//
// Annotations, volumes and paths are those of
// gcp-workload-identity-federation-webhook; where the effective pod is meant to
// differ, docs/compatibility.md says so.
package gcp

import (
	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// WorkloadIdentityFederation is the one method by which pods get Google Cloud
// credentials: the client library changes a token for an access token at Google's
// STS.
const WorkloadIdentityFederation inject.Method = "gcp_workload_identity_federation"

// Injector decides by fixed settings. It is safe for concurrent use.
type Injector struct {
	settings   Settings
	names      annotationNames
	vocabulary podpatch.Vocabulary
}

// annotationNames are the full names of the annotations.
type annotationNames struct {
	provider, email, audience, mode, project string
	tokenExpiration, skipContainers          string
	// credential is the one that the injector writes itself.
	credential string
	// source is the first one for people.
	source string
}

// New checks the settings. The error names the one that is wrong.
func New(settings Settings) (*Injector, error) {
	if err := settings.check(); err != nil {
		return nil, err
	}
	prefix := settings.AnnotationPrefix + "/"
	vocabulary := podpatch.Vocabulary{
		Prefix:  prefix,
		Account: []string{"workload-identity-provider", "service-account-email", "audience", "injection-mode", "project", "token-expiration", runAsUser},
		Pod:     []string{"token-expiration", "skip-containers", "external-credentials-json"},
		Label:   []string{"skip-pod-identity-webhook"},
	}
	return &Injector{settings: settings, vocabulary: vocabulary, names: annotationNames{
		provider:        prefix + "workload-identity-provider",
		email:           prefix + "service-account-email",
		audience:        prefix + "audience",
		mode:            prefix + "injection-mode",
		project:         prefix + "project",
		tokenExpiration: prefix + "token-expiration",
		skipContainers:  prefix + "skip-containers",
		credential:      prefix + "external-credentials-json",
		source:          "annotation " + prefix + "workload-identity-provider",
	}}, nil
}

// runAsUser is an annotation that the other webhook knows: for an init container that is
// not needed here.
const runAsUser = "gcloud-run-as-user"

// AccountName is the ServiceAccount whose annotations decide about a pod, empty if
// there is none.
func (in *Injector) AccountName(pod inject.Pod) string { return pod.ServiceAccountName }

// Inject decides about one pod. The error says what of the pod is not as the API
// has it.
func (in *Injector) Inject(pod inject.Pod, subject inject.Subject) (inject.Result, error) {
	name := in.AccountName(pod)
	if name == "" || subject.Account == nil {
		return inject.Result{Reason: inject.UnknownServiceAccount}, nil
	}
	var warnings podpatch.Warnings
	if subject.Account.TooLong {
		inject.WarnTooLong(name, "Google Cloud", &warnings)
		return inject.Result{Warnings: warnings, Reason: inject.AnnotationsTooLong}, nil
	}
	found, reason := in.choose(name, subject.Account.Annotations, &warnings)
	in.adviseAccount(name, subject.Account.Annotations, reason, &warnings)
	in.vocabulary.AdvisePod(pod, &warnings)
	if reason != "" {
		return inject.Result{Warnings: warnings, Reason: reason}, nil
	}
	var skip raw.Value
	for c := pod.Annotations.Walk(); c.Next(); {
		switch string(c.Name()) {
		case in.names.skipContainers:
			skip = c.Value()
		case in.names.tokenExpiration:
			found.readExpiration(c.Value().Text())
			inject.AdviseExpiration("", in.names.tokenExpiration, c.Value().Text(), maxTokenExpiration, &warnings)
		}
	}
	plan, err := in.plan(found)
	if err != nil {
		return inject.Result{}, err
	}
	if plan.Selection.Skip, err = podpatch.ParseNames(skip.Text()); err != nil {
		warnings.Add("annotation %s: %v; no container is skipped", in.names.skipContainers, err)
	}
	containers, err := plan.Examine(pod)
	if err != nil {
		return inject.Result{}, err
	}
	pod.AdviseSkipped(in.names.skipContainers, plan.Selection.Skip, &warnings)
	plan.Advise(containers, "Google Cloud", []int{credentialGroup}, &warnings)
	declined := plan.Declined(containers, credentialGroup)
	patch := plan.Write(pod, containers)
	return inject.Result{
		Declined: declined,
		Patch:    patch, Warnings: warnings, Method: WorkloadIdentityFederation, Reason: inject.Outcome(patch, containers),
		Identity: found.provider, Source: in.names.source,
	}, nil
}

// binding is what a pod is to get, with the defaults filled in.
type binding struct {
	// provider is the resource name of the workload identity provider. email is
	// the service account to act as; empty for the pod's own principal.
	provider, email   string
	audience, project string
	mode              Mode
	// tokenExpiration is in seconds, within the limits.
	tokenExpiration int64
}

// readExpiration takes the life of a token, if the text is one.
func (b *binding) readExpiration(text string) {
	if seconds, ok := inject.ParseExpiration(text); ok {
		b.tokenExpiration = min(seconds, maxTokenExpiration)
	}
}

// choose reads the annotations of a ServiceAccount. The reason is for one that
// gives no identity.
func (in *Injector) choose(account string, annotations map[string]string, warnings *podpatch.Warnings) (binding, inject.Reason) {
	found := binding{
		provider:        annotations[in.names.provider],
		email:           annotations[in.names.email],
		audience:        annotations[in.names.audience],
		project:         annotations[in.names.project],
		mode:            Mode(annotations[in.names.mode]),
		tokenExpiration: in.settings.TokenExpiration,
	}
	switch {
	case found.provider == "" && found.email == "":
		return found, inject.NotOptedIn
	case found.provider == "":
		warnings.Add("ServiceAccount %.63q has no annotation %s; the pod gets no Google Cloud identity", account, in.names.provider)
		return found, inject.BadAnnotation
	case !isProvider(found.provider):
		warnings.Add("ServiceAccount %.63q: annotation %s is %.100q, no workload identity provider; the pod gets no Google Cloud identity", account, in.names.provider, found.provider)
		return found, inject.BadAnnotation
	case found.email != "" && !isServiceAccount(found.email, in.settings.UniverseDomain):
		warnings.Add("ServiceAccount %.63q: annotation %s is %.80q, no address of a service account; the pod gets no Google Cloud identity", account, in.names.email, found.email)
		return found, inject.BadAnnotation
	}
	if found.audience == "" {
		found.audience = in.settings.Audience
	}
	if !found.mode.known() {
		if found.mode != "" {
			warnings.Add("ServiceAccount %.63q: annotation %s is %.40q, expected direct or gcloud; %s counts", account, in.names.mode, string(found.mode), in.settings.Mode)
		}
		found.mode = in.settings.Mode
	}
	found.readExpiration(annotations[in.names.tokenExpiration])
	return found, ""
}

// adviseAccount warns of annotations of a ServiceAccount that do not count. The reason is
// that of one that gets no identity.
func (in *Injector) adviseAccount(account string, annotations map[string]string, reason inject.Reason, warnings *podpatch.Warnings) {
	in.vocabulary.AdviseAccount(account, annotations, warnings)
	if reason == inject.NotOptedIn {
		for _, name := range []string{in.names.audience, in.names.mode, in.names.project, in.names.tokenExpiration} {
			if annotations[name] != "" {
				warnings.Add("ServiceAccount %.63q has the annotation %s and no %s: the pod gets no Google Cloud identity", account, name, in.names.provider)
			}
		}
	}
	if name := in.vocabulary.Prefix + runAsUser; annotations[name] != "" {
		warnings.Add("ServiceAccount %.63q: annotation %s does not count: there is no init container here that could run as that user", account, name)
	}
	inject.AdviseExpiration(account, in.names.tokenExpiration, annotations[in.names.tokenExpiration], maxTokenExpiration, warnings)
}
