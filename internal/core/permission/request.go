package permission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/core/credentials"
)

const requestKind = "CredentialsRequest"

// ReadRequests reads CredentialsRequests that are objects already, such as those of a cluster.
func ReadRequests(subject Subject, source Source, objects []cloudv1.CredentialsRequest) Set {
	r := newReader(subject, source)
	r.answered = len(objects) > 0
	for i := range objects {
		if r.isFull(index(i)) {
			break
		}
		r.add(index(i)+".", &objects[i])
	}
	return r.done()
}

// request reads one request in JSON. The path is what its fields follow.
func (r *reader) request(path string, text []byte) {
	at := strings.TrimRight(path, ". ")
	var object cloudv1.CredentialsRequest
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		r.lose(CodeInvalidRequest, at, "it is no object: %s", clean(err.Error()))
		return
	}
	if group := cloudv1.GroupVersion.String(); head.Kind != requestKind || head.APIVersion != group {
		r.lose(CodeWrongKind, at, "it is of apiVersion %.100q and kind %.100q, expected %s and %s", head.APIVersion, head.Kind, group, requestKind)
		return
	}
	if err := json.Unmarshal(text, &object); err != nil {
		r.lose(CodeInvalidRequest, at, "it cannot be read: %s", clean(err.Error()))
		return
	}
	r.add(path, &object)
}

// add takes over what is right of a request.
func (r *reader) add(path string, object *cloudv1.CredentialsRequest) {
	at := strings.TrimRight(path, ". ")
	out := Request{Name: object.Name}
	if invalid := validation.IsDNS1123Subdomain(object.Name); len(invalid) > 0 {
		out.Name = fmt.Sprintf("request-%d", len(r.requests)+1)
		r.find(CodeInvalidName, path+"metadata.name", "the name is %.100q, expected lower-case letters, digits, - and . (%s stands for it here)", object.Name, out.Name)
	}
	if slices.ContainsFunc(r.requests, func(other Request) bool { return other.Name == out.Name }) {
		r.find(CodeDuplicateRequest, path+"metadata.name", "the name %s is that of an earlier request: they count as one role", out.Name)
	}
	if object.Namespace != "" && !isNamespace(object.Namespace) {
		r.find(CodeInvalidNamespace, path+"metadata.namespace", "the namespace is %.100q, expected the name of a namespace or %s", object.Namespace, InstallNamespace)
	}
	provider := credentials.DecodeProvider(object)
	spec := path + "spec.providerSpec"
	switch {
	case provider.Missing:
		r.lose(CodeNoProviderSpec, spec, "it is missing, expected an AWSProviderSpec, AzureProviderSpec or GCPProviderSpec")
		return
	case provider.Error != "":
		r.lose(CodeInvalidProvider, spec, "%s", clean(provider.Error))
		return
	case provider.AWS != nil:
		out.AWS = r.aws(spec, provider)
	case provider.Azure != nil:
		out.Azure = r.azure(spec, provider.Azure)
	case provider.GCP != nil:
		out.GCP = r.gcp(spec, provider.GCP)
	default:
		r.lose(CodeOtherCloud, spec+".kind", "the kind is %.100q, expected AWSProviderSpec, AzureProviderSpec or GCPProviderSpec", provider.Kind)
		return
	}
	r.workload(path, object, &out)
	if len(out.atoms()) == 0 {
		r.find(CodeEmptyRequest, at, "the request names no permission that can be read")
	}
	r.requests = append(r.requests, out)
}

// workload reads who becomes the role, and where it finds what it needs.
func (r *reader) workload(path string, object *cloudv1.CredentialsRequest, out *Request) {
	namespace := r.target(path, object, out)
	if p := object.Spec.CloudTokenPath; p != "" && (!isPlain(p) || !strings.HasPrefix(p, "/")) {
		r.find(CodeInvalidText, path+"spec.cloudTokenPath", "the path is %.100q, expected an absolute path", p)
	} else {
		out.TokenPath = p
	}
	if len(out.ServiceAccounts) == 0 { // else the request is for one of its own, and for no other
		r.accounts(path+"spec.serviceAccountNames", namespace, object, out)
	}
	for _, audience := range r.subject.Audiences {
		if audience == "" || !isPlain(audience) {
			r.find(CodeInvalidText, "", "an audience of the CSV is %.100q, expected a text that can be shown: it is left out", audience)
			continue
		}
		out.Audiences = append(out.Audiences, audience)
	}
	if len(out.Audiences) == 0 {
		out.Audiences, out.AudiencesAssumed = []string{DefaultAudience}, true
	}
}

// accounts reads the ServiceAccounts that a request names.
func (r *reader) accounts(names, namespace string, object *cloudv1.CredentialsRequest, out *Request) {
	for i, name := range object.Spec.ServiceAccountNames {
		if i >= maxValues {
			r.lose(CodeTooMany, names, "there are %d names, expected at most %d: the rest is left out", len(object.Spec.ServiceAccountNames), maxValues)
			break
		}
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			r.lose(CodeInvalidName, names+index(i), "the ServiceAccount is %.100q, expected lower-case letters, digits, - and .", name)
			continue
		}
		out.ServiceAccounts = append(out.ServiceAccounts, ServiceAccount{namespace, name})
	}
	if len(out.ServiceAccounts) == 0 {
		if r.set.Source.Kind != SourceLive && out.Azure == nil {
			r.find(CodeNoServiceAccounts, names, "it is empty, expected the ServiceAccounts that become the role: AWS and Google Cloud trust nobody without")
		}
		out.ServiceAccounts = []ServiceAccount{}
		for _, account := range r.subject.ServiceAccounts {
			if !isNamespace(account.Namespace) || len(validation.IsDNS1123Subdomain(account.Name)) > 0 {
				r.find(CodeInvalidName, "", "a ServiceAccount of the CSV is %.100q in %.100q, expected the names of an object and a namespace: it is left out", account.Name, account.Namespace)
				continue
			}
			out.ServiceAccounts = append(out.ServiceAccounts, account)
		}
	}
}

// target reads the Secret, or the ServiceAccount that stands for it, and says whose namespace the
// ServiceAccounts have.
func (r *reader) target(path string, object *cloudv1.CredentialsRequest, out *Request) string {
	targets, invalid := credentials.Targets(object)
	if invalid != "" {
		r.find(CodeNoTarget, path+"spec", "%s", clean(invalid))
		if r.set.Source.Kind == SourceLive {
			return object.Namespace
		}
		return InstallNamespace
	}
	namespace := targets[0].Namespace
	if !isNamespace(namespace) {
		r.find(CodeInvalidNamespace, path+"spec.secretRef.namespace", "the namespace is %.100q, expected the name of a namespace or %s", namespace, InstallNamespace)
		return InstallNamespace
	}
	for _, t := range targets {
		switch {
		case len(validation.IsDNS1123Subdomain(t.Name)) > 0:
			r.find(CodeInvalidName, path+"spec.secretRef.name", "the %s is %.100q, expected lower-case letters, digits, - and .", t.Kind, t.Name)
		case t.Kind == credentials.KindSecret:
			out.Secret = Secret{t.Namespace, t.Name}
		default:
			out.ServiceAccounts = append(out.ServiceAccounts, ServiceAccount{t.Namespace, t.Name})
		}
	}
	return namespace
}

// isNamespace says that a text names a namespace, or stands for that of the install.
func isNamespace(text string) bool {
	return text == InstallNamespace || len(validation.IsDNS1123Label(text)) == 0
}

// empty finds fields that belong to one cluster and stand in what an author writes for all.
func (r *reader) empty(path string, fields [][2]string) {
	if !r.set.Source.Kind.isAuthors() {
		return
	}
	for _, field := range fields {
		if field[1] != "" {
			r.find(CodeMustBeEmpty, path+"."+field[0], "it is %.100q, expected nothing: it belongs to one cluster, and is set there", field[1])
		}
	}
}
