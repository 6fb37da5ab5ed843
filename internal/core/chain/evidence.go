package chain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Seen is one thing that was looked for.
type Seen[T any] struct {
	// Value is what is there; nil where nothing is, or where it was not read.
	Value *T `json:"value,omitempty"`
	// Unread says why it is not known; empty where it is.
	Unread string `json:"unread,omitempty"`
	// Needs is the right by which it would be, such as "iam:GetRole on role checkout".
	Needs string `json:"needs,omitempty"`
}

// Subject is what is asked about.
type Subject struct {
	Namespace string `json:"namespace"`
	// Pod is empty where a ServiceAccount alone is asked about.
	Pod string `json:"pod,omitempty"`
	// Account is the ServiceAccount; empty for that of the pod.
	Account string `json:"serviceAccount,omitempty"`
	// Actions are the calls that are asked about, such as s3:GetObject, and Resource is the ARN of what
	// they are about, or *; empty where nobody says.
	Actions  []string `json:"actions,omitempty"`
	Resource string   `json:"resource,omitempty"`
}

// Command is the command that asks the same. The flags name a cluster and a person, with a blank before them;
// empty ones stand for the current context of the kubeconfig.
func (s Subject) Command(flags string) string { return onCluster(s.again(), flags) }

// again is the command that asks the same of the current context.
func (s Subject) again() string {
	out := "tabard explain serviceaccount " + line.Word(s.Account)
	if s.Pod != "" {
		out = "tabard explain pod " + line.Word(s.Pod)
	}
	out += " -n " + line.Word(s.Namespace)
	for _, action := range s.Actions {
		out += " --action " + line.Word(action)
	}
	if s.Resource != "" {
		out += " --resource " + line.Word(s.Resource)
	}
	return out
}

// String is the subject as people write it.
func (s Subject) String() string {
	if s.Pod != "" {
		return "pod " + s.Namespace + "/" + s.Pod
	}
	return "ServiceAccount " + s.Namespace + "/" + s.Account
}

// Role is a role in AWS.
type Role struct {
	ARN string `json:"arn"`
	// Trust is its trust policy in JSON.
	Trust string `json:"trust"`
	// Boundary is the ARN of its permissions boundary, empty for none.
	Boundary string `json:"boundary,omitempty"`
}

// Policy is one policy of a role.
type Policy struct {
	// Name is that of an inline policy, and the ARN of a managed one.
	Name string `json:"name"`
	// Document is the policy in JSON. It is read where a call is asked about.
	Document Seen[string] `json:"document"`
}

// Policies are all policies of a role.
type Policies struct {
	Inline   []Policy `json:"inline,omitempty"`
	Attached []Policy `json:"attached,omitempty"`
	// Boundary is the document of the permissions boundary, of a role that has one.
	Boundary Seen[string] `json:"boundary"`
}

// OIDCProvider is a provider in the account of the role.
type OIDCProvider struct {
	ARN       string   `json:"arn"`
	Audiences []string `json:"audiences"`
}

// Answer is what came when one document of the issuer was fetched without credentials.
type Answer struct {
	// At is where it was fetched.
	At string `json:"at"`
	// Status is that of HTTP; 0 where no answer came, and Error says why.
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	// Redirect is where the answer leads instead of being the document.
	Redirect string `json:"redirect,omitempty"`
	// Wrong says what is wrong with a document that came; empty for nothing.
	Wrong string `json:"wrong,omitempty"`
	// Single says that Wrong is about single keys: others, if there are any, can verify a token.
	Single bool `json:"single,omitempty"`
}

// Published is what anybody gets at the issuer's URL. Its documents themselves are not kept.
type Published struct {
	Discovery Answer `json:"discovery"`
	Keys      Answer `json:"keys"`
	// Held are the published keys that can verify a token.
	Held []issuer.UsableKey `json:"held,omitempty"`
}

// Signing is what is known of the key that the API server signs with.
type Signing struct {
	// Token is the key ID of a token that was made just now; empty where none was requested.
	Token string `json:"token,omitempty"`
	// Keys are those of the API server's own key set. It verifies with all of them, and signs with one.
	Keys []issuer.UsableKey `json:"keys,omitempty"`
}

// Evidence is all that is known. It can be written and read as JSON, and holds no secret: see Prune.
type Evidence struct {
	Subject Subject `json:"subject"`
	// Pod is pruned. It is not looked at where the subject names none.
	Pod     Seen[corev1.Pod]                   `json:"pod"`
	Account Seen[metav1.PartialObjectMetadata] `json:"serviceAccount"`
	// Issuer is what the API server's discovery document says.
	Issuer Seen[string] `json:"issuer"`
	// Signing is of the API server, Published of the URL that WantedDocuments names.
	Signing   Seen[Signing]   `json:"signing"`
	Published Seen[Published] `json:"published"`
	// Role is the one that Wanted names, Provider that of the issuer in its account.
	Role     Seen[Role]         `json:"role"`
	Provider Seen[OIDCProvider] `json:"provider"`
	// Policies are those of the role.
	Policies Seen[Policies] `json:"policies"`
	// NewPod is what the API server makes of NewPod today, pruned. Nothing is there where none is asked for.
	NewPod Seen[corev1.Pod] `json:"newPod"`
	// Hooks are those that the API server asks about new pods, as PruneHooks leaves them.
	Hooks Seen[[]Hook] `json:"hooks"`
	// NamespaceLabels are those of the subject's namespace.
	NamespaceLabels Seen[map[string]string] `json:"namespaceLabels"`
}

// Wanted is the role that the workload is to become, by what is known of the cluster; empty for none.
// Readers ask AWS about it.
func Wanted(e Evidence) string { return newWalk(e).role }

// WantedProvider is the ARN of the OIDC provider that AWS looks for when the workload comes with its
// token; empty where the role or the issuer is not known.
func WantedProvider(e Evidence) string { return newWalk(e).providerARN() }

// WantedDocuments is the URL of the issuer whose documents AWS fetches; empty where it is not known, or
// where AWS cannot reach it.
func WantedDocuments(e Evidence) string {
	w := newWalk(e)
	if w.issuer().State != Sound {
		return ""
	}
	return w.url()
}

// WantsToken says that some of the API server's keys are published and others are not. A new token shows
// which one signs then.
func WantsToken(signing Seen[Signing], published Seen[Published]) bool {
	s, p := signing.Value, published.Value
	if s == nil || p == nil || s.Token != "" {
		return false
	}
	held := 0
	for _, key := range s.Keys {
		if slices.Contains(p.Held, key) {
			held++
		}
	}
	return held > 0 && held < len(s.Keys)
}

// PrunePublished is what of an issuer's documents is evidence: of a page that came in place of one,
// nothing but that it is none.
func PrunePublished(url string, seen issuer.Public) *Published {
	answer := func(check issuer.Check, f issuer.Fetch) Answer {
		out := Answer{At: check.What, Status: f.Status, Error: line.Of(f.Error), Redirect: line.Of(f.Redirect)}
		switch {
		case len(f.Body) >= issuer.MaxDocumentBytes:
			out.Status, out.Error = 0, fmt.Sprintf("it is longer than %d bytes", issuer.MaxDocumentBytes)
		case f.Status == statusOK && f.Redirect == "" && check.Result == issuer.CheckFailed:
			out.Wrong, out.Single = line.Of(check.Detail), check.Single
		}
		return out
	}
	checks := issuer.Examine(url, seen, nil)
	return &Published{Discovery: answer(checks[0], seen.Discovery), Keys: answer(checks[1], seen.Keys), Held: seen.UsableKeys(url)}
}

// told are the variables whose values are kept: they say where credentials come from, and are none.
var told = []string{
	roleVariable, tokenVariable, uriVariable, "AWS_ROLE_SESSION_NAME", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_STS_REGIONAL_ENDPOINTS", "AWS_PROFILE",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_EC2_METADATA_DISABLED",
}

// hidden stands for a value that is not kept, and is not empty.
const hidden = "(set)"

// Prune is what of a pod is evidence. Of its variables it has those of AWS alone, and no value that
// could be a secret.
func Prune(pod *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, CreationTimestamp: pod.CreationTimestamp,
		Labels: pod.Labels, OwnerReferences: pod.OwnerReferences, DeletionTimestamp: pod.DeletionTimestamp,
	}, Status: corev1.PodStatus{Phase: pod.Status.Phase}}
	for name, value := range pod.Annotations {
		if strings.HasPrefix(name, annotationPrefix()+"/") {
			metav1.SetMetaDataAnnotation(&kept.ObjectMeta, name, value)
		}
	}
	kept.Spec.ServiceAccountName, kept.Spec.OS = pod.Spec.ServiceAccountName, pod.Spec.OS
	for _, label := range []string{corev1.LabelOSStable, "beta.kubernetes.io/os"} { // paths of Windows are others
		if system, has := pod.Spec.NodeSelector[label]; has {
			if kept.Spec.NodeSelector == nil {
				kept.Spec.NodeSelector = map[string]string{}
			}
			kept.Spec.NodeSelector[label] = system
		}
	}
	kept.Spec.Containers, kept.Spec.InitContainers = pruned(pod.Spec.Containers), pruned(pod.Spec.InitContainers)
	for i := range pod.Spec.Volumes {
		if volume, is := prunedVolume(&pod.Spec.Volumes[i]); is {
			kept.Spec.Volumes = append(kept.Spec.Volumes, volume)
		}
	}
	if all := pod.Spec.SecurityContext; all != nil {
		kept.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: all.RunAsUser, RunAsGroup: all.RunAsGroup, FSGroup: all.FSGroup, SupplementalGroups: all.SupplementalGroups}
	}
	return kept
}

// prunedVolume is a volume that may bring a token: of a Secret or a ConfigMap, its name alone.
func prunedVolume(volume *corev1.Volume) (kept corev1.Volume, is bool) {
	kept.Name = volume.Name
	switch {
	case volume.Projected != nil:
		return *volume.DeepCopy(), true
	case volume.Secret != nil:
		kept.Secret = &corev1.SecretVolumeSource{SecretName: volume.Secret.SecretName}
		return kept, true
	case volume.ConfigMap != nil:
		kept.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: volume.ConfigMap.LocalObjectReference}
		return kept, true
	}
	return kept, false
}

// prunedSource is where more variables come from, by name.
func prunedSource(from corev1.EnvFromSource) (kept corev1.EnvFromSource) {
	kept.Prefix = from.Prefix
	if from.ConfigMapRef != nil {
		kept.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: from.ConfigMapRef.LocalObjectReference}
	}
	if from.SecretRef != nil {
		kept.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: from.SecretRef.LocalObjectReference}
	}
	return kept
}

func pruned(containers []corev1.Container) (out []corev1.Container) {
	for _, container := range containers {
		kept := corev1.Container{Name: container.Name, VolumeMounts: container.VolumeMounts}
		for _, variable := range container.Env {
			if !strings.HasPrefix(variable.Name, "AWS_") {
				continue
			}
			if variable.Value != "" && !slices.Contains(told, variable.Name) {
				variable.Value = hidden
			}
			kept.Env = append(kept.Env, variable)
		}
		for _, from := range container.EnvFrom {
			kept.EnvFrom = append(kept.EnvFrom, prunedSource(from))
		}
		if own := container.SecurityContext; own != nil {
			kept.SecurityContext = &corev1.SecurityContext{RunAsUser: own.RunAsUser, RunAsGroup: own.RunAsGroup}
		}
		out = append(out, kept)
	}
	return out
}
