package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// shutdownTimeout is how long running requests have when the server ends.
const shutdownTimeout = 10 * time.Second

// server is one webhook server.
type server struct {
	accounts accounts
	config   *configuration
	serving  *certificate
	metrics  *metrics
	// mutators are those of the clouds that are on, by name.
	mutators map[string]*mutator
	log      logr.Logger
	// drain is how long it still answers after it was told to end.
	drain time.Duration
	// minVersion and cipherSuites are what TLS is spoken with.
	minVersion   uint16
	cipherSuites []uint16
	// clients are asked for certificates.
	clients clients
	// intake reads reviews, as many as fit.
	intake *intake
	bounds bounds
	// roles decides about AWS's; nil if it is off.
	roles *inject.Injector
	// overlaps warn of IAMRoleSelectors; nil if nobody asks for that.
	overlaps *overlaps
	// debugging is what the debugging handlers show; nil without them.
	debugging *watched
	// draining says that it was told to end.
	draining atomic.Bool
}

func newServer(on []cloud, known accounts, counted *metrics, log logr.Logger) *server {
	s := &server{
		accounts: known, config: &configuration{timeout: defaultLookupTimeout}, serving: &certificate{}, mutators: map[string]*mutator{},
		metrics: counted, log: log, minVersion: tls.VersionTLS12,
	}
	s.bounds = boundsOf(0, 0)
	s.intake = newIntake(s.bounds)
	buffers := &sync.Pool{New: func() any { return newExchange() }}
	for _, each := range on {
		made := &mutator{cloud: each.name, injector: each.injector, metrics: counted, log: log, buffers: buffers, intake: s.intake}
		by := accountKnowledge{known, each.optIn}
		made.known = by
		if roles, ok := each.injector.(*inject.Injector); ok {
			s.roles, made.known = roles, roleKnowledge{by, s.config, roles, log}
		}
		s.mutators[each.name] = made
	}
	counted.watch(known, s.serving)
	return s
}

// Run serves until ctx ends, still answers for the time of draining, lets running
// requests finish, and returns nil. The context's logger is used.
func Run(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	if err := o.askInstance(ctx); err != nil {
		return err
	}
	on, err := newClouds(o)
	if err != nil {
		return err
	}
	served, err := newAPI(o.Config)
	if err != nil {
		return err
	}
	s, known := assemble(on, served, o, logr.FromContextOrDiscard(ctx))
	// What is followed is followed to the end, also while draining.
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	runs, err := s.follow(following, o, served, known)
	if err != nil {
		return err
	}
	sockets, err := listen(ctx, o)
	if err != nil {
		return err
	}
	for _, run := range runs {
		go run(following)
	}
	return s.serve(ctx, sockets)
}

// assemble makes the server that asks an API server, and the ServiceAccounts that
// it is to follow.
func assemble(on []cloud, served *api, o Options, log logr.Logger) (*server, *watched) {
	counted := newMetrics()
	known := newStore(interestOf(on))
	counted.watchStore(known)
	accounts := newAccounts(known, served.readAccount, o.LookupTimeout, counted)
	accounts.unknown = newLookups(o.UnknownLookups)
	s := newServer(on, accounts, counted, log)
	followed := &watched{known, newFollower(served, "/api/v1/serviceaccounts", firstSync{known, log}, log)}
	s.apply(o, followed)
	return s, followed
}

// follow returns what has to be run to keep up to date all that the server
// knows. The context is for what is followed only once it is needed.
func (s *server) follow(ctx context.Context, o Options, served *api, known *watched) ([]func(context.Context), error) {
	runs := []func(context.Context){known.follower.run}
	if o.WatchIdentities != "" {
		runs = append(runs, s.config.followFile(o.WatchIdentities, s.metrics, s.log))
	}
	if o.WatchConfigMap {
		runs = append(runs, s.followConfigMap(ctx, o, served, known).run)
	}
	if s.overlaps != nil {
		run, err := s.overlaps.follow(o.Config)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	if o.ClientCAFile != "" {
		if err := s.clients.watchFile(ctx, o.ClientCAFile, s.log); err != nil {
			return nil, err
		}
	}
	secret, err := s.openCertificate(ctx, o, served)
	if secret != nil {
		runs = append(runs, secret.run)
	}
	return runs, err
}

// watched is a store, and what keeps it up to date.
type watched struct {
	*store
	follower *follower
}

// needLabels lists all again if the store does not have some labels yet, unless
// it has not begun to list.
func (w *watched) needLabels(names []string) {
	if w.wantLabels(names) && w.begun() {
		w.follower.relist()
	}
}

// apply takes over what the options say of serving.
func (s *server) apply(o Options, known *watched) {
	s.bounds = boundsOf(o.MemoryLimit, o.MaxConnections)
	*s.intake = *newIntake(s.bounds)
	s.clients.names, s.clients.required = o.ClientNames, o.RequireClientCertificate
	if o.LookupTimeout != 0 {
		s.config.timeout = o.LookupTimeout
	}
	s.drain, s.cipherSuites = o.DrainTime, o.TLSCipherSuites
	if o.TLSMinVersion != 0 {
		s.minVersion = o.TLSMinVersion
	}
	if o.RoleSelectorWarnings {
		s.overlaps = newOverlaps(s.intake, s.log)
	}
	if o.DebuggingHandlers {
		s.debugging = known
	}
}

func (s *server) tls() *tls.Config {
	config := &tls.Config{MinVersion: s.minVersion, CipherSuites: s.cipherSuites, GetCertificate: s.serving.get}
	s.clients.ask(config)
	return config
}

// followConfigMap returns what has to be run to follow the config map. Labels
// are read from when it first asks for them: they take memory.
func (s *server) followConfigMap(ctx context.Context, o Options, served *api, known *watched) *follower {
	store := newStore(interest{})
	labelled := newNamespaces(store, served.readNamespace, o.LookupTimeout, s.metrics)
	labelled.unknown = newLookups(o.UnknownLookups)
	s.config.namespaces = labelled
	namespaces := &watched{store, newFollower(served, "/api/v1/namespaces", store, s.log)}
	var once sync.Once
	return s.config.followConfigMap(served, o.Namespace, labelNeeds{
		accounts: known.needLabels,
		namespaces: func(names []string) {
			namespaces.needLabels(names)
			once.Do(func() { go namespaces.follower.run(ctx) })
		},
	}, s.metrics, s.log)
}

// firstSync tells when all ServiceAccounts have been read.
type firstSync struct {
	*store
	log logr.Logger
}

func (f firstSync) listed(version string) {
	first := !f.synced()
	f.store.listed(version)
	if first {
		f.log.Info("ServiceAccounts read; serving", "serviceAccounts", f.holding().accounts)
		// What reading them took is not needed again soon.
		debug.FreeOSMemory()
	}
}

// openCertificate loads the serving certificate from files; or it returns what
// has to be run to follow its Secret.
func (s *server) openCertificate(ctx context.Context, o Options, served *api) (*follower, error) {
	if o.TLSCert != "" {
		return nil, s.serving.watchFiles(ctx, o.TLSCert, o.TLSKey, s.log)
	}
	own := served
	if o.OwnConfig != nil {
		var err error
		if own, err = newAPI(o.OwnConfig); err != nil {
			return nil, err
		}
	}
	return s.serving.followSecret(own, cmp.Or(o.TLSSecretNamespace, o.Namespace), o.TLSSecret, s.log), nil
}

// listeners are open sockets; plain may be nil.
type listeners struct{ secure, plain net.Listener }

func listen(ctx context.Context, o Options) (listeners, error) {
	var config net.ListenConfig
	secure, err := config.Listen(ctx, "tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.Port)))
	if err != nil {
		return listeners{}, fmt.Errorf("open --port: %w", err)
	}
	if o.MetricsPort < 0 {
		return listeners{secure: secure}, nil
	}
	plain, err := config.Listen(ctx, "tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.MetricsPort)))
	if err != nil {
		return listeners{}, errors.Join(fmt.Errorf("open --metrics-port: %w", err), secure.Close())
	}
	return listeners{secure: secure, plain: plain}, nil
}

// serve answers on the sockets until ctx ends or a listener fails.
func (s *server) serve(ctx context.Context, sockets listeners) error {
	front := newDoor(sockets.secure, s.bounds.connections, s.metrics)
	s.metrics.watchDoor(front)
	secure := s.httpServer(s.handler(), front)
	secure.TLSConfig = s.tls()
	side := newDoor(sockets.plain, observers, s.metrics)
	plain := s.httpServer(s.observer(), side)
	failures := make(chan error, 2) // room for both: nobody waits to fail
	go func() { failures <- secure.ServeTLS(front, "", "") }()
	s.log.Info("listening", "address", sockets.secure.Addr().String())
	if sockets.plain != nil {
		go func() { failures <- plain.Serve(side) }()
		s.log.Info("listening for metrics and probes", "address", sockets.plain.Addr().String())
	}
	var failure error
	select {
	case failure = <-failures:
	case <-ctx.Done():
		s.draining.Store(true)
		s.log.Info("ending", "drain", s.drain.String())
		<-time.After(s.drain)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return errors.Join(failure, secure.Shutdown(ending), plain.Shutdown(ending))
}

// polite asks clients to hang up after their next answer while the server
// drains: they come back to another replica. To hang up on them instead could
// meet a question that is on its way.
func (s *server) polite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// httpServer cuts slow clients. HTTP/1.1 only: for one small request after the
// other it costs less than HTTP/2, and has fewer ways to be kept busy.
func (s *server) httpServer(handler http.Handler, through *door) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         &protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnState:         through.observe,
		ConnContext:       withConnection,
		ErrorLog:          stdlog.New(lines{s.log}, "", 0),
	}
}

// handler is what the API server sees.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	s.addHooks(mux)
	if s.overlaps != nil {
		mux.Handle(selectorPath, s.metrics.reference.instrument(selectorPath, s.overlaps))
	}
	mux.Handle(probePath, prober{s.serving, s.intake, s.log})
	s.addProbes(mux)
	s.addDenials(mux)
	return s.polite(mux)
}

// observer is what monitoring sees. The probes are here too: before there is a
// certificate, nobody can ask for them over HTTPS.
func (s *server) observer() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", s.metrics.handler())
	s.addProbes(mux)
	s.addCache(mux)
	return mux
}

func (s *server) addProbes(mux *http.ServeMux) {
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { s.say(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.ready(time.Now()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		s.say(w, "ok")
	})
}

func (s *server) say(w http.ResponseWriter, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		s.log.V(1).Info("the prober hung up", "error", err.Error())
	}
}

// ready says why the server should not be asked now.
func (s *server) ready(now time.Time) error {
	if s.draining.Load() {
		return errors.New("the server is ending: ask another replica")
	}
	if !s.accounts.synced() {
		return errors.New("the ServiceAccounts have not been read yet")
	}
	if !s.config.looked() {
		return errors.New("the config map has not been looked for yet")
	}
	return s.serving.check(now)
}

// lines turns the lines that net/http logs, mostly of failed handshakes, into
// log entries.
type lines struct{ log logr.Logger }

func (l lines) Write(line []byte) (int, error) {
	l.log.V(1).Info("http", "message", string(line))
	return len(line), nil
}
