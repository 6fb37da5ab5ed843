package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/internal/testkit/ocm"
)

// program says what a container sees, and then what its Secret has, again and again.
const program = `#!/bin/sh -eu
if [ "$1" = init ]; then
	echo "made before" > /made/file
	exit
fi
echo "$(cat /made/file), pod $POD_NAME in $(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace), token of $(wc -c < /var/run/secrets/kubernetes.io/serviceaccount/token) bytes, by $FROM_NODE, process $$."
while :; do
	echo "the Secret has $(cat /secret/key)"
	sleep 0.1
done
`

// deployment is one of the program, with a container that comes first, and one before it
// whose program no node has.
func deployment(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "it"}
	mounts := []corev1.VolumeMount{{Name: "made", MountPath: "/made"}, {Name: "secret", MountPath: "/secret", ReadOnly: true}}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "it"}}
	made.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	made.Spec.Template.Labels = labels
	made.Spec.Template.Spec = corev1.PodSpec{
		ServiceAccountName: "default",
		Volumes: []corev1.Volume{
			{Name: "made", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "secret"}}},
		},
		InitContainers: []corev1.Container{
			{Name: "unknown", Image: "unknown", Command: []string{"unknown"}},
			{Name: "init", Image: "program", Args: []string{"/program", "init"}, VolumeMounts: mounts},
		},
		Containers: []corev1.Container{{
			Name: "it", Image: "program", Args: []string{"/program", "run"}, VolumeMounts: mounts,
			Env: []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
		}},
	}
	return made
}

func TestOCMANodeRunsPodsAsAKubeletDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(file, []byte(program), 0o700))
	cluster := ocm.StartCluster(t, ocm.ClusterOptions{})
	node := ocm.StartNode(t, cluster, ocm.NodeOptions{Programs: map[string]string{"/program": file}, Environment: []string{"FROM_NODE=the node"}})
	namespace := cluster.NewNamespace()
	it := deployment(namespace)
	cluster.Make(it)
	said := func(text string) {
		t.Helper()
		cluster.Await(func() error {
			if log := node.Log("it-"); !strings.Contains(log, text) {
				return fmt.Errorf("the pod has not said %q", text)
			}
			return nil
		})
	}
	said("the Secret secret: secrets \"secret\" not found")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secret"}, Data: map[string][]byte{"key": []byte("one value")}}
	cluster.Make(secret)
	said("the Secret has one value")
	cluster.Await(func() error {
		must.Do(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(it), it))
		if it.Status.ReadyReplicas != 1 {
			return fmt.Errorf("%d replicas of the Deployment are ready", it.Status.ReadyReplicas)
		}
		return nil
	})
	said(" in " + namespace + ", token of ")
	said("by the node, process ")
	if log := node.Log("it-"); !strings.Contains(log, "made before, pod it-") || strings.Contains(log, "token of 0 bytes") {
		t.Errorf("the pod says:\n%s", log)
	}

	before := node.Starts("it-")
	cluster.Merge(secret, `{"stringData": {"key": "another"}}`)
	said("the Secret has another")
	if after := node.Starts("it-"); after != before {
		t.Errorf("the pod was started %d times, want %d: its volume is renewed as it runs", after, before)
	}
	node.Kill("it-")
	cluster.Await(func() error {
		if after := node.Starts("it-"); after != before+1 {
			return fmt.Errorf("the pod was started %d times, want once more than %d", after, before)
		}
		return nil
	})

	pods := listPods(cluster, namespace)
	cluster.Remove(it, client.PropagationPolicy(metav1.DeletePropagationBackground))
	cluster.Await(func() error {
		err := cluster.Get(t.Context(), client.ObjectKeyFromObject(&pods[0]), &pods[0])
		if err == nil {
			return fmt.Errorf("the pod %s is there", pods[0].Name)
		}
		return client.IgnoreNotFound(err)
	})
	// No scheduler bound the pod, so the API server deletes it at once, and the node sees that
	// with its next look.
	for _, line := range strings.Split(node.Log("it-"), "\n") {
		if _, pid, ok := strings.Cut(line, ", process "); ok {
			cluster.Await(func() error {
				if _, err := os.Stat("/proc/" + strings.TrimSuffix(pid, ".")); err == nil {
					return fmt.Errorf("the process %s of the pod that was deleted runs", pid)
				}
				return nil
			})
		}
	}
}

func listPods(cluster *testkit.Cluster, namespace string) []corev1.Pod {
	cluster.Helper()
	var list corev1.PodList
	must.Do(cluster, cluster.List(cluster.Context(), &list, client.InNamespace(namespace)))
	if len(list.Items) != 1 {
		cluster.Fatalf("there are %d pods, want one", len(list.Items))
	}
	return list.Items
}
