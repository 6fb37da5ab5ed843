package capacity

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
	"github.com/tabard-dev/tabard/hack/load/measure"
)

// process is the program that is measured.
type process struct{ *measure.Program }

// start runs tabard capacity as its web identity, and waits until it serves its
// metrics.
func start(ctx context.Context, s settings, on *stage.Stage) (*process, error) {
	port, err := measure.Port()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := on.Kubeconfig()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, s.tabard, "capacity", "--kubeconfig="+kubeconfig,
		"--metrics-bind-address=127.0.0.1:"+port, "--health-addr=0", "--log-level=error")
	for _, name := range []string{"PATH", "HOME", "GOGC", "GOMEMLIMIT"} {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	for name, value := range on.Environment(true) {
		command.Env = append(command.Env, name+"="+value)
	}
	program, err := measure.Start(command)
	if err != nil {
		return nil, err
	}
	program.Metrics = "http://127.0.0.1:" + port + "/metrics"
	err = program.Await(ctx, time.Minute, "the program runs", func() bool {
		workers, err := program.Sum(ctx, `controller_runtime_max_concurrent_reconciles{controller="capacity"}`)
		return err == nil && workers > 0
	})
	if err != nil {
		program.Stop()
		return nil, err
	}
	return &process{program}, nil
}

// report tells what the process has taken by now.
func (p *process) report(ctx context.Context, when string) error {
	used, err := p.Usage()
	if err != nil {
		return err
	}
	values := map[string]float64{"process_open_fds": 0, "go_goroutines": 0, "go_memstats_heap_inuse_bytes": 0, stage.PassesMetric: 0}
	for name := range values {
		if values[name], err = p.Sum(ctx, name); err != nil {
			return err
		}
	}
	const mega = 1 << 20
	fmt.Printf("  %-28s %s, heap in use %.1f; %.0f descriptors, %.0f goroutines; %.0f passes, %v of CPU\n", when+":",
		used.Memory(), values["go_memstats_heap_inuse_bytes"]/mega,
		values["process_open_fds"], values["go_goroutines"], values[stage.PassesMetric], used.CPU)
	return nil
}

// idle watches the process while nothing happens.
func (p *process) idle(ctx context.Context, span time.Duration) error {
	before, err := p.Usage()
	if err != nil {
		return err
	}
	select {
	case <-time.After(span):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := p.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("  idle for %v: %v of CPU\n", span, after.CPU-before.CPU)
	return p.report(ctx, "afterwards")
}
