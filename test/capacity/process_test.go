package capacity

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// process is a running tabard capacity.
type process struct {
	*testkit.Process
	site *site
	// metrics is where it serves them.
	metrics string
	// own are the folders that it could write to by itself.
	own []string
}

// start runs the program for the site's namespace, and ends it at the end of the
// test.
func (s *site) start(t *testing.T, args ...string) *process {
	t.Helper()
	p, command := s.prepare(t, args...)
	p.run(t, command)
	return p
}

// prepare makes everything of a process but the process.
func (s *site) prepare(t *testing.T, args ...string) (*process, *exec.Cmd) {
	t.Helper()
	folder := must.Get(os.MkdirTemp(s.dir, "process-"))(t)
	p := &process{site: s, metrics: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))}
	args = append([]string{
		"capacity", "--metrics-bind-address=" + p.metrics, "--health-addr=0", "--log-level=debug", "--sync-period=1s",
		"--namespace=" + s.namespace,
	}, args...)
	command := exec.CommandContext(context.WithoutCancel(t.Context()), testkit.Tabard(t), args...)
	for variable, name := range map[string]string{"HOME": "home", "TMPDIR": "tmp", "PWD": "work"} {
		own := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(own, 0o700))
		p.own = append(p.own, own)
		command.Env = append(command.Env, variable+"="+own)
	}
	command.Dir = filepath.Join(folder, "work")
	for name, value := range s.env {
		command.Env = append(command.Env, name+"="+value)
	}
	return p, command
}

// run starts what was prepared, or what is to be run in its place.
func (p *process) run(t *testing.T, command *exec.Cmd) {
	t.Helper()
	p.Process = testkit.StartProcess(t, command)
	t.Cleanup(func() {
		p.End()
		p.checkSilent(t)
	})
}

// scrape is what the process serves as metrics.
func (p *process) scrape(t *testing.T) string {
	t.Helper()
	text := must.Get(p.read(t))(t)
	return text
}

// read is scrape for a process that may not serve yet.
func (p *process) read(t *testing.T) (string, error) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.metrics+"/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// checkSilent demands that the process wrote no file of its own, and that what
// it said holds no secret. Its log and its events are looked through.
func (p *process) checkSilent(t *testing.T) {
	t.Helper()
	for _, own := range p.own {
		if found, err := os.ReadDir(own); err != nil || len(found) > 0 {
			t.Errorf("the process wrote %v into %s (%v), want nothing", found, filepath.Base(own), err)
		}
	}
	p.checkText(t, "the log", p.Log())
	var events corev1.EventList
	must.Do(t, p.site.List(context.WithoutCancel(t.Context()), &events, client.InNamespace(p.site.namespace)))
	for _, event := range events.Items {
		p.checkText(t, "an event", event.Message)
	}
}

func (p *process) checkText(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range p.site.secrets {
		// The API server's form of a Secret is another.
		if strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Errorf("%s holds a secret", where)
		}
	}
}

// checkFiles demands that no file that the process has open, or could have
// opened under another name, holds a secret.
func (p *process) checkFiles(t *testing.T) {
	t.Helper()
	folder := fmt.Sprintf("/proc/%d/fd", p.PID())
	open := must.Get(os.ReadDir(folder))(t)
	if len(open) < 3 {
		t.Errorf("the process has %d open files, want its streams at least", len(open))
	}
	for _, each := range open {
		path := filepath.Join(folder, each.Name())
		target, err := os.Readlink(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || !filepath.IsAbs(target) || !info.Mode().IsRegular() {
			continue // a socket, or closed by now
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("an open file cannot be read: %v", err)
			continue
		}
		p.checkText(t, "the open file "+target, string(content))
	}
}
