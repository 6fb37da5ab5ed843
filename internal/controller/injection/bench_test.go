package injection

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/tabard-dev/tabard/internal/core/injection"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// BenchmarkPass examines all pods of a cluster once, as is done every ten seconds: of
// each ten pods one is injected, and eight are of ServiceAccounts without a role; the
// tenth was let through, or has a role of its own. It tells what a pod takes in memory.
func BenchmarkPass(b *testing.B) {
	for name, own := range map[string]string{"let-through": "AWS_REGION", "own-role": "AWS_ROLE_ARN"} {
		b.Run(name, func(b *testing.B) {
			const count = 20_000
			c, size := populated(b, count, own)
			hooks := must.Get(core.ReadHooks(nil))(b)
			want := 0
			if name == "let-through" {
				want = count / 10
			}
			b.ReportAllocs()
			for b.Loop() {
				if found, err := c.find(hooks); len(found) != want || err != nil {
					b.Fatalf("%d found, error %v; want %d", len(found), err, want)
				}
			}
			b.ReportMetric(float64(size)/count, "bytes/pod")
		})
	}
}

// populated is a controller that knows so many pods, and how much memory they take.
func populated(tb testing.TB, count int, variable string) (*Controller, uint64) {
	tb.Helper()
	examiner := must.Get(core.New(core.Defaults()))(tb)
	k := newKnown(examiner)
	k.namespaces.Set(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
	k.accounts.Set(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "plain"}})
	k.accounts.Set(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "app", UID: "app",
		Annotations: map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/app"}}})
	k.seen["app"] = time.Time{}
	before := heap()
	for i := range count {
		pod := podLike(i, variable)
		switch i % 10 {
		case 0:
			pod.Spec.ServiceAccountName = "app"
		case 1:
			pod.Spec.ServiceAccountName = "app"
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "aws-iam-token"})
		}
		kept := must.Get(examiner.Trim(pod))(tb)
		k.pods.Set(kept)
	}
	return &Controller{examiner: examiner, known: k}, heap() - before
}

// podLike is a pod of two containers as they are in clusters.
func podLike(i int, variable string) *corev1.Pod {
	text := func(kind string) string { return fmt.Sprintf("%s-%d", kind, i) }
	controls := true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: text("pod"), UID: types.UID(text("8536c40b-1ab4-429a-a273")), ResourceVersion: text("1"),
			Labels:          map[string]string{"app": text("app"), "pod-template-hash": text("hash"), "team": text("team"), "version": text("v")},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: text("set"), Controller: &controls}},
		},
		Spec: corev1.PodSpec{ServiceAccountName: "plain"},
	}
	for _, name := range []string{"main", "sidecar"} {
		container := corev1.Container{Name: name, Env: []corev1.EnvVar{{Name: variable, Value: "x"}}}
		for j := range 20 {
			container.Env = append(container.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d_%d", i, j), Value: text("value")})
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.HeapAlloc
}
