package oidc

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
)

// algorithms are those that STS takes. IAM: "Creating and managing an OIDC
// provider".
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512}

// Token is what a token says. Only after Providers.Verify is it true.
type Token struct {
	// Issuer and Subject are the claims iss and sub.
	Issuer, Subject string
	// Audience is the claim aud, as a list.
	Audience []string
	// AuthorizedParty is the claim azp, empty where it is absent.
	AuthorizedParty string
	// Methods is the claim amr.
	Methods []string
	// Expires and Issued are the claims exp and iat, in seconds since 1970, and
	// NotBefore is nbf, which is the oldest instant where there is none.
	Expires, Issued, NotBefore int64
	// HasTags and HasSourceIdentity say that the claims are there by which a
	// token makes session tags and a source identity.
	HasTags, HasSourceIdentity bool

	raw       string
	algorithm string
	keyID     string
}

// ReadToken reads a token without trusting it.
func ReadToken(raw string) (*Token, error) {
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, &Error{Kind: Malformed, Detail: fmt.Sprintf("the token has %d parts, a signed one has 3", len(parts))}
	}
	header, err := readPart(parts[0])
	if err != nil {
		return nil, &Error{Kind: Malformed, Detail: "the token's header: " + err.Error()}
	}
	claims, err := readPart(parts[1])
	if err != nil {
		return nil, &Error{Kind: Malformed, Detail: "the token's claims: " + err.Error()}
	}
	t := &Token{raw: raw}
	t.algorithm, _ = text(header["alg"])
	t.keyID, _ = text(header["kid"])
	return t, t.fill(claims)
}

// Entry is what the journal says of a token that is not verified yet.
func (t *Token) Entry() *call.Token {
	return &call.Token{Issuer: t.Issuer, Subject: t.Subject, Audience: t.Audience}
}

// readPart reads one of a token's first two parts.
func readPart(part string) (map[string]json.RawMessage, error) {
	plain, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return nil, errors.New("no base64")
	}
	return readObject(plain)
}

func (t *Token) fill(claims map[string]json.RawMessage) error {
	var ok [5]bool
	t.Issuer, ok[0] = text(claims["iss"])
	t.Subject, ok[1] = text(claims["sub"])
	t.Audience, ok[2] = texts(claims["aud"])
	t.Expires, ok[3] = instant(claims["exp"])
	t.Issued, ok[4] = instant(claims["iat"])
	for i, name := range []string{"iss", "sub", "aud", "exp", "iat"} {
		if !ok[i] {
			return &Error{Kind: Incomplete, Detail: name}
		}
	}
	t.NotBefore = math.MinInt64
	if raw, has := claims["nbf"]; has {
		at, whole := instant(raw)
		if !whole {
			return &Error{Kind: Invalid, Detail: "the claim nbf is no whole number of seconds"}
		}
		t.NotBefore = at
	}
	t.AuthorizedParty, _ = text(claims["azp"])
	t.Methods, _ = texts(claims["amr"])
	_, t.HasTags = claims["https://aws.amazon.com/tags"]
	_, t.HasSourceIdentity = claims["https://aws.amazon.com/source_identity"]
	return nil
}

func text(raw json.RawMessage) (string, bool) {
	var s string
	return s, json.Unmarshal(raw, &s) == nil && s != ""
}

func texts(raw json.RawMessage) ([]string, bool) {
	if one, ok := text(raw); ok {
		return []string{one}, true
	}
	var list []string
	return list, json.Unmarshal(raw, &list) == nil && len(list) > 0
}

// instant reads a numeric date. AWS wants whole numbers; 1.5e9 is one too.
func instant(raw json.RawMessage) (int64, bool) {
	var number json.Number
	if json.Unmarshal(raw, &number) != nil || len(number) > 20 || strings.ContainsAny(string(raw), `"`) {
		return 0, false
	}
	value, ok := new(big.Float).SetString(string(number))
	if !ok || !value.IsInt() {
		return 0, false
	}
	seconds, accuracy := value.Int64()
	return seconds, accuracy == big.Exact
}

// Decode reads the token's claims into a struct or a map, with the rules of
// package json.
func (t *Token) Decode(into any) error {
	_, rest, _ := strings.Cut(t.raw, ".")
	claims, _, _ := strings.Cut(rest, ".")
	plain, err := base64.RawURLEncoding.DecodeString(claims)
	if err != nil || json.Unmarshal(plain, into) != nil {
		return &Error{Kind: Malformed, Detail: "claims of the token are not of the types that are expected"}
	}
	return nil
}

// VerifyWith checks the token's signature with keys that are known already.
func (t *Token) VerifyWith(keys []jose.JSONWebKey) error { return t.verify(keys) }

func (t *Token) hasKey(keys []jose.JSONWebKey) bool {
	for _, key := range keys {
		if key.KeyID == t.keyID {
			return true
		}
	}
	return false
}

func (t *Token) verify(keys []jose.JSONWebKey) error {
	signed, err := jose.ParseSignedCompact(t.raw, algorithms)
	if err != nil {
		return &Error{Kind: Invalid, Detail: fmt.Sprintf("algorithm %q is not one of %v, or the token is not well formed", t.algorithm, algorithms)}
	}
	if !t.hasKey(keys) {
		return &Error{Kind: UnknownKey, Detail: fmt.Sprintf("%s publishes no key with ID %q", t.Issuer, t.keyID)}
	}
	for _, key := range keys {
		if key.KeyID != t.keyID || !fits(key, t.algorithm) {
			continue
		}
		if _, err := signed.Verify(key.Key); err == nil {
			return nil
		}
	}
	return &Error{Kind: Invalid, Detail: fmt.Sprintf("the signature is not by the key %q of %s", t.keyID, t.Issuer)}
}

// fits keeps a key to the algorithms of its type, and to its own where it names
// one.
func fits(key jose.JSONWebKey, algorithm string) bool {
	if key.Algorithm != "" && key.Algorithm != algorithm {
		return false
	}
	switch key.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS")
	case *ecdsa.PublicKey:
		return strings.HasPrefix(algorithm, "ES")
	}
	return false
}
