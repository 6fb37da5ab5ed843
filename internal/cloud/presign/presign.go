// Package presign signs URLs in the name of an identity. A presigned URL is a request
// that another makes: its holder can do that request and nothing else.
package presign

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
)

const api = cloud.API("STS")

// emptyHash is the SHA-256 of an empty body.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Signer signs. It is safe for concurrent use.
type Signer struct {
	auth *awsauth.Auth
	now  func() time.Time
}

// New makes a Signer that gets its identities from auth.
func New(auth *awsauth.Auth, now func() time.Time) *Signer { return &Signer{auth, now} }

// GetCallerIdentity signs a GET of a URL of STS with the header, and returns the signed
// URL, when it was signed, and when the credentials end, the zero time for never. The
// headers host and that one are signed, no other. The error is a fault.Fault: of an
// identity that cannot become anybody, it names the exchange that failed.
func (s *Signer) GetCallerIdentity(ctx context.Context, id identity.Identity, url, header, value string) (signed string, at, ending time.Time, err error) {
	config, err := s.auth.Config(ctx, id)
	if err != nil {
		return "", at, ending, api.Fault("GetCallerIdentity", err)
	}
	credentials, err := config.Credentials.Retrieve(ctx)
	if err != nil {
		return "", at, ending, api.Fault("GetCallerIdentity", err)
	}
	if credentials.CanExpire {
		ending = credentials.Expires
	}
	at = s.now()
	signed, err = get(ctx, credentials, config.Region, url, header, value, at)
	return signed, at, ending, err
}

func get(ctx context.Context, credentials aws.Credentials, region, url, header, value string, now time.Time) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("the request to sign: %w", err)
	}
	request.Header.Set(header, value)
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, credentials, request, emptyHash, "sts", region, now)
	if err != nil {
		return "", fmt.Errorf("sign the request: %w", err)
	}
	return signed, nil
}
