package chaos

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// wire carries connections to a server. It can be cut, and it can fall silent:
// connections stay open then, others can be opened, and nothing comes through.
type wire struct {
	t        *testing.T
	target   string
	listener net.Listener
	// silence is held by who lets nothing pass.
	silence sync.RWMutex

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

// startWire listens in front of a server.
func startWire(t *testing.T, target string) *wire {
	t.Helper()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	w := &wire{t: t, target: target, listener: listener, open: map[net.Conn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { w.carry(connection) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		serving.Wait()
	})
	return w
}

// carry takes one connection to the server, until either side or the wire ends it.
func (w *wire) carry(near net.Conn) {
	defer near.Close() //nolint:errcheck // one side or the wire has closed it
	far, err := (&net.Dialer{}).DialContext(context.WithoutCancel(w.t.Context()), "tcp", w.target)
	if err != nil {
		return
	}
	defer far.Close() //nolint:errcheck // one side or the wire has closed it
	if !w.keep(near, far) {
		return
	}
	var carrying sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{near: far, far: near} {
		carrying.Go(func() {
			_, _ = io.Copy(audible{to, w}, from)
			w.await() // that a connection has ended does not come through either
			_ = to.Close()
			_ = from.Close()
		})
	}
	carrying.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, near)
	delete(w.open, far)
}

// audible writes when the wire is not silent.
type audible struct {
	io.Writer
	*wire
}

func (a audible) Write(text []byte) (int, error) {
	a.await()
	return a.Writer.Write(text)
}

// await returns when something can come through.
func (w *wire) await() {
	w.silence.RLock()
	defer w.silence.RUnlock()
}

// keep notes a connection, unless the wire is cut.
func (w *wire) keep(connections ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		return false
	}
	for _, c := range connections {
		w.open[c] = true
	}
	return true
}

// cut ends all connections, and those to come at their beginning.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for c := range w.open {
		_ = c.Close()
	}
	clear(w.open)
}

// mend takes connections again.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}

// fallSilent lets nothing pass until it is ended. What was sent meanwhile arrives
// then, late.
func (w *wire) fallSilent() (end func()) {
	w.silence.Lock()
	return w.silence.Unlock
}
