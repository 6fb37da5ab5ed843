package webhook

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// door accepts as many connections as there is memory for. Those that have shown a
// client certificate have places of their own.
type door struct {
	net.Listener
	metrics *metrics

	mu             sync.Mutex
	anybody, known places
}

// connection is one that was accepted.
type connection struct {
	net.Conn
	door *door
	came time.Time
	// The others are guarded by the door: its group, its place, whose place it is,
	// nil when it has lost it, and whether it was looked at for a certificate.
	group group
	place *list.Element
	of    *places
	met   bool
}

func newDoor(listener net.Listener, limit int, counted *metrics) *door {
	return &door{Listener: listener, metrics: counted, anybody: newPlaces(limit), known: newPlaces(limit)}
}

// Accept accepts one, for which another may have to go.
func (d *door) Accept() (net.Conn, error) {
	accepted, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, door: d, came: time.Now(), group: groupOf(accepted.RemoteAddr())}
	d.mu.Lock()
	out := d.anybody.add(c)
	d.mu.Unlock()
	d.end(out)
	return c, nil
}

// end hangs up on a connection that has lost its place, if there is one.
func (d *door) end(out *connection) {
	if out == nil {
		return
	}
	d.metrics.displaced.Inc()
	_ = out.Conn.Close() // nobody is there to be told
}

// Close gives the place back.
func (c *connection) Close() error {
	c.door.mu.Lock()
	if c.of != nil {
		c.of.remove(c)
	}
	c.door.mu.Unlock()
	return c.Conn.Close()
}

// Read implements net.Conn. Who says something again after an answer is about to ask.
func (c *connection) Read(into []byte) (int, error) {
	count, err := c.Conn.Read(into)
	if count > 0 {
		c.door.mu.Lock()
		if c.of != nil && (c.group.stage == silent || c.group.stage == served) {
			c.of.move(c, begun)
		}
		c.door.mu.Unlock()
	}
	return count, err
}

// heard notes that a whole question came.
func (c *connection) heard() {
	if c == nil {
		return
	}
	c.door.move(c, asked)
}

// move notes how far a connection has come, unless it has lost its place.
func (d *door) move(c *connection, to stage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.of != nil {
		c.of.move(c, to)
	}
}

// observe is told by the HTTP server what becomes of a connection.
func (d *door) observe(of net.Conn, state http.ConnState) {
	c, secure := accepted(of)
	if c == nil {
		return
	}
	switch state {
	case http.StateActive:
		d.meet(c, secure)
	case http.StateIdle:
		d.move(c, served)
	}
}

// meet gives a connection that has shown a certificate a place among those that
// have. That it is a good one was seen when it came.
func (d *door) meet(c *connection, secure *tls.Conn) {
	if c.met {
		return // only one goroutine serves a connection
	}
	c.met = true
	if secure == nil || len(secure.ConnectionState().PeerCertificates) == 0 {
		return
	}
	d.mu.Lock()
	var out *connection
	if c.of == &d.anybody {
		d.anybody.remove(c)
		out = d.known.add(c)
	}
	d.mu.Unlock()
	d.end(out)
}

// trusted says that a connection has shown a certificate.
func (c *connection) trusted() bool {
	if c == nil {
		return false
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	return c.of == &c.door.known
}

// isCrowded says that few places are left where a connection has its own.
func (c *connection) isCrowded() bool {
	if c == nil {
		return false
	}
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	return c.of != nil && c.of.held >= c.of.limit*3/4
}

// held is how many connections are open, without and with a certificate.
func (d *door) held() (anybody, known int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.anybody.held, d.known.held
}

// accepted is the connection below another, and the TLS between them if there is
// any.
func accepted(of net.Conn) (*connection, *tls.Conn) {
	secure, _ := of.(*tls.Conn)
	if secure != nil {
		of = secure.NetConn()
	}
	c, _ := of.(*connection)
	return c, secure
}

// connectionKey is where a request's context has its connection.
type connectionKey struct{}

func withConnection(ctx context.Context, of net.Conn) context.Context {
	c, _ := accepted(of)
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf is the connection that a request came over, nil if that is not known.
func connectionOf(r *http.Request) *connection { return connectionIn(r.Context()) }

// connectionIn is the same of a request's context.
func connectionIn(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}
