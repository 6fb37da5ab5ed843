package awslocal

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// keySet is a JWKS of a new key.
func keySet(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "one", Algorithm: "ES256"}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestClustersAreRegisteredByTheAdminAPI(t *testing.T) {
	server := newServer(t, Options{Accounts: []string{"111122223333", "123456789012"}})
	keys := keySet(t)
	steps := map[string]struct {
		body   string
		status int
		says   string
	}{
		"with keys":              {`{"account":"123456789012","name":"a","issuer":"https://i.test","jwks":` + keys + `}`, 200, `{"account":"123456789012","region":"us-east-1","name":"a","issuer":"https://i.test","keys":"given","accessEntries":[]}`},
		"to be fetched":          {`{"account":"123456789012","region":"eu-west-1","name":"b","issuer":"https://i.test"}`, 200, `"name":"b","issuer":"https://i.test","keys":"fetched"`},
		"over plain HTTP":        {`{"account":"123456789012","name":"b","issuer":"http://i.test"}`, 400, "no https URL"},
		"plain HTTP with keys":   {`{"account":"123456789012","name":"c","issuer":"http://i.test","jwks":` + keys + `}`, 200, `"name":"c"`},
		"keys that are none":     {`{"account":"123456789012","name":"d","issuer":"https://i.test","jwks":{"keys":[]}}`, 400, "no usable RSA or EC key"},
		"no account of several":  {`{"name":"d","issuer":"https://i.test"}`, 400, `the account "" of cluster "d" is none of`},
		"another partition":      {`{"account":"123456789012","region":"cn-north-1","name":"d","issuer":"https://i.test"}`, 400, "is not in the partition aws"},
		"a name that is none":    {`{"account":"123456789012","name":"-","issuer":"https://i.test"}`, 400, `"-" is no name of a cluster`},
		"a mode that is none":    {`{"account":"123456789012","name":"d","issuer":"https://i.test","authenticationMode":"X"}`, 400, `the authentication mode "X"`},
		"no issuer":              {`{"account":"123456789012","name":"d","jwks":` + keys + `}`, 400, "a cluster needs an issuer"},
		"a field that is no one": {`{"cluster":"d"}`, 400, "the body must be a JSON object"},
		"half a body":            {`{`, 400, "the body must be a JSON object"},
	}
	for name, c := range steps {
		t.Run(name, func(t *testing.T) {
			got := ask(server, http.MethodPost, "/_awslocal/clusters", c.body, nil)
			if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
				t.Errorf("answer %d %s, want %d with %s", got.Code, got.Body, c.status, c.says)
			}
		})
	}
	if got := server.Admin().Clusters(); len(got) != 3 {
		t.Errorf("the clusters are %+v, want three", got)
	}
	server.Admin().Reset()
	if got := ask(server, http.MethodGet, "/_awslocal/clusters", "", nil); strings.TrimSpace(got.Body.String()) != "[]" {
		t.Errorf("after a reset there are %s", got.Body)
	}
}

func TestUnsignedCallsOfEKSAreRefusedInItsForm(t *testing.T) {
	server := newServer(t, Options{})
	cases := map[string]struct {
		method, host, path string
		status             int
		kind               string
	}{
		"by EKS's name":                 {"GET", "eks.us-east-1.amazonaws.com", "/clusters", 403, "MissingAuthenticationTokenException"},
		"by EKS Auth's name":            {"POST", "eks-auth.us-east-1.api.aws:443", "/", 403, "MissingAuthenticationTokenException"},
		"by EKS Auth's path":            {"POST", "127.0.0.1", "/clusters/a/assume-role-for-pod-identity", 403, "MissingAuthenticationTokenException"},
		"a bucket called clusters":      {"GET", "127.0.0.1", "/clusters/a", 0, ""},
		"a bucket with a name like EKS": {"GET", "eks.s3.us-east-1.amazonaws.com", "/a", 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(server, c.method, c.path, "", func(r *http.Request) { r.Host = c.host })
			if kind := got.Header().Get("X-Amzn-Errortype"); kind != c.kind || kind != "" && got.Code != c.status {
				t.Errorf("answer %d %q %s, want %q", got.Code, kind, got.Body, c.kind)
			}
		})
	}
}
