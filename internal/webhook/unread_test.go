package webhook

import (
	"net"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestWhatNobodyHasReadIsSeen, and is there afterwards.
func TestWhatNobodyHasReadIsSeen(t *testing.T) {
	t.Parallel()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close() //nolint:errcheck // nothing was written
	client := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String()))(t)
	defer client.Close() //nolint:errcheck // the test is over
	c := &connection{Conn: must.Get(listener.Accept())(t)}
	if hasUnread(c) {
		t.Error("a client that has sent nothing has something unread")
	}
	must.Get(client.Write([]byte("hello")))(t)
	eventually(t, "what was sent is seen", func() bool { return hasUnread(c) })
	text := make([]byte, 5)
	if n, err := c.Conn.Read(text); n != 5 || err != nil || hasUnread(c) {
		t.Errorf("%q was read, with %v; unread: %t", text[:n], err, hasUnread(c))
	}
	must.Do(t, client.Close())
	if _, err := c.Conn.Read(text); err == nil || hasUnread(c) {
		t.Errorf("after the end of the client: %v; unread: %t", err, hasUnread(c))
	}
	must.Do(t, c.Conn.Close())
	if hasUnread(c) || hasUnread(&connection{}) {
		t.Error("a connection that is closed, or none, has something unread")
	}
}

// TestWhoWasNotReadYetHasBegun: one that has said hello, and waits for a processor, keeps its
// place as others do that have begun; one that says nothing goes.
func TestWhoWasNotReadYetHasBegun(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ is, flood stage }{
		"it is new":     {silent, silent},
		"it was served": {served, asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 64
			p := newPlaces(limit)
			honest := from("10.0.0.1/32", test.is, 1)[0]
			unread := map[*connection]bool{honest: true}
			p.unread = func(c *connection) bool { return unread[c] }
			p.add(honest)
			for i := range 100 * limit {
				p.add(&connection{group: group{address(i), test.flood}})
			}
			if honest.of == nil || honest.group.stage != begun {
				t.Errorf("it has its place: %t, its stage is %d; want it to have begun", honest.of != nil, honest.group.stage)
			}
			quiet := from("10.0.0.2/32", test.is, 1)[0]
			p.add(quiet)
			for i := range 100 * limit {
				p.add(&connection{group: group{address(i), test.flood}})
			}
			if quiet.of != nil {
				t.Error("one that says nothing keeps its place")
			}
		})
	}
}

// TestAllThatWereNotReadYetGiveWayToEachOther: the choice comes to an end, and the oldest goes.
func TestAllThatWereNotReadYetGiveWayToEachOther(t *testing.T) {
	t.Parallel()
	const limit = 64
	p := newPlaces(limit)
	p.unread = func(*connection) bool { return true }
	var all []*connection
	for i := range 10 * limit {
		all = append(all, &connection{group: group{address(i), silent}})
		p.add(all[i])
	}
	if p.held != limit {
		t.Errorf("%d places are taken, want %d", p.held, limit)
	}
	if all[0].of != nil || all[len(all)-1].of == nil {
		t.Error("another than the oldest went")
	}
}
