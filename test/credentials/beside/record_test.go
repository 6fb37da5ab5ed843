package beside

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// kinds are the resources of which every version is recorded.
var kinds = map[string]schema.GroupVersionResource{
	kindRequest: {Group: "cloudcredential.openshift.io", Version: "v1", Resource: "credentialsrequests"},
	kindGrant:   {Group: "identity.tabard.dev", Version: "v1alpha1", Resource: "credentialsgrants"},
	kindSecret:  {Version: "v1", Resource: "secrets"},
	kindAccount: {Version: "v1", Resource: "serviceaccounts"},
	kindWebhook: {Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"},
	kindMode:    {Group: "operator.openshift.io", Version: "v1", Resource: "cloudcredentials"},
}

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete]
  resources:
  - {group: "", resources: [secrets, serviceaccounts]}
  - {group: cloudcredential.openshift.io}
  - {group: identity.tabard.dev}
  - {group: operator.openshift.io}
- level: None
`

// recorder keeps what the watches and AWS say. It is safe for concurrent use.
type recorder struct {
	*world
	mu       sync.Mutex
	versions []Version
	calls    []awslocal.Entry
	heard    map[string]bool
	broke    string
	stop     chan struct{}
	ended    sync.WaitGroup
}

// record begins to record.
func (w *world) record(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{world: w, heard: map[string]bool{}, stop: make(chan struct{})}
	for kind, resource := range kinds {
		events := must.Get(w.Dynamic.Resource(resource).Watch(t.Context(), metav1.ListOptions{}))(t)
		r.ended.Go(func() {
			defer events.Stop()
			for {
				select {
				case <-r.stop:
					return
				case event, open := <-events.ResultChan():
					object, is := event.Object.(*unstructured.Unstructured)
					if !open || !is {
						r.fail("the watch of " + kind + " ended")
						return
					}
					r.add(object)
				}
			}
		})
	}
	r.ended.Go(func() {
		for {
			select {
			case <-r.stop:
				return
			case <-time.After(200 * time.Millisecond):
				r.listen()
			}
		}
	})
	return r
}

func (r *recorder) fail(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broke = why
}

func (r *recorder) add(o *unstructured.Unstructured) {
	v, err := versionOf(o)
	if err != nil {
		r.fail(err.Error())
		return
	}
	r.mark(v)
}

func (r *recorder) mark(v Version) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.versions = append(r.versions, v)
}

// listen keeps Tabard's calls, before the local AWS forgets them for those of the other.
func (r *recorder) listen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, entry := range r.aws.Admin().Journal() {
		if strings.Contains(entry.Caller, "/tabard-credentials/") && !r.heard[entry.RequestID] {
			r.heard[entry.RequestID] = true
			r.calls = append(r.calls, entry)
		}
	}
}

// soFar is what the watches have said.
func (r *recorder) soFar() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Recording{Versions: slices.Clone(r.versions)}
}

// finish stops recording.
func (r *recorder) finish(t *testing.T) Recording {
	t.Helper()
	close(r.stop)
	r.ended.Wait()
	r.listen()
	if r.broke != "" {
		t.Fatal(r.broke)
	}
	return Recording{Versions: r.versions, Calls: r.calls, Writes: r.writes(t), Died: r.operator.Died()}
}

// entry is what is read of the API server's audit log.
type entry struct {
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// writes reads the audit log.
func (r *recorder) writes(t *testing.T) (out []Write) {
	t.Helper()
	file := must.Get(os.Open(r.audit))(t)
	defer func() { must.Do(t, file.Close()) }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		must.Do(t, json.Unmarshal(lines.Bytes(), &e))
		if e.ResponseStatus.Code >= 300 {
			continue
		}
		w := Write{By: e.User.Username, Of: ownerOf(e.ObjectRef.Name), Verb: e.Verb, What: e.ObjectRef.Resource + "/" + e.ObjectRef.Subresource + " " + e.ObjectRef.Name}
		if uri, err := url.Parse(e.RequestURI); err == nil && uri.Query().Get("fieldManager") == cco {
			w.By = cco
		}
		if e.User.Username == "system:serviceaccount:"+system+":tabard-credentials" {
			w.By = tabard
		}
		out = append(out, w)
	}
	must.Do(t, lines.Err())
	return out
}

// ownerOf is the request whose object has a name: that of its grant, Secret or
// ServiceAccount, by the names that the driver gives. Empty is the mode's.
func ownerOf(name string) string {
	switch {
	case name == "cluster":
		return ""
	case strings.HasPrefix(name, shop+"."):
		return strings.TrimPrefix(name, shop+".")
	}
	request, _, _ := strings.Cut(name, "--")
	return request
}
