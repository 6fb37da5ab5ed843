package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// createPods creates, under a ServiceAccount with a role, pods whose patches hold
// all kinds of operations: the API server must apply them, and accept the pods.
func createPods(t *testing.T, cluster client.Client, serviceAccount string) {
	t.Helper()
	pod := podOf(serviceAccount)
	pod.Name = "many-containers"
	pod.Annotations = map[string]string{"eks.amazonaws.com/role-profiles": "backup=arn:aws:iam::111122223333:role/backup"}
	pod.Spec.Volumes = []corev1.Volume{{Name: "scratch"}}
	pod.Spec.Containers = nil
	for _, name := range []string{"a", "b", "c"} {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "app:1",
			Env:          []corev1.EnvVar{{Name: "OWN", Value: name}},
			VolumeMounts: []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch"}}})
	}
	pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "app:1"}, {Name: "init-2", Image: "app:1"}}
	create(t, cluster, pod)
	for _, container := range pod.Spec.Containers {
		want := []corev1.EnvVar{{Name: "OWN", Value: container.Name},
			{Name: "AWS_ROLE_ARN", Value: "arn:aws:iam::111122223333:role/app"},
			{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"},
			{Name: "AWS_CONFIG_FILE", Value: "/var/run/secrets/eks.amazonaws.com/profiles/config"}}
		if diff := cmp.Diff(want, container.Env); diff != "" {
			t.Errorf("environment of container %s (-want +got):\n%s", container.Name, diff)
		}
	}
	for _, container := range append(pod.Spec.Containers, pod.Spec.InitContainers...) {
		mounted := map[string]string{}
		for _, mount := range container.VolumeMounts {
			mounted[mount.Name] = mount.MountPath
		}
		if mounted["aws-iam-token"] == "" || mounted["aws-iam-profiles"] == "" {
			t.Errorf("mounts of container %s: %v", container.Name, mounted)
		}
	}
	if got := len(pod.Spec.InitContainers[1].Env); got != 3 {
		t.Errorf("%d variables of the second init container, want 3", got)
	}
}
