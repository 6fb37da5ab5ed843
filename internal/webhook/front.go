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
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
)

// shutdownTimeout is how long running requests have when the server ends.
const shutdownTimeout = 10 * time.Second

// front is what every server of hooks has: it lets in as many as fit, speaks TLS with the
// certificate of the moment, and says whether it may be asked.
type front struct {
	serving *certificate
	metrics *metrics
	log     logr.Logger
	// known says what has not been read that answers need.
	known func() error
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
	// draining says that it was told to end.
	draining atomic.Bool
}

func newFront(counted *metrics, log logr.Logger) front {
	size := boundsOf(0, 0)
	return front{
		serving: &certificate{}, metrics: counted, log: log, minVersion: tls.VersionTLS12, intake: newIntake(size), bounds: size,
		known: func() error { return nil },
	}
}

// apply takes over what the options say of serving.
func (s *front) apply(o Options) {
	s.bounds = boundsOf(o.MemoryLimit, o.MaxConnections)
	*s.intake = *newIntake(s.bounds)
	s.clients.names, s.clients.required = o.ClientNames, o.RequireClientCertificate
	s.drain, s.cipherSuites = o.DrainTime, o.TLSCipherSuites
	if o.TLSMinVersion != 0 {
		s.minVersion = o.TLSMinVersion
	}
}

func (s *front) tls() *tls.Config {
	config := &tls.Config{MinVersion: s.minVersion, CipherSuites: s.cipherSuites, GetCertificate: s.serving.get}
	s.clients.ask(config)
	return config
}

// openCertificate loads the serving certificate from files; or it returns what
// has to be run to follow its Secret.
func (s *front) openCertificate(ctx context.Context, o Options, served *api) (*follower, error) {
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

// listenWith answers on the sockets until ctx ends or a listener fails.
func (s *front) listenWith(ctx context.Context, sockets listeners, handler, observer http.Handler) error {
	front := newDoor(sockets.secure, s.bounds.connections, s.metrics)
	s.metrics.watchDoor(front)
	secure := s.httpServer(handler, front)
	secure.TLSConfig = s.tls()
	side := newDoor(sockets.plain, observers, s.metrics)
	plain := s.httpServer(observer, side)
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
func (s *front) polite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// httpServer cuts slow clients. HTTP/1.1 only: for one small request after the
// other it costs less than HTTP/2, and has fewer ways to be kept busy.
func (s *front) httpServer(handler http.Handler, through *door) *http.Server {
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

func (s *front) addProbes(mux *http.ServeMux) {
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { s.say(w, "ok") })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.ready(time.Now()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		s.say(w, "ok")
	})
}

func (s *front) say(w http.ResponseWriter, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		s.log.V(1).Info("the prober hung up", "error", err.Error())
	}
}

// ready says why the server should not be asked now.
func (s *front) ready(now time.Time) error {
	if s.draining.Load() {
		return errors.New("the server is ending: ask another replica")
	}
	if err := s.known(); err != nil {
		return err
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
