package cluster_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/internal/catalogue/cluster"
)

// packageServer answers lists as an API server with OLM's package server does.
type packageServer struct {
	// items are the PackageManifests, of the global namespace olm or any other.
	items []manifest
	// olm says that the group of OLM is served; status answers a list instead of items.
	olm    bool
	status int
	// body, if it is there, writes the answer of a list.
	body func(http.ResponseWriter, *http.Request, string)

	mutex sync.Mutex
	asked []string
}

// manifest is a PackageManifest; extra are further fields of its head's description in JSON.
type manifest struct{ namespace, catalogue, name, extra string }

func (m manifest) json(namespace string) string {
	return fmt.Sprintf(`{"metadata":{"name":%[1]q,"namespace":%[5]q,"labels":{"catalog":%[2]q,"catalog-namespace":%[3]q}},"spec":{},`+
		`"status":{"packageName":%[1]q,"catalogSource":%[2]q,"catalogSourceNamespace":%[3]q,"catalogSourceDisplayName":"The %[2]s","catalogSourcePublisher":"Example",`+
		`"defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"%[1]s.v1","currentCSVDesc":{"version":"1.0.0","annotations":{}%[4]s},`+
		`"entries":[{"name":"%[1]s.v1","version":"1.0.0"}]}]}}`, m.name, m.catalogue, m.namespace, m.extra, namespace)
}

const group = "/apis/packages.operators.coreos.com/v1"

func (s *packageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path+" "+r.URL.RawQuery)
	s.mutex.Unlock()
	if r.URL.Path == "/apis/operators.coreos.com" && s.olm {
		_, _ = io.WriteString(w, `{"kind":"APIGroup"}`)
		return
	}
	namespace := ""
	if rest, ok := strings.CutPrefix(r.URL.Path, group+"/namespaces/"); ok {
		namespace = strings.TrimSuffix(rest, "/packagemanifests")
	} else if r.URL.Path != group+"/packagemanifests" || s.status == http.StatusNotFound {
		http.NotFound(w, r) // so does the aggregator
		return
	}
	if s.status != 0 {
		refuse(w, s.status, namespace)
		return
	}
	if accepts := r.Header.Get("Accept"); accepts != "application/json" {
		http.Error(w, "asked for "+accepts, http.StatusNotAcceptable)
		return
	}
	text := s.list(namespace, r.URL.Query())
	if s.body != nil {
		s.body(w, r, text)
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Accept"))
	_, _ = io.WriteString(w, text)
}

func refuse(w http.ResponseWriter, status int, namespace string) {
	reason := map[int]string{http.StatusForbidden: "Forbidden", http.StatusUnauthorized: "Unauthorized", http.StatusServiceUnavailable: "ServiceUnavailable"}[status]
	message := "the server says no\x1b[31m"
	if status == http.StatusForbidden {
		message = `packagemanifests.packages.operators.coreos.com is forbidden: User "ann" cannot list resource in the namespace "` + namespace + `"`
	}
	text, _ := json.Marshal(map[string]any{ // Texts and numbers are always JSON.
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": status,
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// list has the manifests of a namespace and the global ones, by name and labels. The metadata
// claims the namespace that was asked for, whatever the catalogue's is.
func (s *packageServer) list(namespace string, query url.Values) string {
	var all []string
	for _, m := range s.items {
		wanted := namespace == "" || m.namespace == namespace || m.namespace == "olm"
		if name, ok := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name="); ok {
			wanted = wanted && name == m.name
		}
		for part := range strings.SplitSeq(query.Get("labelSelector"), ",") {
			label, value, _ := strings.Cut(part, "=")
			wanted = wanted && (label == "" || map[string]string{"catalog": m.catalogue, "catalog-namespace": m.namespace}[label] == value)
		}
		if wanted {
			all = append(all, m.json(namespace))
		}
	}
	return `{"kind":"PackageManifestList","apiVersion":"packages.operators.coreos.com/v1","metadata":{},"items":[` + strings.Join(all, ",") + "]}\n"
}

// reader starts the server and reads from it.
func reader(t *testing.T, s *packageServer, most int64) cluster.Reader {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	// The time-out would be of the whole answer.
	client, err := cluster.NewClient(&rest.Config{Host: server.URL, Timeout: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return cluster.NewReader(client, most)
}

// zipped answers as an API server does when much is asked for.
func zipped(w http.ResponseWriter, r *http.Request, text string) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = io.WriteString(w, text)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	out := gzip.NewWriter(w)
	_, _ = io.WriteString(out, text)
	_ = out.Close()
}

// cutAt answers with the beginning of a longer answer.
func cutAt(length int) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, text string) {
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(w, text[:length])
	}
}

// torn breaks the connection off within the answer.
func torn(w http.ResponseWriter, _ *http.Request, text string) {
	_, _ = io.WriteString(w, text[:len(text)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
