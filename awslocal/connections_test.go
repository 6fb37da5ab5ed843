package awslocal

import (
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// accepted makes a connection as a listener would hand it out.
func accepted(t *testing.T) (server, client net.Conn) {
	t.Helper()
	server, client = net.Pipe()
	t.Cleanup(func() {
		_ = server.Close() // it may be closed already
		_ = client.Close()
	})
	return server, client
}

// isOpen says whether neither side has closed a connection: a closed pipe takes
// no deadline.
func isOpen(client net.Conn) bool { return client.SetReadDeadline(time.Time{}) == nil }

func TestTheConnectionThatIsIdleLongestMakesRoom(t *testing.T) {
	open := &connections{}
	var clients []net.Conn
	var first net.Conn
	for i := range maxConnections {
		server, client := accepted(t)
		open.track(server, http.StateNew)
		if i == 0 {
			first = server
			open.track(server, http.StateActive)
		}
		clients = append(clients, client)
	}
	for _, client := range clients[:3] {
		if !isOpen(client) {
			t.Fatal("a connection is closed while there is room")
		}
	}
	server, newest := accepted(t)
	open.track(server, http.StateNew)
	for client, want := range map[net.Conn]bool{clients[0]: true, clients[1]: false, clients[2]: true, newest: true} {
		if got := isOpen(client); got != want {
			t.Errorf("a connection is open: %t, want %t; the one that was idle longest is to go, and no active one", got, want)
		}
	}
	open.track(first, http.StateIdle)
	open.track(first, http.StateClosed)
	if open.open != maxConnections {
		t.Errorf("%d connections are counted, want %d", open.open, maxConnections)
	}
}

// scarce is a listener whose system is out of files until a connection closes.
type scarce struct {
	net.Listener
	idle  net.Conn
	ready net.Conn
}

func (s *scarce) Accept() (net.Conn, error) {
	if isOpen(s.idle) {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return s.ready, nil
}

func TestAFullSystemClosesIdleConnections(t *testing.T) {
	open := &connections{}
	server, client := accepted(t)
	ready, _ := accepted(t)
	listener := shedding{&scarce{idle: client, ready: ready}, open}
	if _, err := listener.Accept(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("with nothing to close: %v, want EMFILE", err)
	}
	open.track(server, http.StateNew)
	if conn, err := listener.Accept(); err != nil || conn != ready {
		t.Errorf("with an idle connection to close: %v, %v", conn, err)
	}
}
