package platform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	core "github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// plain is plain Kubernetes, which no test changes.
var plain = testkit.SharedCluster(testkit.ClusterOptions{})

// newReader makes a Reader on a transport of the test's.
func newReader(t *testing.T, config *rest.Config, override core.Override, wrap func(http.RoundTripper) http.RoundTripper) *Reader {
	t.Helper()
	config = rest.CopyConfig(config)
	if wrap != nil {
		config.Wrap(wrap)
	}
	return must.Get(New(config, must.Get(rest.HTTPClientFor(config))(t), override))(t)
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestPlainKubernetes(t *testing.T) {
	cluster := plain(t)
	reader := newReader(t, cluster.Config, core.Override{Infrastructure: "lab", Region: "eu-central-1"}, nil)
	got := must.Get(reader.Facts(t.Context()))(t)
	if got.OpenShift || got.ClusterOwnsCRD || !got.Known() || got.Operator.Live || got.Infrastructure != "lab" || !got.Has(core.Azure) || !strings.HasPrefix(got.Issuer, "https://127.0.0.1:") {
		t.Errorf("the facts are %v", got)
	}
}

// TestTheIssuerIsWhatTheAPIServerSays: where it may not be read it is none, and where the API
// server does not answer it is the one from before.
func TestTheIssuerIsWhatTheAPIServerSays(t *testing.T) {
	answer, code := `{"issuer":"https://one.example"}`, http.StatusOK
	reader := newReader(t, plain(t).Config, core.Override{Platform: core.Kubernetes}, func(inner http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != discoveryPath {
				return inner.RoundTrip(r)
			}
			return &http.Response{StatusCode: code, Request: r, Body: io.NopCloser(strings.NewReader(answer))}, nil
		})
	})
	for _, step := range []struct {
		answer string
		code   int
		want   string
	}{
		{`{"issuer":"https://one.example"}`, http.StatusOK, "https://one.example"},
		{`{"issuer":"https://two.example"}`, http.StatusOK, "https://two.example"},
		{``, http.StatusInternalServerError, "https://two.example"},
		{`<html>`, http.StatusOK, "https://two.example"},
		{``, http.StatusForbidden, ""},
		{`{"issuer":"https://two.example"}`, http.StatusOK, "https://two.example"},
		{``, http.StatusNotFound, ""},
	} {
		answer, code = step.answer, step.code
		if got := must.Get(reader.Look(t.Context()))(t); got.Issuer != step.want {
			t.Errorf("after %d with %q the issuer is %q, want %q", step.code, step.answer, got.Issuer, step.want)
		}
	}
}

// rights are those that the package's comment names.
func rights(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	comment, _, _ := strings.Cut(string(must.Get(os.ReadFile("reader.go"))(t)), "\npackage ")
	var block strings.Builder
	for line := range strings.Lines(comment) {
		if inner, is := strings.CutPrefix(line, "//\t"); is {
			block.WriteString(inner)
		}
	}
	var role rbacv1.ClusterRole
	must.Do(t, yaml.UnmarshalStrict([]byte(block.String()), &role))
	return role.Rules
}

// TestTheRightsAreEnoughAndNeeded reads as an account with the rights of the package's
// comment, and without each of them: what may not be read may be there.
func TestTheRightsAreEnoughAndNeeded(t *testing.T) {
	cluster := plain(t)
	all := rights(t)
	const kinds = 6
	if len(all) != kinds {
		t.Fatalf("the package's comment has %d rules, want %d", len(all), kinds)
	}
	read := func(t *testing.T, user string, rules []rbacv1.PolicyRule) core.Facts {
		t.Helper()
		testkit.Grant(t, cluster.Config, user, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules})
		config := rest.CopyConfig(cluster.Config)
		config.Impersonate.UserName = user
		config.Impersonate.Groups = []string{"system:authenticated"}
		return must.Get(newReader(t, config, core.Override{}, nil).Facts(t.Context()))(t)
	}
	if got := read(t, "reader", all); !got.Known() || got.Operator.Live || strings.Contains(got.String(), "forbidden") {
		t.Errorf("with the rights it reads %v", got)
	}
	for i, rule := range all {
		others := append(append([]rbacv1.PolicyRule{}, all[:i]...), all[i+1:]...)
		got := read(t, "without-"+rule.Resources[0], others)
		switch rule.Resources[0] {
		case "infrastructures": // of no meaning on plain Kubernetes
		case "cloudcredentials":
			if got.Mode != core.Unknown || !strings.Contains(got.ModeWhy, "forbidden") {
				t.Errorf("without %v the mode is %s: %s", rule.Resources, got.Mode, got.ModeWhy)
			}
		case "configmaps":
		default:
			if !got.Operator.Live || !strings.Contains(got.Operator.Why, "forbidden") {
				t.Errorf("without %v the operator is %+v, want it taken for live", rule.Resources, got.Operator)
			}
		}
	}
}

// TestWhoAsksAtOnceSharesOneLook counts the requests.
func TestWhoAsksAtOnceSharesOneLook(t *testing.T) {
	var asked atomic.Int32
	gate := make(chan struct{})
	reader := newReader(t, plain(t).Config, core.Override{}, func(inner http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) {
			<-gate
			asked.Add(1)
			return inner.RoundTrip(r)
		})
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Facts(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever does not wait gets %v", err)
	}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if facts, err := reader.Facts(t.Context()); err != nil || !facts.Known() {
				t.Errorf("%v %v", facts, err)
			}
		})
	}
	close(gate)
	all.Wait()
	const look = 9 // seven objects, the group and the discovery document
	if got := asked.Load(); got != look {
		t.Errorf("a hundred who ask make %d requests, want %d", got, look)
	}
	must.Get(reader.Facts(t.Context()))(t)
	if got := asked.Load(); got != look {
		t.Errorf("asked again at once it has made %d requests, want %d", got, look)
	}
	must.Get(reader.Look(t.Context()))(t)
	if got := asked.Load(); got != 2*look {
		t.Errorf("after a new look it has made %d requests, want %d", got, 2*look)
	}
}

// TestWhatDoesNotAnswerMayBeThere breaks the answers to some requests.
func TestWhatDoesNotAnswerMayBeThere(t *testing.T) {
	tests := map[string]struct {
		path          string
		known, isLive bool
	}{
		"the group":           {"/apis/config.openshift.io/", false, true},
		"the Deployment":      {"/deployments/", true, true},
		"the ClusterOperator": {"/clusteroperators/", true, true},
		"the Lease":           {"/leases/", true, true},
		"the ConfigMap":       {"/configmaps/", true, false},
		"everything":          {"/", false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reader := newReader(t, plain(t).Config, core.Override{}, func(inner http.RoundTripper) http.RoundTripper {
				return transport(func(r *http.Request) (*http.Response, error) {
					if strings.Contains(r.URL.Path+"/", test.path) {
						return nil, errors.New("no route " + strings.Repeat("to host ", 200))
					}
					return inner.RoundTrip(r)
				})
			})
			got := must.Get(reader.Facts(t.Context()))(t)
			if got.Known() != test.known || got.Operator.Live != test.isLive {
				t.Errorf("known %t, live %t, want %t and %t: %v", got.Known(), got.Operator.Live, test.known, test.isLive, got)
			}
			if text := got.String(); len(text) > 8*(longestReason+200) {
				t.Errorf("it says %d bytes", len(text))
			}
		})
	}
}

func TestALeaseAloneIsLookedAtWhenItEnds(t *testing.T) {
	now, r := time.Now(), &Reader{regularly: time.Minute}
	for want, until := range map[time.Duration]time.Time{
		time.Minute: {}, 11 * time.Second: now.Add(10 * time.Second), 0: now.Add(-time.Hour),
	} {
		if got := r.next(core.Facts{Operator: core.Operator{Until: until}}, now); got != want {
			t.Errorf("it looks again after %v, want %v", got, want)
		}
	}
	if got := r.next(core.Facts{Operator: core.Operator{Until: now.Add(time.Hour)}}, now); got != time.Minute {
		t.Errorf("it looks again after %v, want a minute", got)
	}
}
