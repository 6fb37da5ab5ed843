package issuer

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

// discovery fixes the order of the discovery document's fields. It is composed
// and not copied from the API server, whose jwks_uri is an address inside.
type discovery struct {
	Issuer        string   `json:"issuer"`
	KeysURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Claims        []string `json:"claims_supported"`
}

// Discovery is the discovery document of an issuer whose keys use the given
// algorithms. Equal input gives equal bytes, in whatever order it comes.
func Discovery(url string, algorithms []string) []byte {
	sorted := slices.Clone(algorithms)
	if len(sorted) == 0 {
		sorted = []string{"RS256"} // which must not be empty, and must hold this one
	}
	slices.Sort(sorted)
	document, err := json.Marshal(discovery{
		Issuer:        url,
		KeysURI:       url + "/" + KeysPath,
		ResponseTypes: []string{"id_token"},
		SubjectTypes:  []string{"public"},
		Algorithms:    slices.Compact(sorted),
		Claims:        []string{"aud", "exp", "iat", "iss", "sub"},
	})
	if err != nil {
		panic("a struct of strings does not encode: " + err.Error())
	}
	return document
}

// JWKS is the keys document. Equal sets give equal bytes: keys are sorted by
// their ID and each is one compact object.
func JWKS(keys []Key) []byte {
	sorted := slices.Clone(keys)
	sortKeys(sorted)
	texts := make([]string, 0, len(sorted))
	for _, key := range slices.Compact(sorted) {
		texts = append(texts, key.JWK)
	}
	return []byte(`{"keys":[` + strings.Join(texts, ",") + `]}`)
}

// Digest is the SHA-256, in hex, over both documents.
func Digest(keys, discovery []byte) string {
	sum := sha256.New()
	for _, document := range [][]byte{keys, discovery} {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(document))))
		sum.Write(document)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// algorithms lists what the discovery document names for a set of keys.
func algorithms(keys []Key) []string {
	var out []string
	for _, key := range keys {
		if key.Algorithm == "RS256" || slices.Contains([]string{"ES256", "ES384", "ES512"}, key.Algorithm) {
			out = append(out, key.Algorithm)
		}
	}
	return out
}

// publishedKeys reads a keys document that anybody may have written. Each key
// keeps its bytes, compacted, whatever it is: it may be somebody's. What is no
// object is left out, and a body that is no key set has no keys.
func publishedKeys(body []byte) []Key {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil {
		return nil
	}
	var out []Key
	for _, raw := range set.Keys {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields == nil {
			continue
		}
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			continue
		}
		out = append(out, Key{ID: text(fields["kid"]), Algorithm: text(fields["alg"]), JWK: compact.String()})
	}
	sortKeys(out)
	return slices.Compact(out)
}

// UsableKey is a public key by which AWS can verify a token.
type UsableKey struct {
	// ID is the "kid" that tokens name it by.
	ID string `json:"id"`
	// Thumbprint is the key's own, whatever ID it is given (RFC 7638, SHA-256 in base64url).
	Thumbprint string `json:"thumbprint"`
}

// UsableKeys reads the public keys of a keys document that anybody may have written, sorted by ID. What
// is no public key of a known type is left out.
func UsableKeys(document []byte) []UsableKey { return usableKeys(document, nil) }

// UsableKeys are the published keys of the issuer at a URL. One for an algorithm that the discovery
// document does not name is left out.
func (p Public) UsableKeys(url string) []UsableKey {
	allowed, err := readDiscovery(p.Discovery.Body, url, cmp.Or(p.KeysAt, DocumentURL(url, KeysPath)))
	if err != nil {
		allowed = nil
	}
	return usableKeys(p.Keys.Body, allowed)
}

// usableKeys reads those for algorithms that are allowed; nil for all.
func usableKeys(document []byte, allowed []string) (out []UsableKey) {
	for _, key := range publishedKeys(document) {
		public, err := key.public()
		if err != nil || !public.Valid() || !public.IsPublic() || allowed != nil && key.Algorithm != "" && !slices.Contains(allowed, key.Algorithm) {
			continue
		}
		if sum, err := public.Thumbprint(crypto.SHA256); err == nil {
			out = append(out, UsableKey{ID: key.ID, Thumbprint: encode(sum)})
		}
	}
	return slices.Compact(out)
}

// member is a text of the key, empty for none.
func (k Key) member(name string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(k.JWK), &fields) != nil {
		return ""
	}
	return text(fields[name])
}

// public reads the key without the certificates that may come with it (RFC 7517 4.6 to 4.9): a token is
// verified by the key, and the parser refuses both for a certificate that it does not know.
func (k Key) public() (out jose.JSONWebKey, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(k.JWK), &fields); err != nil {
		return out, err
	}
	document, all := []byte(k.JWK), len(fields)
	for _, name := range []string{"x5c", "x5t", "x5t#S256", "x5u"} {
		delete(fields, name)
	}
	if len(fields) < all {
		if document, err = json.Marshal(fields); err != nil {
			return out, err
		}
	}
	return out, out.UnmarshalJSON(document)
}

// text is a JSON string's value, empty for anything else.
func text(raw json.RawMessage) string {
	var out string
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	return out
}

// lacking lists the IDs of the wanted keys that a published set does not hold.
func lacking(wanted, published []Key) []string {
	var out []string
	for _, key := range wanted {
		if !hasKey(published, key.ID) {
			out = append(out, key.ID)
		}
	}
	return out
}

func hasKey(keys []Key, id string) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.ID == id })
}
