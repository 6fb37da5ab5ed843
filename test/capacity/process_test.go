package capacity

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// process is a running tabard capacity.
type process struct {
	*exec.Cmd
	site *site
	// log is what it says; metrics is where it serves them.
	log, metrics string
	// own are the folders that it could write to by itself.
	own   []string
	ended bool
}

// start runs the program for the site's namespace, and ends it at the end of the
// test.
func (s *site) start(t *testing.T, args ...string) *process {
	t.Helper()
	p := s.prepare(t, args...)
	p.run(t, p.Start)
	return p
}

// prepare makes everything of a process but the process.
func (s *site) prepare(t *testing.T, args ...string) *process {
	t.Helper()
	tabard, err := filepath.Abs(os.Getenv("TABARD_BIN"))
	if err != nil || os.Getenv("TABARD_BIN") == "" {
		t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	folder, err := os.MkdirTemp(s.dir, "process-")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{site: s, log: folder + ".log", metrics: fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))}
	args = append([]string{
		"capacity", "--metrics-bind-address=" + p.metrics, "--health-addr=0", "--log-level=debug", "--sync-period=1s",
		"--namespace=" + s.namespace,
	}, args...)
	p.Cmd = exec.CommandContext(context.WithoutCancel(t.Context()), tabard, args...)
	for variable, name := range map[string]string{"HOME": "home", "TMPDIR": "tmp", "PWD": "work"} {
		own := filepath.Join(folder, name)
		if err := os.MkdirAll(own, 0o700); err != nil {
			t.Fatal(err)
		}
		p.own = append(p.own, own)
		p.Env = append(p.Env, variable+"="+own)
	}
	p.Dir = filepath.Join(folder, "work")
	for name, value := range s.env {
		p.Env = append(p.Env, name+"="+value)
	}
	return p
}

// run starts what was prepared.
func (p *process) run(t *testing.T, start func() error) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p.Stdout, p.Stderr = log, log
	if err := start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.end(t)
		_ = log.Close()
		p.checkSilent(t)
		if t.Failed() {
			p.tail(t)
		}
	})
}

// end ends the process as the kubelet does, and waits until it has ended well.
func (p *process) end(t *testing.T) {
	t.Helper()
	if p.ended {
		return
	}
	p.ended = true
	if err := p.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("the process did not end well: %v", err)
	}
}

// kill ends it without a chance to do anything.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.ended = true
	if err := p.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = p.Wait() // it says that it was killed
}

// tail shows the end of the log.
func (p *process) tail(t *testing.T) {
	if text, err := os.ReadFile(p.log); err == nil {
		t.Logf("the end of the log:\n%s", text[max(0, len(text)-4000):])
	}
}

// scrape is what the process serves as metrics.
func (p *process) scrape(t *testing.T) string {
	t.Helper()
	text, err := p.read(t)
	if err != nil {
		t.Fatal(err)
	}
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
	said, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.checkText(t, "the log", string(said))
	var events corev1.EventList
	if err := p.site.List(context.WithoutCancel(t.Context()), &events, client.InNamespace(p.site.namespace)); err != nil {
		t.Fatal(err)
	}
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
	folder := fmt.Sprintf("/proc/%d/fd", p.Process.Pid)
	open, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
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
