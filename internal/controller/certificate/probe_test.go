package certificate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/controller"
	"github.com/tabard-dev/tabard/internal/controller/certificate"
	core "github.com/tabard-dev/tabard/internal/core/certificate"
)

// apiServer answers the creation of a pod: with what answer makes of it, which is
// a *corev1.Pod or an API status.
func apiServer(t *testing.T, answer func(*corev1.Pod) any) controller.APIServer {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var pod corev1.Pod
		if r.URL.Path != "/api/v1/namespaces/tabard-probe/pods" || r.URL.Query().Get("dryRun") != "All" || r.Method != http.MethodPost {
			t.Errorf("asked %s %s, want a dry run in tabard-probe", r.Method, r.URL)
		}
		decodePod(t, r, &pod)
		w.Header().Set("Content-Type", "application/json")
		reply := answer(&pod)
		if status, ok := reply.(apierrors.APIStatus); ok {
			w.WriteHeader(int(status.Status().Code))
			text := status.Status()
			text.Kind, text.APIVersion = "Status", "v1"
			reply = text
		} else {
			w.WriteHeader(http.StatusCreated)
		}
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return controller.APIServer{Address: server.Listener.Addr().String(),
		Config: &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}}
}

func decodePod(t *testing.T, r *http.Request, pod *corev1.Pod) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(pod); err != nil {
		t.Errorf("the pod cannot be read: %v", err)
	}
}

// hooks is what the webhook makes of a pod.
func hooks(pod *corev1.Pod, fingerprint string, injected bool) *corev1.Pod {
	if _, there := pod.Annotations["tabard.dev/probe"]; there {
		pod.Annotations["tabard.dev/probe"] = fingerprint
	}
	if injected {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "aws-iam-token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: "sts.amazonaws.com", Path: "token"}}}}}})
	}
	return pod
}

func TestDryRunsTellWhoTrusts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer  func(*corev1.Pod) any
		verdict core.Verdict
		detail  string
	}{
		"a pod with the mark and an identity":     {func(p *corev1.Pod) any { return hooks(p, "f00d", true) }, core.Trusted, ""},
		"a pod without the mark":                  {func(p *corev1.Pod) any { return hooks(p, "", true) }, core.Refused, "has not called the hook probe.tabard.dev"},
		"a pod marked by a replica that is older": {func(p *corev1.Pod) any { return hooks(p, "beef", true) }, core.Unknown, "another certificate"},
		"a pod without an identity":               {func(p *corev1.Pod) any { return hooks(p, "f00d", false) }, core.Unknown, "was given no identity"},
		"a hook that could not be called": {func(*corev1.Pod) any {
			return apierrors.NewInternalError(errors.New(`failed calling webhook "probe.tabard.dev": x509: unknown authority`))
		}, core.Refused, "x509: unknown authority"},
		"no right to ask": {func(p *corev1.Pod) any {
			return apierrors.NewForbidden(corev1.Resource("pods"), p.Name, errors.New("no"))
		},
			core.Unknown, "forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := apiServer(t, test.answer)
			found := look(t, server)
			if len(found) != 1 || found[0].Address != server.Address || found[0].Verdict != test.verdict || !strings.Contains(found[0].Detail, test.detail) {
				t.Errorf("found %+v, want %s with %q", found, test.verdict, test.detail)
			}
		})
	}
}

func look(t *testing.T, servers ...controller.APIServer) []core.Trust {
	t.Helper()
	runs := certificate.DryRuns{
		Servers: func(context.Context) ([]controller.APIServer, error) { return servers, nil },
		Metrics: certificate.NewMetrics(prometheus.NewRegistry()), Now: time.Now,
	}
	return runs.Look(t.Context(), "f00d", nil)
}

func TestEveryAPIServerIsAsked(t *testing.T) {
	t.Parallel()
	fine := apiServer(t, func(p *corev1.Pod) any { return hooks(p, "f00d", true) })
	gone := controller.APIServer{Address: "127.0.0.1:1", Config: &rest.Config{Host: "http://127.0.0.1:1"}}
	found := look(t, fine, gone)
	if len(found) != 2 || found[0].Verdict != core.Trusted || found[1].Verdict != core.Unknown || found[1].Detail == "" {
		t.Errorf("found %+v, want the first trusted and the second unknown, with a reason", found)
	}
}

func TestUnknownAddressesAreNoProof(t *testing.T) {
	t.Parallel()
	runs := certificate.DryRuns{Servers: func(context.Context) ([]controller.APIServer, error) { return nil, errors.New("no right to list") }}
	found := runs.Look(t.Context(), "f00d", nil)
	if len(found) != 1 || found[0].Verdict != core.Unknown || !strings.Contains(found[0].Detail, "no right to list") {
		t.Errorf("found %+v, want one that is unknown", found)
	}
}
