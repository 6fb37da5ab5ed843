package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const pod = `{"kind":"Pod","metadata":{"name":"app"},"spec":{"serviceAccountName":"app","containers":[{"name":"app"}]}}`

// reviewOf is a question for a pod of a namespace.
func reviewOf(version, namespace, object string) string {
	return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/` + version + `","request":{"uid":"u\"1","namespace":"` + namespace +
		`","operation":"CREATE","object":` + object + `}}`
}

// mutate asks the server as an API server does, and reads the answer as it does.
func mutate(t *testing.T, s *server, body string) (*admissionv1.AdmissionReview, *httptest.ResponseRecorder) {
	t.Helper()
	recorder := ask(t, s, "application/json", body)
	return readAnswer(t, recorder), recorder
}

// readAnswer reads an answer as an API server does; an empty one if there is none.
func readAnswer(t *testing.T, recorder *httptest.ResponseRecorder) *admissionv1.AdmissionReview {
	t.Helper()
	var got admissionv1.AdmissionReview
	if recorder.Code == http.StatusOK {
		decoder := json.NewDecoder(bytes.NewReader(recorder.Body.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("answer %s: %v", recorder.Body, err)
		}
	}
	return &got
}

func ask(t *testing.T, s *server, contentType, body string) *httptest.ResponseRecorder {
	t.Helper()
	return askPath(t, s, "/mutate", contentType, body)
}

func askPath(t *testing.T, s *server, path, contentType, body string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	recorder := httptest.NewRecorder()
	s.handler().ServeHTTP(recorder, request)
	return recorder
}

func TestMutateInjects(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run("a review of "+version+" is answered in its version", func(t *testing.T) {
			t.Parallel()
			s := testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil)
			got, recorder := mutate(t, s, reviewOf(version, "shop", pod))
			if got.Kind != "AdmissionReview" || got.APIVersion != "admission.k8s.io/"+version || recorder.Header().Get("Content-Type") != "application/json" {
				t.Errorf("answer %s, header %v", recorder.Body, recorder.Header())
			}
			response := got.Response
			if !response.Allowed || response.UID != `u"1` || response.PatchType == nil || *response.PatchType != admissionv1.PatchTypeJSONPatch {
				t.Fatalf("answer %s", recorder.Body)
			}
			patch := must.Get(jsonpatch.DecodePatch(response.Patch))(t)
			after := must.Get(patch.Apply([]byte(pod)))(t)
			var patched corev1.Pod
			must.Do(t, json.Unmarshal(after, &patched))
			want := []corev1.EnvVar{{Name: "AWS_ROLE_ARN", Value: role},
				{Name: "AWS_WEB_IDENTITY_TOKEN_FILE", Value: "/var/run/secrets/eks.amazonaws.com/serviceaccount/token"}}
			if diff := cmp.Diff(want, patched.Spec.Containers[0].Env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMutateLeavesAlone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		known     map[string]string
		object    string
		wantWarns int
	}{
		"an unknown ServiceAccount":                {object: pod},
		"one of the same name elsewhere":           {known: map[string]string{"other/app": role}, object: pod},
		"a ServiceAccount without a role":          {known: map[string]string{"shop/app": ""}, object: pod},
		"a malformed role ARN, with a warning":     {known: map[string]string{"shop/app": "app"}, object: pod, wantWarns: 1},
		"a pod without a ServiceAccount":           {known: map[string]string{"shop/": role}, object: `{"spec":{"containers":[]}}`},
		"the object's own namespace counts little": {known: map[string]string{"fake/app": role}, object: strings.Replace(pod, `"name":"app"`, `"name":"app","namespace":"fake"`, 1)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, recorder := mutate(t, testServer(t, fakeAccounts{known: test.known}, nil), reviewOf("v1", "shop", test.object))
			response := got.Response
			if !response.Allowed || response.Patch != nil || response.PatchType != nil || len(response.Warnings) != test.wantWarns {
				t.Errorf("answer %s", recorder.Body)
			}
		})
	}
}

func TestMutateRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ body, want string }{
		"an empty body":           {"", "the body is no AdmissionReview: expected one JSON value: unexpected end of JSON input"},
		"YAML":                    {"kind: AdmissionReview\n", "the body is no AdmissionReview: expected one JSON value: invalid character 'k' looking for beginning of value"},
		"a review without pod":    {reviewOf("v1", "shop", "null"), "the object's spec is absent, expected a pod's"},
		"an object that is wrong": {reviewOf("v1", "shop", `{"spec":{"containers":5}}`), "spec.containers is a number, expected an array"},
		"a container that is wrong": {reviewOf("v1", "shop", strings.Replace(pod, `{"name":"app"}]`, `"x"]`, 1)),
			"spec.containers[0] is a string, expected an object"},
		"no request": {`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`, "bad content: expected an AdmissionReview with a request"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, recorder := mutate(t, testServer(t, fakeAccounts{known: map[string]string{"shop/app": role}}, nil), test.body)
			response := got.Response
			if response == nil || response.Allowed || response.Result == nil || response.Result.Message != test.want {
				t.Errorf("answer %d %s, want %s", recorder.Code, recorder.Body, test.want)
			}
		})
	}
}

func TestMutateFailsRatherThanGuess(t *testing.T) {
	t.Parallel()
	whole := reviewOf("v1", "shop", pod)
	tests := map[string]struct {
		known             fakeAccounts
		contentType, body string
		want              int
	}{
		"before the ServiceAccounts are read":  {fakeAccounts{unsynced: true}, "application/json", whole, 500},
		"when the ServiceAccount is not known": {fakeAccounts{err: errors.New("API server down")}, "application/json", whole, 500},
		"another content type":                 {fakeAccounts{}, "application/yaml", whole, 415},
		"no content type":                      {fakeAccounts{}, "", whole, 415},
		"a charset is fine":                    {fakeAccounts{}, "application/json; charset=utf-8", whole, 200},
		"more than what is stored":             {fakeAccounts{}, "application/json", strings.Repeat(" ", maxReview+1), 413},
		"just so much":                         {fakeAccounts{}, "application/json", whole + strings.Repeat(" ", maxReview-len(whole)), 200},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ask(t, testServer(t, test.known, nil), test.contentType, test.body); got.Code != test.want {
				t.Errorf("%d %s, want %d", got.Code, got.Body, test.want)
			}
		})
	}
}

// FuzzMutate demands that no body stops the server, and that each answer can be
// read by an API server.
func FuzzMutate(f *testing.F) {
	f.Add([]byte(reviewOf("v1", "shop", pod)))
	f.Add([]byte(`{"request":{"uid":5}}`))
	f.Add([]byte(`[]`))
	s := testServer(f, fakeAccounts{known: map[string]string{"shop/app": role}}, func(s *inject.Settings) { s.Region = "us-west-2" })
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, recorder := mutate(t, s, string(body)); recorder.Code != http.StatusOK {
			t.Errorf("%d %s", recorder.Code, recorder.Body)
		}
	})
}

// BenchmarkMutate is the handler alone on the review of a pod of two containers
// as an API server sends it, with role, region and STS switch injected.
func BenchmarkMutate(b *testing.B) {
	body := must.Get(os.ReadFile("testdata/review.json"))(b)
	s := testServer(b, fakeAccounts{known: map[string]string{"shop/app": role}},
		func(s *inject.Settings) { s.Region, s.RegionalSTS = "us-west-2", true })
	handler := s.handler()
	request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mutate", nil)
	request.Header.Set("Content-Type", "application/json")
	question := bytes.NewReader(body)
	response := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		question.Reset(body)
		request.Body = readCloser{question}
		response.written, response.code = 0, http.StatusOK
		handler.ServeHTTP(response, request)
		if response.code != http.StatusOK {
			b.Fatalf("status %d", response.code)
		}
	}
	b.ReportMetric(float64(len(body)), "question-bytes")
	b.ReportMetric(float64(response.written), "answer-bytes")
}

// discard is a ResponseWriter that keeps nothing.
type discard struct {
	header        http.Header
	written, code int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) Write(text []byte) (int, error) {
	d.written += len(text)
	return len(text), nil
}

func (d *discard) WriteHeader(code int) { d.code = code }

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }
