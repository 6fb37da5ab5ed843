// Package console is the web console's server: pages for people who would rather look than type. It
// acts as the person who started it, who is alone on the machine's own address: see ADR 34.
//
// It decides nothing. What it shows of operators, roles and upgrades the packages of internal/core say,
// as they say it to the command line.
package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/credentials"
	"github.com/tabard-dev/tabard/internal/evidence"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

// World is what the console needs of the world; the program's wiring fills it.
type World struct {
	// Cluster is the cluster's name in the kubeconfig. It is empty where there is no cluster.
	Cluster string
	// User is who reads and writes the cluster; empty where the cluster does not say.
	User string
	// Namespace is that of the kubeconfig's context, for who may read no other.
	Namespace string
	// OLM is a client of the cluster; its Objects are nil where there is no cluster.
	OLM olm.Client
	// Read reads the catalogue.
	Read ReadCatalogue
	// CatalogueFlags and ClusterFlags are how a command says the same catalogue, and the same cluster and
	// person, with a blank before; empty for the usual ones.
	CatalogueFlags, ClusterFlags string
	// Files is the path of a catalogue in files; empty for those of the cluster.
	Files string
	// RoleDocuments reads the policies of a role in AWS.
	RoleDocuments func(ctx context.Context, arn string) (sufficiency.Documents, error)
	// Explain is what the chain of a workload is read from; its Kube is nil where there is no cluster.
	Explain evidence.Sources
	// Credentials is what CredentialsRequests are read from; its Reader is nil where there is no cluster.
	Credentials credentials.Cluster
}

// HasCluster says whether there is a cluster to ask.
func (w World) HasCluster() bool { return w.OLM.Objects != nil }

// Options are how a server is run.
type Options struct {
	World World
	// Pages are the built front end, each file compressed with gzip. A program without them has none:
	// a page says so then.
	Pages fs.FS
	// ReadOnly refuses all that writes.
	ReadOnly bool
	// Version is the program's.
	Version string
	// Audit gets a line for each write, and for each fault of the console itself; nil is the standard error.
	Audit *slog.Logger
}

// Server is the console.
type Server struct {
	Options
	sessions  *Sessions
	catalogue *kept[*readCatalogue]
	facts     *kept[tokenfacts.Seen]
	installed *kept[installed]
	workloads *kept[*workloads]
	overviews *kept[*api.Overview]
	// firstSeen is when each link was first seen to be as it is.
	firstSeen map[chain.Link]since
	// explaining has a place for each explanation that is read.
	explaining chan struct{}
	// checking has a place for each policy that is checked.
	checking  chan struct{}
	following following
	streams   chan struct{}
	// ending is closed when the server begins to end.
	ending   chan struct{}
	port     int
	requests atomic.Int64
}

// New makes a server for a port, which its addresses and its cookie's name have in them.
func New(options Options, sessions *Sessions, port int) *Server {
	if options.Audit == nil {
		options.Audit = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	out := &Server{Options: options, sessions: sessions, port: port, catalogue: keepCatalogue(options.World, time.Now), streams: make(chan struct{}, mostStreams), ending: make(chan struct{})}
	out.facts = &kept[tokenfacts.Seen]{now: time.Now, freshFor: factsFor, within: answerWithin, read: func(ctx context.Context) (tokenfacts.Seen, error) {
		return tokenfacts.Observe(ctx, options.World.OLM.Objects)
	}}
	out.installed = &kept[installed]{now: time.Now, freshFor: installedFor, within: answerWithin, read: out.readInstalled}
	out.workloads = &kept[*workloads]{now: time.Now, freshFor: workloadsFor, rests: workloadsRests, within: readIn, read: out.readAllWorkloads}
	out.overviews = &kept[*api.Overview]{now: time.Now, freshFor: overviewFor, shownFor: overviewShown, rests: overviewRests, within: answerWithin, read: out.readOverview}
	out.catalogue.log, out.facts.log, out.installed.log, out.workloads.log, out.overviews.log = out.Audit, out.Audit, out.Audit, out.Audit, out.Audit
	out.firstSeen = map[chain.Link]since{}
	out.explaining, out.checking = make(chan struct{}, mostExplained), make(chan struct{}, mostChecked)
	return out
}

// How long a connection may take for its parts, and an answer of the API. There is no limit to the
// number of connections: silent ones would take the places of the person's, and each costs little and
// ends within seconds.
const (
	headerWithin = 5 * time.Second
	bodyWithin   = 30 * time.Second
	answerWithin = time.Minute
	idleWithin   = 2 * time.Minute
	mostHeader   = 16 << 10
)

// grace is how long requests may go on after the end: a person waits for the prompt.
const grace = 900 * time.Millisecond

// Serve answers until the context ends, once. A request that has begun has a second to end.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	server := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: mostHeader,
		ReadHeaderTimeout: headerWithin, ReadTimeout: bodyWithin, WriteTimeout: answerWithin + headerWithin, IdleTimeout: idleWithin,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		close(s.ending)
		last, cancel := context.WithTimeout(requests, grace)
		defer cancel()
		if server.Shutdown(last) != nil {
			_ = server.Close() // what is still open has had its time
		}
	})
	// The catalogue is read before the person asks for it. That it cannot be read the pages tell.
	go func() { _, _, _ = s.catalogue.get(requests) }()
	err := server.Serve(listener)
	if stop() {
		return err
	}
	<-ended
	return nil
}

// apiPrefix begins the paths of the API.
const apiPrefix = "/api/v1/"

// cookie is its name. Cookies do not tell ports apart.
func (s *Server) cookie() string { return "tabard-" + strconv.Itoa(s.port) }

// nextRequest is a number for an answer that is an error, by which a person finds it again.
func (s *Server) nextRequest() string { return strconv.FormatInt(s.requests.Add(1), 10) }

// answer is what an endpoint answers with.
type answer func(r *http.Request) (any, error)

// endpoints are those of the API that need a session, by method and path.
func (s *Server) endpoints() map[string]answer {
	return map[string]answer{
		"GET " + apiPrefix + "session":                                      s.session,
		"GET " + apiPrefix + "cluster":                                      s.cluster,
		"GET " + apiPrefix + "overview":                                     s.overview,
		"GET " + apiPrefix + "operators":                                    s.operators,
		"GET " + apiPrefix + "operators/{id}":                               s.operator,
		"GET " + apiPrefix + "operators/{id}/diff":                          s.difference,
		"POST " + apiPrefix + "checks/role":                                 s.check,
		"POST " + apiPrefix + "checks/reason":                               s.reason,
		"GET " + apiPrefix + "installs":                                     s.installs,
		"GET " + apiPrefix + "installs/{namespace}/{name}":                  s.install,
		"POST " + apiPrefix + "installs/plan":                               s.installPlan,
		"POST " + apiPrefix + "installs":                                    s.installNow,
		"GET " + apiPrefix + "installs/{namespace}/{name}/upgrade":          s.upgrade,
		"POST " + apiPrefix + "installs/{namespace}/{name}/approve":         s.approve,
		"POST " + apiPrefix + "installs/{namespace}/{name}/role":            s.setRole,
		"GET " + apiPrefix + "workloads/pods":                               s.pods,
		"GET " + apiPrefix + "workloads/pods/{namespace}/{name}":            s.pod,
		"GET " + apiPrefix + "workloads/serviceaccounts":                    s.serviceAccounts,
		"GET " + apiPrefix + "workloads/serviceaccounts/{namespace}/{name}": s.serviceAccount,
		"POST " + apiPrefix + "try/decode":                                  s.decode,
		"POST " + apiPrefix + "try/policy":                                  s.policy,
	}
}

// Handler answers all requests.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+apiPrefix+"session", s.beginSession)
	mux.HandleFunc("POST "+apiPrefix+"handoffs", s.handoffs)
	mux.HandleFunc("GET "+apiPrefix+"events", s.events)
	for pattern, endpoint := range s.endpoints() {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, endpoint) })
	}
	mux.HandleFunc(apiPrefix, func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, &Problem{Status: http.StatusNotFound, Code: "path", Title: "There is no such address", Detail: r.Method + " " + strconv.Quote(r.URL.Path)})
	})
	mux.HandleFunc("/", s.page)
	return s.guard(mux)
}

// answer writes what an endpoint says, or why it does not.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, endpoint answer) {
	ctx, cancel := context.WithTimeout(r.Context(), answerWithin)
	defer cancel()
	var said any
	var err error
	if r.Method == http.MethodPost {
		err = queryOf(r).err()
	}
	if err == nil {
		said, err = s.said(endpoint, r.WithContext(ctx))
	}
	if err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	s.write(w, r, said)
}

// said is what an endpoint says. A panic in it is an answer like another one.
func (s *Server) said(endpoint answer, r *http.Request) (_ any, err error) {
	defer recovered(s.Audit, &err)
	return endpoint(r)
}

// write answers with a document, or says that it is what the browser has.
func (s *Server) write(w http.ResponseWriter, r *http.Request, document any) {
	text, err := written(document)
	if err != nil {
		s.refuse(w, r, problemOf(err))
		return
	}
	digest := sha256.Sum256(text)
	tag := `"` + base64.RawURLEncoding.EncodeToString(digest[:16]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // with the browser gone there is nobody to tell
	}
}
