package awslocal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"
	"time"
)

// hanging is a server, and a call to it that hangs until the context ends.
type hanging struct {
	server *Server
	leave  context.CancelFunc
	// status gets the answer's, 0 for none.
	status chan int
}

// newHanging returns when the call has begun to hang.
func newHanging(t *testing.T, start func(*Server, string) error) *hanging {
	t.Helper()
	h := &hanging{server: newServer(t, Options{}), status: make(chan int, 1)}
	if err := start(h.server, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	h.server.Admin().Inject(Fault{Service: "s3", Latency: 1000 * time.Hour, Count: 2})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(h.server.CACertificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	h.leave = leave
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL()+"/bucket/key", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		answer, err := (&http.Client{Transport: transport}).Do(request)
		if err != nil {
			h.status <- 0
			return
		}
		h.status <- answer.StatusCode
		_ = answer.Body.Close()
	}()
	await(t, "the call comes", func() bool { return h.server.Admin().Faults()[0].Count == 1 })
	if journal := h.server.Admin().Journal(); len(journal) != 0 {
		t.Fatalf("the call did not hang: %+v", journal)
	}
	return h
}

// await looks again and again.
func await(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for range 10_000 {
		if isSo() {
			return
		}
		<-poll.C
	}
	t.Fatalf("waited in vain until %s", what)
}

func TestAHangEndsWithItsClient(t *testing.T) {
	for name, start := range map[string]func(*Server, string) error{"with TLS": (*Server).Start, "plain": (*Server).StartPlain} {
		t.Run(name, func(t *testing.T) {
			h := newHanging(t, start)
			h.leave()
			if status := <-h.status; status != 0 {
				t.Errorf("the client that left got the status %d", status)
			}
			await(t, "the call ends", func() bool { return len(h.server.Admin().Journal()) == 1 })
		})
	}
}

func TestAHangEndsWithItsServer(t *testing.T) {
	h := newHanging(t, (*Server).Start)
	// The context has no end: whoever waits for the call waits for ever.
	if err := h.server.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	if status := <-h.status; status != http.StatusNotFound {
		t.Errorf("the call was answered %d, want that of S3, %d", status, http.StatusNotFound)
	}
	// A server may start again, and its faults are there still.
	if err := h.server.StartPlain("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if faults := h.server.Admin().Faults(); len(faults) != 1 || faults[0].Count != 1 {
		t.Errorf("faults %+v, want the one that has a call left", faults)
	}
}

func TestAHangEndsWithItsFault(t *testing.T) {
	for name, end := range map[string]func(*Admin){"cleared": (*Admin).ClearFaults, "reset": (*Admin).Reset} {
		t.Run(name, func(t *testing.T) {
			h := newHanging(t, (*Server).StartPlain)
			end(h.server.Admin())
			if status := <-h.status; status != http.StatusNotFound {
				t.Errorf("the call was answered %d, want that of S3, %d", status, http.StatusNotFound)
			}
		})
	}
}
