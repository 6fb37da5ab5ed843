package webhook_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// relay passes connections on to its backends in turn, as a Service does.
type relay struct {
	listener net.Listener
	backends []string
	// delay is how long each answer takes, so that those who ask at the same time
	// wait at the same time.
	delay time.Duration
	// gate is held by who lets no answer pass.
	gate   sync.RWMutex
	frozen bool

	mu       sync.Mutex
	accepted int
	open     map[net.Conn]bool
}

func startRelay(t *testing.T, delay time.Duration, backends ...string) *relay {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	r := &relay{listener: listener, backends: backends, delay: delay, open: map[net.Conn]bool{}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		r.run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		r.freeze(false)
		r.hangUp()
		<-ended
	})
	return r
}

func (r *relay) address() string { return r.listener.Addr().String() }

// freeze holds all answers back, or lets them pass again. The test alone calls
// it.
func (r *relay) freeze(now bool) {
	switch {
	case now && !r.frozen:
		r.gate.Lock()
	case !now && r.frozen:
		r.gate.Unlock()
	}
	r.frozen = now
}

// hangUp ends all connections.
func (r *relay) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for each := range r.open {
		_ = each.Close() // the other end sees it
	}
}

// connections is how many were passed on so far.
func (r *relay) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accepted
}

func (r *relay) run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for {
		front, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		group.Go(func() { r.pass(ctx, front) })
	}
}

func (r *relay) pass(ctx context.Context, front net.Conn) {
	defer r.hold(front)()
	back, err := new(net.Dialer).DialContext(ctx, "tcp", r.next())
	if err != nil {
		return
	}
	defer r.hold(back)()
	copied := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(back, front); copied <- struct{}{} }()
	go func() { _, _ = io.Copy(answers{front, r}, back); copied <- struct{}{} }()
	<-copied // either end has hung up: so do both
}

// next is the backend whose turn it is.
func (r *relay) next() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted++
	return r.backends[r.accepted%len(r.backends)]
}

// hold remembers a connection until it is released.
func (r *relay) hold(connection net.Conn) (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[connection] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, connection)
		_ = connection.Close() // it may be closed already
	}
}

// answers is the connection of who asks.
type answers struct {
	net.Conn
	relay *relay
}

func (a answers) Write(text []byte) (int, error) {
	<-time.After(a.relay.delay)
	a.relay.gate.RLock()
	defer a.relay.gate.RUnlock()
	return a.Conn.Write(text)
}
