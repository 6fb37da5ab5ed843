package issuer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// silentServer is an API server that does not answer.
var silentServer = issuer.APIServer{
	Address: "10.0.0.2:6443", Error: "connection refused", Token: issuer.Token{Error: "connection refused"},
}

// TestEachAPIServersTokenCounts has a cluster of several API servers, of which some
// differ: Ready is True only if the tokens of all of them are good, and the message
// names those that are not.
func TestEachAPIServersTokenCounts(t *testing.T) {
	second := func(change func(*issuer.APIServer)) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			server := w.Cluster.APIServers[0]
			server.Address = "10.0.0.2:6443"
			change(&server)
			w.Cluster.APIServers = append(w.Cluster.APIServers, server)
		}
	}
	configMap := func(change func(*issuer.APIServer)) func(*model, *issuer.World) {
		return func(m *model, w *issuer.World) {
			second(change)(m, w)
			w.Issuer.Spec.Keys = v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "ns", Name: "certs"}}
			w.Cluster.ConfigMap = &issuer.KeyConfigMap{Data: map[string]string{"a": pairs[0].pem}}
			for i := range w.Cluster.APIServers {
				w.Cluster.APIServers[i].JWKS = nil
			}
		}
	}
	signsWithAnother := func(s *issuer.APIServer) { s.Token.KeyID, s.Token.PublicError = "other", "not published" }
	refused := func(s *issuer.APIServer) { s.Token.PublicError = "another key has the same ID" }
	silent := func(s *issuer.APIServer) { *s = silentServer }
	onlyToken := func(s *issuer.APIServer) { s.Token = issuer.Token{Error: "forbidden"} }
	runDecisions(t, map[string]decision{
		"equal servers are ready, and it is told that all were asked": {second(func(*issuer.APIServer) {}), nil, healthy, "from each of 2 API servers verifies"},
		"one signs with a key that no server shows": {second(signsWithAnother), nil, failing("KeysInSync", "False SigningKeyUnknown"),
			"API server 10.0.0.2:6443 signs tokens with key other, which the key source does not show"},
		"the key source is a ConfigMap that does not hold the key of one": {configMap(signsWithAnother), nil, failing("KeysInSync", "False SigningKeyUnknown"),
			"start it with the --service-account-signing-key-file of the others"},
		"the tokens of one do not verify": {second(refused), nil, failing("", "False TokenNotVerified"), "from API server 10.0.0.2:6443 does not verify"},
		"one names another issuer": {second(func(s *issuer.APIServer) { s.Token.Issuer = "https://other.example.org" }), nil, failing("", "False IssuerMismatch"),
			`the tokens of API server 10.0.0.2:6443 name the issuer "https://other.example.org"`},
		"one gives no token":                              {second(onlyToken), nil, failing("", "Unknown TokenUnavailable"), "could be had from API server 10.0.0.2:6443 to try (forbidden)"},
		"one does not answer, with keys from a ConfigMap": {configMap(silent), nil, failing("", "Unknown TokenUnavailable"), "10.0.0.2:6443"},
		"none was found":                                  {func(_ *model, w *issuer.World) { w.Cluster.APIServers = nil }, nil, failing("KeysInSync", "False NoKeys"), ""},
		"none was found, with keys from a ConfigMap": {func(m *model, w *issuer.World) {
			configMap(silent)(m, w)
			w.Cluster.APIServers = nil
		}, nil, failing("", "Unknown TokenUnavailable"), "no API server was asked"},
		"one that is refused is told before one that is silent": {func(m *model, w *issuer.World) {
			second(refused)(m, w)
			w.Cluster.APIServers = append(w.Cluster.APIServers, issuer.APIServer{Address: "10.0.0.3:6443", JWKS: keySet(0), Token: issuer.Token{Error: "forbidden"}})
		}, nil, failing("", "False TokenNotVerified"), "10.0.0.2:6443"},
		"a token that one server signs with an unpublished key is told as that server's": {func(m *model, w *issuer.World) {
			second(func(s *issuer.APIServer) { s.JWKS, s.Token.KeyID = keySet(0, 1), pairs[1].ID })(m, w)
		}, []string{"Record", "PutDocument keys.json"}, []string{"IssuerPublished False Publishing", "KeysInSync False KeyNotPublished", providerTrue, "Ready False Publishing"},
			"API server 10.0.0.2:6443 signs tokens with " + pairs[1].ID},
	})
}

// TestAKeyThatAnyServerSignsWithIsInUse keeps a key alive that only one of the API
// servers still signs with.
func TestAKeyThatAnyServerSignsWithIsInUse(t *testing.T) {
	m := newModel()
	m.settle(t)
	w := m.Observe()
	lagging := w.Cluster.APIServers[0]
	lagging.Address, lagging.JWKS = "10.0.0.2:6443", keySet(1)
	w.Cluster.APIServers[0].JWKS, w.Cluster.APIServers[0].Token.KeyID = keySet(1), pairs[1].ID
	w.Cluster.APIServers = append(w.Cluster.APIServers, lagging)
	w.Now = w.Now.AddDate(0, 1, 0)
	for _, key := range issuer.Decide(w).Status.Keys {
		if key.KeyID == pairs[0].ID && !key.LastSeen.Time.Equal(w.Now) {
			t.Errorf("the key that the second server signs with was last seen %s, want %s", key.LastSeen, w.Now)
		}
	}
}

// TestMessagesStayShort has ten thousand addresses that do not answer: a condition
// that the API server refuses for its length would stop everything.
func TestMessagesStayShort(t *testing.T) {
	m := newModel()
	m.settle(t)
	w := m.Observe()
	for i := range 10000 {
		server := silentServer
		server.Address = fmt.Sprintf("10.1.%d.%d:6443", i/256, i%256)
		w.Cluster.APIServers = append(w.Cluster.APIServers, server)
	}
	for _, c := range issuer.Decide(w).Status.Conditions {
		if len(c.Message) > 1024 {
			t.Errorf("%s has a message of %d bytes", c.Type, len(c.Message))
		}
		if c.Type == issuer.TypeKeysInSync && !strings.Contains(c.Message, "and 9995 more") {
			t.Errorf("%s says %q, want it to tell how many there are", c.Type, c.Message)
		}
	}
}
