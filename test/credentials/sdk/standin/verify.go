package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// reason is why a token is refused; both clouds have words of their own for it.
type reason string

const (
	malformed      reason = "it is no signed JWT"
	otherIssuer    reason = "it names another issuer"
	unpublished    reason = "its key is not published"
	badSignature   reason = "its signature does not fit the key"
	outOfTime      reason = "it is not valid at this time"
	otherAudience  reason = "it is for another audience"
	otherSubject   reason = "it is another's"
	issuerUnserved reason = "its issuer's documents cannot be read"
)

// algorithms are those that both clouds take for federated tokens and Kubernetes signs with.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256}

// verify reads a token as far as it may be trusted: the issuer is the federation's, it
// published the key, and the token is for the federation's audience, and no other one, at this
// time: AWS refuses a second audience, and of the other clouds it is not known. Who the token's
// holder may become is the caller's.
func (s *Server) verify(ctx context.Context, raw string, federation Federation) (claims jwt.Claims, refused reason) {
	token, err := jwt.ParseSigned(raw, algorithms)
	if err != nil || token.UnsafeClaimsWithoutVerification(&claims) != nil {
		return jwt.Claims{}, malformed
	}
	if claims.Issuer != federation.Issuer {
		return claims, otherIssuer
	}
	keys, err := s.published(ctx, federation.Issuer)
	if err != nil {
		return claims, issuerUnserved
	}
	found := keys.Key(token.Headers[0].KeyID)
	if len(found) != 1 {
		return claims, unpublished
	}
	if err := token.Claims(found[0].Key, &claims); err != nil {
		return claims, badSignature
	}
	switch {
	case claims.Expiry == nil || claims.ValidateWithLeeway(jwt.Expected{Time: time.Now()}, 0) != nil:
		return claims, outOfTime
	case len(claims.Audience) != 1 || claims.Audience[0] != federation.Audience:
		return claims, otherAudience
	}
	return claims, ""
}

// published are the keys to which the issuer's discovery document leads.
func (s *Server) published(ctx context.Context, issuer string) (keys jose.JSONWebKeySet, err error) {
	var document struct {
		Issuer  string `json:"issuer"`
		KeysURI string `json:"jwks_uri"`
	}
	if err := s.fetch(ctx, issuer+"/.well-known/openid-configuration", &document); err != nil {
		return keys, err
	}
	if document.Issuer != issuer {
		return keys, errors.New("the discovery document is another issuer's")
	}
	return keys, s.fetch(ctx, document.KeysURI, &keys)
}

func (s *Server) fetch(ctx context.Context, url string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := s.issuers.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(into)
}
