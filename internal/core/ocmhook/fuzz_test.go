package ocmhook_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// FuzzAdmitPod has any pod, also one that its author has made to be taken for the agents'. Asked
// again, the hook changes nothing more; what is not of the agents' programs is left as it is; no
// image of a container is another.
func FuzzAdmitPod(f *testing.F) {
	k := onprem(nil)
	k.ManagedARN = ocmhook.AdmitKlusterlet(k).Patch[0].Value.(string)
	w := ocmhook.World{Klusterlets: []ocmhook.Klusterlet{k}}
	for _, account := range []string{"klusterlet-registration-sa", "klusterlet-work-sa", "default"} {
		for _, args := range [][]string{registrationArgs(k.ManagedARN, "0"), {"/work", "agent", "--spoke-cluster-name=onprem-1"}, {"/registration", "controller", "--enabled-registration-drivers=awsirsa"}, nil} {
			f.Add(must.Get(json.Marshal(agentPod(account, args...)))(f))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var pod corev1.Pod
		if json.Unmarshal(text, &pod) != nil {
			return
		}
		text = must.Get(json.Marshal(&pod))(t)
		d := ocmhook.AdmitPod(&pod, "open-cluster-management-agent", w, settings)
		theirs := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
			return len(c.Command) == 0 && len(c.Args) > 1 && slices.Contains([]string{"/registration", "/work", "/registration-operator"}, c.Args[0])
		})
		if len(d.Patch) == 0 || d.Refusal != "" {
			return
		}
		if !theirs {
			t.Fatalf("a pod that runs none of their programs is changed: %+v", d.Patch)
		}
		once := apply(t, text, d)
		var after corev1.Pod
		must.Do(t, json.Unmarshal(once, &after))
		for i := range after.Spec.Containers {
			if after.Spec.Containers[i].Image != pod.Spec.Containers[i].Image {
				t.Errorf("the image of %s is another", after.Spec.Containers[i].Name)
			}
		}
		again := ocmhook.AdmitPod(&after, "open-cluster-management-agent", w, settings)
		if again.Refusal != "" || !bytes.Equal(apply(t, once, again), once) {
			t.Errorf("asked again: %+v", again)
		}
	})
}
