package measure

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Program is a process that is measured.
type Program struct {
	// Metrics is the URL of its metrics; empty for none.
	Metrics string
	// Began is when it was started.
	Began   time.Time
	command *exec.Cmd
	said    bytes.Buffer
}

// Start starts a program.
func Start(command *exec.Cmd) (*Program, error) {
	p := &Program{command: command, Began: time.Now()}
	command.Stderr = &p.said
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	return p, nil
}

// Stop ends it as a kubelet does.
func (p *Program) Stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = p.command.Wait()
}

// Await asks until the answer is yes. Without one in time the error has what the
// program said.
func (p *Program) Await(ctx context.Context, limit time.Duration, what string, question func() bool) error {
	for end := time.Now().Add(limit); ctx.Err() == nil && time.Now().Before(end); <-time.After(time.Millisecond) {
		if question() {
			return nil
		}
	}
	return fmt.Errorf("%s: not after %v: %s", what, limit, p.said.String())
}

// Usage is what it has taken so far.
func (p *Program) Usage() (Process, error) { return Of(p.command.Process.Pid) }

// Sum adds up those of its metrics that begin so.
func (p *Program) Sum(ctx context.Context, prefix string) (total float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Metrics, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		total += value
	}
	return total, nil
}

// Listens says whether somebody listens on a port of 127.0.0.1.
func Listens(ctx context.Context, port string) bool {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
	return err == nil && connection.Close() == nil
}

// Port is one of 127.0.0.1 on which nothing listens.
func Port() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }() // it was only asked for its port
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
