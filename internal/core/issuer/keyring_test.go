package issuer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

func TestDecideOnTheKeys(t *testing.T) {
	servers := func(sets ...string) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			token := w.Cluster.APIServers[0].Token
			w.Cluster.APIServers = nil
			for _, set := range sets {
				server := issuer.APIServer{Address: "10.0.0.1:6443", JWKS: []byte(set), Token: token}
				if set == "" {
					server = silentServer
				}
				w.Cluster.APIServers = append(w.Cluster.APIServers, server)
			}
		}
	}
	configMap := func(source issuer.KeyConfigMap) func(*model, *issuer.World) {
		return func(_ *model, w *issuer.World) {
			w.Issuer.Spec.Keys = v1alpha1.KeySource{Source: v1alpha1.KeySourceConfigMap, ConfigMap: &v1alpha1.ConfigMapReference{Namespace: "ns", Name: "certs"}}
			w.Cluster.APIServers[0].JWKS, w.Cluster.ConfigMap = nil, &source
		}
	}
	one := string(keySet(0))
	private := strings.Replace(one, `{"use"`, `{"d":"AA","use"`, 1)
	update := []string{"Record", "PutDocument keys.json"}
	late := []string{"IssuerPublished False Publishing", "KeysInSync False KeyNotPublished", providerTrue, "Ready False Publishing"}
	written := []string{"IssuerPublished False Publishing", keysTrue, providerTrue, "Ready False Publishing"}
	runDecisions(t, map[string]decision{
		"a new key is told, remembered and published":       {servers(string(keySet(0, 1))), update, late, pairs[1].ID},
		"a key that only one server has is published":       {servers(one, string(keySet(1))), update, late, pairs[1].ID},
		"a key that is gone stays published":                {servers(string(keySet(1))), update, []string{"IssuerPublished False Publishing", "KeysInSync False SigningKeyUnknown", providerTrue, "Ready False Publishing"}, pairs[0].ID},
		"a server that does not answer makes it unknown":    {servers(one, ""), nil, failing("KeysInSync", "Unknown APIServerUnreachable"), "10.0.0.2:6443 (connection refused)"},
		"with no server at all, known keys stay":            {servers(""), nil, failing("KeysInSync", "Unknown APIServerUnreachable"), "none is retired"},
		"a new key is published though a server is down":    {servers(string(keySet(0, 1)), ""), update, late, pairs[1].ID},
		"a private key is refused, what is published stays": {servers(private), nil, failing("KeysInSync", "False PrivateKeyInSource"), "what is published stays as it is"},
		"one server's bad key set refuses all":              {servers(string(keySet(0, 1)), private), nil, failing("KeysInSync", "False PrivateKeyInSource"), ""},
		"no key at all is refused":                          {servers(`{"keys":[]}`), nil, failing("KeysInSync", "False NoKeys"), "--service-account-signing-key-file"},
		"the key in use is not in the source":               {func(_ *model, w *issuer.World) { w.Cluster.APIServers[0].Token.KeyID = "other" }, nil, failing("KeysInSync", "False SigningKeyUnknown"), "with key other,"},
		"an unknown key in use is told though a server is down": {func(m *model, w *issuer.World) {
			servers(one, "")(m, w)
			w.Cluster.APIServers[0].Token.KeyID = "other"
		}, nil, failing("KeysInSync", "False SigningKeyUnknown"), "API server 10.0.0.1:6443 signs tokens with key other"},
		"a ConfigMap is as good":                            {configMap(issuer.KeyConfigMap{Data: map[string]string{"a": pairs[0].pem}}), nil, healthy, ""},
		"a missing ConfigMap is named":                      {configMap(issuer.KeyConfigMap{Missing: true}), nil, failing("KeysInSync", "False KeySourceMissing"), "ns/certs"},
		"an empty ConfigMap is refused":                     {configMap(issuer.KeyConfigMap{}), nil, failing("KeysInSync", "False NoKeys"), "ns/certs"},
		"a ConfigMap that may not be read says which right": {configMap(issuer.KeyConfigMap{Error: "forbidden"}), nil, failing("KeysInSync", "False KeySourceUnreadable"), "grant the operator get"},
		"a ConfigMap with a private key is refused":         {configMap(issuer.KeyConfigMap{Data: map[string]string{"a": "-----BEGIN PRIVATE KEY-----"}}), nil, failing("KeysInSync", "False PrivateKeyInSource"), ""},
		"a foreign key is told and left": {func(m *model, w *issuer.World) {
			m.foreignKey()
			*w = m.Observe()
		}, []string{"Record", "PutDocument keys.json"}, []string{"IssuerPublished False Publishing", "KeysInSync False ForeignKey", providerTrue, "Ready False Publishing"}, pairs[foreignPair].ID},
		"a foreign key is dropped when a person says so": {func(m *model, w *issuer.World) {
			m.foreignKey()
			m.settle(t)
			*w = m.Observe()
			w.DropForeignKeys = true
		}, update, written, ""},
	})
}

func TestAForeignKeyNeverEntersStatus(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.foreignKey()
	m.settle(t)
	if len(m.stored.Status.Keys) != 1 || m.stored.Status.Keys[0].KeyID != pairs[0].ID {
		t.Errorf("status knows %+v, want the cluster's key only", m.stored.Status.Keys)
	}
	if diff := cmp.Diff(string(keySet(0, foreignPair)), string(m.bucket.objects[issuer.KeysPath].Body)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
	want := []string{publishedTrue, "KeysInSync False ForeignKey", providerTrue, "Ready False ForeignKey"}
	if diff := cmp.Diff(want, lines(m.stored.Status.Conditions)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestAKeyThatStillSignsDoesNotExpire(t *testing.T) {
	m := newModel()
	m.settle(t)
	w := m.Observe()
	w.Cluster.APIServers[0].JWKS = keySet(1)
	w.Now = w.Now.Add(30 * 24 * time.Hour)
	plan := issuer.Decide(w)
	for _, key := range plan.Status.Keys {
		if key.KeyID == pairs[0].ID && !key.LastSeen.Time.Equal(w.Now) {
			t.Errorf("the key that signs was last seen %s, want %s", key.LastSeen, w.Now)
		}
	}
	for _, step := range plan.Steps {
		if put, is := step.(issuer.PutDocument); is && !strings.Contains(put.Body, pairs[0].ID) {
			t.Errorf("%s is written without the key that signs", put.Key)
		}
	}
}

// TestAnExpiredKeyIsForgottenLast: were it forgotten before it is gone from the
// document, a crash in between would make it somebody else's.
func TestAnExpiredKeyIsForgottenLast(t *testing.T) {
	m := newModel()
	m.signers = []int{0, 1}
	m.settle(t)
	m.signers = []int{1}
	m.settle(t)
	m.watch(t, 25*time.Hour)
	m.now = m.now.Add(time.Second)
	w := m.Observe()
	plan := issuer.Decide(w)
	if diff := cmp.Diff([]string{"Record", "PutDocument keys.json"}, kinds(plan.Steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if len(plan.Status.Keys) != 2 {
		t.Errorf("status knows %d keys while the document holds 2", len(plan.Status.Keys))
	}
	m.settle(t)
	if len(m.stored.Status.Keys) != 1 {
		t.Errorf("status knows %d keys at the end, want 1", len(m.stored.Status.Keys))
	}
}
