package inject

import (
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// defaultPrefix is that of the annotations that everybody knows.
const defaultPrefix = "eks.amazonaws.com"

// Annotations that people write where they mean eks.amazonaws.com/role-arn.
var (
	// misspeltPrefixes come before /role-arn.
	misspeltPrefixes = []string{
		"amazonaws.com", "aws.amazon.com", "eks.amazon.com", "eks.amazonaw.com", "eks.amazonaws.cn",
		"eks.amazonaws.com.cn", "eks.amazonaws.co", "eks.amazonwas.com", "eks.amazonws.com", "eks.amzonaws.com",
		"eks.aws", "eks.aws.amazon.com", "eks.aws.com", "iam.amazonaws.com", "pods.eks.amazonaws.com", "sts.amazonaws.com",
	}
	// misspeltAnnotations are whole names; the first is that of kube2iam and kiam.
	misspeltAnnotations = []string{
		"iam.amazonaws.com/role",
		defaultPrefix + "/iam-role", defaultPrefix + "/iam-role-arn", defaultPrefix + "/role",
		defaultPrefix + "/role-ARN", defaultPrefix + "/roleArn", defaultPrefix + "/role_arn", defaultPrefix + "/rolearn",
	}
)

// misspeltNames are the names to warn of, if the prefix is the one that they
// resemble.
func misspeltNames(prefix string) map[string]struct{} {
	if prefix != defaultPrefix {
		return nil
	}
	names := make(map[string]struct{}, len(misspeltPrefixes)+len(misspeltAnnotations))
	for _, each := range misspeltPrefixes {
		names[each+"/role-arn"] = struct{}{}
	}
	for _, each := range misspeltAnnotations {
		names[each] = struct{}{}
	}
	return names
}

// Misspelt are the names of annotations that a ServiceAccount is warned of, in
// order. They are not all of the prefix.
func (in *Injector) Misspelt() []string { return slices.Sorted(maps.Keys(in.misspelt)) }

// adviseAnnotations warns of an annotation of a ServiceAccount that has not opted
// in but looks as if it should.
func (in *Injector) adviseAnnotations(annotations map[string]string, account string, warnings *podpatch.Warnings) {
	var found string
	for name := range annotations {
		if _, ok := in.misspelt[name]; ok && (found == "" || name < found) {
			found = name
		}
	}
	if found != "" {
		warnings.Add("ServiceAccount %.63q has the annotation %s: did you mean %s? The pod gets no AWS identity", account, found, in.names.roleARN)
	}
}

// adviseContainers warns of what keeps containers from their identity.
func (in *Injector) adviseContainers(pod Pod, plan *podpatch.Plan, containers []podpatch.Container, warnings *podpatch.Warnings) {
	plan.Advise(containers, "AWS", []int{credentialsGroup, configGroup}, warnings)
	pod.AdviseSkipped(in.names.skipContainers, plan.Selection.Skip, warnings)
	for _, name := range plan.Selection.Only {
		if !slices.ContainsFunc(containers, func(c podpatch.Container) bool { return c.Name.Is(name) }) {
			in.adviseIncluded(name, warnings)
		}
	}
}
