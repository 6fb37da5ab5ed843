package awslocal

import (
	"container/list"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
)

const (
	// maxConnections is how many connections a listener holds open.
	maxConnections = 10_000
	// reserve is how many connections are closed at once when the system gives
	// no more: other things need files too.
	reserve = 16
)

// connections keep a server reachable when clients hold more connections open
// than it can have: those that have been idle longest make room.
type connections struct {
	mu   sync.Mutex
	open int
	// idle are the connections on which no request is under way, the one that
	// has been so for longest first, and places are where they stand in it.
	idle   list.List
	places map[net.Conn]*list.Element
}

// track is the http.Server's ConnState. A new connection is idle until its
// request arrives.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if place, known := c.places[conn]; known {
		c.idle.Remove(place)
		delete(c.places, conn)
	}
	switch state {
	case http.StateNew:
		c.open++
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	if state == http.StateNew || state == http.StateIdle {
		if c.places == nil {
			c.places = map[net.Conn]*list.Element{}
		}
		c.places[conn] = c.idle.PushBack(conn)
	}
	tooMany := c.open > maxConnections
	c.mu.Unlock()
	if tooMany {
		c.shed(1)
	}
}

// shed closes up to n connections that have been idle longest, and says whether
// there were any.
func (c *connections) shed(n int) bool {
	var old []net.Conn
	c.mu.Lock()
	for ; n > 0 && c.idle.Len() > 0; n-- {
		// What is closed comes by here again, as StateClosed.
		conn, _ := c.idle.Remove(c.idle.Front()).(net.Conn)
		delete(c.places, conn)
		old = append(old, conn)
	}
	c.mu.Unlock()
	for _, conn := range old {
		// The client may have closed it first.
		_ = conn.Close()
	}
	return len(old) > 0
}

// shedding is a listener that makes room when the system has no more files.
type shedding struct {
	net.Listener
	connections *connections
}

// Accept waits for the next connection.
func (l shedding) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		full := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
		if !full || !l.connections.shed(reserve) {
			return conn, err
		}
	}
}
