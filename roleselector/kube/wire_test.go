package kube

import (
	"context"
	"errors"
	"net"
	"sync"
)

// wire carries connections from a client to a server within the test's memory, so
// that time can be the test's. It can be cut, and it can fall silent: connections
// stay open then, and nothing arrives.
type wire struct {
	accepted chan net.Conn
	end      sync.Once

	mu     sync.Mutex
	isCut  bool
	open   []*end
	dialed int
}

func newWire() *wire { return &wire{accepted: make(chan net.Conn, 64)} }

var errCut = errors.New("the wire is cut")

// dial is for the client.
func (w *wire) dial(context.Context, string, string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.isCut {
		return nil, errCut
	}
	near, far := net.Pipe()
	e := &end{Conn: far, arrived: make(chan []byte, 4096), silence: make(chan struct{})}
	close(e.silence)
	go e.pump()
	w.open = append(w.open, e)
	w.dialed++
	w.accepted <- e
	return near, nil
}

// cut ends all connections, and lets no other begin.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	for _, e := range w.open {
		_ = e.Close()
	}
	w.open = nil
}

func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = false
}

// fallSilent silences the connections that are open now. What it returns ends that.
func (w *wire) fallSilent() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	silence := make(chan struct{})
	for _, e := range w.open {
		e.silent(silence)
	}
	return sync.OnceFunc(func() { close(silence) })
}

// Accept implements net.Listener.
func (w *wire) Accept() (net.Conn, error) {
	if c, open := <-w.accepted; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close implements net.Listener.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = true
	w.end.Do(func() { close(w.accepted) })
	return nil
}

// Addr implements net.Listener.
func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// end is the server's end of a connection. What the client writes is taken at once,
// as by the buffer of a socket.
type end struct {
	net.Conn
	arrived chan []byte
	rest    []byte

	mu      sync.Mutex
	silence chan struct{} // closed while there is none
}

func (e *end) silent(until chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silence = until
}

// wait returns when something can pass.
func (e *end) wait() {
	e.mu.Lock()
	silence := e.silence
	e.mu.Unlock()
	<-silence
}

func (e *end) pump() {
	defer close(e.arrived)
	for {
		buffer := make([]byte, 32<<10)
		n, err := e.Conn.Read(buffer)
		if err != nil {
			return
		}
		e.arrived <- buffer[:n]
	}
}

// Read implements net.Conn.
func (e *end) Read(b []byte) (int, error) {
	if len(e.rest) == 0 {
		arrived, open := <-e.arrived
		if !open {
			return 0, net.ErrClosed
		}
		e.wait()
		e.rest = arrived
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Write implements net.Conn.
func (e *end) Write(b []byte) (int, error) {
	e.wait()
	return e.Conn.Write(b)
}
