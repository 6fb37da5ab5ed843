package oidc

import (
	"encoding/base64"
	"errors"
	"testing"
)

// FuzzTokenParts reads headers and claims of every shape. What is read without an
// error has all required claims, and is not verified by no keys.
func FuzzTokenParts(f *testing.F) {
	f.Add(`{"alg":"RS256","kid":"one"}`, `{"iss":"https://i.example","sub":"s","aud":["a"],"exp":1700000000,"iat":1.7e9}`, "c2ln")
	f.Add(`{"alg":"none"}`, `{"iss":"x","sub":"s","aud":"a","exp":1e999,"iat":-1}`, "")
	f.Add(`[]`, `null`, ".")
	f.Fuzz(func(t *testing.T, header, claims, signature string) {
		encode := base64.RawURLEncoding.EncodeToString
		token, err := ReadToken(encode([]byte(header)) + "." + encode([]byte(claims)) + "." + signature)
		var problem *Error
		if err != nil {
			if !errors.As(err, &problem) || problem.Kind != Malformed && problem.Kind != Incomplete {
				t.Errorf("a token that cannot be read gives %v", err)
			}
			return
		}
		if token.Issuer == "" || token.Subject == "" || len(token.Audience) == 0 {
			t.Errorf("%s is read as %+v", claims, token)
		}
		if err := token.verify(nil); err == nil {
			t.Errorf("%s %s is verified by no key", header, claims)
		}
	})
}
