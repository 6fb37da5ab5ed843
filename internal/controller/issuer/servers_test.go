package issuer_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// listed lets the controller find API servers that listen on loopback addresses,
// which an EndpointSlice in a cluster may not hold, and trust each one's certificate.
func (f *fixture) listed(t *testing.T, servers ...*testkit.APIServer) {
	t.Helper()
	var list discoveryv1.EndpointSliceList
	var authorities []byte
	for _, server := range servers {
		ca := must.Get(os.ReadFile(server.Config.CAFile))(t)
		authorities = append(authorities, ca...)
		port := must.Get(strconv.Atoi(server.Config.Host[strings.LastIndex(server.Config.Host, ":")+1:]))(t)
		list.Items = append(list.Items, *slice("a", int32(port), "127.0.0.1"))
	}
	cluster := f.controller.Observer.Cluster
	cluster.Config = rest.CopyConfig(f.api.Config)
	cluster.Config.TLSClientConfig = rest.TLSClientConfig{CAData: authorities}
	cluster.Client = interceptor.NewClient(f.api, interceptor.Funcs{
		List: func(ctx context.Context, below client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if out, is := into.(*discoveryv1.EndpointSliceList); is {
				list.DeepCopyInto(out)
				return nil
			}
			return below.List(ctx, into, options...)
		},
	})
}

// TestAnAPIServerThatSignsWithAnotherKeyIsNamed has two API servers of one cluster,
// of which the second signs with a key of its own, which none of the two shows.
func TestAnAPIServerThatSignsWithAnotherKeyIsNamed(t *testing.T) {
	f := newFixture(t)
	odd := f.api.StartAnother(t, "--service-account-signing-key-file", privateKeyFile(t))
	f.listed(t, f.api.APIServer, odd)
	f.create(t, "main", unchanged)
	stored := f.settle(t, "main")
	wantCondition(t, stored, "IssuerPublished", metav1.ConditionTrue, core.ReasonPublished)
	message := wantCondition(t, stored, "Ready", metav1.ConditionFalse, core.ReasonSigningKeyUnknown)
	address := strings.TrimPrefix(odd.Config.Host, "https://")
	if !strings.Contains(message, "API server "+address+" signs tokens with key") || !strings.Contains(message, "--service-account-signing-key-file of the others") {
		t.Errorf("Ready says %q, expected it to name %s and what to do", message, address)
	}
	f.listed(t, f.api.APIServer)
	wantCondition(t, f.settle(t, "main"), "Ready", metav1.ConditionTrue, core.ReasonVerified)
	f.listed(t, f.api.APIServer, another(t, f.api.APIServer))
	message = wantCondition(t, f.settle(t, "main"), "Ready", metav1.ConditionTrue, core.ReasonVerified)
	if !strings.Contains(message, "each of 2 API servers") {
		t.Errorf("Ready says %q, expected it to speak of both", message)
	}
}

// another is an API server like one, with the same keys, at an address of its own: what
// comes there is led on to the one.
func another(t *testing.T, one *testkit.APIServer) *testkit.APIServer {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go lead(client, strings.TrimPrefix(one.Config.Host, "https://"))
		}
	}()
	config := rest.CopyConfig(one.Config)
	config.Host = "https://" + listener.Addr().String()
	return &testkit.APIServer{Config: config}
}

// lead leads a connection on to a server until either side ends it.
func lead(client net.Conn, to string) {
	defer client.Close()               //nolint:errcheck // either side may end it
	server, err := net.Dial("tcp", to) //nolint:noctx // it ends with the client
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}

func privateKeyFile(t *testing.T) string {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	path := filepath.Join(t.TempDir(), "odd.key")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	must.Do(t, os.WriteFile(path, text, 0o600))
	return path
}

// TestAPIServersAreAskedTogether has servers that each wait until all of them were
// asked, which none is that waits for its turn.
func TestAPIServersAreAskedTogether(t *testing.T) {
	f := newFleet(t)
	const count = 5
	var met sync.WaitGroup
	met.Add(count)
	var slices []client.Object
	for i := range count {
		var first sync.Once
		port := f.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			first.Do(met.Done)
			all := make(chan struct{})
			go func() { met.Wait(); close(all) }()
			select {
			case <-all:
			case <-r.Context().Done():
			case <-time.After(time.Minute):
			}
			_, _ = w.Write([]byte("keys"))
		}))
		slices = append(slices, slice(strconv.Itoa(i), port, "127.0.0.1"))
	}
	seen, _ := f.cluster(t, "https://unused.example.com", slices...).Observe(t.Context(), v1alpha1.KeySource{Source: v1alpha1.KeySourceAPIServer})
	if len(seen.APIServers) != count {
		t.Fatalf("%d servers were asked, want %d", len(seen.APIServers), count)
	}
	for _, server := range seen.APIServers {
		if string(server.JWKS) != "keys" {
			t.Errorf("%s: %s", server.Address, server.Error)
		}
	}
}
