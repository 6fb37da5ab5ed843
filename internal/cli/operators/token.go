package operators

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// TokenObjects are what token mode depends on, as tokenmode.Objects has them; nil is an object
// that does not exist.
type TokenObjects struct {
	Infrastructure, CloudCredential, Authentication *unstructured.Unstructured
	// Legacy is the ConfigMap cloud-credential-operator-config.
	Legacy *unstructured.Unstructured
}

// TokenAnswer is what tokenmode.Answer says.
type TokenAnswer struct {
	// Cloud is AWS, Azure or GCP; empty for any other platform.
	Cloud string
	// Enabled says that all three facts hold, and Reason in one sentence which one does not.
	Enabled bool
	Reason  string
	// Issuer is the cluster's, if Enabled.
	Issuer string
}

// answer is one of yes, no and unknown.
type answer string

const (
	yes     answer = "yes"
	no      answer = "no"
	unknown answer = "unknown"
)

// fact is one of the three.
type fact struct {
	Name string `json:"name"`
	// Object and Field are where it is read.
	Object string `json:"object"`
	Field  string `json:"field"`
	// Value is what was seen; empty where nothing is set or could be read.
	Value string `json:"value"`
	Holds answer `json:"holds"`
	// Why says why it does not hold, or is unknown.
	Why string `json:"why,omitempty"`

	// missing is the right without which it is unknown.
	missing string
}

// mode is whether a cluster is in token mode.
type mode struct {
	command.Meta `json:",inline"`
	TokenMode    answer `json:"tokenMode"`
	// Cloud is the cluster's, in token mode or not; empty if it is another platform or unknown.
	Cloud  string `json:"cloud,omitempty"`
	Issuer string `json:"issuer,omitempty"`
	// Reason says which fact does not hold, or what is unknown; empty in token mode.
	Reason        string   `json:"reason,omitempty"`
	Facts         []fact   `json:"facts"`
	MissingRights []string `json:"missingRights,omitempty"`
}

// rights is the ClusterRole that reading the facts needs.
const rights = `  apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: tabard-token-mode}
  rules:
  - {apiGroups: [config.openshift.io], resources: [infrastructures, authentications], verbs: [get]}
  - {apiGroups: [operator.openshift.io], resources: [cloudcredentials], verbs: [get]}
  # This may be a Role in the namespace openshift-cloud-credential-operator.
  - {apiGroups: [""], resources: [configmaps], resourceNames: [cloud-credential-operator-config], verbs: [get]}
`

const (
	clusterName     = "cluster"
	legacyNamespace = "openshift-cloud-credential-operator"
	legacyName      = "cloud-credential-operator-config"
)

var (
	openshift       = schema.GroupVersion{Group: "config.openshift.io", Version: "v1"}
	infrastructures = openshift.WithResource("infrastructures")
	authentications = openshift.WithResource("authentications")
	credentials     = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"}
	configMaps      = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
)

// seen is what was read of a cluster.
type seen struct {
	objects TokenObjects
	// forbidden are the rights that were missing, by resource.
	forbidden map[string]string
}

// observe reads the objects that token mode depends on. One that may not be read is no error.
func observe(ctx context.Context, client dynamic.Interface) (seen, error) {
	out := seen{forbidden: map[string]string{}}
	for _, one := range []struct {
		resource        schema.GroupVersionResource
		namespace, name string
		into            **unstructured.Unstructured
	}{
		{infrastructures, "", clusterName, &out.objects.Infrastructure},
		{credentials, "", clusterName, &out.objects.CloudCredential},
		{authentications, "", clusterName, &out.objects.Authentication},
		{configMaps, legacyNamespace, legacyName, &out.objects.Legacy},
	} {
		var access dynamic.ResourceInterface = client.Resource(one.resource)
		where := ""
		if one.namespace != "" {
			access, where = client.Resource(one.resource).Namespace(one.namespace), " in namespace "+one.namespace
		}
		found, err := access.Get(ctx, one.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case apierrors.IsForbidden(err):
			out.forbidden[one.resource.Resource] = fmt.Sprintf("get %s %q%s", one.resource.GroupResource(), one.name, where)
		case err != nil:
			return out, fmt.Errorf("read the %s %q: %w", one.resource.GroupResource(), one.name, err)
		default:
			*one.into = found
		}
	}
	return out, nil
}

// fine are objects of a cluster in token mode: each fact is decided beside the two of these.
func fine() TokenObjects {
	return TokenObjects{
		Infrastructure:  with("AWS", "status", "platformStatus", "type"),
		CloudCredential: with("Manual", "spec", "credentialsMode"),
		Authentication:  with("https://issuer.example.com", "spec", "serviceAccountIssuer"),
	}
}

// with is an object with one field.
func with(value string, path ...string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	// A field of a new object can be set.
	_ = unstructured.SetNestedField(object.Object, value, path...)
	return object
}

// decide says whether the cluster is in token mode, and what of each fact. A fact that does not
// hold decides even where another is unknown.
func (s seen) decide(detect func(TokenObjects) (TokenAnswer, error)) mode {
	out := mode{Meta: command.MetaOf("OperatorsCluster")}
	platform, cloud := s.platform(detect)
	out.Cloud = cloud
	out.Facts = []fact{platform, s.credentialsMode(detect), s.issuer(detect)}
	for _, f := range out.Facts {
		if f.missing != "" {
			out.MissingRights = append(out.MissingRights, f.missing)
		}
	}
	out.TokenMode = yes
	var whys []string
	for _, wanted := range []answer{no, unknown} {
		for _, f := range out.Facts {
			if f.Holds == wanted && (out.TokenMode == yes || out.TokenMode == wanted) {
				out.TokenMode = wanted
				whys = append(whys, f.Why)
			}
		}
	}
	out.Reason = strings.Join(whys, "; ")
	if out.TokenMode == yes {
		out.Issuer = out.Facts[2].Value
	}
	return out
}

// judge fills in whether a fact holds, by objects of which the others are fine.
func (f fact) judge(right string, detect func(TokenObjects) (TokenAnswer, error), objects TokenObjects) (fact, TokenAnswer) {
	if right != "" {
		f.Holds, f.Why, f.missing = unknown, "you may not read the "+f.Object+"; the missing right is: "+right, right
		return f, TokenAnswer{}
	}
	said, err := detect(objects)
	switch {
	case err != nil:
		f.Holds, f.Why = unknown, err.Error()
	case said.Enabled:
		f.Holds = yes
	default:
		f.Holds, f.Why = no, said.Reason
	}
	return f, said
}

func (s seen) platform(detect func(TokenObjects) (TokenAnswer, error)) (judged fact, cloud string) {
	f := fact{Name: "platform", Object: `Infrastructure "cluster"`, Field: "status.platformStatus.type"}
	f.Value = text(s.objects.Infrastructure, "status", "platformStatus", "type")
	if old := text(s.objects.Infrastructure, "status", "platform"); f.Value == "" && old != "" {
		f.Field, f.Value = "status.platform", old
	}
	objects := fine()
	objects.Infrastructure = s.objects.Infrastructure
	judged, said := f.judge(s.forbidden[infrastructures.Resource], detect, objects)
	return judged, said.Cloud
}

func (s seen) credentialsMode(detect func(TokenObjects) (TokenAnswer, error)) fact {
	f := fact{Name: "credentials mode", Object: `CloudCredential "cluster"`, Field: "spec.credentialsMode"}
	f.Value = text(s.objects.CloudCredential, "spec", "credentialsMode")
	if disabled := text(s.objects.Legacy, "data", "disabled"); f.Value == "" && disabled != "" {
		f.Object, f.Field, f.Value = "ConfigMap "+legacyNamespace+"/"+legacyName, "data.disabled", disabled
	}
	objects := fine()
	objects.CloudCredential, objects.Legacy = s.objects.CloudCredential, s.objects.Legacy
	judged, said := f.judge(s.forbidden[credentials.Resource], detect, objects)
	right := s.forbidden[configMaps.Resource]
	if judged.Holds != no || right == "" {
		return judged
	}
	// The legacy ConfigMap counts only if no mode is set: then it would decide.
	objects.Legacy = with("true", "data", "disabled")
	if would, err := detect(objects); err == nil && would.Enabled {
		judged.Holds, judged.missing = unknown, right
		judged.Why = said.Reason + ", unless the legacy ConfigMap says so; the missing right is: " + right
	}
	return judged
}

func (s seen) issuer(detect func(TokenObjects) (TokenAnswer, error)) fact {
	f := fact{Name: "issuer", Object: `Authentication "cluster"`, Field: "spec.serviceAccountIssuer"}
	f.Value = text(s.objects.Authentication, "spec", "serviceAccountIssuer")
	objects := fine()
	objects.Authentication = s.objects.Authentication
	judged, _ := f.judge(s.forbidden[authentications.Resource], detect, objects)
	return judged
}

// text is a field of an object for people, empty if it is absent or no text.
func text(object *unstructured.Unstructured, path ...string) string {
	if object == nil {
		return ""
	}
	found, _, _ := unstructured.NestedString(object.Object, path...)
	return found
}
