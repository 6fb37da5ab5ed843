package awsauth

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// tellAgain is how long the log is not told again that there is no room.
const tellAgain = time.Hour

const (
	// Every operation ends by itself, whatever its context: at most
	// maxAttempts of attemptTimeout each with at most maxBackoff in between.
	maxAttempts    = 3
	attemptTimeout = 15 * time.Second
	maxBackoff     = 5 * time.Second
)

// built is a configuration with what it was made of.
type built struct {
	config aws.Config
	from   inputs
	// credentials are the keys of the exchanges that it uses.
	credentials []identity.Identity
}

// exchanged are kept credentials with what they were made of. Their key is an
// identity as STS sees it: in the region of the exchange, with the endpoint of
// STS alone. So identities that differ only in where they call share one
// exchange.
type exchanged struct {
	kept *keptCredentials
	from inputs
}

// noRoom tells that credentials went for others although they were still good; the
// caller holds the lock. The log hears of it once an hour.
func (a *Auth) noRoom(kept exchanged, displaced bool) {
	now := a.now()
	if !displaced || kept.kept.isOver(now) {
		return
	}
	a.observer.Displaced()
	if now.Sub(a.warned) >= tellAgain {
		a.warned = now
		a.log.Warn("there are more AWS identities in use than sessions are kept: each use may make another exchange with STS",
			"kept", a.credentials.len(), "remedy", "awsauth.Options.Cached and InUse")
	}
}

// build makes a configuration; the caller holds the lock. It does nothing that
// could wait.
func (a *Auth) build(id identity.Identity, p parts) (built, error) {
	made := built{from: p.inputs}
	exchange := a.exchangeOf(id)
	var bare, forSTS aws.Config
	var kept *keptCredentials
	who := caller{methodOf(id.Base), a.subjectOf(id, p)}
	if isDefaultChain(id.Base) {
		bare = a.ofPerson(id, p, who)
		if bare.Region == "" {
			return built{}, regionMissing()
		}
		id.Region, exchange.Region = bare.Region, bare.Region
		if err := checkRoles(id); err != nil {
			return built{}, err
		}
		forSTS = bare.Copy()
	} else {
		a.warnOfAmbient()
		bare, forSTS = a.bare(id, p), a.bare(exchange, p)
		key := exchange
		key.Roles = identity.Chain{}
		kept = a.exchangeFor(&made, key, func() *keptCredentials {
			made := a.keep(a.baseOf(id, p, forSTS, who), who)
			made.remembers = id.Base == identity.ServiceAccount
			return made
		})
	}
	roles := id.Roles.Roles()
	for i, role := range roles {
		from := a.callingAs(forSTS, source(kept), who)
		who.subject = role.ARN
		assumed, key := who, exchange
		key.Roles = identity.NewChain(roles[:i+1]...)
		kept = a.exchangeFor(&made, key, func() *keptCredentials {
			made := a.keep(&roleAssumption{client: sts.NewFromConfig(from), role: role, session: a.session}, assumed)
			made.remembers = true
			return made
		})
	}
	made.config = a.callingAs(bare, source(kept), who)
	return made, nil
}

// renewable are credentials of which AWS may say that they are out of date.
type renewable interface {
	aws.CredentialsProvider
	// drop forgets the credentials with that access key, and says whether the next
	// ones can be others.
	drop(ctx context.Context, accessKeyID string) bool
}

// source is nil for none.
func source(kept *keptCredentials) renewable {
	if kept == nil {
		return nil
	}
	return kept
}

// callingAs is a configuration whose calls are made with these credentials; nil
// keeps those that it has.
func (a *Auth) callingAs(config aws.Config, kept renewable, who caller) aws.Config {
	config = config.Copy()
	if kept != nil {
		config.Credentials = kept
	}
	config.APIOptions = append(slices.Clone(config.APIOptions), a.watching(kept, who))
	return config
}

// exchangeFor returns the kept credentials of a key, made anew if what they were
// made of has changed.
func (a *Auth) exchangeFor(made *built, key identity.Identity, create func() *keptCredentials) *keptCredentials {
	now := a.now()
	made.credentials = append(made.credentials, key)
	if found, ok := a.credentials.get(key, now); ok && found.from == made.from {
		return found.kept
	}
	kept := create()
	a.credentials.put(key, exchanged{kept, made.from}, now)
	return kept
}

// exchangeOf is an identity as STS sees it. The exchange happens in the
// process's own region if that is of the same partition.
func (a *Auth) exchangeOf(id identity.Identity) identity.Identity {
	id.Endpoints = id.Endpoints.Only("sts")
	own := a.env.region()
	if !isDefaultChain(id.Base) && identity.IsRegion(own) && identity.Partition(own) == identity.Partition(id.Region) {
		id.Region = own
	}
	return id
}

// baseOf is the source of the first credentials.
func (a *Auth) baseOf(id identity.Identity, p parts, forSTS aws.Config, who caller) aws.CredentialsProvider {
	switch {
	case id.Base == identity.WebIdentity:
		a.log.Info("Using IRSA authentication with role: "+p.environment.RoleARN, "authMethod", who.method)
		return a.tokenExchange(forSTS, who, p.environment.RoleARN, "", p.environment.TokenFile)
	case id.Base == identity.ServiceAccount:
		return a.accountExchange(forSTS, who, id.ServiceAccount)
	case id.Base == identity.Container:
		a.log.Info("Using container credentials", "authMethod", who.method)
		return a.container(p.client)
	}
	a.log.Info("Using secret-based authentication", "authMethod", who.method, "secret", who.subject)
	if p.secret.role != "" {
		return a.tokenExchange(forSTS, who, p.secret.role, p.secret.session, p.secret.tokenFile)
	}
	return credentials.NewStaticCredentialsProvider(p.secret.accessKeyID, p.secret.secretKey, p.secret.sessionToken)
}

// methodOf is the stable word for a base, in logs, errors and metrics.
func methodOf(base identity.Base) string {
	switch base {
	case identity.WebIdentity:
		return "irsa"
	case identity.Secret:
		return "secret"
	case identity.ServiceAccount:
		return "service-account"
	case identity.Container:
		return "container"
	case identity.Session:
		return "session"
	case identity.DefaultChain:
		return "default-chain"
	}
	return "none"
}

// subjectOf names the base credentials for a person.
func (a *Auth) subjectOf(id identity.Identity, p parts) string {
	switch id.Base {
	case identity.WebIdentity:
		return p.environment.RoleARN
	case identity.Secret:
		return id.Secret.String()
	case identity.ServiceAccount:
		return id.ServiceAccount.String() + " as " + id.ServiceAccount.RoleARN
	case identity.Container:
		return "this pod's association"
	}
	return "this process's own session"
}

// bare is a configuration without credentials that takes nothing ambient.
func (a *Auth) bare(id identity.Identity, p parts) aws.Config {
	config := aws.Config{
		Region:         id.Region,
		HTTPClient:     a.injected,
		AppID:          a.appID,
		Retryer:        newRetryer,
		DefaultsMode:   aws.DefaultsModeStandard,
		ConfigSources:  []any{a.env},
		APIOptions:     []func(*middleware.Stack) error{triedWithin},
		ServiceOptions: []func(string, any){a.env.endpointOption(id.Endpoints)},
		// The SDK's own defaults, which only its loader sets.
		AccountIDEndpointMode:      aws.AccountIDEndpointModePreferred,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	if p.client != nil {
		config.HTTPClient = p.client
	}
	return config
}

// warnOfAmbient says once that access keys and profiles in the environment do
// not count, to whoever wonders why.
func (a *Auth) warnOfAmbient() {
	a.ambient.Do(func() {
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_PROFILE"} {
			if a.env.getenv(name) != "" {
				a.log.Warn("a variable of the environment is not used", "variable", name)
			}
		}
	})
}

// newRetryer is bounded in attempts and time. It has no quota over all calls:
// whoever calls backs off by itself, and an error of the quota would hide the
// error of the service.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.MaxBackoff = maxBackoff
		o.RateLimiter = ratelimit.None
		o.Retryables = append([]retry.IsErrorRetryable{
			retry.IsErrorRetryableFunc(refusedCertificate), retry.IsErrorRetryableFunc(toldToWait),
			retry.IsErrorRetryableFunc(renewedInstead),
		}, o.Retryables...)
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

// toldToWait keeps a call from being repeated by the SDK if the service wants to
// be left alone for longer than the SDK waits. Whoever calls hears of it by
// fault.Fault's RetryAfter.
func toldToWait(err error) aws.Ternary {
	if fault.Of("", "", err).RetryAfter > maxBackoff {
		return aws.FalseTernary
	}
	return aws.UnknownTernary
}

// renewedInstead keeps a call from being repeated with credentials that may have ended:
// it is made once more with others (renewing). The SDK takes RequestExpired for a clock
// that differs, and mends that by itself if it does.
func renewedInstead(err error) aws.Ternary {
	if isOutOfDate(err) && !fault.Skewed(err) {
		return aws.FalseTernary
	}
	return aws.UnknownTernary
}
