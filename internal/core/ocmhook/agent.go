package ocmhook

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
)

// The volumes and the init container of agents with the driver awsirsa (v1.2.1,
// manifests/klusterlet/management).
const (
	configVolume  = "dot-aws"
	configPath    = "/.aws"
	programVolume = "awscli"
	programPath   = "/awscli"
	programName   = "load-awscli"
	// awsCommand is what the agents' kubeconfig of the hub calls.
	awsCommand = programPath + "/dist/aws"
)

// The volume with the token of the agents' ServiceAccount, and where it is.
const (
	tokenVolume   = "tabard-hub-role"
	tokenPath     = "/var/run/secrets/tabard.dev/hub-role" //nolint:gosec // a path, and no secret
	tokenFile     = "token"
	tokenAudience = "sts.amazonaws.com"
	// tokenSeconds is as EKS's own webhook has it: the kubelet renews the token after 80 % of it.
	tokenSeconds = 86400
)

// agent is a pod of a cluster's agents.
type agent struct {
	pod *corev1.Pod
	// number is that of the container with their program, and args are its arguments.
	number     int
	args       arguments
	klusterlet Klusterlet
	settings   Settings
}

func (a agent) admit() Decision {
	if why := a.klusterlet.Fault(); why != "" {
		return refuse("the Klusterlet %s cannot join: %s", a.klusterlet.Name, why)
	}
	role, why := a.role()
	if why != "" {
		return Decision{Refusal: why}
	}
	var d Decision
	a.rewrite(&d, role)
	a.program(&d)
	if a.klusterlet.IAMConfigSecret != "" {
		a.mountConfig(&d)
	}
	if a.klusterlet.HubRole == WebIdentity {
		a.mountToken(&d, role)
	}
	return d
}

// role is the suffix of the cluster's roles, with the hub's ARN. The name of a cluster outside
// EKS is the one that the agent is told.
func (a agent) role() (hubRole, string) {
	k := a.klusterlet
	arn, err := hub.ParseARN(k.HubARN)
	if err != nil {
		return hubRole{}, err.Error() // said by Fault before
	}
	wanted := k.ManagedARN
	if k.HasNoARN() {
		wanted = k.placeholder().String()
	}
	if told, has := a.args.value(managedARNFlag); has && told != wanted {
		return hubRole{}, fmt.Sprintf("the pod was made for another state of the Klusterlet %s: %s is %.200s, expected %s. Its Deployment makes it anew", k.Name, managedARNFlag, told, wanted)
	}
	managed, name := hub.ARN{}, ""
	if k.HasNoARN() {
		name, _ = a.args.value(clusterFlag)
	} else if managed, err = hub.ParseARN(k.ManagedARN); err != nil {
		return hubRole{}, fmt.Sprintf("the Klusterlet %s: managedClusterArn: %v", k.Name, err)
	}
	suffix, err := hub.Suffix(arn, managed, name)
	if err != nil {
		return hubRole{}, fmt.Sprintf("the Klusterlet %s: %v", k.Name, err)
	}
	return hubRole{hub: arn, suffix: suffix}, ""
}

// hubRole is a cluster's role in the hub's account.
type hubRole struct {
	hub    hub.ARN
	suffix string
}

func (r hubRole) arn() string { return r.hub.RoleARN(hub.RoleName(r.suffix)) }

// rewrite takes the placeholder out of the arguments of the registration agent, and gives it the
// suffix of the cluster's own roles. The work agent has neither.
func (a agent) rewrite(d *Decision, role hubRole) {
	if auth, _ := a.args.value(authFlag); auth != hub.DriverAWS || !a.klusterlet.HasNoARN() {
		return
	}
	wanted := append(a.args.without(managedARNFlag, suffixFlag), suffixFlag+"="+role.suffix)
	if !slices.Equal(wanted, a.args) {
		d.add("replace", containerPath(a.number, "args"), []string(wanted))
	}
}

// program puts tabard-eks-token where the agents look for the AWS command line.
func (a agent) program(d *Decision) {
	number := slices.IndexFunc(a.pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == programName })
	if number < 0 {
		return
	}
	d.add("replace", fmt.Sprintf("/spec/initContainers/%d", number), corev1.Container{
		Name: programName, Image: a.settings.TokenImage, ImagePullPolicy: corev1.PullPolicy(a.settings.PullPolicy),
		Command: []string{"/tabard-eks-token"}, Args: []string{"install", awsCommand},
		VolumeMounts: []corev1.VolumeMount{{Name: programVolume, MountPath: programPath}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Privileged: new(false), RunAsNonRoot: new(true), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	})
}

// mountConfig puts the Secret of the Klusterlet in the place of the empty volume, whole, so that
// the kubelet renews it, and names its files: AWS's own rules look for them in HOME, and prefer
// what else the environment says.
func (a agent) mountConfig(d *Decision) {
	volume := corev1.Volume{Name: configVolume}
	volume.Secret = &corev1.SecretVolumeSource{SecretName: a.klusterlet.IAMConfigSecret}
	a.mount(d, volume, corev1.VolumeMount{Name: configVolume, MountPath: configPath, ReadOnly: true})
	a.setEnvironment(d, []corev1.EnvVar{
		{Name: "AWS_CONFIG_FILE", Value: configPath + "/config"},
		{Name: "AWS_SHARED_CREDENTIALS_FILE", Value: configPath + "/credentials"},
	})
}

// mountToken gives the agents a token of their own ServiceAccount, by which they become the role.
func (a agent) mountToken(d *Decision, role hubRole) {
	volume := corev1.Volume{Name: tokenVolume}
	volume.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
		ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: tokenAudience, ExpirationSeconds: new(int64(tokenSeconds)), Path: tokenFile},
	}}}
	a.mount(d, volume, corev1.VolumeMount{Name: tokenVolume, MountPath: tokenPath, ReadOnly: true})
	a.setEnvironment(d, []corev1.EnvVar{
		{Name: "AWS_ROLE_ARN", Value: role.arn()},
		{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: tokenPath + "/" + tokenFile},
	})
}

// mount gives the pod a volume and the container its mount, in the place of those of the same name.
func (a agent) mount(d *Decision, volume corev1.Volume, mount corev1.VolumeMount) {
	at := slices.IndexFunc(a.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
	put(d, "/spec/volumes", len(a.pod.Spec.Volumes), at, volume)
	mounts := a.pod.Spec.Containers[a.number].VolumeMounts
	at = slices.IndexFunc(mounts, func(m corev1.VolumeMount) bool { return m.Name == mount.Name })
	put(d, containerPath(a.number, "volumeMounts"), len(mounts), at, mount)
}

// setEnvironment sets variables of the container. What it had of the same names goes.
func (a agent) setEnvironment(d *Decision, variables []corev1.EnvVar) {
	there := a.pod.Spec.Containers[a.number].Env
	if len(there) == 0 {
		d.add("add", containerPath(a.number, "env"), variables)
		return
	}
	for _, variable := range variables {
		at := slices.IndexFunc(there, func(v corev1.EnvVar) bool { return v.Name == variable.Name })
		put(d, containerPath(a.number, "env"), len(there), at, variable)
	}
}

// put replaces an entry of a list, or adds one at its end; at is -1 for none, and length that of
// the list as it was read.
func put(d *Decision, path string, length, at int, value any) {
	switch {
	case at >= 0:
		d.add("replace", fmt.Sprintf("%s/%d", path, at), value)
	case length == 0:
		d.add("add", path, []any{value})
	default:
		d.add("add", path+"/-", value)
	}
}
