package issuer

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	// MaxKeys is how many keys AWS accepts in one key set.
	MaxKeys = 100
	// minRSABits is what AWS and Kubernetes regard as the least.
	minRSABits = 2048
	// maxRSABits is what verifiers commonly accept (OpenSSL's limit).
	maxRSABits = 16384
	// maxKeyIDBytes is what kube-apiserver accepts of an external signer
	// (KEP-740).
	maxKeyIDBytes = 1024
)

// Key is one public key as it is published.
type Key struct {
	// ID is the key ID ("kid").
	ID string
	// Algorithm is the JWS algorithm: RS256, ES256, ES384 or ES512.
	Algorithm string
	// JWK is the key as one line of JSON.
	JWK string
}

// Refusal says why a key source is not used. None of it is, then: half a key
// set is worse than the one published before.
type Refusal struct {
	Reason Reason
	Text   string
}

// Error is the text: what was seen, what is expected. It never holds a key.
func (r *Refusal) Error() string { return r.Text }

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// jwk fixes the order of a published key's fields, so that equal keys give
// equal bytes.
type jwk struct {
	Use       string `json:"use"`
	Type      string `json:"kty"`
	ID        string `json:"kid"`
	Algorithm string `json:"alg"`
	N         string `json:"n,omitempty"`
	E         string `json:"e,omitempty"`
	Curve     string `json:"crv,omitempty"`
	X         string `json:"x,omitempty"`
	Y         string `json:"y,omitempty"`
}

// curves are the EC curves by name, with their algorithm (RFC 7518, 3.4).
var curves = map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}

// KeyID is the ID that Kubernetes gives to a public key: base64url without
// padding of the SHA-256 of its PKIX DER form.
func KeyID(public any) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("encode the public key: %w", err)
	}
	sum := sha256.Sum256(der)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// keyOf is the published form of a public key. Without an ID it gets the one
// that Kubernetes computes.
func keyOf(public any, id, where string) (Key, error) {
	var out jwk
	switch k := public.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < minRSABits {
			return Key{}, refuse(ReasonWeakKey, "%s is an RSA key of %d bits, expected at least %d: replace it", where, bits, minRSABits)
		} else if bits > maxRSABits {
			return Key{}, refuse(ReasonUnsupportedKey, "%s is an RSA key of %d bits, expected at most %d", where, bits, maxRSABits)
		}
		out = jwk{Type: "RSA", Algorithm: "RS256", N: encode(k.N.Bytes()), E: encode(big.NewInt(int64(k.E)).Bytes())}
	case *ecdsa.PublicKey:
		curve := k.Curve.Params().Name
		point, err := k.Bytes()
		if curves[curve] == "" || err != nil {
			return Key{}, refuse(ReasonUnsupportedKey, "%s is an EC key on curve %s, expected P-256, P-384 or P-521", where, curve)
		}
		half := (len(point) - 1) / 2 // the point is 4, X, Y
		out = jwk{Type: "EC", Algorithm: curves[curve], Curve: curve, X: encode(point[1 : 1+half]), Y: encode(point[1+half:])}
	default:
		return Key{}, refuse(ReasonUnsupportedKey, "%s is neither an RSA nor an EC key", where)
	}
	if id == "" {
		computed, err := KeyID(public)
		if err != nil {
			return Key{}, refuse(ReasonUnsupportedKey, "%s: %v", where, err)
		}
		id = computed
	}
	out.Use, out.ID = "sig", id
	text, err := json.Marshal(out)
	if err != nil {
		return Key{}, refuse(ReasonKeyUnreadable, "%s: %v", where, err)
	}
	return Key{ID: id, Algorithm: out.Algorithm, JWK: string(text)}, nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// ReadJWKS reads the keys of an API server (/openid/v1/jwks), sorted by ID.
// Key IDs are taken as they are, since that is what the tokens say; an external
// signer may choose its own. The error is a *Refusal.
func ReadJWKS(body []byte) ([]Key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, refuse(ReasonKeyUnreadable, "the API server's key set is no JSON object with a list of keys: %v", err)
	}
	if len(set.Keys) > MaxKeys {
		return nil, refuse(ReasonTooManyKeys, "the API server shows %d keys, AWS accepts at most %d: remove keys that no longer sign", len(set.Keys), MaxKeys)
	}
	out := make([]Key, 0, len(set.Keys))
	for i, raw := range set.Keys {
		key, err := readJWK(raw, fmt.Sprintf("key %d of the API server's key set", i+1))
		if err != nil {
			return nil, err
		}
		out = append(out, key)
	}
	return unite(out)
}

// privateFields are the members of a JWK that hold secrets (RFC 7518, 6).
var privateFields = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}

func readJWK(raw json.RawMessage, where string) (Key, error) {
	public, id, err := publicKey(raw, where)
	if err != nil {
		return Key{}, err
	}
	if len(id) > maxKeyIDBytes {
		return Key{}, refuse(ReasonUnsupportedKey, "%s has a key ID of %d bytes, expected at most %d", where, len(id), maxKeyIDBytes)
	}
	return keyOf(public, id, where)
}

// publicKey is the key in a JWK, and the ID that it is given there.
func publicKey(raw json.RawMessage, where string) (any, string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, "", refuse(ReasonKeyUnreadable, "%s is no JSON object", where)
	}
	for _, name := range privateFields {
		if _, found := fields[name]; found {
			return nil, "", refuse(ReasonPrivateKeyInSource, "%s holds a private or secret key, expected public keys only: nothing of the source is published; replace the key pair", where)
		}
	}
	var kind string
	if err := json.Unmarshal(fields["kty"], &kind); err != nil || (kind != "RSA" && kind != "EC") {
		return nil, "", refuse(ReasonUnsupportedKey, "%s has the type %q, expected RSA or EC", where, kind)
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(raw); err != nil || !parsed.Valid() {
		return nil, "", refuse(ReasonKeyUnreadable, "%s is no valid %s public key", where, kind)
	}
	return parsed.Key, parsed.KeyID, nil
}

// ReadPEM reads the keys of a ConfigMap, every value one or more PEM blocks of
// type PUBLIC KEY, sorted by ID. The error is a *Refusal.
func ReadPEM(data map[string]string) ([]Key, error) {
	var out []Key
	for _, name := range slices.Sorted(maps.Keys(data)) {
		if strings.Contains(data[name], "PRIVATE KEY-----") {
			return nil, refuse(ReasonPrivateKeyInSource, "entry %q of the ConfigMap holds a private key, expected public keys only: nothing of the source is published; remove it and replace the key pair", name)
		}
		keys, err := readBlocks(fmt.Sprintf("entry %q of the ConfigMap", name), []byte(data[name]))
		if err != nil {
			return nil, err
		}
		if out = append(out, keys...); len(out) > MaxKeys {
			return nil, refuse(ReasonTooManyKeys, "the ConfigMap holds more than %d keys, AWS accepts no more: remove keys that no longer sign", MaxKeys)
		}
	}
	return unite(out)
}

// readAdditional reads the keys that a spec names beside those of the source.
func readAdditional(entries []string) ([]Key, error) {
	var out []Key
	for i, text := range entries {
		where := fmt.Sprintf("spec.keys.additional[%d]", i)
		if strings.Contains(text, "PRIVATE KEY-----") {
			return nil, refuse(ReasonPrivateKeyInSource, "%s holds a private key, expected public keys only: nothing of the list is published; remove it and replace the key pair", where)
		}
		keys, err := readBlocks(where, []byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, keys...)
	}
	return unite(out)
}

func readBlocks(entry string, rest []byte) ([]Key, error) {
	var out []Key
	announced := bytes.Count(rest, []byte("-----BEGIN "))
	for {
		block, after := pem.Decode(rest)
		if block == nil {
			break
		}
		rest = after
		if block.Type != "PUBLIC KEY" {
			return nil, refuse(ReasonUnsupportedKey, "%s holds a PEM block of type %q, expected PUBLIC KEY", entry, block.Type)
		}
		where := fmt.Sprintf("block %d of %s", len(out)+1, entry)
		public, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, refuse(ReasonKeyUnreadable, "%s is no public key in PKIX form", where)
		}
		key, err := keyOf(public, "", where)
		if err != nil {
			return nil, err
		}
		out = append(out, key)
	}
	if len(out) == 0 || len(out) != announced || len(bytes.TrimSpace(rest)) != 0 {
		return nil, refuse(ReasonKeyUnreadable, "%s is not wholly PEM: %d whole blocks were read, expected one or more PUBLIC KEY blocks and nothing after them", entry, len(out))
	}
	return out, nil
}

// unite sorts keys by ID and drops repetitions; one ID for different keys, or
// too many keys, is a *Refusal.
func unite(sets ...[]Key) ([]Key, error) {
	all := slices.Concat(sets...)
	sortKeys(all)
	all = slices.Compact(all)
	for i := 1; i < len(all); i++ {
		if all[i].ID == all[i-1].ID {
			return nil, refuse(ReasonDuplicateKeyID, "two different keys have the key ID %q, expected an ID of its own for each", all[i].ID)
		}
	}
	if len(all) > MaxKeys {
		return nil, refuse(ReasonTooManyKeys, "the key source holds %d keys, AWS accepts at most %d: remove keys that no longer sign", len(all), MaxKeys)
	}
	return all, nil
}

func sortKeys(keys []Key) {
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.JWK, b.JWK))
	})
}
