package certificate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/controller"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

const (
	// probeNamespace is where the dry-run pods would be. It is a namespace of its
	// own, with a ServiceAccount that has no rights: who may create pods in a
	// namespace can become every ServiceAccount in it.
	probeNamespace = "tabard-probe"
	// probeName is the pods' name, and their ServiceAccount's.
	probeName = "tabard-probe"
	// probeLabel and probeValue are the label by which the probe hook knows them. Those
	// of another configuration have another value.
	probeLabel, probeValue = "tabard.dev/probe", "certificate"
	// probeTimeout bounds one dry run: the hooks' time and some more.
	probeTimeout = 25 * time.Second
)

// Prober asks every API server whether it trusts a probe certificate.
type Prober interface {
	// Look returns what was found, in the order of the addresses. What cannot be
	// asked is unknown. It is empty if it cannot be known who is to be asked. The
	// labels are those by which the hooks select pods.
	Look(ctx context.Context, certificate string, labels map[string]string) []core.Trust
}

// DryRuns asks by creating pods that are not stored.
type DryRuns struct {
	// Servers lists whom to ask.
	Servers func(context.Context) ([]controller.APIServer, error)
	// Metrics measure each dry run, by the clock Now.
	Metrics *Metrics
	Now     func() time.Time
	// Account is the ServiceAccount of pods that come back with the fingerprint alone;
	// empty means tabard-probe, whose pods come back with an identity besides.
	Account string
}

// Look asks all API servers at the same time.
func (d DryRuns) Look(ctx context.Context, certificate string, labels map[string]string) []core.Trust {
	servers, err := d.Servers(ctx)
	if err != nil {
		return []core.Trust{{Address: "kubernetes.default", Verdict: core.Unknown, Detail: err.Error()}}
	}
	found := make([]core.Trust, len(servers))
	var group sync.WaitGroup
	for i, server := range servers {
		group.Go(func() {
			begun := d.Now()
			found[i] = d.ask(ctx, server, certificate, labels)
			d.Metrics.looked(found[i].Verdict, d.Now().Sub(begun))
		})
	}
	group.Wait()
	return found
}

// LabelsFor are those of a pod that every hook selects which selects by labels: some
// are for pods that ask for an identity by one.
func LabelsFor(hooks []admissionv1.MutatingWebhook) map[string]string {
	return labelsFor(probeValue, hooks)
}

func labelsFor(value string, hooks []admissionv1.MutatingWebhook) map[string]string {
	labels := map[string]string{probeLabel: value, "app.kubernetes.io/name": "tabard"}
	for _, hook := range hooks {
		if hook.ObjectSelector != nil {
			maps.Copy(labels, hook.ObjectSelector.MatchLabels)
		}
	}
	return labels
}

// ask makes one dry run through one API server.
func (d DryRuns) ask(ctx context.Context, server controller.APIServer, certificate string, labels map[string]string) core.Trust {
	trust := core.Trust{Address: server.Address, Verdict: core.Unknown}
	config := rest.CopyConfig(server.Config)
	config.Timeout = probeTimeout
	config.WarningHandler = rest.NoWarnings{} // they are about a pod that will never be
	pods, err := v1.NewForConfig(config)
	if err != nil {
		trust.Detail = err.Error()
		return trust
	}
	pod, err := pods.Pods(probeNamespace).Create(ctx, probePod(either(d.Account, probeName), labels), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	switch {
	case apierrors.IsInternalError(err):
		// What an API server answers if a hook with failurePolicy Fail could not
		// be called, with the reason; it names neither times nor numbers.
		trust.Verdict, trust.Detail = core.Refused, err.Error()
	case err != nil:
		trust.Detail = err.Error()
	default:
		trust.Verdict, trust.Detail = judge(pod, certificate, d.Account == "")
	}
	return trust
}

// judge says what a pod that came back tells of the API server. An identified pod is one
// that must have been given an identity.
func judge(pod *corev1.Pod, certificate string, identified bool) (verdict core.Verdict, detail string) {
	switch pod.Annotations[core.ProbeAnnotation] {
	case certificate:
	case "":
		return core.Refused, "it has not called the hook " + core.ProbeHook
	default:
		return core.Unknown, "a replica of the webhook has shown another certificate"
	}
	if identified && !isInjected(pod) {
		return core.Unknown, "it accepts the new CA, but the pod was given no identity: is the ServiceAccount " +
			probeNamespace + "/" + probeName + " there, and the webhook?"
	}
	return core.Trusted, ""
}

// isInjected says that a pod was given an identity: a token for somebody else
// than the API server.
func isInjected(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return slices.ContainsFunc(cmp.Or(volume.Projected, &corev1.ProjectedVolumeSource{}).Sources, func(source corev1.VolumeProjection) bool {
			return source.ServiceAccountToken != nil && source.ServiceAccountToken.Audience != ""
		})
	})
}

// probePod is the pod to create: as harmless as the strictest Pod Security
// Standard wants, so that no policy keeps it away from the hooks.
func probePod(account string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: probeNamespace, Name: probeName,
			Labels:      labels,
			Annotations: map[string]string{core.ProbeAnnotation: ""},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: account, AutomountServiceAccountToken: new(bool), RestartPolicy: corev1.RestartPolicyNever,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(65532)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "none", Image: "tabard.dev/none",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(bool), ReadOnlyRootFilesystem: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
