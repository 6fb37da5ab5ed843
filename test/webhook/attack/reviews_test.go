package attack

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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestSlowReviewsTakeNobodysPlace: eight connections that announce a large review, of
// which they send one byte, or more than a small one has, while pods of the same size
// are created.
func TestSlowReviewsTakeNobodysPlace(t *testing.T) {
	c, w := attacked(t)
	for _, sent := range []int{1, 70_000} {
		a := begin(t, "-address", w.address, "-kind", "slow", "-connections", "8", "-announce", "3000000", "-send", fmt.Sprint(sent), "-for", "1m")
		a.await(t, "that all are open", func(_, most int64) bool { return most >= 8 })
		lost, longest := createPods(c, fmt.Sprintf("large-%d", sent), 12, 4, 100_000)
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
var shapes = map[string]func(parts int) corev1.PodSpec{
	"text of <": func(parts int) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a", Env: []corev1.EnvVar{{Name: "A", Value: strings.Repeat("<", parts)}}}}}
	},
	"affinity without terms": func(parts int) corev1.PodSpec {
		term := corev1.PodAffinityTerm{TopologyKey: "a", LabelSelector: &metav1.LabelSelector{}, NamespaceSelector: &metav1.LabelSelector{}}
		terms := make([]corev1.PodAffinityTerm, parts)
		for i := range terms {
			terms[i] = term
		}
		return corev1.PodSpec{
			Containers: []corev1.Container{{Name: "a", Image: "a"}},
			Affinity:   &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}},
		}
	},
	"variables from nothing": func(parts int) corev1.PodSpec {
		from := make([]corev1.EnvFromSource, parts)
		for i := range from {
			from[i] = corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "a"}, Optional: new(true)}}
		}
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a", EnvFrom: from}}}
	},
}

// TestWhatIsStoredIsAccepted measures the largest reviews that an API server sends of
// pods that it stores, and has each answered.
func TestWhatIsStoredIsAccepted(t *testing.T) {
	c := shared(t)
	config := rest.CopyConfig(c.Config)
	config.ContentType = runtime.ContentTypeProtobuf // in which most fits into a request
	c.WithWatch = c.ClientFor(config)
	w := start(t, c.Kubeconfig(c.Config))
	var largest atomic.Int64
	hook(c, front(t, w, &largest))
	half, _ := createSpec(c, shapes["text of <"](600_000))
	if !half || largest.Load() < 3_600_000 {
		t.Errorf("a pod of 600,000 times <, a review of %d bytes, has its identity: %t", largest.Load(), half)
	}
	for name, shape := range shapes {
		largest.Store(0)
		begun := moreThanStored * 1000 / (stored(shape(2000)) - stored(shape(1000)))
		parts := begun
		for ; ; parts -= begun / 100 {
			has, err := createSpec(c, shape(parts))
			if err != nil {
				continue // larger than what is stored
			}
			t.Logf("%s: the largest that is stored has %d parts; its review had %d bytes", name, parts, largest.Load())
			if !has {
				t.Errorf("%s: a pod of %d parts lost its identity", name, parts)
			}
			break
		}
		if parts == begun {
			t.Errorf("%s: %d parts are stored, so that it is not known how many are the most", name, parts)
		}
		if largest.Load() > largestReview<<20 {
			t.Errorf("%s: a review had %d bytes, want at most %d MiB", name, largest.Load(), largestReview)
		}
	}
	t.Logf("the webhook took %d MiB at its peak", w.peak(t))
}

// moreThanStored is a size in bytes, in protobuf, of which no object can be stored: etcd
// takes requests of 1.5 MiB.
const moreThanStored = 1_580_000

// stored is the size of a pod in protobuf.
func stored(spec corev1.PodSpec) int { return (&corev1.Pod{Spec: spec}).Size() }

// createSpec creates a pod, and says whether it has its identity.
func createSpec(c *testkit.Cluster, spec corev1.PodSpec) (has bool, err error) {
	c.Helper()
	spec.ServiceAccountName = "app"
	made := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "large-"}, Spec: spec}
	if err := c.Create(c.Context(), made); err != nil {
		return false, err
	}
	return hasIdentity(made), c.Delete(context.WithoutCancel(c.Context()), made, client.GracePeriodSeconds(0))
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
