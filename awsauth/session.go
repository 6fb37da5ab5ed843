package awsauth

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// ownSession is a person's own configuration, found as all AWS tools find it:
// environment, profile, SSO, and so on. It is loaded once.
func (a *Auth) ownSession(ctx context.Context, region string) (aws.Config, error) {
	if a.person == nil {
		loaded, err := config.LoadDefaultConfig(ctx,
			config.WithHTTPClient(a.loaderClient()),
			config.WithRetryer(newRetryer),
			config.WithAppID(appID),
			config.WithDefaultsMode(aws.DefaultsModeStandard))
		if err != nil {
			return aws.Config{}, &Error{Code: CodeSessionInvalid, cause: err, Message: fmt.Sprintf(
				"your AWS configuration cannot be used: %v; `aws configure list` shows what is set", err)}
		}
		loaded.HTTPClient = a.client
		a.person = &loaded
	}
	own := a.person.Copy()
	if region != "" {
		own.Region = region
	}
	return own, nil
}

// loaderClient is the client of the SDK's loader and of the credential sources
// that it makes. The loader adds AWS_CA_BUNDLE to the roots that it finds, and
// only if it finds none does it begin with an empty pool.
func (a *Auth) loaderClient() aws.HTTPClient {
	if _, ok := a.client.(*trustingClient); !ok {
		return a.client
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	return buildable(roots)
}
