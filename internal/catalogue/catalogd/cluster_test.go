package catalogd_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const (
	goodBase = "https://catalogd-service.olmv1-system.svc/catalogs/vendor"
	listPath = "/apis/olm.operatorframework.io/v1/clustercatalogs"
	proxy    = "/api/v1/namespaces/olmv1-system/services/https:catalogd-service:443/proxy"
)

// apiServer stands for an API server with catalogd behind its service proxy.
type apiServer struct {
	// items are ClusterCatalogs in JSON; refusal answers the list instead.
	items   []string
	refusal int
	content http.Handler

	mutex sync.Mutex
	asked []string
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.EscapedPath())
	items := strings.Join(s.items, ",")
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	at, proxied := strings.CutPrefix(r.URL.Path, proxy)
	switch {
	case r.Header.Get("Authorization") != "Bearer anns":
		refuse(w, http.StatusUnauthorized, "Unauthorized", "who are you")
	case r.URL.Path == listPath && s.refusal == http.StatusForbidden:
		refuse(w, s.refusal, "Forbidden", `clustercatalogs is forbidden: User "ann" cannot list`+"\x1b[31m")
	case r.URL.Path == listPath && s.refusal != 0:
		refuse(w, s.refusal, map[int]string{404: "NotFound", 500: "InternalError"}[s.refusal], "the server says no\x1b[31m")
	case r.URL.Path == listPath:
		_, _ = fmt.Fprintf(w, `{"kind":"ClusterCatalogList","apiVersion":"olm.operatorframework.io/v1","metadata":{},"items":[%s]}`, items)
	case proxied:
		r.URL.Path = at
		s.content.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	text, _ := json.Marshal(map[string]any{ // Texts and numbers are always JSON.
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code,
	})
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

func (s *apiServer) since() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// clusterCatalog is a ClusterCatalog in JSON; spec and status are fields besides.
func clusterCatalog(name, spec, status string) string {
	return fmt.Sprintf(`{"apiVersion":"olm.operatorframework.io/v1","kind":"ClusterCatalog","metadata":{"name":%q},"spec":{%s},"status":{%s}}`, name, spec, status)
}

func served(name, base string) string {
	text, _ := json.Marshal(base) // A text is always JSON.
	return clusterCatalog(name, `"availabilityMode":"Available"`,
		`"conditions":[{"type":"Progressing","status":"True"},{"type":"Serving","status":"True","reason":"Available"}],"urls":{"base":`+string(text)+`}`)
}

func clusterOf(t *testing.T, s *apiServer) *catalogd.Cluster {
	t.Helper()
	// The time-out would be of the whole answer.
	c, err := catalogd.NewCluster(&rest.Config{Host: serve(t, s), BearerToken: "anns", Timeout: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheClusterCatalogsOfACluster(t *testing.T) {
	content := &contentServer{content: allP + allQ, modified: firstOfMay, metas: true}
	other := &contentServer{content: allQ, modified: firstOfMay}
	s := &apiServer{
		items: []string{served("vendor", goodBase), served("own", "https://catalogd-service.olmv1-system.svc.cluster.local:443/catalogs/own")},
		content: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if rest, ok := strings.CutPrefix(r.URL.Path, "/catalogs/own"); ok {
				r.URL.Path = "/catalogs/vendor" + rest
				other.ServeHTTP(w, r)
				return
			}
			content.ServeHTTP(w, r)
		}),
	}
	c := clusterOf(t, s)
	all, own := proxy+"/catalogs/vendor/api/v1/", proxy+"/catalogs/own/api/v1/"
	for _, test := range []struct {
		catalogue, pkg, want string
		asked                []string
		sent                 bool
	}{
		{"", "", `p of ClusterCatalog "vendor", q of ClusterCatalog "own", q of ClusterCatalog "vendor"`, []string{all + "all", own + "all"}, true},
		{"", "", `p of ClusterCatalog "vendor", q of ClusterCatalog "own", q of ClusterCatalog "vendor"`, []string{all + "all", own + "all"}, false},
		{"own", "", `q of ClusterCatalog "own"`, []string{own + "all"}, false},
		{"", "q", `q of ClusterCatalog "own", q of ClusterCatalog "vendor"`, []string{all + "metas", own + "metas", own + "all"}, true},
		{"vendor", "p", `p of ClusterCatalog "vendor"`, []string{all + "metas"}, true},
	} {
		s.since()
		content.since()
		other.since()
		got, err := c.Read(t.Context(), test.catalogue, test.pkg)
		if err != nil || got.Findings != nil {
			t.Fatal(err, got.Findings)
		}
		var has []string
		for _, p := range got.Packages {
			has = append(has, p.Name+" of "+p.Source.String())
		}
		if strings.Join(has, ", ") != test.want {
			t.Errorf("%q %q: has %s, want %s", test.catalogue, test.pkg, strings.Join(has, ", "), test.want)
		}
		want := []string{"GET " + listPath}
		for _, path := range test.asked {
			want = append(want, "GET "+path)
		}
		if diff := cmp.Diff(want, s.since()); diff != "" {
			t.Errorf("%q %q (-want +asked):\n%s", test.catalogue, test.pkg, diff)
		}
		_, first := content.since()
		_, second := other.since()
		if sent := first+second > 0; sent != test.sent {
			t.Errorf("%q %q: %d bytes were sent, want some: %v", test.catalogue, test.pkg, first+second, test.sent)
		}
	}
	if _, err := c.Read(t.Context(), "--none\x1b", ""); err == nil || !strings.Contains(err.Error(), `no ClusterCatalog "--none\x1b"`) {
		t.Errorf("the error is %v", err)
	}
}

// A finding in a ClusterCatalog says which one, and at which path and line.
func TestAFindingNamesTheClusterCatalog(t *testing.T) {
	s := &apiServer{items: []string{served("vendor", goodBase)}, content: &contentServer{content: allP + "{]\n" + restOfP, modified: firstOfMay}}
	got, err := clusterOf(t, s).Read(t.Context(), "", "")
	if err != nil || len(got.Findings) != 4 {
		t.Fatal(err, got.Findings)
	}
	for i, want := range []string{
		`DocumentBroken: "/catalogs/vendor/api/v1/all", document 5, ClusterCatalog "vendor": `,
		`DefinedTwice: "/catalogs/vendor/api/v1/all", document 6, channel "stable" of ClusterCatalog "vendor": `,
	} {
		if text := got.Findings[i].String(); !strings.HasPrefix(text, want) {
			t.Errorf("the finding is %q, want %q", text, want)
		}
	}
}

// A ClusterCatalog that was made anew is read anew.
func TestAClusterCatalogThatWentAndCame(t *testing.T) {
	content := &contentServer{content: allP, modified: firstOfMay}
	s := &apiServer{content: content}
	c := clusterOf(t, s)
	for i, items := range [][]string{{served("vendor", goodBase)}, {}, {served("vendor", goodBase)}} {
		s.mutex.Lock()
		s.items = items
		s.mutex.Unlock()
		content.since()
		got, err := c.Read(t.Context(), "", "")
		if _, sent := content.since(); err != nil || len(got.Packages) != len(items) || (sent > 0) != (len(items) > 0) {
			t.Errorf("%d: %s, %v, %d bytes were sent", i, listed(got), err, sent)
		}
	}
}

// What cannot be read of one ClusterCatalog is a finding, and hides no other.
func TestAClusterCatalogThatIsNotRead(t *testing.T) {
	for name, test := range map[string]struct {
		item    string
		content http.HandlerFunc
		want    []string
	}{
		"no status":   {clusterCatalog("x", "", ""), nil, []string{"has no condition Serving"}},
		"odd status":  {clusterCatalog("x", `"availabilityMode":1`, `"conditions":[1,{"type":2}],"urls":[]`), nil, []string{"has no condition Serving"}},
		"not serving": {clusterCatalog("x", "", `"conditions":[{"type":"Serving","status":"False","reason":"Unavailable","message":"a\u001b[31m\nb"}]`), nil, []string{`Serving is "False", reason "Unavailable", "a [31m b"`}},
		"unavailable": {clusterCatalog("x", `"availabilityMode":"Unavailable"`, `"conditions":[{"type":"Serving","status":"True"}]`), nil, []string{"availabilityMode says Unavailable"}},
		"no base":     {clusterCatalog("x", "", `"conditions":[{"type":"Serving","status":"True"}]`), nil, []string{`status.urls.base is "", expected`}},
		"forbidden": {served("x", goodBase), func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusForbidden, "Forbidden", `services "https:catalogd-service:443" is forbidden: User "ann" cannot get resource "services/proxy"`)
		}, []string{
			"the right to get services/proxy of https:catalogd-service:443 in namespace olmv1-system is missing", `User "ann" cannot get`,
			"kubectl -n olmv1-system create role catalogd-read --verb=get --resource=services/proxy --resource-name=https:catalogd-service:443 && " +
				"kubectl -n olmv1-system create rolebinding catalogd-read --role=catalogd-read --user=NAME",
		}},
		"unknown to catalogd": {served("x", goodBase), http.NotFound, []string{"the server does not know the catalogue", "kubectl get clustercatalogs"}},
		"no endpoints": {served("x", goodBase), func(w http.ResponseWriter, _ *http.Request) {
			refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", "no endpoints available for service")
		}, []string{"503 Service Unavailable: no endpoints available"}},
		"a redirect to Secrets": {served("x", goodBase), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/api/v1/namespaces/kube-system/secrets", http.StatusFound)
		}, []string{"through an API server that is not followed"}},
		"cut": {served("x", goodBase), raw("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + allP), []string{"ended in its middle"}},
	} {
		t.Run(name, func(t *testing.T) {
			good := &contentServer{content: allQ, modified: firstOfMay}
			s := &apiServer{
				items: []string{test.item, served("good", "https://catalogd-service.olmv1-system.svc/catalogs/good")},
				content: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if rest, ok := strings.CutPrefix(r.URL.Path, "/catalogs/good"); ok {
						r.URL.Path = "/catalogs/vendor" + rest
						good.ServeHTTP(w, r)
						return
					}
					test.content(w, r)
				}),
			}
			got, err := clusterOf(t, s).Read(t.Context(), "", "")
			if err != nil || listed(got) != "q" || len(got.Findings) != 1 {
				t.Fatalf("%s, %v, %v", listed(got), err, got.Findings)
			}
			text := got.Findings[0].String()
			for _, part := range append(test.want, `SourceNotRead: ClusterCatalog "x": `) {
				if got.Findings[0].Code != model.SourceNotRead || !strings.Contains(text, part) || strings.ContainsAny(text, "\x1b\n") {
					t.Errorf("the finding is %q, want %q in it", text, part)
				}
			}
			for _, path := range s.since() {
				if strings.Contains(path, "secrets") {
					t.Errorf("it was asked for %s", path)
				}
			}
		})
	}
}

// The status decides about which service is asked with somebody's rights: anything else than
// catalogd writes is not asked.
func TestHostileBases(t *testing.T) {
	for _, base := range []string{
		"", "x", "http://catalogd-service.olmv1-system.svc/catalogs/x", "https://169.254.169.254/catalogs/x", "https://[::1]/catalogs/x",
		"https://example.com/catalogs/x", "https://a.b.c.svc/catalogs/x", "https://b.svc/catalogs/x", "https://.b.svc/catalogs/x", "https://a..svc/catalogs/x",
		"https://a.b.svc.example.com/catalogs/x", "https://a.b.svc:8443/catalogs/x", "https://u:p@a.b.svc/catalogs/x", "https://A.b.svc/catalogs/x",
		"https://a/../../x.b.svc/catalogs/x", "https://a:1:x.b.svc/catalogs/x", "https://a.b.svc/x", "https://a.b.svc/catalogs/", "https://a.b.svc/catalogs",
		"https://a.b.svc/catalogs/../api", "https://a.b.svc/catalogs/x/../../y", "https://a.b.svc/catalogs//x", "https://a.b.svc/catalogs/x/",
		"https://a.b.svc/catalogs/%2e%2e/x", `https://a.b.svc/catalogs/..\x`, "https://a.b.svc/catalogs/x?y", "https://a.b.svc/catalogs/x#y",
		"https://a.b.svc/catalogs/x\ny", "https://a.b.svc/catalogs/\u202ex", "https://a.b.svc/catalogs/a b", "https:a.b.svc/catalogs/x",
		"https://" + strings.Repeat("a", 64) + ".b.svc/catalogs/x", strings.Repeat("https://", 100_000),
	} {
		s := &apiServer{items: []string{served("x", base)}}
		got, err := clusterOf(t, s).Read(t.Context(), "", "")
		if err != nil || len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Message, "it was not asked") || len(s.since()) != 1 {
			t.Errorf("%.60q: %v, %v", base, err, got.Findings)
		} else if text := got.Findings[0].String(); len(text) > 800 || strings.ContainsAny(text, "\n\u202e") {
			t.Errorf("%.60q: the finding is %q", base, text)
		}
	}
}

func TestAClusterThatRefusesTheList(t *testing.T) {
	for code, want := range map[int][]string{
		http.StatusNotFound: {"this cluster has no OLM v1"},
		http.StatusForbidden: {
			"the right to list clustercatalogs.olm.operatorframework.io is missing", `User "ann" cannot list`,
			"kubectl create clusterrole clustercatalogs-view --verb=get,list --resource=clustercatalogs.olm.operatorframework.io && " +
				"kubectl create clusterrolebinding clustercatalogs-view --clusterrole=clustercatalogs-view --user=NAME",
		},
		http.StatusInternalServerError: {"list the ClusterCatalogs of the cluster: "},
	} {
		_, err := clusterOf(t, &apiServer{refusal: code}).Read(t.Context(), "", "")
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("%d: the error is %v, want %q in it", code, err, part)
			}
		}
		_, forbidden := errors.AsType[*catalogd.Forbidden](err)
		if errors.Is(err, catalogd.ErrNoClusterCatalogs) != (code == http.StatusNotFound) || forbidden != (code == http.StatusForbidden) || forbidden != apierrors.IsForbidden(err) {
			t.Errorf("%d: the error is %T", code, err)
		}
	}
}

// A read that is ended in its middle is no catalogue with findings.
func TestTheContextEndsAReadOfACluster(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &apiServer{items: []string{served("vendor", goodBase)}, content: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, allP)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	})}
	if got, err := clusterOf(t, s).Read(ctx, "", ""); !errors.Is(err, context.Canceled) || got.Findings != nil {
		t.Errorf("%v, and the error %v", got.Findings, err)
	}
}
