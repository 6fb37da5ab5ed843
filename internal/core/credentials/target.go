package credentials

import (
	"fmt"
	"slices"
	"strings"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// Targets are the objects by which workloads shall find a request's credentials, the
// one that counts first; or what is wrong with what the request says of them. A request
// that names its ServiceAccount by annotation has a Secret besides, without which a
// Cloud Credential Operator would find no end.
func Targets(request *cloudv1.CredentialsRequest) (targets []Target, invalid string) {
	annotated, by := request.Annotations[ServiceAccountAnnotation]
	target, invalid := stored(request.Spec)
	switch {
	case !by && invalid != "":
		return nil, invalid
	case !by:
		return []Target{target}, ""
	}
	namespace, name, ok := strings.Cut(annotated, "/")
	account := Target{KindServiceAccount, namespace, name}
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Sprintf("the annotation %s is %q, expected NAMESPACE/NAME", ServiceAccountAnnotation, annotated)
	}
	if request.Spec.Storage != nil {
		if invalid != "" {
			return nil, invalid
		}
		if target != account {
			return nil, fmt.Sprintf("the annotation %s says ServiceAccount %s, spec.storage says %s, expected one of the two, or the same: remove one", ServiceAccountAnnotation, annotated, target)
		}
	}
	ref := request.Spec.SecretRef
	if ref == nil || ref.Name == "" {
		if request.Spec.Storage != nil {
			return []Target{account}, ""
		}
		return nil, fmt.Sprintf("spec.secretRef.name is empty, expected the name of a Secret in %s that goes with the annotation %s", request.Namespace, ServiceAccountAnnotation)
	}
	if ref.Namespace != request.Namespace {
		if request.Spec.Storage != nil {
			return []Target{account}, ""
		}
		return nil, fmt.Sprintf("spec.secretRef.namespace is %q, expected the request's own, %s, with the annotation %s", ref.Namespace, request.Namespace, ServiceAccountAnnotation)
	}
	return []Target{account, {KindSecret, ref.Namespace, ref.Name}}, ""
}

// stored is the target of the spec, by the table in docs/credentials.md.
func stored(spec cloudv1.CredentialsRequestSpec) (target Target, invalid string) {
	s := spec.Storage
	if s == nil {
		s = &cloudv1.Storage{}
	}
	kind := s.Type
	switch {
	case kind == "" && s.Secret != nil && s.ServiceAccount != nil:
		return Target{}, "spec.storage has secret and serviceAccount and no type, expected one of them, or a type"
	case kind == "" && s.ServiceAccount != nil:
		kind = cloudv1.StorageServiceAccount
	case kind == "":
		kind = cloudv1.StorageSecret
	}
	switch {
	case kind == cloudv1.StorageServiceAccount && s.ServiceAccount != nil:
		return named(KindServiceAccount, "spec.storage.serviceAccount", s.ServiceAccount.Namespace, s.ServiceAccount.Name)
	case kind == cloudv1.StorageServiceAccount:
		return Target{}, "spec.storage.type is ServiceAccount and spec.storage.serviceAccount is missing"
	case kind != cloudv1.StorageSecret:
		return Target{}, fmt.Sprintf("spec.storage.type is %q, expected Secret or ServiceAccount", kind)
	case s.Secret != nil:
		return named(KindSecret, "spec.storage.secret", s.Secret.Namespace, s.Secret.Name)
	case spec.SecretRef != nil:
		return named(KindSecret, "spec.secretRef", spec.SecretRef.Namespace, spec.SecretRef.Name)
	}
	return Target{}, "spec.storage and spec.secretRef are missing, expected one of them: set spec.storage.secret or spec.storage.serviceAccount"
}

func named(kind, field, namespace, name string) (target Target, invalid string) {
	switch {
	case namespace == "":
		return Target{}, field + ".namespace is empty"
	case name == "":
		return Target{}, field + ".name is empty"
	}
	return Target{kind, namespace, name}, ""
}

// Observed are the targets to look at in a pass: those that the request wants, and
// those that the grant remembers. Either may be nil.
func Observed(request *cloudv1.CredentialsRequest, grant *v1alpha1.CredentialsGrant) []Target {
	var out []Target
	if request != nil {
		if wanted, invalid := Targets(request); invalid == "" {
			out = wanted
		}
	}
	if grant != nil {
		for _, t := range grant.Status.Targets {
			if target := (Target{t.Kind, t.Namespace, t.Name}); !slices.Contains(out, target) {
				out = append(out, target)
			}
		}
	}
	return out
}
