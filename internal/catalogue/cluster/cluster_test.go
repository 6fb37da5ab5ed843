package cluster_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kube "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/catalogue/cluster"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

var three = []manifest{
	{namespace: "olm", catalogue: "vendor", name: "p"}, {namespace: "team", catalogue: "own", name: "p"}, {namespace: "other", catalogue: "own", name: "q"},
}

func listed(c model.Catalogue) []string {
	var all []string
	for _, p := range c.Packages {
		all = append(all, p.Name+" "+p.Source.Namespace+"/"+p.Source.Name)
	}
	return all
}

// What is asked for is asked of the server, by get and nothing else.
func TestWhatIsAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		query cluster.Query
		asked string
		want  []string
	}{
		"everything":  {cluster.Query{}, "GET " + group + "/packagemanifests ", []string{"p olm/vendor", "p team/own", "q other/own"}},
		"a namespace": {cluster.Query{Namespace: "team"}, "GET " + group + "/namespaces/team/packagemanifests ", []string{"p olm/vendor", "p team/own"}},
		"a package": {
			cluster.Query{Wanted: catalogue.Wanted{Package: "q"}},
			"GET " + group + "/packagemanifests fieldSelector=metadata.name%3Dq", []string{"q other/own"},
		},
		"a catalogue": {
			cluster.Query{Namespace: "team", Wanted: catalogue.Wanted{Package: "p", Catalogue: "vendor", CatalogueNamespace: "olm"}},
			"GET " + group + "/namespaces/team/packagemanifests fieldSelector=metadata.name%3Dp&labelSelector=catalog%3Dvendor%2Ccatalog-namespace%3Dolm",
			[]string{"p olm/vendor"},
		},
		"nothing": {
			cluster.Query{Wanted: catalogue.Wanted{Package: "a,b=c"}},
			"GET " + group + `/packagemanifests fieldSelector=metadata.name%3Da%5C%2Cb%5C%3Dc`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := &packageServer{items: three}
			got, err := reader(t, server, 0).Read(t.Context(), test.query)
			if err != nil || got.Findings != nil {
				t.Fatal(err, got.Findings)
			}
			if diff := cmp.Diff(test.want, listed(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{test.asked}, server.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

// Any client of the cluster will do, of whatever group and encoding.
func TestAnotherClient(t *testing.T) {
	server := httptest.NewServer(&packageServer{items: three})
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{Version: "v1"}, ContentType: "application/vnd.kubernetes.protobuf",
		NegotiatedSerializer: serializer.NewCodecFactory(kube.NewScheme()).WithoutConversion(),
	}}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cluster.NewReader(client, 0).Read(t.Context(), cluster.Query{Namespace: "other"})
	if diff := cmp.Diff([]string{"p olm/vendor", "q other/own"}, listed(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestWhatCannotBeAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		query cluster.Query
		want  string
	}{
		"a namespace that climbs":    {cluster.Query{Namespace: "../secrets"}, `"../secrets" is no name of a namespace`},
		"a namespace with an escape": {cluster.Query{Namespace: "\x1b[31m"}, `"\x1b[31m" is no name of a namespace`},
		"a catalogue of 64 bytes":    {cluster.Query{Wanted: catalogue.Wanted{Catalogue: strings.Repeat("x", 64)}}, "is no CatalogSource that can be selected"},
		"a catalogue that selects":   {cluster.Query{Wanted: catalogue.Wanted{Catalogue: "a,b\x1b"}}, `"/a,b\x1b" is no CatalogSource`},
	} {
		server := &packageServer{items: three}
		_, err := reader(t, server, 0).Read(t.Context(), test.query)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.ContainsRune(err.Error(), '\x1b') || server.asked != nil {
			t.Errorf("%s: the error is %v, want one with %q and nothing asked: %v", name, err, test.want, server.asked)
		}
	}
}

// An operator's labels overwrite those by which the server selects: the status counts.
func TestLabelsThatClaimAnotherCatalogue(t *testing.T) {
	server := &packageServer{items: three, body: func(w http.ResponseWriter, _ *http.Request, text string) {
		_, _ = io.WriteString(w, strings.Replace(text, `"catalogSource":"vendor"`, `"catalogSource":"forged"`, 1))
	}}
	got, err := reader(t, server, 0).Read(t.Context(), cluster.Query{Wanted: catalogue.Wanted{Catalogue: "vendor", CatalogueNamespace: "olm"}})
	if err != nil || got.Packages != nil || len(got.Findings) != 1 || got.Findings[0].Code != model.NotAskedFor {
		t.Errorf("%v, %v, %v", listed(got), got.Findings, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		server *packageServer
		query  cluster.Query
		want   []string
		is     error
	}{
		"no OLM":                  {&packageServer{status: http.StatusNotFound}, cluster.Query{}, []string{"this cluster has no OLM:", "from files"}, cluster.ErrNoOLM},
		"no package server":       {&packageServer{status: http.StatusNotFound, olm: true}, cluster.Query{}, []string{"has OLM", "kubectl get apiservice v1.packages.operators.coreos.com"}, cluster.ErrNoPackageServer},
		"a package server is ill": {&packageServer{status: http.StatusServiceUnavailable}, cluster.Query{}, []string{"does not answer", "the server says no"}, cluster.ErrNoPackageServer},
		"unauthorized":            {&packageServer{status: http.StatusUnauthorized}, cluster.Query{}, []string{"list the PackageManifests of the cluster: "}, nil},
		"an error of the server":  {&packageServer{status: http.StatusInternalServerError}, cluster.Query{}, []string{"list the PackageManifests of the cluster: "}, nil},
		"forbidden in a namespace": {&packageServer{status: http.StatusForbidden}, cluster.Query{Namespace: "team"}, []string{
			"the right to list packagemanifests.packages.operators.coreos.com in namespace team is missing", `User "ann" cannot list`,
			"kubectl -n team create role packagemanifests-view --verb=get,list --resource=packagemanifests.packages.operators.coreos.com && " +
				"kubectl -n team create rolebinding packagemanifests-view --role=packagemanifests-view --user=NAME",
		}, nil},
		"forbidden": {&packageServer{status: http.StatusForbidden}, cluster.Query{}, []string{
			"in all namespaces is missing", "kubectl create clusterrole packagemanifests-view --verb=get,list",
			"kubectl create clusterrolebinding packagemanifests-view --clusterrole=packagemanifests-view --user=NAME; or name one namespace",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := reader(t, test.server, 0).Read(t.Context(), test.query)
			if err == nil || got.Packages != nil || test.is != nil && !errors.Is(err, test.is) {
				t.Fatalf("%v and %v, want %v", listed(got), err, test.is)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %q, want %q in it", err, part)
				}
			}
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("the error is %q", err)
			}
			forbidden, is := errors.AsType[*cluster.Forbidden](err)
			if is != strings.HasPrefix(name, "forbidden") || is && (forbidden.Namespace != test.query.Namespace || !apierrors.IsForbidden(err)) {
				t.Errorf("the error is %T", err)
			}
		})
	}
}

// The answer of a server is the same however it arrives.
func TestHowAnAnswerArrives(t *testing.T) {
	icon := `,"icon":[{"base64data":"` + strings.Repeat("QUJD", 10<<20/4) + `","mediatype":"image/png"}]`
	for name, test := range map[string]struct {
		extra string
		body  func(http.ResponseWriter, *http.Request, string)
	}{
		"whole":  {"", nil},
		"zipped": {"", zipped},
		"slowly": {"", func(w http.ResponseWriter, r *http.Request, text string) {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for part := range slices.Chunk([]byte(text), 40) {
				_, _ = w.Write(part)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-tick.C:
				case <-r.Context().Done():
				}
			}
		}},
		"with an icon of 10 MB":        {icon, nil},
		"zipped with an icon of 10 MB": {icon, zipped},
		"with hostile text":            {`,"description":"\u001b]0;x\u0007<script>alert(1)</script>","displayName":"\u202egnp"`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			items := slices.Clone(three)
			for i := range items {
				items[i].extra = test.extra
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := reader(t, &packageServer{items: items, body: test.body}, 0).Read(t.Context(), cluster.Query{})
			runtime.ReadMemStats(&after)
			if err != nil || got.Findings != nil {
				t.Fatal(err, got.Findings)
			}
			if diff := cmp.Diff([]string{"p olm/vendor", "p team/own", "q other/own"}, listed(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := model.Source{Kind: model.CatalogSource, Namespace: "team", Name: "own", DisplayName: "The own", Publisher: "Example"}
			if got.Packages[1].Source != want {
				t.Errorf("the source is %+v", got.Packages[1].Source)
			}
			t.Logf("%d MiB were allocated in all, by the server too", (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

// A list that is not whole is an error, whatever was read of it: what is missing would look as
// if the cluster did not have it.
func TestAnAnswerThatDoesNotArrive(t *testing.T) {
	whole := len((&packageServer{items: three}).list("", nil))
	for name, test := range map[string]struct {
		body func(http.ResponseWriter, *http.Request, string)
		most int64
		want string
		is   error
	}{
		"cut in its middle":  {cutAt(whole / 2), 0, "ended in its middle", nil},
		"cut before its end": {cutAt(whole - 3), 0, "ended in its middle", nil},
		"torn":               {torn, 0, "ended in its middle", nil},
		"no list": {func(w http.ResponseWriter, _ *http.Request, _ string) {
			_, _ = io.WriteString(w, "<html>\x1b[31m</html>")
		}, 0, "no list of an API server", nil},
		"too long": {nil, int64(whole) - 5, "ask for one package, or for one CatalogSource", catalogue.ErrTooLarge},
		"without end": {func(w http.ResponseWriter, r *http.Request, _ string) {
			_, _ = io.WriteString(w, `{"items":[{"a":"`)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
					return
				}
			}
		}, 20 << 20, "more than 20 MiB", catalogue.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := reader(t, &packageServer{items: three, body: test.body}, test.most).Read(t.Context(), cluster.Query{})
			if err == nil || !strings.Contains(err.Error(), test.want) || got.Packages != nil || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v and the error %v, want nothing and %q", listed(got), err, test.want)
			}
			if err != nil && strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

// A server that stops answering holds nobody beyond the context.
func TestAnAnswerThatStops(t *testing.T) {
	for name, test := range map[string]struct{ beginning, want string }{
		"before it began": {"", "the cluster did not answer in time"},
		"in its middle":   {`{"items":[`, "the cluster's answer did not end in time"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := httptest.NewServer(&packageServer{body: func(w http.ResponseWriter, r *http.Request, _ string) {
				if test.beginning == "" {
					cancel()
				} else {
					_, _ = io.WriteString(w, test.beginning)
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}})
			t.Cleanup(server.Close)
			config := &rest.Config{Host: server.URL}
			config.Wrap(func(base http.RoundTripper) http.RoundTripper { return ending{base, cancel} })
			client, err := cluster.NewClient(config)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := cluster.NewReader(client, 0).Read(ctx, cluster.Query{}); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// ending ends the context as soon as an answer is read.
type ending struct {
	base   http.RoundTripper
	cancel func()
}

func (e ending) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := e.base.RoundTrip(r)
	if err == nil {
		response.Body = endingBody{response.Body, e.cancel}
	}
	return response, err
}

type endingBody struct {
	io.ReadCloser
	cancel func()
}

func (e endingBody) Read(into []byte) (int, error) {
	n, err := e.ReadCloser.Read(into)
	e.cancel()
	return n, err
}
