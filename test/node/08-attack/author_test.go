package attack

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/test/node/bed"
)

// strict is a namespace that requires identities.
const strict = "team-strict"

// tokenFolder is where the token belongs, tokenVolume the volume that it is in.
const (
	tokenFolder = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
	tokenVolume = "aws-iam-token"
)

// authors are pods whose authors work against their identity, in a namespace that
// requires it. Refused is what the refusal says; empty for pods that have it all the
// same.
var authors = map[string]struct {
	change  func(*corev1.Pod)
	refused string
}{
	"a pod that asks to be left out": {func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"eks.amazonaws.com/skip-pod-identity-webhook": "true"}
	}, ""},
	"a container that is skipped": {func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"eks.amazonaws.com/skip-containers": "app"}
	}, "must not start without its identity"},
	"a container that is not included": {func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"eks.amazonaws.com/include-containers": "other"}
	}, "must not start without its identity"},
	"a role of its own": {func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/other"}}
	}, "must not start without its identity"},
	"a token file of its own": {func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/own/token"}}
	}, "must not start without its identity"},
	"a volume of its own under the token's name": {func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{scratch(tokenVolume)}
	}, ""},
	"a volume of its own in the token's place": {func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{scratch("own")}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "own", MountPath: tokenFolder}}
	}, "must not start without its identity"},
}

func scratch(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

// outwit creates the pods of such authors, which no node is to run.
func outwit(t *testing.T, b *bed.Bed) {
	role := b.Team(strict, map[string]string{"tabard.dev/injection": "required"})
	for name, each := range authors {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "author-"}, Spec: corev1.PodSpec{
				ServiceAccountName: "app", SchedulerName: "nobody", Containers: []corev1.Container{{Name: "app", Image: "app:1"}},
			}}
			each.change(pod)
			made, err := b.Kube.CoreV1().Pods(strict).Create(t.Context(), pod, metav1.CreateOptions{})
			switch {
			case each.refused != "" && (err == nil || !strings.Contains(err.Error(), each.refused)):
				t.Errorf("got %v, expected a refusal that says %q", err, each.refused)
			case each.refused == "" && err != nil:
				t.Error(err)
			case each.refused == "" && (!hasIdentity(made, role) || !hasToken(made)):
				t.Errorf("the pod has no identity, or no token: %+v", made.Spec)
			}
		})
	}
}

// hasToken says that a volume with a token is mounted where the token belongs.
func hasToken(pod *corev1.Pod) bool {
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if mount.MountPath == tokenFolder && mount.Name == volume.Name {
				return volume.Projected != nil && volume.Projected.Sources[0].ServiceAccountToken != nil
			}
		}
	}
	return false
}
