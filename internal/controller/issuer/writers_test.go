package issuer_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// reader fetches the published keys as anybody does, again and again, and notes
// what it missed of those that it has seen, as long as tokens of them are alive.
type reader struct {
	f     *fixture
	mu    sync.Mutex
	known map[string]bool
	alive map[string]bool
	reads int
	// missed are keys that should have been there.
	missed []string
}

// expect says of which keys tokens are alive.
func (r *reader) expect(alive map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alive = alive
}

// know notes published keys.
func (r *reader) know(seen map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = seen
}

func (r *reader) run(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
			r.look(ctx)
		}
	}
}

// look is one fetch. What must be in it is what was known before it began.
func (r *reader) look(ctx context.Context) {
	r.mu.Lock()
	var must []string
	for id := range r.known {
		if r.alive[id] {
			must = append(must, id)
		}
	}
	r.mu.Unlock()
	seen, err := r.f.published(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	if err != nil {
		r.missed = append(r.missed, err.Error())
		return
	}
	for _, id := range must {
		if !seen[id] {
			r.missed = append(r.missed, id)
		}
	}
}

// published are the key IDs at the issuer's URL; none if there is no document.
func (f *fixture) published(ctx context.Context) (map[string]bool, error) {
	fetch := f.controller.Observer.Fetch(ctx, f.url+"/"+core.KeysPath)
	var set struct {
		Keys []struct {
			KeyID string `json:"kid"`
		} `json:"keys"`
	}
	if fetch.Status != http.StatusOK {
		return nil, fmt.Errorf("GET keys: status %d %s", fetch.Status, fetch.Error)
	}
	out := map[string]bool{}
	err := json.Unmarshal(fetch.Body, &set)
	for _, key := range set.Keys {
		out[key.KeyID] = true
	}
	return out, err
}

// rotatingCluster is an API server with a clock of its own, whose keys come and go.
type rotatingCluster struct {
	issuer string
	mu     sync.Mutex
	now    time.Time
	keys   []rotatingKey // the last one signs
	made   int
	// signed is when a token was signed last with each key.
	signed map[string]time.Time
}

type rotatingKey struct {
	core.Key
	private *ecdsa.PrivateKey
}

func newRotatingCluster(t *testing.T, url string, now time.Time) *rotatingCluster {
	t.Helper()
	c := &rotatingCluster{issuer: url, now: now, signed: map[string]time.Time{}}
	c.add(t)
	return c
}

func (c *rotatingCluster) add(t *testing.T) {
	t.Helper()
	private := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	der := must.Get(x509.MarshalPKIXPublicKey(&private.PublicKey))(t)
	keys := must.Get(core.ReadPEM(map[string]string{"a": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}))(t)
	c.keys = append(c.keys, rotatingKey{keys[0], private})
	c.made++
}

// onRotating gives the controller a cluster whose signing key the test replaces, where it
// is not about how an API server does that.
func (f *fixture) onRotating(t *testing.T) *rotatingCluster {
	t.Helper()
	c := newRotatingCluster(t, f.url, f.now)
	f.controller.Observer.Cluster = c.observed(t)
	return c
}

// replace gives the cluster a new signing key, and no longer the old, and returns its ID.
func (c *rotatingCluster) replace(t *testing.T) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(t)
	c.keys = c.keys[len(c.keys)-1:]
	return c.keys[0].ID
}

// turn lets less time pass than may go unseen, changes the keys, and returns the ID of
// the one that signs.
func (c *rotatingCluster) turn(t *testing.T, random *mathrand.Rand) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(25 * time.Minute)
	switch at := random.IntN(4); {
	case at == 0 && len(c.keys) > 1: // the oldest goes
		c.keys = c.keys[1:]
	case at == 1: // an older one signs again
		c.keys = append(c.keys[1:], c.keys[0])
	default:
		c.add(t)
		c.keys = c.keys[max(0, len(c.keys)-4):]
	}
	signer := c.keys[len(c.keys)-1].ID
	c.signed[signer] = c.now
	return signer
}

// alive are the keys that the cluster shows, or whose tokens have not expired.
func (c *rotatingCluster) alive() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]bool{}
	for _, key := range c.keys {
		out[key.ID] = true
	}
	for id, at := range c.signed {
		if c.now.Sub(at) < 24*time.Hour {
			out[id] = true
		}
	}
	return out
}

func (c *rotatingCluster) clock() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// observed is the cluster as an operator sees it.
func (c *rotatingCluster) observed(t *testing.T) *issuer.Cluster {
	t.Helper()
	f := newFleet(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openid/v1/jwks", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		keys := make([]core.Key, 0, len(c.keys))
		for _, key := range c.keys {
			keys = append(keys, key.Key)
		}
		_, _ = w.Write(core.JWKS(keys))
	})
	mux.HandleFunc("POST /api/v1/namespaces/ns/serviceaccounts/publisher/token", func(w http.ResponseWriter, _ *http.Request) {
		token, err := c.sign()
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":{"token":%q}}`, token)
	})
	port := f.start(t, mux)
	return f.cluster(t, "https://unused.example.com", slice("a", port, "127.0.0.1"))
}

func (c *rotatingCluster) sign() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.keys[len(c.keys)-1]
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: key.private, KeyID: key.ID}}, nil)
	if err != nil {
		return "", err
	}
	body := fmt.Appendf(nil, `{"iss":%q,"iat":%d,"nbf":%d,"exp":%d}`, c.issuer, c.now.Unix(), c.now.Unix(), c.now.Add(10*time.Minute).Unix())
	signed, err := signer.Sign(body)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}
