package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"strings"

	"github.com/tabard-dev/tabard/internal/testkit"
	base "github.com/tabard-dev/tabard/test/roleselector/world"
)

// process is a running controller.
type process struct {
	*testkit.Process
	w *world
	// health is where it says whether it is ready, metrics where it counts.
	health, metrics string
}

// run runs a controller: its environment is its pod's, and holds nothing else.
func (w *world) run(env map[string]string, flags ...string) *process {
	w.Helper()
	p := &process{w: w, health: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(w)), metrics: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(w))}
	flags = append([]string{"--health-probe-bind-address=" + p.health, "--metrics-bind-address=" + p.metrics, "--aws-region=" + region}, flags...)
	command := exec.CommandContext(context.WithoutCancel(w.Context()), program, flags...)
	own := w.Environment(w.Account(base.System, base.Account))
	maps.Copy(own, env)
	for name, value := range own {
		if value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	p.Process = testkit.StartProcess(w, command)
	return p
}

// start runs a controller, and ends it at the end of the test.
func (w *world) start(flags ...string) *process {
	w.Helper()
	p := w.run(nil, flags...)
	w.Cleanup(p.End)
	return p
}

// refusal is why a controller does not start.
func (w *world) refusal(env map[string]string, flags ...string) string {
	w.Helper()
	p := w.run(env, flags...)
	if code := p.ExitCode(); code != 1 {
		w.Errorf("the controller ended with the exit code %d, want 1", code)
	}
	return p.Log()
}

// get reads what a controller serves.
func (p *process) get(address, path string) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(p.w.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// awaitReadiness waits until a controller is ready, or says that it is not.
func (p *process) awaitReadiness(want int) {
	p.w.Helper()
	p.w.Await(func() error {
		status, text, err := p.get(p.health, "/readyz?verbose")
		if err == nil && status == want {
			return nil
		}
		return fmt.Errorf("/readyz says %d %s (%w), want %d", status, text, err, want)
	})
}

// awaitMetric waits until a controller serves a line.
func (p *process) awaitMetric(line string) {
	p.w.Helper()
	p.w.Await(func() error {
		_, text, err := p.get(p.metrics, "/metrics")
		if strings.Contains("\n"+text, "\n"+line+"\n") {
			return nil
		}
		return fmt.Errorf("the metrics have no line %q (%w)", line, err)
	})
}
