package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tabard-dev/tabard/hack/capacityload/stage"
	"github.com/tabard-dev/tabard/hack/measure"
)

// process is the program that is measured.
type process struct {
	command *exec.Cmd
	metrics string
	said    bytes.Buffer
	began   time.Time
}

// start runs tabard capacity as its web identity, and waits until it serves its
// metrics.
func start(ctx context.Context, s settings, on *stage.Stage) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := on.Kubeconfig()
	if err != nil {
		return nil, err
	}
	p := &process{metrics: "http://127.0.0.1:" + port + "/metrics"}
	p.command = exec.CommandContext(ctx, s.tabard, "capacity", "--kubeconfig="+kubeconfig,
		"--metrics-bind-address=127.0.0.1:"+port, "--health-addr=0", "--log-level=error")
	for _, name := range []string{"PATH", "HOME", "GOGC", "GOMEMLIMIT"} {
		if value, ok := os.LookupEnv(name); ok {
			p.command.Env = append(p.command.Env, name+"="+value)
		}
	}
	for name, value := range on.Environment(true) {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stderr = &p.said
	p.began = time.Now()
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	err = await(ctx, time.Minute, "the program does not run", func() (bool, error) {
		workers, err := p.sum(ctx, `controller_runtime_max_concurrent_reconciles{controller="capacity"}`)
		return err == nil && workers > 0, nil
	})
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%w: %s", err, p.said.String())
	}
	return p, nil
}

// stop ends the process as a kubelet does.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = p.command.Wait()
}

// sum adds up the metrics that begin so.
func (p *process) sum(ctx context.Context, prefix string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }() // it is only read
	total := 0.0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		_, text, _ := strings.Cut(lines.Text(), "} ")
		if text == "" {
			text = strings.TrimPrefix(lines.Text(), prefix+" ")
		}
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		total += value
	}
	return total, nil
}

// report tells what the process has taken by now.
func (p *process) report(ctx context.Context, when string) error {
	used, err := measure.Of(p.command.Process.Pid)
	if err != nil {
		return err
	}
	values := map[string]float64{"process_open_fds": 0, "go_goroutines": 0, "go_memstats_heap_inuse_bytes": 0, stage.PassesMetric: 0}
	for name := range values {
		if values[name], err = p.sum(ctx, name); err != nil {
			return err
		}
	}
	const mega = 1 << 20
	fmt.Printf("  %-28s RssAnon %5.1f MiB, RSS %5.1f, peak RSS %5.1f, heap in use %5.1f; %.0f descriptors, %.0f goroutines; %.0f passes, %v of CPU\n", when+":",
		float64(used.Anonymous)/mega, float64(used.Resident)/mega, float64(used.Peak)/mega, values["go_memstats_heap_inuse_bytes"]/mega,
		values["process_open_fds"], values["go_goroutines"], values[stage.PassesMetric], used.CPU)
	return nil
}

// idle watches the process while nothing happens.
func (p *process) idle(ctx context.Context, span time.Duration) error {
	before, err := measure.Of(p.command.Process.Pid)
	if err != nil {
		return err
	}
	select {
	case <-time.After(span):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := measure.Of(p.command.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf("  idle for %v: %v of CPU\n", span, after.CPU-before.CPU)
	return p.report(ctx, "afterwards")
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }() // it was only asked for its port
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
