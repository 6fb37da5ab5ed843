package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// shutdownTimeout is how long running requests have when the server ends.
const shutdownTimeout = 10 * time.Second

// server is one webhook server.
type server struct {
	accounts accounts
	serving  *certificate
	metrics  *metrics
	mutator  *mutator
	log      logr.Logger
}

func newServer(injector *inject.Injector, known accounts, counted *metrics, log logr.Logger) *server {
	s := &server{accounts: known, serving: &certificate{}, metrics: counted, log: log}
	s.mutator = newMutator(injector, known, counted, log)
	counted.watch(known, s.serving)
	return s
}

// Run serves until ctx ends, and then lets running requests finish. It returns
// nil for an end by ctx. The context's logger is used.
func Run(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	injector, err := inject.New(o.Settings)
	if err != nil {
		return err
	}
	config := paced(o.Config)
	cached, err := newAccountCache(config, o.Settings.AnnotationPrefix)
	if err != nil {
		return err
	}
	live, err := client.New(config, client.Options{Mapper: kinds()})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	counted := newMetrics()
	known := newAccounts(cached, live, o.LookupTimeout, counted)
	s := newServer(injector, known, counted, log.FromContext(ctx))
	caches, err := s.openCertificate(ctx, o)
	if err != nil {
		return err
	}
	listeners, err := listen(ctx, o)
	if err != nil {
		return err
	}
	return s.run(ctx, listeners, known, cached, caches)
}

// paced is the configuration with limits of its own: the live looks must not
// queue behind a client's default of a few a second.
func paced(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 50, 50
	return config
}

// kinds are the kinds that the server reads, so that it need not ask the API
// server for all that there are.
func kinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	for _, kind := range []string{"ServiceAccount", "Secret"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return mapper
}

// openCertificate begins to watch where the serving certificate is; it returns
// the caches to start for it.
func (s *server) openCertificate(ctx context.Context, o Options) ([]cache.Cache, error) {
	if o.TLSCert != "" {
		return nil, s.serving.watchFiles(ctx, o.TLSCert, o.TLSKey)
	}
	config := o.OwnConfig
	if config == nil {
		config = o.Config
	}
	secret, err := s.serving.watchSecret(ctx, config, o.Namespace, o.TLSSecret)
	if err != nil {
		return nil, err
	}
	return []cache.Cache{secret}, nil
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

// run starts everything, and ends everything when ctx ends or one part fails.
func (s *server) run(ctx context.Context, sockets listeners, known *cachedAccounts, cached cache.Cache, others []cache.Cache) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make(chan error, 4+len(others)) // room for everyone: nobody waits to fail
	for _, each := range append(others, cached) {
		go func() {
			if err := each.Start(ctx); err != nil {
				failures <- fmt.Errorf("watch: %w", err)
			}
		}()
	}
	go s.sync(ctx, known, cached, failures)
	return s.serve(ctx, sockets, failures)
}

// sync opens the gate once all ServiceAccounts have been read.
func (s *server) sync(ctx context.Context, known *cachedAccounts, cached cache.Cache, failures chan<- error) {
	if _, err := cached.GetInformer(ctx, newAccount()); err != nil {
		if ctx.Err() == nil {
			failures <- fmt.Errorf("watch ServiceAccounts: %w", err)
		}
		return
	}
	if cached.WaitForCacheSync(ctx) {
		known.ready.Store(true)
		s.log.Info("ServiceAccounts read; serving")
	}
}

// serve answers on the sockets until ctx ends or a failure comes.
func (s *server) serve(ctx context.Context, sockets listeners, failures chan error) error {
	secure := s.httpServer(s.handler())
	secure.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.serving.get}
	plain := s.httpServer(s.observer())
	go func() { failures <- secure.ServeTLS(sockets.secure, "", "") }()
	s.log.Info("listening", "address", sockets.secure.Addr().String())
	if sockets.plain != nil {
		go func() { failures <- plain.Serve(sockets.plain) }()
		s.log.Info("listening for metrics and probes", "address", sockets.plain.Addr().String())
	}
	var failure error
	select {
	case <-ctx.Done():
	case failure = <-failures:
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return errors.Join(failure, secure.Shutdown(ending), plain.Shutdown(ending))
}

// httpServer cuts slow clients. HTTP/1.1 only: for one small request after the
// other it costs less than HTTP/2, and has fewer ways to be kept busy.
func (s *server) httpServer(handler http.Handler) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           handler,
		Protocols:         &protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          stdlog.New(lines{s.log}, "", 0),
	}
}

// handler is what the API server sees.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mutate", s.mutator)
	s.addProbes(mux)
	return mux
}

// observer is what monitoring sees. The probes are here too: before there is a
// certificate, nobody can ask for them over HTTPS.
func (s *server) observer() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", s.metrics.handler())
	s.addProbes(mux)
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
	if !s.accounts.synced() {
		return errors.New("the ServiceAccounts have not been read yet")
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
