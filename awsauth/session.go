package awsauth

import (
	"context"
	"crypto/x509"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
	"github.com/aws/smithy-go/middleware"

	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// person is the SDK's default chain: environment, profile, SSO, instance
// metadata. It is loaded once.
type person struct {
	mu     sync.Mutex
	loaded *aws.Config
}

func (p *person) load(ctx context.Context, a *Auth) (aws.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded != nil {
		return *p.loaded, nil
	}
	loaded, err := config.LoadDefaultConfig(ctx,
		config.WithHTTPClient(a.loaderClient()),
		config.WithRetryer(newRetryer),
		config.WithAPIOptions([]func(*middleware.Stack) error{triedWithin}),
		config.WithAppID(a.appID),
		config.WithLogger(logging.LoggerFunc(a.relay)),
		config.WithDefaultsMode(aws.DefaultsModeStandard))
	if err != nil {
		return aws.Config{}, &Error{Code: fault.CodeSessionInvalid, cause: err, Message: fmt.Sprintf(
			"your AWS configuration cannot be used: %s; `aws configure list` shows what is set", fault.Clean(err.Error()))}
	}
	p.loaded = &loaded
	return loaded, nil
}

// relay writes into the Logger what the SDK logs. Its own would write to standard error, such as
// that it falls back to an older way of asking for instance metadata where nobody is signed in.
func (a *Auth) relay(of logging.Classification, format string, args ...any) {
	tell := a.log.Debug
	if of == logging.Warn {
		tell = a.log.Warn
	}
	tell("the AWS SDK says: " + fault.Clean(fmt.Sprintf(format, args...)))
}

// named are credentials of the SDK whose errors say who asked.
type named struct {
	aws.CredentialsProvider
	who caller
}

// Retrieve returns them, or a *fault.Caller.
func (n named) Retrieve(ctx context.Context) (aws.Credentials, error) {
	got, err := n.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		err = &fault.Caller{Method: n.who.method, Subject: n.who.subject, Err: err}
	}
	return got, err
}

// ofPerson is the default chain's configuration for an identity.
func (a *Auth) ofPerson(id identity.Identity, p parts, who caller) aws.Config {
	own := p.person.Copy()
	own.Credentials = named{own.Credentials, who}
	own.HTTPClient = a.injected
	if p.client != nil {
		own.HTTPClient = p.client
	}
	if id.Region != "" {
		own.Region = id.Region
	}
	if id.Endpoints != (identity.Endpoints{}) {
		own.ServiceOptions = append([]func(string, any){a.env.endpointOption(id.Endpoints)}, own.ServiceOptions...)
	}
	return own
}

// loaderClient is the client of the SDK's loader and of the credential sources
// that it makes. The loader adds AWS_CA_BUNDLE to the roots that it finds, and
// only if it finds none does it begin with an empty pool.
func (a *Auth) loaderClient() aws.HTTPClient {
	if a.injected != nil {
		return a.injected
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	return buildable(roots)
}
