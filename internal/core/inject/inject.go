// Package inject decides how a pod gets its AWS identity at admission: which
// environment variables, volume and mounts are added to which containers, as a
// minimal JSON patch on the pod as the API server sent it. It does no I/O.
//
// The effective pod is the one that EKS's pod identity webhook makes for the
// same input; where it is meant to differ, docs/compatibility.md says so.
package inject

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// Limits of a projected token's life, in seconds, as Kubernetes validates them.
const (
	MinTokenExpiration = 600
	MaxTokenExpiration = 1 << 32
)

// VolumeName is the name of the injected volume.
const VolumeName = "aws-iam-token"

// tokenFile is the name of the token within the volume.
const tokenFile = "token"

// Settings are what holds for all pods of a cluster unless a ServiceAccount or
// a pod says otherwise.
type Settings struct {
	// AnnotationPrefix is the part before the slash of every annotation.
	AnnotationPrefix string
	// Audience is the "aud" of the token.
	Audience string
	// MountPath is where the token's volume is mounted, a path of Unix style
	// also for Windows.
	MountPath string
	// TokenExpiration is the life of a token in seconds, brought into the
	// limits.
	TokenExpiration int64
	// Region is put into the environment; empty puts none there.
	Region string
	// RegionalSTS puts AWS_STS_REGIONAL_ENDPOINTS=regional there.
	RegionalSTS bool
}

// Reason says why a pod was changed, or was not. It labels metrics.
type Reason string

// The reasons.
const (
	// Injected: the pod gets what was missing.
	Injected Reason = "Injected"
	// Complete: the pod has opted in, and nothing was missing.
	Complete Reason = "Complete"
	// NotOptedIn: the ServiceAccount names no role.
	NotOptedIn Reason = "NotOptedIn"
	// UnknownServiceAccount: there is no such ServiceAccount.
	UnknownServiceAccount Reason = "UnknownServiceAccount"
	// MalformedRoleARN: the ServiceAccount's role ARN is no ARN of a role.
	MalformedRoleARN Reason = "MalformedRoleARN"
)

// ServiceAccount is what matters of a pod's ServiceAccount.
type ServiceAccount struct {
	// Annotations may hold others than those of the configured prefix.
	Annotations map[string]string
}

// Result is the decision about one pod.
type Result struct {
	// Patch is an RFC 6902 document, nil if there is nothing to change.
	Patch []byte
	// Warnings are for the person who creates the pod, one line each.
	Warnings []string
	// Reason is why.
	Reason Reason
}

// Injector decides by fixed settings. It is safe for concurrent use.
type Injector struct {
	settings Settings
	names    annotationNames
	// What is the same for all pods is written once.
	mount                   []byte
	sts, region             [][]byte
	unixToken, windowsToken []byte
}

// annotationNames are the full names of the annotations.
type annotationNames struct {
	roleARN, audience, regionalSTS, tokenExpiration, skipContainers string
}

// New checks the settings. The error names the one that is wrong.
func New(settings Settings) (*Injector, error) {
	switch {
	case settings.AnnotationPrefix == "":
		return nil, errors.New("the annotation prefix is empty, expected a DNS name such as eks.amazonaws.com")
	case settings.Audience == "":
		return nil, errors.New("the token audience is empty, expected one such as sts.amazonaws.com: a token without an audience is one for the API server")
	case settings.MountPath == "" || strings.Contains(settings.MountPath, ":"):
		return nil, fmt.Errorf("the token mount path is %q, expected a path without a colon", settings.MountPath)
	}
	settings.TokenExpiration = clamp(settings.TokenExpiration)
	prefix := settings.AnnotationPrefix + "/"
	token := path.Join(settings.MountPath, tokenFile)
	in := &Injector{
		settings: settings,
		names: annotationNames{
			roleARN:         prefix + "role-arn",
			audience:        prefix + "audience",
			regionalSTS:     prefix + "sts-regional-endpoints",
			tokenExpiration: prefix + "token-expiration",
			skipContainers:  prefix + "skip-containers",
		},
		mount:        mountJSON(VolumeName, settings.MountPath),
		sts:          [][]byte{variableJSON(stsVariable, "regional")},
		unixToken:    variableJSON(tokenVariable, token),
		windowsToken: variableJSON(tokenVariable, "C:"+strings.ReplaceAll(token, "/", `\`)),
	}
	if settings.Region != "" {
		in.region = [][]byte{variableJSON(defaultRegionVariable, settings.Region), variableJSON(regionVariable, settings.Region)}
	}
	return in, nil
}

// Inject decides about one pod. A nil account means that the pod's
// ServiceAccount does not exist. The error says what of the pod is not as the
// API has it.
func (in *Injector) Inject(pod Pod, account *ServiceAccount) (Result, error) {
	if account == nil {
		return Result{Reason: UnknownServiceAccount}, nil
	}
	found := in.bind(account.Annotations)
	switch {
	case found.roleARN == "":
		return Result{Reason: NotOptedIn}, nil
	case !isRoleARN(found.roleARN):
		return Result{Reason: MalformedRoleARN, Warnings: []string{fmt.Sprintf(
			"ServiceAccount %.63q: annotation %s is %.100q, expected arn:aws:iam::ACCOUNT:role/NAME; the pod gets no AWS identity",
			pod.serviceAccount, in.names.roleARN, found.roleARN)}}, nil
	}
	if seconds, ok := parseExpiration(pod.tokenExpiration); ok {
		found.tokenExpiration = seconds
	}
	return in.perform(pod, found)
}

// perform writes the patch for a pod that has opted in.
func (in *Injector) perform(pod Pod, found binding) (Result, error) {
	skip, warnings := in.skipped(pod)
	w := writer{grant: in.grant(pod, found), skip: skip, warnings: warnings}
	in.addVolume(&w.patch, pod, found)
	if err := w.containers("containers", pod.containers); err != nil {
		return Result{}, err
	}
	if err := w.containers("initContainers", pod.initContainers); err != nil {
		return Result{}, err
	}
	result := Result{Patch: w.patch.document(), Warnings: w.warnings, Reason: Injected}
	if result.Patch == nil {
		result.Reason = Complete
	}
	return result, nil
}

// addVolume puts the token's volume first, unless one of its name is there: it
// is taken as it is, whatever its kind.
func (in *Injector) addVolume(p *patch, pod Pod, found binding) {
	switch {
	case pod.hasVolume:
		return
	case pod.volumes.Empty():
		p.open("/spec/volumes")
		p.text = append(p.text, '[')
		p.text = appendVolume(p.text, VolumeName, found.audience, found.tokenExpiration)
		p.text = append(p.text, ']')
	default:
		p.open("/spec/volumes/0")
		p.text = appendVolume(p.text, VolumeName, found.audience, found.tokenExpiration)
	}
	p.close()
}
