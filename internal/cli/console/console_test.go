package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// fake is a server that ends when its last address was asked for.
type fake struct {
	addresses int
	pages     bool
	ends      chan struct{}
}

func (f *fake) Address() string {
	f.addresses++
	if f.addresses == 3 {
		close(f.ends)
	}
	return fmt.Sprintf("http://127.0.0.1:1/#code=%d", f.addresses)
}

func (f *fake) HasPages() bool { return f.pages }

func (f *fake) Serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-f.ends:
	}
	return nil
}

// paper is what a command writes on, from several goroutines.
type paper struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *paper) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// run runs the command with what somebody types, and is what it says.
func run(t *testing.T, server *fake, browse func(string) error, in io.Reader, args ...string) (out, errOut string, err error) {
	t.Helper()
	var stdout, stderr paper
	c := New(command.Streams{In: in, Out: &stdout, Err: &stderr}, World{
		Start:  func(context.Context, Asked) (Server, error) { return server, nil },
		Browse: func(_ context.Context, address string) error { return browse(address) },
	})
	c.SetArgs(args)
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	err = c.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestEnterPrintsAnotherAddress(t *testing.T) {
	server := &fake{pages: true, ends: make(chan struct{})}
	var opened []string
	out, errOut, err := run(t, server, func(address string) error {
		opened = append(opened, address)
		return nil
	}, strings.NewReader("\n\n"))
	if err != nil || !strings.HasPrefix(out, "http://127.0.0.1:1/#code=1\nhttp://127.0.0.1:1/#code=2\n") {
		t.Errorf("it ended with %v and printed %q", err, out)
	}
	if len(opened) != 1 || opened[0] != "http://127.0.0.1:1/#code=1" {
		t.Errorf("the browser opened %q", opened)
	}
	if strings.Contains(errOut, "code=") || strings.Contains(errOut, "make console") {
		t.Errorf("the standard error has %q", errOut)
	}
}

func TestWithoutABrowserThePersonOpensTheAddress(t *testing.T) {
	server := &fake{ends: make(chan struct{})}
	_, errOut, err := run(t, server, func(string) error { return errors.New("no xdg-open") }, strings.NewReader("\n\n"))
	if err != nil || !strings.Contains(errOut, "no browser could be opened (no xdg-open): open the address yourself") || !strings.Contains(errOut, "make console build") {
		t.Errorf("it ended with %v and said %q", err, errOut)
	}
	server = &fake{ends: make(chan struct{})}
	_, _, err = run(t, server, func(string) error {
		t.Error("a browser was opened")
		return nil
	}, strings.NewReader("\n\n"), "--no-browser")
	if err != nil {
		t.Error(err)
	}
}

func TestFlagsThatCannotBe(t *testing.T) {
	for _, args := range [][]string{{"--port", "-1"}, {"--port", "65536"}, {"--catalogue", "x", "--source", "y"}, {"x"}} {
		_, errOut, err := run(t, &fake{}, nil, strings.NewReader(""), args...)
		exit, ok := errors.AsType[*command.Exit](err)
		if !ok || exit.ExitCode() != 2 || errOut == "" {
			t.Errorf("%q: %v, said %q", args, err, errOut)
		}
	}
}
