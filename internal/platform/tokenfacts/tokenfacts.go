// Package tokenfacts reads the three facts by which a cluster of OpenShift gives operators short-lived
// tokens, and says of each whether it holds. The command line and the web console show them. The test
// itself is awsauth/kube/tokenmode's, which other people's operators import.
package tokenfacts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// Fact is one of the three: the platform, the credentials mode or the issuer.
type Fact struct {
	Name string `json:"name"`
	// Object and Field are where it is read.
	Object string `json:"object"`
	Field  string `json:"field"`
	// Value is what was seen; empty where nothing is set or could be read.
	Value string         `json:"value"`
	Holds listing.Answer `json:"holds"`
	// Why says why it does not hold, or is unknown.
	Why string `json:"why,omitempty"`

	// missing is the right without which it is unknown.
	missing string
}

// Mode is whether a cluster is in token mode.
type Mode struct {
	TokenMode listing.Answer `json:"tokenMode"`
	// Cloud is the cluster's, in token mode or not; empty if it is another platform or unknown.
	Cloud string `json:"cloud,omitempty"`
	// Issuer is that of the cluster's tokens; empty outside token mode.
	Issuer string `json:"issuer,omitempty"`
	// Reason says which fact does not hold, or what is unknown; empty in token mode.
	Reason string `json:"reason,omitempty"`
	// Facts are always three, in the order platform, credentials mode, issuer.
	Facts []Fact `json:"facts"`
	// MissingRights are those without which a fact is unknown.
	MissingRights []string `json:"missingRights,omitempty"`
}

// Rights is the ClusterRole that reading the facts needs, in YAML that is indented by two blanks.
const Rights = `  apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: tabard-token-mode}
  rules:
  - {apiGroups: [config.openshift.io], resources: [infrastructures, authentications], verbs: [get]}
  - {apiGroups: [operator.openshift.io], resources: [cloudcredentials], verbs: [get]}
  # This may be a Role in the namespace openshift-cloud-credential-operator.
  - {apiGroups: [""], resources: [configmaps], resourceNames: [cloud-credential-operator-config], verbs: [get]}
`

// Seen is what was read of a cluster.
type Seen struct {
	objects tokenmode.Objects
	// forbidden are the rights that were missing.
	forbidden map[tokenmode.Object]string
}

// Observe reads the objects that token mode depends on. One that may not be read is no error.
func Observe(ctx context.Context, client dynamic.Interface) (Seen, error) {
	objects, err := tokenmode.Read(ctx, client)
	out := Seen{objects: objects, forbidden: map[tokenmode.Object]string{}}
	forbidden, ok := errors.AsType[*tokenmode.ForbiddenError](err)
	if !ok {
		return out, err
	}
	for _, o := range forbidden.Objects {
		where := ""
		if o.Namespace != "" {
			where = " in namespace " + o.Namespace
		}
		out.forbidden[o] = fmt.Sprintf("get %s %q%s", o.Resource.GroupResource(), o.Name, where)
	}
	return out, nil
}

// fine are objects of a cluster in token mode: each fact is decided beside the two of these.
func fine() tokenmode.Objects {
	return tokenmode.Objects{
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

// Decide says whether the cluster is in token mode, and what of each fact. A fact that does not
// hold decides even where another is unknown.
func (s Seen) Decide() Mode {
	var out Mode
	platform, cloud := s.platform()
	out.Cloud = cloud
	out.Facts = []Fact{platform, s.credentialsMode(), s.issuer()}
	for _, f := range out.Facts {
		if f.missing != "" {
			out.MissingRights = append(out.MissingRights, f.missing)
		}
	}
	out.TokenMode = listing.Yes
	var whys []string
	for _, wanted := range []listing.Answer{listing.No, listing.Unknown} {
		for _, f := range out.Facts {
			if f.Holds == wanted && (out.TokenMode == listing.Yes || out.TokenMode == wanted) {
				out.TokenMode = wanted
				whys = append(whys, f.Why)
			}
		}
	}
	out.Reason = strings.Join(whys, "; ")
	if out.TokenMode == listing.Yes {
		out.Issuer = out.Facts[2].Value
	}
	return out
}

// Sentence says what the three facts come to.
func (m Mode) Sentence() string {
	switch m.TokenMode {
	case listing.Yes:
		return "the cluster is in token mode on " + m.Cloud
	case listing.No:
		return "the cluster is not in token mode: " + m.Reason
	}
	return "it is unknown whether the cluster is in token mode: " + m.Reason
}

// Follows says what a person does with the answer.
func (m Mode) Follows() string {
	switch m.TokenMode {
	case listing.Yes:
		return "operators that support tokens of " + m.Cloud + " take a role, and no stored key."
	case listing.No:
		return "operators do not ask for a role by tokens here, whatever their catalogue says."
	case listing.Unknown:
	}
	return "nothing is assumed. Ask for what is missing, and look again."
}

// judge fills in whether a fact holds, by objects of which the others are fine.
func (f Fact) judge(right string, objects tokenmode.Objects) (Fact, tokenmode.Answer) {
	if right != "" {
		f.Holds, f.Why, f.missing = listing.Unknown, "you may not read the "+f.Object+"; the missing right is: "+right, right
		return f, tokenmode.Answer{}
	}
	said, err := tokenmode.Detect(objects)
	switch {
	case err != nil:
		f.Holds, f.Why = listing.Unknown, err.Error()
	case said.Enabled:
		f.Holds = listing.Yes
	default:
		f.Holds, f.Why = listing.No, said.Reason
	}
	return f, said
}

func (s Seen) platform() (judged Fact, cloud string) {
	f := Fact{Name: "platform", Object: tokenmode.Infrastructure.String(), Field: "status.platformStatus.type"}
	f.Value = text(s.objects.Infrastructure, "status", "platformStatus", "type")
	if old := text(s.objects.Infrastructure, "status", "platform"); f.Value == "" && old != "" {
		f.Field, f.Value = "status.platform", old
	}
	objects := fine()
	objects.Infrastructure = s.objects.Infrastructure
	judged, said := f.judge(s.forbidden[tokenmode.Infrastructure], objects)
	return judged, string(said.Cloud)
}

func (s Seen) credentialsMode() Fact {
	f := Fact{Name: "credentials mode", Object: tokenmode.CloudCredential.String(), Field: "spec.credentialsMode"}
	f.Value = text(s.objects.CloudCredential, "spec", "credentialsMode")
	if disabled := text(s.objects.Legacy, "data", "disabled"); f.Value == "" && disabled != "" {
		f.Object, f.Field, f.Value = tokenmode.Legacy.String(), "data.disabled", disabled
	}
	objects := fine()
	objects.CloudCredential, objects.Legacy = s.objects.CloudCredential, s.objects.Legacy
	judged, said := f.judge(s.forbidden[tokenmode.CloudCredential], objects)
	right := s.forbidden[tokenmode.Legacy]
	if judged.Holds != listing.No || right == "" {
		return judged
	}
	// The legacy ConfigMap counts only if no mode is set: then it would decide.
	objects.Legacy = with("true", "data", "disabled")
	if would, err := tokenmode.Detect(objects); err == nil && would.Enabled {
		judged.Holds, judged.missing = listing.Unknown, right
		judged.Why = said.Reason + ", unless the legacy ConfigMap says so; the missing right is: " + right
	}
	return judged
}

func (s Seen) issuer() Fact {
	f := Fact{Name: "issuer", Object: tokenmode.Authentication.String(), Field: "spec.serviceAccountIssuer"}
	f.Value = text(s.objects.Authentication, "spec", "serviceAccountIssuer")
	objects := fine()
	objects.Authentication = s.objects.Authentication
	judged, _ := f.judge(s.forbidden[tokenmode.Authentication], objects)
	return judged
}
