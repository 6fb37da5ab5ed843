package eksauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	role      = "arn:aws:iam::111111111111:role/ocm-hub-1"
	signature = "d20e7075de0b3363"
	identity  = `{"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Account":"111111111111","Arn":"arn:aws:sts::111111111111:assumed-role/ocm-hub-1/me","UserId":"AROAX:me"}}}`
)

// bed is an authenticator with an STS of its own.
type bed struct {
	*Authenticator
	url           string
	asked, read   atomic.Int32
	log           *bytes.Buffer
	entries       func() ([]ekstoken.Entry, error)
	now           atomic.Int64
	authenticator *httptest.Server
}

func newBed(t *testing.T, answers http.HandlerFunc) *bed {
	t.Helper()
	b := &bed{log: &bytes.Buffer{}}
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked.Add(1)
		answers(w, r)
	}))
	t.Cleanup(sts.Close)
	b.entries = func() ([]ekstoken.Entry, error) {
		return []ekstoken.Entry{{PrincipalARN: role, PrincipalID: "AROAX", Username: "cluster1", Groups: []string{"g"}}}, nil
	}
	b.now.Store(time.Now().UnixNano())
	b.Authenticator = &Authenticator{
		Cluster: ekstoken.Cluster{Name: "eks-hub", Region: "us-west-2", Origin: sts.URL},
		Entries: func(context.Context) ([]ekstoken.Entry, error) { b.read.Add(1); return b.entries() },
		Now:     func() time.Time { return time.Unix(0, b.now.Load()) },
		Log:     slog.New(slog.NewTextHandler(b.log, nil)),
	}
	b.url = sts.URL
	b.authenticator = httptest.NewServer(b.Handler())
	t.Cleanup(b.authenticator.Close)
	return b
}

// token is one whose signature the bed's STS does not look at.
func (b *bed) token() string {
	url := b.url + "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=ASIAX%2F20250101%2Fus-west-2%2Fsts%2Faws4_request" +
		"&X-Amz-Date=" + time.Now().UTC().Format("20060102T150405Z") + "&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=" + signature
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(url))
}

func (b *bed) review(t *testing.T, version, token string) (status int, review authenticationv1.TokenReview, text string) {
	t.Helper()
	body := must.Get(json.Marshal(authenticationv1.TokenReview{
		TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "TokenReview"}, Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{"api"}},
	}))(t)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, b.authenticator.URL+Path, bytes.NewReader(body)))(t)
	response, err := http.DefaultClient.Do(request)
	must.Do(t, err)
	defer response.Body.Close() //nolint:errcheck // it is only read
	var said bytes.Buffer
	must.Get(said.ReadFrom(response.Body))(t)
	_ = json.Unmarshal(said.Bytes(), &review)
	return response.StatusCode, review, said.String()
}

func TestAReviewIsAnsweredAsInEKS(t *testing.T) {
	cases := map[string]struct {
		answer   func(w http.ResponseWriter, r *http.Request)
		entries  func() ([]ekstoken.Entry, error)
		version  string
		token    func(*bed) string
		status   int
		username string
	}{
		"a good token":                {status: 200, username: "cluster1"},
		"a review of v1beta1":         {version: "authentication.k8s.io/v1beta1", status: 200, username: "cluster1"},
		"a review of a later kind":    {version: "authentication.k8s.io/v3", status: 400},
		"no token of EKS":             {token: func(*bed) string { return "abc" }, status: 403},
		"no entry":                    {entries: func() ([]ekstoken.Entry, error) { return nil, nil }, status: 403},
		"entries that cannot be read": {entries: func() ([]ekstoken.Entry, error) { return nil, errors.New("the local AWS is away") }, status: 403},
		"a wrong signature": {answer: func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
		}, status: 403},
		"too many requests":         {answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "Throttling", http.StatusBadRequest) }, status: 429},
		"an answer that is no JSON": {answer: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<xml/>")) }, status: 403},
		"a redirect to who would say anything": {answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			_, _ = w.Write([]byte(identity))
		}, status: 403},
		"a token for another cluster": {answer: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("x-k8s-aws-id") != "another" {
				http.Error(w, "SignatureDoesNotMatch", http.StatusForbidden)
				return
			}
			_, _ = w.Write([]byte(identity))
		}, status: 403},
		"a token of another STS": {token: func(b *bed) string {
			other := &bed{url: "http://127.0.0.1:1"}
			return other.token()
		}, status: 403},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.answer == nil {
				c.answer = func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("x-k8s-aws-id") != "eks-hub" || r.Header.Get("Accept") != "application/json" {
						t.Errorf("STS was asked with %v", r.Header)
					}
					_, _ = w.Write([]byte(identity))
				}
			}
			b := newBed(t, c.answer)
			if c.entries != nil {
				b.entries = c.entries
			}
			token := b.token()
			if c.token != nil {
				token = c.token(b)
			}
			version := c.version
			if version == "" {
				version = "authentication.k8s.io/v1"
			}
			status, review, text := b.review(t, version, token)
			if status != c.status || review.Status.User.Username != c.username || review.Status.Authenticated != (c.username != "") {
				t.Errorf("%d, %s", status, text)
			}
			if status == 200 && (review.APIVersion != version || review.Status.User.UID != "aws-iam-authenticator:111111111111:AROAX" || fmt.Sprint(review.Status.User.Groups) != "[g]") {
				t.Errorf("the review is %+v", review)
			}
			if said := text + b.log.String(); strings.Contains(said, signature) || strings.Contains(said, strings.TrimPrefix(token, "k8s-aws-v1.")) {
				t.Errorf("it shows of the token: %s", said)
			}
			if status >= 403 && !strings.Contains(b.log.String(), "token refused") {
				t.Errorf("the log does not say why: %s", b.log)
			}
		})
	}
}

// TestEntriesAreAtMostASecondOld reads them once for many tokens, and again a second later.
func TestEntriesAreAtMostASecondOld(t *testing.T) {
	b := newBed(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(identity)) })
	judge := func() error { _, err := b.Judge(t.Context(), b.token()); return err }
	for range 20 {
		must.Do(t, judge())
	}
	if read := b.read.Load(); read != 1 {
		t.Errorf("the entries were read %d times", read)
	}
	b.entries = func() ([]ekstoken.Entry, error) { return nil, nil }
	must.Do(t, judge())
	b.now.Add(int64(fresh))
	if err := judge(); !errors.Is(err, ekstoken.ErrNoEntry) {
		t.Errorf("a second after the entry is gone: %v", err)
	}
}

// TestTenThousandTokensAtOnceWaitInABoundedLine has an STS that answers nobody.
func TestTenThousandTokensAtOnceWaitInABoundedLine(t *testing.T) {
	open := make(chan struct{})
	b := newBed(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-open:
			_, _ = w.Write([]byte(identity))
		case <-r.Context().Done():
		}
	})
	token := b.token()
	var all sync.WaitGroup
	var good, later atomic.Int32
	for range 10_000 {
		all.Go(func() {
			switch _, err := b.Judge(t.Context(), token); {
			case err == nil:
				good.Add(1)
			case errors.Is(err, ekstoken.ErrThrottled):
				later.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	testkit.Await(t, func() error {
		if asked, turned := b.asked.Load(), later.Load(); asked != atOnce || turned != 10_000-atMost {
			return fmt.Errorf("%d are asked about, %d are told to come again", asked, turned)
		}
		return nil
	})
	close(open)
	all.Wait()
	if good.Load() != atMost {
		t.Errorf("%d are let in, want %d", good.Load(), atMost)
	}
}

func TestOnlyReviewsAreTaken(t *testing.T) {
	b := newBed(t, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		method, path, body string
		status             int
	}{
		"a page":         {http.MethodGet, Path, "", http.StatusMethodNotAllowed},
		"another path":   {http.MethodPost, "/", "{}", http.StatusNotFound},
		"no JSON":        {http.MethodPost, Path, "token", http.StatusBadRequest},
		"a huge review":  {http.MethodPost, Path, `{"spec":{"token":"` + strings.Repeat("a", longestReview) + `"}}`, http.StatusBadRequest},
		"an empty token": {http.MethodPost, Path, `{"apiVersion":"authentication.k8s.io/v1"}`, http.StatusForbidden},
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), c.method, b.authenticator.URL+c.path, strings.NewReader(c.body)))(t)
		response, err := http.DefaultClient.Do(request)
		must.Do(t, err)
		if response.Body.Close() != nil || response.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", name, response.StatusCode, c.status)
		}
	}
}
