// Package awsauth answers which AWS identity a process or an object uses: it
// turns an identity.Identity into an SDK configuration. Configurations are
// cached, making one never touches the network, and nothing ambient is taken
// up: no access keys from the environment, no profiles, no instance metadata,
// unless the identity is a person's own session, which means just those.
//
// A certificate bundle in AWS_CA_BUNDLE is added to the system's roots. The
// SDK by itself would put it in their place, so that a bundle for one private
// endpoint cuts off every public one.
package awsauth

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

const (
	// appID is what CloudTrail shows in the user agent.
	appID = "tabard"
	// Every operation ends by itself, whatever its context: at most
	// maxAttempts of attemptTimeout each with at most maxBackoff in between.
	maxAttempts    = 3
	attemptTimeout = 15 * time.Second
	maxBackoff     = 5 * time.Second
	// maxCached bounds the caches. Identities come from objects, and objects
	// come and go; at the bound everything is forgotten and made again.
	maxCached = 256
)

// Options is what an Auth needs of the process around it.
type Options struct {
	// Getenv reads the environment; nil is os.Getenv. A person's session is
	// the exception: the SDK itself reads the real environment for it.
	Getenv func(string) string
	// ReadFile reads the token file and the certificate bundle; nil is
	// os.ReadFile.
	ReadFile func(string) ([]byte, error)
	// Now is the clock by which credentials expire; nil is time.Now.
	Now func() time.Time
	// HTTPClient makes all calls; nil is the SDK's client with the system's
	// roots and those of AWS_CA_BUNDLE.
	HTTPClient aws.HTTPClient
}

// Auth makes and keeps SDK configurations. It is safe for concurrent use.
type Auth struct {
	getenv   func(string) string
	readFile func(string) ([]byte, error)
	now      func() time.Time
	client   aws.HTTPClient
	env      environment
	// session is the name of role sessions that the environment does not name.
	session string

	mu          sync.Mutex
	configs     map[identity.Identity]aws.Config
	credentials map[credentialKey]aws.CredentialsProvider
	person      *aws.Config
}

// credentialKey is what credentials depend on: identities that differ only in
// where they call share one exchange.
type credentialKey struct {
	base identity.Base
	role string
	// stsRegion is where the exchange happens.
	stsRegion string
}

// New makes an Auth. It fails if AWS_CA_BUNDLE names a file that cannot be read
// or holds no certificate, or if an endpoint in the environment is no URL.
func New(options Options) (*Auth, error) {
	a := &Auth{
		getenv:      options.Getenv,
		readFile:    options.ReadFile,
		now:         options.Now,
		client:      options.HTTPClient,
		configs:     map[identity.Identity]aws.Config{},
		credentials: map[credentialKey]aws.CredentialsProvider{},
	}
	if a.getenv == nil {
		a.getenv = os.Getenv
	}
	if a.readFile == nil {
		a.readFile = os.ReadFile
	}
	if a.now == nil {
		a.now = time.Now
	}
	a.env = environment{getenv: a.getenv}
	if err := a.env.check(); err != nil {
		return nil, err
	}
	a.session = sessionName(a.getenv, a.now())
	if a.client == nil {
		trusting, err := newTrustingClient(a.getenv(envCABundle), a.readFile, a.now)
		if err != nil {
			return nil, err
		}
		a.client = trusting
	}
	return a, nil
}

// HTTPClient is the client that all calls use: it trusts the system's roots and
// the bundle that AWS_CA_BUNDLE names. It adds no credentials to a request.
func (a *Auth) HTTPClient() aws.HTTPClient { return a.client }

// Config returns the configuration for an identity, always the same one for
// equal identities. Its credentials are fetched at first use. An error is an
// *Error and says what the environment or the identity lacks. The context only
// bounds the reading of a person's configuration files.
func (a *Auth) Config(ctx context.Context, id identity.Identity) (aws.Config, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if config, ok := a.configs[id]; ok {
		return config, nil
	}
	config, err := a.build(ctx, id)
	if err != nil {
		return aws.Config{}, err
	}
	if len(a.configs) >= maxCached {
		clear(a.configs)
		clear(a.credentials)
	}
	a.configs[id] = config
	return config, nil
}

// build makes a configuration; the caller holds the lock.
func (a *Auth) build(ctx context.Context, id identity.Identity) (aws.Config, error) {
	var config aws.Config
	var err error
	switch id.Base {
	case identity.WebIdentity:
		config, err = a.webIdentity(id.Region)
	case identity.Session:
		config, err = a.ownSession(ctx, id.Region)
	default:
		err = invalidIdentity(id.Base)
	}
	if err != nil {
		return aws.Config{}, err
	}
	if config.Region == "" {
		return aws.Config{}, regionMissing()
	}
	return a.assuming(config, id)
}

// bare is a configuration without credentials that takes nothing ambient but
// the endpoints.
func (a *Auth) bare(region string) aws.Config {
	if region == "" {
		region = a.env.region()
	}
	return aws.Config{
		Region:        region,
		HTTPClient:    a.client,
		AppID:         appID,
		Retryer:       newRetryer,
		DefaultsMode:  aws.DefaultsModeStandard,
		BaseEndpoint:  a.env.baseEndpoint(),
		ConfigSources: []any{a.env},
		// The SDK's own defaults, which only its loader sets.
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
}

// newRetryer is bounded in attempts and time. It has no quota over all calls:
// whoever calls backs off by itself, and an error of the quota would hide the
// error of the service.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
		o.RateLimiter = ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(refusedCertificate)}, o.Retryables...)
	})
}

// refusedCertificate keeps the SDK from trying again where only a person can
// help: it takes a refused certificate for a connection that broke.
func refusedCertificate(err error) aws.Ternary {
	var refused *tls.CertificateVerificationError
	if errors.As(err, &refused) {
		return aws.FalseTernary
	}
	return aws.UnknownTernary
}
