package oidc

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

func TestMembersAreThereOnce(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1},"a","a"],"A":1,"d":"a"}`: "",
		`{}`:                                    "",
		`{"a":1,"a":1}`:                         `duplicate key 'a'`,
		`{"a":1,"\u0061":2}`:                    `duplicate key 'a'`,
		"{\"\xff\":1,\"\xfe\":2}":               `duplicate key`,
		`{"a":{"b":[0,{"c":{},"d":[],"c":1}]}}`: `duplicate key 'c'`,
		`{"a":1e999,"b":-0.0e-999}`:             "",
		`{"a":{},"b":[],"a":1}`:                 `duplicate key 'a'`,
		`{"a":1} {}`:                            "no JSON object",
		`[{}]`:                                  "no JSON object",
		`null`:                                  "no JSON object",
		`{"a":` + strings.Repeat("[", 20_000):   "no JSON object",
		``:                                      "no JSON object",
	} {
		members, err := readObject([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && members == nil {
			t.Errorf("%.60s reads with error %v, want %q", text, err, want)
		}
	}
}

func TestTokensSayEachThingOnce(t *testing.T) {
	const header, claims = `{"alg":"ES256","kid":"one"}`, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1}`
	for name, c := range map[string]struct {
		header, claims string
		want           Kind
	}{
		"a good token":               {header, claims, 0},
		"a subject twice":            {header, `{"iss":"i","sub":"s","sub":"other","aud":"a","exp":2,"iat":1}`, Malformed},
		"a claim of its own twice":   {header, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"kubernetes.io":{"namespace":"a","namespace":"b"}}`, Malformed},
		"an algorithm twice":         {`{"alg":"none","alg":"ES256","kid":"one"}`, claims, Malformed},
		"a subject and a Subject":    {header, `{"iss":"i","sub":"s","Sub":"other","aud":"a","exp":2,"iat":1}`, 0},
		"a beginning":                {header, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"nbf":1.0}`, 0},
		"a beginning that is a text": {header, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"nbf":"1"}`, Invalid},
		"a beginning between":        {header, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"nbf":1.5}`, Invalid},
		"a beginning that is null":   {header, `{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"nbf":null}`, Invalid},
	} {
		encode := base64.RawURLEncoding.EncodeToString
		token, err := ReadToken(encode([]byte(c.header)) + "." + encode([]byte(c.claims)) + ".x")
		if kind(err) != c.want {
			t.Errorf("%s: error %v of kind %d, want %d", name, err, kind(err), c.want)
		}
		if err == nil && (token.Subject != "s" || token.algorithm != "ES256" || token.keyID != "one") {
			t.Errorf("%s: it reads %+v", name, token)
		}
	}
}

// TestKeysAreForSignatures changes a good key.
func TestKeysAreForSignatures(t *testing.T) {
	public := func(modulus *big.Int) map[string]any {
		text, err := json.Marshal(jose.JSONWebKey{Key: &rsa.PublicKey{N: modulus, E: 65537}, KeyID: "one"})
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		return members
	}
	of := func(bits int) map[string]any {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		return public(key.N)
	}
	good := of(2048)
	with := func(member string, value any) map[string]any {
		changed := maps.Clone(good)
		changed[member] = value
		return changed
	}
	for name, c := range map[string]struct {
		key  map[string]any
		want bool
	}{
		"a good key":                 {good, true},
		"for signatures":             {with("use", "sig"), true},
		"for encryption":             {with("use", "enc"), false},
		"for another use":            {with("use", "SIG"), false},
		"to verify":                  {with("key_ops", []string{"sign", "verify"}), true},
		"to encrypt":                 {with("key_ops", []string{"encrypt"}), false},
		"to do something else":       {with("key_ops", 7), false},
		"of 1024 bits":               {of(1024), false},
		"of 2047 bits":               {public(new(big.Int).SetBit(big.NewInt(1), 2046, 1)), false},
		"of 4096 bits":               {public(new(big.Int).SetBit(big.NewInt(1), 4095, 1)), true},
		"that would take a minute":   {public(new(big.Int).SetBit(big.NewInt(1), 1<<20, 1)), false},
		"without a type":             {with("kty", ""), false},
		"of a type in other letters": {with("kty", "rsa"), false},
	} {
		text, err := json.Marshal(map[string]any{"keys": []any{c.key}})
		if err != nil {
			t.Fatal(err)
		}
		keys, err := ReadKeys(text)
		if got := err == nil && len(keys) == 1; got != c.want {
			t.Errorf("a key %s is taken: %v, want %v: %v", name, got, c.want, err)
		}
	}
	text, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]string{
		"the list twice":       `{"keys":[` + string(text) + `],"keys":[]}`,
		"a member twice":       `{"keys":[` + strings.Replace(string(text), `{`, `{"kid":"two",`, 1) + `]}`,
		"the list in capitals": `{"Keys":[` + string(text) + `]}`,
	} {
		if keys, err := ReadKeys([]byte(document)); kind(err) != Retrieval {
			t.Errorf("%s: %d keys, error %v", name, len(keys), err)
		}
	}
}
