package capacity

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	pausedAnnotation = "cluster.x-k8s.io/paused"
	// regionAnnotation is where a person says the region.
	regionAnnotation = "capa.infrastructure.cluster.x-k8s.io/region"
	// machineAPI is the authority under which the Machine API's objects count.
	machineAPI = "MachineAPI"
)

// sizeAnnotations are how a person tells the autoscaler the bounds of a group;
// the autoscalers read both families on the objects of both machine APIs.
var sizeAnnotations = []string{
	"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
	"cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
	"machine.openshift.io/cluster-api-autoscaler-node-group-min-size",
	"machine.openshift.io/cluster-api-autoscaler-node-group-max-size",
}

// finding is what an object leads to: one of the three.
type finding struct {
	question instancetype.Question
	skip     Skip
	trouble  *trouble
}

func skipped(why Skip) finding      { return finding{skip: why} }
func troubled(what trouble) finding { return finding{trouble: &what} }

func (f finding) isQuestion() bool { return f.skip == "" && f.trouble == nil }

func (w World) isClusterAPI() bool { return w.Object.Kind != MachineAPIMachineSet }

// Ask says what AWS is to be asked; false if the object is left alone, or if
// something else is wrong, which Decide tells of.
func Ask(w World) (instancetype.Question, bool) {
	found := find(w)
	return found.question, found.isQuestion()
}

// find goes from the object to its type and region.
func find(w World) finding {
	if skip := gate(w); skip != "" {
		return skipped(skip)
	}
	locate := findMachineAPI
	if w.isClusterAPI() {
		locate = findClusterAPI
	}
	out := locate(w)
	if !out.isQuestion() {
		return out
	}
	out.question.Home, out.question.Like = firstOf(w.Platform.Region, w.DefaultRegion), w.copied()
	switch {
	case w.Credentials.Problem != "":
		return troubled(misconfigured(w.Credentials.Problem))
	case w.Credentials.Missing:
		return troubled(misconfigured(fmt.Sprintf("no AWS credentials configured for %s %s: "+
			"neither IRSA environment variables nor credentialsSecret specified", w.Object.Kind.Noun(), w.Object.Name)))
	}
	return out
}

// gate keeps away from objects that are not ours to touch now, or not wanted.
func gate(w World) Skip {
	skip := held(w)
	if skip == "" && w.Options.OnlyAutoscaled && !w.Object.isAutoscaled() {
		return SkipNotAutoscaled
	}
	return skip
}

func (o Object) isAutoscaled() bool {
	return slices.ContainsFunc(sizeAnnotations, func(key string) bool {
		_, there := o.Annotations[key]
		return there
	})
}

// held says who has the object in hand; empty for nobody.
func held(w World) Skip {
	o := w.Object
	_, paused := o.Annotations[pausedAnnotation]
	switch {
	case o.Deleting:
		return SkipDeleting
	case w.isClusterAPI() && (paused || w.Cluster != nil && w.Cluster.Paused):
		return SkipPaused
	case w.isClusterAPI():
		if o.Kind == MachineSet && o.HasDeployment {
			return SkipDeployment
		}
		return ""
	case w.Options.Migration && o.Paused:
		return SkipPaused
	case w.Options.Migration && o.Authority != machineAPI:
		// Also an empty one: a new object whose authority is not decided yet.
		return SkipAuthority
	}
	return ""
}

// providerConfig is what is read of the Machine API's AWSMachineProviderConfig.
type providerConfig struct {
	Kind         string `json:"kind"`
	InstanceType string `json:"instanceType"`
	Placement    struct {
		Region string `json:"region"`
	} `json:"placement"`
	CredentialsSecret struct {
		Name string `json:"name"`
	} `json:"credentialsSecret"`
}

// SecretName is the Secret that a Machine API object names for its credentials,
// in its own namespace; empty for none. It matters only if AWS is to be asked,
// and there is no web identity.
func SecretName(o Object) string {
	var config providerConfig
	if o.Kind != MachineAPIMachineSet || json.Unmarshal(o.ProviderSpec, &config) != nil {
		return ""
	}
	return config.CredentialsSecret.Name
}

func findMachineAPI(w World) finding {
	var config providerConfig
	if len(w.Object.ProviderSpec) > 0 {
		// The head is read first: other clouds have other types in the rest.
		var head struct {
			Kind string `json:"kind"`
		}
		err := json.Unmarshal(w.Object.ProviderSpec, &head)
		if err == nil && head.Kind != "" && head.Kind != "AWSMachineProviderConfig" {
			return skipped(SkipForeignCloud)
		}
		if err == nil {
			err = json.Unmarshal(w.Object.ProviderSpec, &config)
		}
		if err != nil && w.mayBeAWS() {
			return troubled(misconfigured("failed to get providerConfig: error unmarshalling providerSpec: " + err.Error()))
		}
	}
	if config.Kind == "" && !w.mayBeAWS() {
		return skipped(SkipForeignCloud)
	}
	region := firstOf(config.Placement.Region, w.Platform.Region, w.DefaultRegion)
	switch {
	case config.InstanceType == "":
		return troubled(emptyType("instanceType is empty in providerSpec"))
	case region == "":
		return troubled(misconfigured("unable to determine AWS region from placement.region of providerSpec, " +
			"from Infrastructure cluster or from AWS_REGION"))
	}
	return finding{question: instancetype.Question{Type: config.InstanceType, Region: region}}
}

// mayBeAWS says that machines which do not say their cloud are taken for AWS's.
func (w World) mayBeAWS() bool { return w.Platform.Type == "" || w.Platform.Type == "AWS" }

func findClusterAPI(w World) finding {
	ref := w.Object.Infrastructure
	switch {
	case !ref.is(infrastructureGroup, templateKind):
		return skipped(SkipForeignCloud)
	case ref.Name == "":
		return troubled(badTemplate("infrastructureRef has no name"))
	case ref.isForeign(w.Object.Namespace):
		return troubled(badTemplate(fmt.Sprintf("infrastructureRef names AWSMachineTemplate %s/%s; "+
			"it must be in the namespace %s of the %s", ref.Namespace, ref.Name, w.Object.Namespace, w.Object.Kind.Noun())))
	case w.Template == nil:
		return troubled(missingTemplate(w.Object.Namespace, ref.Name))
	case w.Template.InstanceType == "":
		return troubled(emptyType("instanceType is empty in AWSMachineTemplate"))
	}
	region := firstOf(w.ClusterRegion, w.Object.Annotations[regionAnnotation])
	switch {
	case region != "":
		return finding{question: instancetype.Question{Type: w.Template.InstanceType, Region: region}}
	case w.Cluster != nil && w.Cluster.isForeign():
		return skipped(SkipForeignOrigin)
	}
	return troubled(noRegion())
}

// isForeign says that the cluster refers to something, and to nothing of AWS.
func (c Cluster) isForeign() bool {
	said := c.Infrastructure.Kind != "" || c.ControlPlane.Kind != ""
	return said && !c.Infrastructure.isAWS() && !c.ControlPlane.isAWS()
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
