package webhookattack

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestSlowReviewsTakeNobodysPlace: eight connections that announce a large review, of
// which they send one byte, or more than a small one has, while pods of the same size
// are created.
func TestSlowReviewsTakeNobodysPlace(t *testing.T) {
	server := testkit.StartAPIServer(t, "https://issuer.example.com")
	kube := kubernetes.NewForConfigOrDie(server.Config)
	account(t, kube, "default", "app")
	w := start(t, kubeconfig(t, server.Config), "--memory-limit=256Mi")
	hook(t, kube, w)
	for _, sent := range []int{1, 70_000} {
		a := begin(t, "-address", w.address, "-kind", "slow", "-connections", "8", "-announce", "3000000", "-send", fmt.Sprint(sent), "-for", "1m")
		a.await(t, "that all are open", func(_, most int64) bool { return most >= 8 })
		lost, longest := createPods(t, kube, fmt.Sprintf("large-%d", sent), 12, 4, 100_000)
		t.Logf("with %d bytes sent: %d of 12 pods without identity, the slowest took %v; the flood: %s", sent, lost, longest, quote(&a.said))
		if lost > 0 {
			t.Errorf("with %d bytes sent, %d of 12 pods lost their identity", sent, lost)
		}
		a.end(t)
	}
}

// largestReview is what docs/webhook.md says of reviews: no pod that an API server
// stores makes a larger one than this many MiB.
const largestReview = 16

// shapes are pods that grow between how an API server stores them and how it sends
// them, each of so many parts.
var shapes = map[string]struct {
	bytes int // that a part takes where it is stored
	make  func(parts int) corev1.PodSpec
}{
	"text of <": {1, func(parts int) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a", Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("<", parts)}}}}}
	}},
	"affinity without terms": {9, func(parts int) corev1.PodSpec {
		term := corev1.PodAffinityTerm{TopologyKey: "a", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}}
		terms := make([]corev1.PodAffinityTerm, parts)
		for i := range terms {
			terms[i] = term
		}
		return corev1.PodSpec{
			Containers: []corev1.Container{{Name: "a", Image: "a"}},
			Affinity:   &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}},
		}
	}},
	"variables from nothing": {11, func(parts int) corev1.PodSpec {
		from := make([]corev1.EnvFromSource, parts)
		for i := range from {
			from[i] = corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Optional: new(true)}}
		}
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a", EnvFrom: from}}}
	}},
}

// TestWhatIsStoredIsAccepted measures the largest reviews that an API server sends of
// pods that it stores, and has each answered.
func TestWhatIsStoredIsAccepted(t *testing.T) {
	server := testkit.StartAPIServer(t, "https://issuer.example.com")
	config := rest.CopyConfig(server.Config)
	config.ContentType = runtime.ContentTypeProtobuf // in which most fits into a request
	kube := kubernetes.NewForConfigOrDie(config)
	account(t, kube, "default", "app")
	w := start(t, kubeconfig(t, server.Config), "--memory-limit=256Mi")
	var largest atomic.Int64
	before := front(t, w, &largest)
	hook(t, kube, before)
	half, _ := createSpec(t, kube, shapes["text of <"].make(600_000))
	if !half || largest.Load() < 3_600_000 {
		t.Errorf("a pod of 600,000 times <, a review of %d bytes, has its identity: %t", largest.Load(), half)
	}
	for name, shape := range shapes {
		largest.Store(0)
		parts := 1_600_000 / shape.bytes
		for ; ; parts = parts * 97 / 100 {
			has, err := createSpec(t, kube, shape.make(parts))
			if err != nil {
				continue // larger than what is stored
			}
			t.Logf("%s: the largest that is stored has %d parts; its review had %d bytes", name, parts, largest.Load())
			if !has {
				t.Errorf("%s: a pod of %d parts lost its identity", name, parts)
			}
			break
		}
		if largest.Load() > largestReview<<20 {
			t.Errorf("%s: a review had %d bytes, want at most %d MiB", name, largest.Load(), largestReview)
		}
	}
	t.Logf("the webhook took %d MiB at its peak", peak(t, w.command.Process.Pid))
}

// createSpec creates a pod, and says whether it has its identity.
func createSpec(t *testing.T, kube kubernetes.Interface, spec corev1.PodSpec) (has bool, err error) {
	t.Helper()
	spec.ServiceAccountName = "app"
	made, err := kube.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "large-"}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return hasIdentity(made), kube.CoreV1().Pods("default").Delete(context.WithoutCancel(t.Context()), made.Name, *metav1.NewDeleteOptions(0))
}

// front is the webhook behind a server that measures what is sent to it.
func front(t *testing.T, w *webhook, largest *atomic.Int64) *webhook {
	t.Helper()
	client := &http.Client{Transport: trusting(t, w.chain)}
	server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		largest.Store(max(largest.Load(), r.ContentLength))
		request, err := http.NewRequestWithContext(r.Context(), r.Method, "https://"+w.address+r.URL.Path, r.Body)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadGateway)
			return
		}
		request.ContentLength, request.Header = r.ContentLength, r.Header
		answer, err := client.Do(request)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close() //nolint:errcheck // it is only read
		out.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		out.WriteHeader(answer.StatusCode)
		if _, err := io.Copy(out, answer.Body); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(server.Close)
	return &webhook{address: strings.TrimPrefix(server.URL, "https://"), chain: encodeCertificate(server.Certificate().Raw)}
}
