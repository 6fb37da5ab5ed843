package platform

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config says whether the API server serves config.openshift.io.
type Config string

// What is known of config.openshift.io.
const (
	NotServed Config = ""
	Served    Config = "Served"
	// Unclear: the API server did not say.
	Unclear Config = "Unclear"
)

// ConfigGroup is the group whose presence makes a cluster OpenShift.
const ConfigGroup = "config.openshift.io"

// Objects are what was read of a cluster.
type Objects struct {
	// Config says whether config.openshift.io is served, and ConfigWhy why that is
	// Unclear.
	Config    Config
	ConfigWhy string
	// Infrastructure, Authentication and CloudCredential are those called "cluster".
	Infrastructure, Authentication, CloudCredential Seen
	// Legacy is the Cloud Credential Operator's ConfigMap, Deployment its Deployment,
	// Lease that of its leader, and ClusterOperator the ClusterOperator
	// "cloud-credential".
	Legacy, Deployment, Lease, ClusterOperator Seen
	// Issuer is the issuer by the API server's discovery document; empty where that may not
	// be read.
	Issuer string
}

// Seen is an object that was looked for: it is there, or it is absent (the zero value,
// also where its kind is not served), or it could not be read.
type Seen struct {
	// Object is the object; it is not changed.
	Object *unstructured.Unstructured
	// Unread is why it could not be read.
	Unread string
}

// Reference is one of the objects that say what a cluster is.
type Reference struct {
	Resource        schema.GroupVersionResource
	Kind            string
	Namespace, Name string
}

// String is how messages name it.
func (r Reference) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)
}

// missing says why an object cannot be gone by.
func (r Reference) missing(seen Seen) string {
	if seen.Unread != "" {
		return fmt.Sprintf("%s cannot be read: %s", r, seen.Unread)
	}
	return fmt.Sprintf("%s does not exist", r)
}

// operatorNamespace is the Cloud Credential Operator's.
const operatorNamespace = "openshift-cloud-credential-operator"

// The objects.
var (
	infrastructure  = Reference{resource("config.openshift.io", "infrastructures"), "Infrastructure", "", "cluster"}
	authentication  = Reference{resource("config.openshift.io", "authentications"), "Authentication", "", "cluster"}
	cloudCredential = Reference{resource("operator.openshift.io", "cloudcredentials"), "CloudCredential", "", "cluster"}
	clusterOperator = Reference{resource("config.openshift.io", "clusteroperators"), "ClusterOperator", "", "cloud-credential"}
	legacy          = Reference{resource("", "configmaps"), "ConfigMap", operatorNamespace, "cloud-credential-operator-config"}
	deployment      = Reference{resource("apps", "deployments"), "Deployment", operatorNamespace, "cloud-credential-operator"}
	lease           = Reference{resource("coordination.k8s.io", "leases"), "Lease", operatorNamespace, "cloud-credential-operator-leader"}
)

func resource(group, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
}

// Place is an object to read, and where Objects takes it.
type Place struct {
	Reference
	Seen *Seen
}

// Places are all objects to read, with their places in o. It is the one list of them.
func (o *Objects) Places() []Place {
	return []Place{
		{infrastructure, &o.Infrastructure},
		{authentication, &o.Authentication},
		{cloudCredential, &o.CloudCredential},
		{clusterOperator, &o.ClusterOperator},
		{legacy, &o.Legacy},
		{deployment, &o.Deployment},
		{lease, &o.Lease},
	}
}

// opened reads fields of an object. The first field that is not of its type is wrong.
type opened struct {
	object *unstructured.Unstructured
	wrong  string
}

func (o *opened) fail(format string, args ...any) {
	if o.wrong == "" {
		o.wrong = fmt.Sprintf(format, args...)
	}
}

// text is a field, empty if it is not set or null.
func (o *opened) text(path ...string) string {
	found := o.field(path)
	if found == nil {
		return ""
	}
	text, ok := found.(string)
	if !ok {
		o.fail("%s is not a string", dotted(path))
	}
	return text
}

// number is a field; ok is false if it is not set or null.
func (o *opened) number(path ...string) (number int64, ok bool) {
	switch found := o.field(path).(type) {
	case nil:
		return 0, false
	case int64:
		return found, true
	default:
		o.fail("%s is not a whole number", dotted(path))
		return 0, false
	}
}

// pairs is a list of objects with a key and a value each; of a key the last counts.
func (o *opened) pairs(key, value string, path ...string) map[string]string {
	found := o.field(path)
	if found == nil {
		return nil
	}
	list, ok := found.([]any)
	if !ok {
		o.fail("%s is not a list", dotted(path))
		return nil
	}
	var out map[string]string
	for i, item := range list {
		entry, _ := item.(map[string]any)
		k, hasKey := entry[key].(string)
		v, hasValue := entry[value].(string)
		if !hasKey || !hasValue || k == "" {
			o.fail("%s[%d] has no %s and %s", dotted(path), i, key, value)
			return nil
		}
		if out == nil {
			out = make(map[string]string, len(list))
		}
		out[k] = v
	}
	return out
}

func (o *opened) field(path []string) any {
	found, _, err := unstructured.NestedFieldNoCopy(o.object.Object, path...)
	if err != nil {
		o.fail("%s cannot be read: a field above it is of another type", dotted(path))
		return nil
	}
	return found
}

func dotted(path []string) string {
	out := ""
	for i, part := range path {
		if i > 0 {
			out += "."
		}
		out += part
	}
	return out
}
