package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/sigv4"
)

// endless is a body that never ends; it counts what was read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestBodiesAreReadWithinTheirLimits(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("half"), errReader{})
	cases := map[string]struct {
		body   io.Reader
		length int64
		used   int64
		want   string
		kind   sigv4.Kind
	}{
		"no body":                          {http.NoBody, 0, 0, "", 0},
		"a body of its length":             {strings.NewReader("hello"), 5, 0, "hello", 0},
		"a body of unknown length":         {strings.NewReader("hello"), -1, 0, "hello", 0},
		"exactly as much as may be":        {strings.NewReader(strings.Repeat("x", 1<<20)), 1 << 20, 0, strings.Repeat("x", 1<<20), 0},
		"a byte more":                      {strings.NewReader(strings.Repeat("x", 1<<20+1)), -1, 0, "", sigv4.TooLarge},
		"a length that says so":            {http.NoBody, 1<<20 + 1, 0, "", sigv4.TooLarge},
		"less than its length":             {strings.NewReader("hell"), 5, 0, "", sigv4.BodyIncomplete},
		"a connection that breaks":         {broken, -1, 0, "", sigv4.BodyIncomplete},
		"a large one while there is none":  {strings.NewReader(strings.Repeat("x", free+1)), free + 1, maxBodies, "", sigv4.Busy},
		"a small one while there is none":  {strings.NewReader("hello"), 5, maxBodies, "hello", 0},
		"a large one while there is room":  {strings.NewReader(strings.Repeat("x", free+1)), free + 1, maxBodies - 2*free, strings.Repeat("x", free+1), 0},
		"one that promises more than room": {strings.NewReader("hello"), 1 << 20, maxBodies, "", sigv4.BodyIncomplete},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			shared := &budget{}
			shared.used.Store(c.used)
			b := body{budget: shared}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", c.body)
			r.ContentLength = c.length
			problem := b.read(r, 1<<20)
			switch {
			case problem == nil && c.kind != 0, problem != nil && problem.Kind != c.kind:
				t.Errorf("problem %v, want one of kind %d", problem, c.kind)
			case problem == nil && string(b.bytes) != c.want:
				t.Errorf("%d bytes were read, want %d", len(b.bytes), len(c.want))
			case problem == nil && cap(b.bytes)-len(b.bytes) > len(b.bytes)/8+8:
				t.Errorf("%d bytes take %d", len(b.bytes), cap(b.bytes))
			}
			b.release()
			if got := shared.used.Load(); got != c.used {
				t.Errorf("%d bytes are lent after the call, want %d", got, c.used)
			}
		})
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("the connection broke") }

func TestAnEndlessBodyIsReadNoFurtherThanTheLimit(t *testing.T) {
	source := &endless{}
	b := body{budget: &budget{}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", source)
	r.ContentLength = -1
	if problem := b.read(r, maxForm); problem == nil || problem.Kind != sigv4.TooLarge {
		t.Errorf("problem %v, want TooLarge", problem)
	}
	if source.read > maxForm+1 {
		t.Errorf("%d bytes were read of a body that may have %d", source.read, maxForm)
	}
}

func TestOnlyObjectsMayBeLarge(t *testing.T) {
	form := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	object := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/bucket/key", http.NoBody)
	for name, c := range map[string]struct {
		request   *http.Request
		signature *sigv4.Signature
		want      int64
	}{
		"a form":                       {form, nil, maxForm},
		"a form that is signed for S3": {form, &sigv4.Signature{Service: "s3"}, MaxPayload + framing},
		"an object":                    {object, &sigv4.Signature{Service: "s3"}, MaxPayload + framing},
		"an unsigned object":           {object, nil, MaxPayload + framing},
		"another service":              {object, &sigv4.Signature{Service: "eks"}, maxForm},
	} {
		if got := limitOf(c.request, c.signature); got != c.want {
			t.Errorf("%s may have %d bytes, want %d", name, got, c.want)
		}
	}
}
