package inject

import (
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
)

// The groups of a plan, in the order in which containers get them.
const (
	stsGroup = iota
	regionGroup
	credentialsGroup
	sessionGroup
	configGroup
	groupCount
)

// jitteredExpiration is the life of a container credentials token that is spread
// over [minJittered, jitteredExpiration], so that the tokens of pods that came at
// once are not renewed at once.
const (
	jitteredExpiration = 86400
	minJittered        = 79200
)

// Names of variables that keep a group away, or that the SDKs prefer.
var (
	stsNames       = []string{stsVariable}
	regionNames    = []string{defaultRegionVariable, regionVariable}
	roleNames      = []string{roleVariable, tokenVariable}
	containerNames = []string{uriVariable, containerTokenVariable}
	sessionNames   = []string{sessionVariable}
	configNames    = []string{configFileVariable}

	// The order in which SDKs look: AWS SDKs and Tools reference guide,
	// "Standardized credential providers".
	beforeWebIdentity = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	beforeContainer   = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", tokenVariable, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"}
)

// plan is what a pod is to have.
func (in *Injector) plan(pod Pod, namespace string, found binding, profiles []profile) *podpatch.Plan {
	plan := &podpatch.Plan{Groups: make([]podpatch.Group, groupCount)}
	plan.Groups[stsGroup].Names = stsNames
	if found.regionalSTS {
		plan.Groups[stsGroup].Variables = in.sts
	}
	plan.Groups[regionGroup] = podpatch.Group{Names: regionNames, Variables: in.region}
	if found.region != "" {
		plan.Groups[regionGroup].Variables = regionVariables(found.region)
	}
	switch {
	case found.method == ContainerCredentials:
		in.planContainerCredentials(plan, pod, found)
	case found.roleARN != "":
		in.planWebIdentity(plan, pod, namespace, found)
	}
	if len(profiles) > 0 {
		in.planProfiles(plan, pod, found, profiles)
	}
	if in.settings.FSGroup != 0 && pod.NonRoot() {
		plan.FSGroup = in.settings.FSGroup
	}
	return plan
}

// planContainerCredentials plans what EKS Pod Identity needs.
func (in *Injector) planContainerCredentials(plan *podpatch.Plan, pod Pod, found binding) {
	if found.tokenExpiration == jitteredExpiration && in.settings.Jitter != nil {
		found.tokenExpiration = minJittered + in.settings.Jitter(jitteredExpiration-minJittered+1)
	}
	plan.Labels = []podpatch.Entry{{Name: podIdentityLabel, Value: podIdentityValue}}
	plan.Watch = beforeContainer
	in.planToken(plan, in.containerCredential, in.settings.ContainerCredentials.TokenPath, found)
	in.planCredentials(plan, containerNames, in.settings.ContainerCredentials.FullURI, in.containerCredential.on(pod))
}

// planWebIdentity plans what IAM roles for service accounts need.
func (in *Injector) planWebIdentity(plan *podpatch.Plan, pod Pod, namespace string, found binding) {
	plan.Watch = beforeWebIdentity
	in.planToken(plan, in.webIdentity, tokenFile, found)
	role := found.roleARN
	if identity.IsRoleARN(role) {
		role = literal(role)
	}
	in.planCredentials(plan, roleNames, role, in.webIdentity.on(pod))
	if in.settings.SessionName {
		plan.Groups[sessionGroup] = podpatch.Group{Names: sessionNames, Variables: sessionName(pod, namespace)}
	}
}

// planToken plans a volume with one token, and its mount.
func (in *Injector) planToken(plan *podpatch.Plan, place tokenPlace, file string, found binding) {
	plan.Volumes = append(plan.Volumes, podpatch.Volume{
		Name: place.mount.Volume,
		Mode: in.settings.TokenFileMode,
		Sources: []podpatch.Source{
			{Path: file, Audience: found.audience, Seconds: found.tokenExpiration},
		},
	})
	plan.Mounts = append(plan.Mounts, place.mount)
}

// planCredentials plans the pair of variables of a method. A container that has
// something of it, a region and the STS switch has arranged everything itself.
func (in *Injector) planCredentials(plan *podpatch.Plan, names []string, source, token string) {
	plan.Groups[credentialsGroup] = podpatch.Group{
		Names:     names,
		Variables: []podpatch.Variable{{Name: names[0], Value: source}, {Name: names[1], Value: token}},
	}
	for _, group := range []int{stsGroup, regionGroup, credentialsGroup} {
		plan.Groups[group].Settles = true
	}
}

// selection is which containers the pod wants injected. A list that cannot be
// read skips none, and includes none.
func (in *Injector) selection(asked annotations, warnings *podpatch.Warnings) podpatch.Selection {
	var selection podpatch.Selection
	var err error
	if text := asked.skipContainers.Text(); text != "" {
		if selection.Skip, err = podpatch.ParseNames(text); err != nil {
			warnings.Add("annotation %s: %v; no container is skipped", in.names.skipContainers, err)
		}
	}
	if text := asked.includeContainers.Text(); text != "" {
		selection.Limited = true
		if selection.Only, err = podpatch.ParseNames(text); err != nil {
			warnings.Add("annotation %s: %v; no container gets the AWS identity", in.names.includeContainers, err)
		}
	}
	return selection
}
