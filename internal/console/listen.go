package console

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"time"
)

// Listening is a server that listens on 127.0.0.1.
type Listening struct {
	server   *Server
	listener net.Listener
}

// Listen listens on a port of 127.0.0.1, or with 0 on a free one.
func Listen(ctx context.Context, options Options, port int) (*Listening, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("listen on port %d of 127.0.0.1: %w", port, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok {
		port = at.Port
	}
	return &Listening{New(options, NewSessions(time.Now), port), listener}, nil
}

// Address is one with a new code. The code is in the fragment, which a browser sends to nobody.
func (l *Listening) Address() string {
	return fmt.Sprintf("http://127.0.0.1:%d/#code=%s", l.server.port, l.server.sessions.NewCode())
}

// HasPages says whether the program was built with the front end.
func (l *Listening) HasPages() bool {
	if l.server.Pages == nil {
		return false
	}
	_, err := fs.Stat(l.server.Pages, index+".gz")
	return err == nil
}

// Serve answers until the context ends.
func (l *Listening) Serve(ctx context.Context) error { return l.server.Serve(ctx, l.listener) }
