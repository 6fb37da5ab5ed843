package beside

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/tabard-dev/tabard/awslocal"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// The managers of fields.
const (
	tabard = "tabard.credentials"
	cco    = "cloud-credential-operator"
)

// The kinds that are recorded.
const (
	kindRequest = "CredentialsRequest"
	kindGrant   = "CredentialsGrant"
	kindSecret  = "Secret"
	kindAccount = "ServiceAccount"
	kindWebhook = "MutatingWebhookConfiguration"
	kindMode    = "CloudCredential"
)

// Version is one version of an object, as a watch had it, or a mark of the driver.
type Version struct {
	// Revision is the resource version, in which all kinds share one order.
	Revision                  int64
	Kind, Namespace, Name, ID string
	// Fields are the fields of each manager.
	Fields      map[string][]string
	Annotations map[string]string
	// Data are the keys of a Secret.
	Data []string
	// Secret is what a request names, and Role says that it names a role.
	Secret string
	Role   bool
	// Request is the UID of a grant's request.
	Request string
	// Mode is that of a CloudCredential; Known marks the moment from which on Tabard is known
	// to have seen the mode.
	Mode  string
	Known bool
}

func (v Version) String() string {
	return fmt.Sprintf("%s %s/%s at %d", v.Kind, v.Namespace, v.Name, v.Revision)
}

// Write is one write of Kubernetes' API that was answered with success.
type Write struct {
	// By is the field manager for the two programs; others are people.
	By string
	// Of is the name of the request that the object belongs to, empty for all.
	Of   string
	Verb string
	What string
}

// Role is a role of the account.
type Role struct {
	Name string
	// State is all that can be read of it.
	State string
}

// Recording is what was seen of a time side by side.
type Recording struct {
	Versions []Version
	Writes   []Write
	// Calls are those of AWS by Tabard.
	Calls []awslocal.Entry
	// Before and After are the roles before the first request, and after the deletion of all.
	Before, After []Role
	// Left are the objects of requests that are there after the deletion of all.
	Left []string
	// Died says that the Cloud Credential Operator ended itself.
	Died bool
}

// versionOf reads what the rules are about.
func versionOf(o *unstructured.Unstructured) (Version, error) {
	v := Version{
		Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(), ID: string(o.GetUID()),
		Annotations: o.GetAnnotations(), Fields: map[string][]string{},
	}
	if _, err := fmt.Sscan(o.GetResourceVersion(), &v.Revision); err != nil {
		return v, err
	}
	for _, entry := range o.GetManagedFields() {
		fields, err := fieldsOf(entry)
		if err != nil {
			return v, err
		}
		v.Fields[entry.Manager] = append(v.Fields[entry.Manager], fields...)
	}
	data, _, _ := unstructured.NestedMap(o.Object, "data")
	for key := range data {
		v.Data = append(v.Data, key)
	}
	slices.Sort(v.Data)
	v.Request, _, _ = unstructured.NestedString(o.Object, "spec", "request", "uid")
	v.Secret, _, _ = unstructured.NestedString(o.Object, "spec", "secretRef", "name")
	role, _, _ := unstructured.NestedString(o.Object, "spec", "providerSpec", "stsIAMRoleARN")
	v.Role = role != ""
	v.Mode, _, _ = unstructured.NestedString(o.Object, "spec", "credentialsMode")
	return v, nil
}

func fieldsOf(entry metav1.ManagedFieldsEntry) ([]string, error) {
	if entry.FieldsV1 == nil {
		return nil, nil
	}
	var tree map[string]any
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &tree); err != nil {
		return nil, err
	}
	return leaves("", tree), nil
}

// leaves are the fields without fields. That a map or a list is there (".") is not one:
// the entries are.
func leaves(path string, tree map[string]any) (out []string) {
	for name, below := range tree {
		if name == "." {
			continue
		}
		at := strings.TrimPrefix(path+" "+name, " ")
		if inner, _ := below.(map[string]any); len(inner) > 0 {
			out = append(out, leaves(at, inner)...)
		} else {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// isAnnotated says that a request names its ServiceAccount.
func (v Version) isAnnotated() bool {
	_, by := v.Annotations[core.ServiceAccountAnnotation]
	return by
}
