package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Support is what a bundle says of one feature. The zero value is Unknown.
type Support int8

const (
	// Unknown means that the bundle's metadata is not in the source.
	Unknown Support = iota
	// NotStated means that the metadata says nothing of it.
	NotStated
	// No means that the annotation has any value but "true".
	No
	// Yes means that the annotation is exactly "true", or that the legacy list has a feature
	// that is no token support.
	Yes
	// Claimed means that only the legacy list has token support. It does not say how, and
	// "TokenAuth" does not say for which cloud: it is no support.
	Claimed
)

func (s Support) String() string {
	return [...]string{"unknown", "not stated", "no", "yes", "claimed"}[s]
}

// Cloud is a cloud whose roles operators take by tokens.
type Cloud int

// The clouds that the annotations know.
const (
	AWS Cloud = iota
	Azure
	GCP
	clouds
)

func (c Cloud) String() string { return [...]string{"aws", "azure", "gcp"}[c] }

// Feature is a feature of an operator beside token support.
type Feature int

// The features that the annotations know.
const (
	Disconnected Feature = iota
	FIPS
	ProxyAware
	CNF
	CNI
	CSI
	TLSProfiles
	SingleNode
	features
)

var featureNames = [features]string{"disconnected", "fips-compliant", "proxy-aware", "cnf", "cni", "csi", "tls-profiles", "single-node"}

func (f Feature) String() string { return featureNames[f] }

// FeatureNamed is the feature with the name that the annotations give it.
func FeatureNamed(name string) (Feature, bool) {
	i := slices.Index(featureNames[:], name)
	return Feature(i), i >= 0
}

// Features are what a bundle says of itself.
type Features struct {
	// Tokens is whether it takes roles by tokens, for each Cloud.
	Tokens [clouds]Support
	// Others are the other features, by Feature.
	Others [features]Support
}

// legacyFeatures is what an entry of the legacy list means.
var legacyFeatures = map[string]Feature{
	"disconnected": Disconnected, "Disconnected": Disconnected,
	"Proxy": ProxyAware, "ProxyAware": ProxyAware, "proxy-aware": ProxyAware,
	"fips": FIPS, "FIPS": FIPS, "FipsMode": FIPS,
	"tls": TLSProfiles, "TLS": TLSProfiles, "tlsProfiles": TLSProfiles, "TLSProfiles": TLSProfiles,
	"cnf": CNF, "CNF": CNF, "cni": CNI, "CNI": CNI, "csi": CSI, "CSI": CSI,
	"sno": SingleNode, "SNO": SingleNode,
}

// FeaturesOf reads the features from a bundle's annotations. The findings have no place but
// their message.
func FeaturesOf(annotations map[string]string) (Features, []Finding) {
	var found Features
	var findings []Finding
	stated := func(key string) Support {
		value, ok := annotations[key]
		switch {
		case !ok:
			return NotStated
		case value == "true":
			return Yes
		case value != "false":
			findings = append(findings, Finding{Code: ValueOdd, Message: fmt.Sprintf(
				`the annotation %s is %s, which does not count: only "true" is support`, key, Quoted(value))})
		}
		return No
	}
	anyToken := false
	for c := range clouds {
		found.Tokens[c] = stated(featurePrefix + "token-auth-" + c.String())
		anyToken = anyToken || found.Tokens[c] != NotStated
	}
	for f := range features {
		found.Others[f] = NotStated
		if f != SingleNode { // Only the legacy list knows it.
			found.Others[f] = stated(featurePrefix + f.String())
		}
	}
	legacy, finding := listOf(annotations, InfrastructureFeatures)
	if finding != nil {
		findings = append(findings, *finding)
	}
	for _, name := range legacy {
		if f, ok := legacyFeatures[name]; ok && found.Others[f] == NotStated {
			found.Others[f] = Yes
		}
	}
	found.claim(legacy, anyToken)
	return found, findings
}

// claim adds what the legacy list says of tokens. An annotation of its own overrides it.
func (f *Features) claim(legacy []string, anyToken bool) {
	for c := range clouds {
		general := !anyToken && (slices.Contains(legacy, "tokenAuth") || slices.Contains(legacy, "TokenAuth"))
		named := c == GCP && (slices.Contains(legacy, "tokenAuthGCP") || slices.Contains(legacy, "TokenAuthGCP"))
		if f.Tokens[c] == NotStated && (general || named) {
			f.Tokens[c] = Claimed
		}
	}
}

// listOf reads an annotation that is a JSON list of texts.
func listOf(annotations map[string]string, key string) ([]string, *Finding) {
	text, ok := annotations[key]
	if !ok {
		return nil, nil
	}
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, &Finding{Code: AnnotationBroken, Message: fmt.Sprintf(
			`the annotation %s is %s, expected a JSON list of texts as in ["disconnected"]; it counts as absent`, key, Quoted(text))}
	}
	return list, nil
}

const featurePrefix = "features.operators.openshift.io/"

// The annotations that decide something here.
const (
	InfrastructureFeatures = "operators.openshift.io/infrastructure-features"
	ValidSubscription      = "operators.openshift.io/valid-subscription"
	OperatorType           = "operators.operatorframework.io/operator-type"
	CredentialsRequests    = "operators.tabard.dev/credentials-requests"
	categories             = "categories"
	Description            = "description"
	// SuggestedNamespace is where the author wants the operator to be installed.
	SuggestedNamespace = "operatorframework.io/suggested-namespace"

	suggestedNamespaceTemplate = "operatorframework.io/suggested-namespace-template"
	initializationResource     = "operatorframework.io/initialization-resource"
)

// kept are the annotations of the model.
var kept = func() map[string]string {
	all := map[string]string{}
	for _, key := range []string{
		InfrastructureFeatures, ValidSubscription, OperatorType, CredentialsRequests, categories, Description,
		suggestedNamespaceTemplate, initializationResource,
		SuggestedNamespace, "operatorframework.io/cluster-monitoring",
		"capabilities", "containerImage", "createdAt", "repository", "support",
	} {
		all[key] = key
	}
	for c := range clouds {
		all[featurePrefix+"token-auth-"+c.String()] = featurePrefix + "token-auth-" + c.String()
	}
	for f := range features {
		all[featurePrefix+f.String()] = featurePrefix + f.String()
	}
	return all
}()

// Kept says whether the model keeps the annotation with this name, and returns the name as a
// text that is shared by all bundles.
func Kept(key []byte) (string, bool) {
	name, ok := kept[string(key)]
	return name, ok
}

// CheckAnnotations names annotations that are to be JSON and are not. They count as absent.
func CheckAnnotations(annotations map[string]string) []Finding {
	var findings []Finding
	if _, finding := listOf(annotations, ValidSubscription); finding != nil {
		findings = append(findings, *finding)
	}
	for _, key := range []string{suggestedNamespaceTemplate, initializationResource} {
		text, ok := annotations[key]
		var object map[string]json.RawMessage
		if ok && json.Unmarshal([]byte(text), &object) != nil {
			findings = append(findings, Finding{Code: AnnotationBroken, Message: fmt.Sprintf(
				"the annotation %s is %s, expected a JSON object; it counts as absent", key, Quoted(text))})
		}
	}
	if _, err := requestsOf(annotations); err != nil {
		findings = append(findings, *err)
	}
	return findings
}

// Demand is whether a bundle declares what it asks the cloud for.
type Demand int

const (
	// DemandUnknown means that nothing is declared, or nothing that can be read.
	DemandUnknown Demand = iota
	// DemandNothing means that the bundle declares to ask the cloud for nothing.
	DemandNothing
	// DemandSome means that the bundle declares requests.
	DemandSome
)

func (d Demand) String() string { return [...]string{"unknown", "nothing", "some"}[d] }

// Demand is whether the bundle declares what it asks the cloud for, by its annotation. Only an
// empty list is "nothing": an annotation that is empty or absent is unknown.
func (b Bundle) Demand() Demand {
	if b.Metadata == nil {
		return DemandUnknown
	}
	requests, finding := requestsOf(b.Metadata.Annotations)
	switch {
	case finding != nil || requests == nil:
		return DemandUnknown
	case len(requests) == 0:
		return DemandNothing
	}
	return DemandSome
}

func requestsOf(annotations map[string]string) ([]json.RawMessage, *Finding) {
	text, ok := annotations[CredentialsRequests]
	if !ok {
		return nil, nil
	}
	var requests []json.RawMessage
	if err := json.Unmarshal([]byte(text), &requests); err != nil || requests == nil {
		return nil, &Finding{Code: AnnotationBroken, Message: fmt.Sprintf(
			"the annotation %s is %s, expected a JSON list of CredentialsRequests; what the operator asks for stays unknown",
			CredentialsRequests, Quoted(text))}
	}
	return requests, nil
}

// Categories are the bundle's categories.
func (b Bundle) Categories() []string {
	if b.Metadata == nil {
		return nil
	}
	var all []string
	for part := range strings.SplitSeq(b.Metadata.Annotations[categories], ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}
