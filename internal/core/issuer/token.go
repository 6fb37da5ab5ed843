package issuer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// clockSkew is how far ahead of us the API server's clock may be.
const clockSkew = 5 * time.Minute

// maxSeconds is past any time that a token can name: the year 9999.
const maxSeconds = 253402300800

// signatures are the algorithms that AWS and Kubernetes have in common.
var signatures = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.ES384, jose.ES512}

// claims are the parts of a token that are looked at.
type claims struct {
	Issuer    string  `json:"iss"`
	Expiry    float64 `json:"exp"`
	NotBefore float64 `json:"nbf"`
	IssuedAt  float64 `json:"iat"`
}

// TokenHeader reads what a token says of itself, without verifying it. Errors
// never hold any part of the token.
func TokenHeader(raw string) (Token, error) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return Token{}, fmt.Errorf("the token has %d parts, expected the three of a signed JWT", len(parts))
	}
	var header struct {
		KeyID string `json:"kid"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return Token{}, errors.New("the token's header is no JSON in base64url")
	}
	var body claims
	if err := decodePart(parts[1], &body); err != nil {
		return Token{}, errors.New("the token's claims are no JSON in base64url")
	}
	out := Token{Issuer: body.Issuer, KeyID: header.KeyID}
	if body.IssuedAt > 0 && body.IssuedAt < maxSeconds {
		out.IssuedAt = time.Unix(int64(body.IssuedAt), 0).UTC()
	}
	return out, nil
}

func decodePart(part string, into any) error {
	plain, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// VerifyToken verifies a token as AWS would, against the two documents that
// were fetched from the issuer's URL: the discovery document is that of the
// URL and leads to the keys, the key is there, the signature fits, issuer and
// times are right. Errors never hold any part of the token but its key ID and
// issuer.
func VerifyToken(raw string, keys, discovery []byte, url string, now time.Time) error {
	allowed, err := readDiscovery(discovery, url, DocumentURL(url, KeysPath))
	if err != nil {
		return err
	}
	seen, err := TokenHeader(raw)
	if err != nil {
		return err
	}
	public, err := findKey(keys, seen.KeyID)
	if err != nil {
		return err
	}
	signed, err := jose.ParseSignedCompact(raw, signatures)
	if err != nil {
		return errors.New("the token is not signed with RS256, ES256, ES384 or ES512")
	}
	if algorithm := signed.Signatures[0].Protected.Algorithm; !slices.Contains(allowed, algorithm) {
		return fmt.Errorf("the token is signed with %s, the discovery document allows %s", algorithm, strings.Join(allowed, ", "))
	}
	payload, err := signed.Verify(public)
	if err != nil {
		return fmt.Errorf("the token's signature does not fit the published key %q: another key has the same ID", seen.KeyID)
	}
	return verifyClaims(payload, url, now)
}

// readDiscovery returns the algorithms that a discovery document names. It has to be that of the issuer,
// with its keys at a URL.
func readDiscovery(document []byte, url, keysAt string) ([]string, error) {
	seen, err := discovered(document)
	if err != nil {
		return nil, errors.New("the discovery document is no JSON object of the expected form")
	}
	if seen.Issuer != url {
		return nil, fmt.Errorf("the discovery document names the issuer %q, expected %q", seen.Issuer, url)
	}
	if seen.KeysURI != keysAt {
		return nil, fmt.Errorf("the discovery document leads to keys at %q, expected %q", seen.KeysURI, keysAt)
	}
	return seen.Algorithms, nil
}

// discovered reads what counts of a discovery document that anybody may have written, whatever the rest
// is. Algorithms that are no list of texts are as good as none.
func discovered(document []byte) (out discovery, err error) {
	var seen struct {
		Issuer     string          `json:"issuer"`
		KeysURI    string          `json:"jwks_uri"`
		Algorithms json.RawMessage `json:"id_token_signing_alg_values_supported"`
	}
	if err := json.Unmarshal(document, &seen); err != nil {
		return out, err
	}
	var algorithms []string
	if json.Unmarshal(seen.Algorithms, &algorithms) != nil {
		algorithms = nil
	}
	return discovery{Issuer: seen.Issuer, KeysURI: seen.KeysURI, Algorithms: algorithms}, nil
}

func findKey(document []byte, id string) (*jose.JSONWebKey, error) {
	for _, key := range publishedKeys(document) {
		if key.ID != id {
			continue
		}
		public, err := key.public()
		if err != nil || !public.Valid() || !public.IsPublic() {
			return nil, fmt.Errorf("the published key %q is no valid public key", id)
		}
		return &public, nil
	}
	return nil, fmt.Errorf("the token is signed with key %q, which the published keys document does not hold", id)
}

func verifyClaims(payload []byte, url string, now time.Time) error {
	var body claims
	if err := json.Unmarshal(payload, &body); err != nil {
		return errors.New("the token's claims are no JSON object")
	}
	at := float64(now.Unix())
	switch {
	case body.Issuer != url:
		return fmt.Errorf("the token names the issuer %q, expected %q", body.Issuer, url)
	case body.Expiry <= at:
		return errors.New("the token requested just now has expired already: this clock is ahead of the API server's; set both by NTP")
	case body.NotBefore > at+clockSkew.Seconds():
		return errors.New("the token requested just now is not valid yet: this clock is behind the API server's; set both by NTP")
	}
	return nil
}
