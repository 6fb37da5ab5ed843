package webhook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// splitDocuments takes a file of YAML documents apart.
func splitDocuments(text []byte) [][]byte { return bytes.Split(text, []byte("\n---\n")) }

// wire carries connections to one address, until it is cut.
type wire struct {
	address string
	mu      sync.Mutex
	cut     bool
	open    map[net.Conn]bool
}

func startWire(t *testing.T, to string) *wire {
	t.Helper()
	w := &wire{open: map[net.Conn]bool{}}
	w.address = accept(t, func(from net.Conn) {
		if !w.add(from) {
			return
		}
		defer w.remove(from)
		carry(t.Context(), from, to)
	})
	return w
}

func (w *wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.cut {
		w.open[c] = true
	}
	return !w.cut
}

func (w *wire) remove(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, c)
}

// set cuts the wire, with all that is on it, or mends it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for c := range w.open {
			_ = c.Close() // whoever carries it sees that
		}
	}
}

// balancer gives new connections to the ready replicas in turn, as a Service
// does. What is connected stays connected.
type balancer struct {
	address  string
	mu       sync.Mutex
	replicas []*replica
	ready    map[*replica]bool
	next     int
	forced   *replica
}

func startBalancer(t *testing.T) *balancer {
	t.Helper()
	b := &balancer{ready: map[*replica]bool{}}
	b.address = accept(t, func(from net.Conn) {
		if r := b.choose(); r != nil {
			carry(t.Context(), from, fmt.Sprintf("127.0.0.1:%d", r.port))
		}
	})
	go b.probe(t.Context())
	return b
}

func (b *balancer) add(r *replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replicas = append(b.replicas, r)
}

// remove forgets a replica, and stops it.
func (b *balancer) remove(r *replica) {
	b.mu.Lock()
	b.replicas = slices.DeleteFunc(b.replicas, func(one *replica) bool { return one == r })
	delete(b.ready, r)
	b.mu.Unlock()
	r.Kill() // what is connected to it must not stay so
}

// force takes a replica for ready though it is not.
func (b *balancer) force(r *replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forced = r
}

func (b *balancer) choose() *replica {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.replicas {
		b.next++
		if r := b.replicas[b.next%len(b.replicas)]; b.ready[r] || r == b.forced {
			return r
		}
	}
	return nil
}

// failures is how often in a row a replica may give no answer, as with the
// kubelet.
const failures = 3

// probe asks the replicas whether they are ready, often.
func (b *balancer) probe(ctx context.Context) {
	silent := map[*replica]int{}
	for ctx.Err() == nil {
		b.mu.Lock()
		all := append([]*replica{}, b.replicas...)
		b.mu.Unlock()
		for _, r := range all {
			is, answered := r.ready(ctx)
			if silent[r]++; answered {
				silent[r] = 0
			}
			b.mu.Lock()
			b.ready[r] = is || b.ready[r] && !answered && silent[r] < failures
			b.mu.Unlock()
		}
		<-time.After(100 * time.Millisecond)
	}
}

// count is how many replicas are ready.
func (b *balancer) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, is := range b.ready {
		if is {
			n++
		}
	}
	return n
}

// accept serves connections on a free port until the test ends.
func accept(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // it was closed
			}
			go func() {
				defer func() { _ = from.Close() }() // either side may have closed it
				serve(from)
			}()
		}
	}()
	return listener.Addr().String()
}

// carry passes on what comes from either side, until one of them hangs up.
func carry(ctx context.Context, from net.Conn, to string) {
	other, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, other}, {other, from}} {
		go func() {
			_, _ = io.Copy(way[1], way[0]) // a side that hangs up is what ends it
			done <- struct{}{}
		}()
	}
	<-done
	_ = from.Close()
	_ = other.Close()
	<-done
}
