package awsauth

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	// defaultAppID is what CloudTrail shows in the user agent.
	defaultAppID = "tabard"
	// defaultCached has room for the sessions of one IAMRoleSelector, 1,000, and for
	// those on which they are built.
	defaultCached = 1100
	// maxClients bounds the HTTP clients, of which there is one for each bundle.
	maxClients = 16
)

// Options is what an Auth needs of the process around it.
type Options struct {
	// Getenv reads the environment; nil is os.Getenv. The SDK's default chain is
	// the exception: the SDK itself reads the real environment for it.
	Getenv func(string) string
	// ReadFile reads token files and the certificate bundle; nil is os.ReadFile.
	ReadFile func(string) ([]byte, error)
	// Now is the clock by which credentials expire; nil is time.Now.
	Now func() time.Time
	// Chance is a number from 0 to 1, for jitter; nil is random.
	Chance func() float64
	// HTTPClient makes all calls; nil is the SDK's transport with the system's
	// roots and those of the bundles. With a client of its own an identity can
	// have no bundle.
	HTTPClient aws.HTTPClient
	// Source knows Secrets and bundles; nil knows none.
	Source Source
	// Tokens requests tokens of ServiceAccounts; nil requests none.
	Tokens Tokens
	// TokenFiles are the files that a Secret may name as its token: those that
	// are mounted into this process for just that. Nil is where OpenShift's
	// operators and EKS's webhook mount theirs.
	TokenFiles []string
	// AppID is what CloudTrail shows in the user agent, such as "tabard/1.2";
	// empty is "tabard".
	AppID string
	// Cached is how many sessions are kept besides those that InUse counts, and as
	// many configurations; 0 is 1,100. Those of a chain count one by one. A session
	// with its configuration takes about 8 kB. If there are more then sessions that
	// have ended go first, else one of those that were not used for long: whoever
	// asks for it again makes another exchange. The Observer and the Logger are
	// told of that.
	Cached int
	// InUse is how many different identities the process's objects ask for now, such
	// as the method Open of roleselector.Sessions: there is room for as many. It is
	// asked often, from many goroutines, and must not use the Auth. Nil is 0.
	InUse func() int
	// Observer is told what happens; nil is nobody.
	Observer Observer
	// Logger is told once who the process became and what it trusts, and what the
	// SDK warns of; nil is nobody. It never gets a key or a token.
	Logger *slog.Logger
}

// Auth makes and keeps SDK configurations. It is safe for concurrent use.
type Auth struct {
	readFile   func(string) ([]byte, error)
	now        func() time.Time
	chance     func() float64
	source     Source
	tokens     Tokens
	tokenFiles []string
	appID      string
	observer   Observer
	log        *slog.Logger
	env        environment
	// session is the name of role sessions that nothing else names.
	session string
	// injected makes all calls if it is not nil, else trusting those of
	// identities without a bundle.
	injected aws.HTTPClient
	trusting *trustingClient
	// person is the SDK's default chain, loaded when first asked for.
	person person
	// ambient warns once of what is in the environment and does not count.
	ambient sync.Once
	// probes are the questions after roles that were refused.
	probes probes

	mu          sync.Mutex
	configs     *cache[identity.Identity, built]
	credentials *cache[identity.Identity, exchanged]
	clients     *cache[identity.BundleRef, *trustingClient]
	// warned is when the log was last told that the credentials have no room.
	warned time.Time
}

// New makes an Auth. It fails if AWS_CA_BUNDLE names a file that cannot be read
// or holds no certificate, or if an endpoint in the environment is no URL.
func New(options Options) (*Auth, error) {
	options = options.withDefaults()
	room := func() int { return options.Cached + options.InUse() }
	a := &Auth{
		readFile: options.ReadFile, now: options.Now, chance: options.Chance, source: options.Source,
		tokens: options.Tokens, tokenFiles: options.TokenFiles, appID: options.AppID, observer: options.Observer, log: options.Logger,
		env: environment{getenv: options.Getenv}, injected: options.HTTPClient,
		session:     sessionName(options.Getenv, options.Now()),
		configs:     newCache[identity.Identity, built](room),
		credentials: newCache[identity.Identity, exchanged](room),
		clients:     newCache[identity.BundleRef, *trustingClient](func() int { return maxClients }),
	}
	a.credentials.spent = func(e exchanged, now time.Time) bool { return e.kept.isOver(now) }
	a.credentials.evicted = a.noRoom
	a.clients.evicted = func(client *trustingClient, _ bool) { client.close() }
	if err := a.env.check(); err != nil {
		return nil, err
	}
	if a.injected == nil {
		trusting, err := a.newTrusting()
		if err != nil {
			return nil, err
		}
		a.trusting = trusting
	}
	return a, nil
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Chance == nil {
		o.Chance = rand.Float64
	}
	if o.HTTPClient != nil {
		o.HTTPClient = plainBodies{o.HTTPClient}
	}
	if o.Source == nil {
		o.Source = nothing{}
	}
	if o.Tokens == nil {
		o.Tokens = nothing{}
	}
	if o.TokenFiles == nil {
		o.TokenFiles = defaultTokenFiles
	}
	if o.AppID == "" {
		o.AppID = defaultAppID
	}
	if o.Cached <= 0 {
		o.Cached = defaultCached
	}
	if o.InUse == nil {
		o.InUse = func() int { return 0 }
	}
	if o.Observer == nil {
		o.Observer = deaf{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Environment is what the process's environment says of who it is.
func (a *Auth) Environment() identity.Environment { return a.env.identity() }

// Region is AWS_REGION, else AWS_DEFAULT_REGION, of the process; empty for
// neither.
func (a *Auth) Region() string { return a.env.region() }

// WhoAmI chooses the base of an identity from the environment and what is wished
// for, by identity.Decide. An error is an *Error and holds until one of the two
// changes.
func (a *Auth) WhoAmI(wish identity.Wish) (identity.Identity, error) {
	id, err := identity.Decide(a.env.identity(), wish)
	if err != nil {
		return identity.Identity{}, undecided(err)
	}
	return id, nil
}

// Config returns the configuration for an identity. It is the same one for equal
// identities until the Secret or what else it was made of changes, so whoever
// asks at each use follows all changes. Nobody in AWS is called: credentials are
// fetched by the first call that needs them. An error is an *Error and says what
// the environment, the identity or the Secret lacks. The context bounds the
// reading of Secrets, bundles and a person's configuration files.
func (a *Auth) Config(ctx context.Context, id identity.Identity) (aws.Config, error) {
	config, err := a.config(ctx, id)
	if err != nil {
		a.observer.Built(methodOf(id.Base), err)
	}
	return config, err
}

func (a *Auth) config(ctx context.Context, id identity.Identity) (aws.Config, error) {
	id, err := a.complete(id)
	if err != nil {
		return aws.Config{}, err
	}
	parts, err := a.gather(ctx, id)
	if err != nil {
		return aws.Config{}, err
	}
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if kept, ok := a.configs.get(id, now); ok && kept.from == parts.inputs {
		for _, key := range kept.credentials {
			a.credentials.get(key, now) // it is in use
		}
		return kept.config, nil
	}
	made, err := a.build(id, parts)
	if err != nil {
		return aws.Config{}, err
	}
	a.configs.put(id, made, now)
	a.observer.Built(methodOf(id.Base), nil)
	a.observer.Cached(a.configs.len())
	return made.config, nil
}
