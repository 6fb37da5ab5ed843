package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestHooksAnswerReviews asks a server of hooks as an API server does.
func TestHooksAnswerReviews(t *testing.T) {
	var unread error
	o := HookOptions{Prefix: "tabard_test", Known: func() error { return unread }}
	o.Hooks = []Hook{{Path: "/things", Answer: func(r Review) (Answer, error) {
		switch object := string(r.Object); {
		case strings.Contains(object, "bad"):
			return Answer{Refusal: "it is bad in " + r.Namespace}, nil
		case strings.Contains(object, "unknown"):
			return Answer{}, errors.New("it is not known")
		case strings.Contains(object, "changed"):
			return Answer{Patch: []byte(`[{"op":"remove","path":"/a"}]`), Warnings: []string{"look"}}, nil
		}
		return Answer{}, nil
	}}}
	f := newHooks(o, logr.Discard())
	handler := f.hooksHandler(o)
	ask := func(path, kind, body string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		request.Header.Set("Content-Type", kind)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		return recorder
	}
	about := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","namespace":"ns","object":{"metadata":{"name":%q}}}}`, name)
	}
	for name, test := range map[string]struct {
		allowed bool
		patch   string
		message string
	}{
		"fine":    {true, "", ""},
		"changed": {true, `[{"op":"remove","path":"/a"}]`, ""},
		"bad":     {false, "", "it is bad in ns"},
	} {
		var review admissionv1.AdmissionReview
		answer := ask("/things", "application/json", about(name))
		must.Do(t, json.Unmarshal(answer.Body.Bytes(), &review))
		response := review.Response
		if answer.Code != http.StatusOK || response.UID != "u" || response.Allowed != test.allowed || string(response.Patch) != test.patch {
			t.Errorf("%s: %d %+v", name, answer.Code, response)
		}
		if !test.allowed && response.Result.Message != test.message {
			t.Errorf("%s: it is refused because %q", name, response.Result.Message)
		}
	}
	for name, test := range map[string]struct {
		answer *httptest.ResponseRecorder
		code   int
	}{
		"what is not known": {ask("/things", "application/json", about("unknown")), http.StatusInternalServerError},
		"another type":      {ask("/things", "text/plain", about("fine")), http.StatusUnsupportedMediaType},
		"another path":      {ask("/others", "application/json", about("fine")), http.StatusNotFound},
		"too much":          {ask("/things", "application/json", strings.Repeat(" ", maxReview+1)), http.StatusRequestEntityTooLarge},
		"its readiness":     {ask("/readyz", "", ""), http.StatusServiceUnavailable}, // there is no certificate
	} {
		if test.answer.Code != test.code {
			t.Errorf("%s: %d, want %d", name, test.answer.Code, test.code)
		}
	}
	unread = errors.New("nothing has been read yet")
	if answer := ask("/things", "application/json", about("fine")); answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), "nothing has been read yet") {
		t.Errorf("before it knows: %d %s", answer.Code, answer.Body)
	}
	got := map[string]float64{}
	for _, family := range must.Get(f.metrics.registry.Gather())(t) {
		name := family.GetName()
		if strings.HasPrefix(name, "tabard_webhook") || strings.HasPrefix(name, "pod_identity") {
			t.Errorf("the metric %s is the pod identity webhook's", name)
		}
		for _, metric := range family.GetMetric() {
			if name == "tabard_test_admissions_total" {
				got[metric.GetLabel()[0].GetValue()+" "+metric.GetLabel()[1].GetValue()] = metric.GetCounter().GetValue()
			}
		}
	}
	want := map[string]float64{"things changed": 1, "things failed": 3, "things refused": 1, "things unchanged": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answers that are counted (-want +got):\n%s", diff)
	}
}
