package webhook

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/go-logr/logr"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// server is one webhook server.
type server struct {
	front
	accounts accounts
	config   *configuration
	// mutators are those of the clouds that are on, by name.
	mutators map[string]*mutator
	// roles decides about AWS's; nil if it is off.
	roles *inject.Injector
	// overlaps warn of IAMRoleSelectors; nil if nobody asks for that.
	overlaps *overlaps
	// debugging is what the debugging handlers show; nil without them.
	debugging *watched
}

func newServer(on []cloud, known accounts, counted *metrics, log logr.Logger) *server {
	s := &server{
		front: newFront(counted, log), accounts: known, config: &configuration{timeout: defaultLookupTimeout}, mutators: map[string]*mutator{},
	}
	s.known = s.hasRead
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
		return &SettingsError{err}
	}
	if err := o.askInstance(ctx); err != nil {
		return err
	}
	on, err := newClouds(o)
	if err != nil {
		return &SettingsError{err}
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
	s.front.apply(o)
	if o.LookupTimeout != 0 {
		s.config.timeout = o.LookupTimeout
	}
	if o.RoleSelectorWarnings {
		s.overlaps = newOverlaps(s.intake, s.log)
	}
	if o.DebuggingHandlers {
		s.debugging = known
	}
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

// hasRead says what has not been read that answers need.
func (s *server) hasRead() error {
	if !s.accounts.synced() {
		return errors.New("the ServiceAccounts have not been read yet")
	}
	if !s.config.looked() {
		return errors.New("the config map has not been looked for yet")
	}
	return nil
}

// serve answers on the sockets until ctx ends or a listener fails.
func (s *server) serve(ctx context.Context, sockets listeners) error {
	return s.listenWith(ctx, sockets, s.handler(), s.observer())
}
