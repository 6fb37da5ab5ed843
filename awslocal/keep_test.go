package awslocal

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newKeeper(t *testing.T, path string, options Options) *keeper {
	t.Helper()
	return &keeper{server: newServer(t, options), path: path}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestStateFileIsPrivateAndMadeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "state.json")
	kept := newKeeper(t, path, Options{})
	if err := kept.load(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	// What a killed process left must not decide about the mode.
	if err := os.WriteFile(path+".new", nil, 0o644); err != nil { //nolint:gosec // it is what is tested
		t.Fatal(err)
	}
	if err := kept.save(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after a left-over the file is %v, %v", info, err)
	}
}

func TestStateIsWrittenOnlyAfterChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	kept := newKeeper(t, path, Options{})
	if err := kept.load(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan struct{})
	go func() {
		kept.keep(ctx, ticks)
		close(done)
	}()
	tick := func() {
		// The second is taken once the work after the first is done.
		ticks <- time.Time{}
		ticks <- time.Time{}
	}
	server := kept.server
	key := server.Administrator(DefaultAccount)
	for _, one := range []struct {
		name   string
		change func()
	}{
		{"a role", func() {
			iamStep("CreateRole", "RoleName", "r", "AssumeRolePolicyDocument", fmt.Sprintf(trustText, "user/administrator")).perform(server, key)
		}},
		{"a session", func() { sessionKey(t, server, key, "r") }},
		{"a bucket", func() { do(t, server, signed(key, "", "s3", "PUT", "/bucket", "")) }},
		{"a block", func() { server.Admin().BlockPublicAccess(DefaultAccount, true) }},
		{"a cluster", func() {
			ask(server, http.MethodPost, "/_awslocal/clusters", `{"name":"c","issuer":"https://i.example"}`, nil)
		}},
		{"an offset", func() { server.Admin().SetTokenClockOffset(time.Minute) }},
		{"the clock", func() { ask(server, http.MethodPost, "/_awslocal/clock", `{"advance":"1m"}`, nil) }},
		{"a reset", func() { ask(server, http.MethodPost, "/_awslocal/reset", "", nil) }},
		{"another state", func() { ask(server, http.MethodPost, "/_awslocal/state", string(dump(t, server)), nil) }},
	} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		one.change()
		tick()
		if got, want := content(t, path), string(dump(t, server)); got != want {
			t.Errorf("after %s the file is\n%s\nwant\n%s", one.name, got, want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	iamStep("ListRoles").perform(server, key)
	iamStep("DeleteRole", "RoleName", "none").perform(server, key)
	tick()
	if _, err := os.Stat(path); err == nil {
		t.Error("a read and a refused call make the file be written")
	}
	cancel()
	<-done
}

func TestFailuresToKeepAreLoggedOnceAndTriedAgain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	var log bytes.Buffer
	kept := newKeeper(t, filepath.Join(folder, "state.json"), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan struct{})
	go func() {
		kept.keep(ctx, ticks)
		close(done)
	}()
	kept.server.changed()
	for range 3 {
		ticks <- time.Time{}
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	ticks <- time.Time{}
	ticks <- time.Time{}
	cancel()
	<-done
	content(t, kept.path)
	if times := strings.Count(log.String(), "the state is not kept"); times != 1 {
		t.Errorf("the failure is logged %d times:\n%s", times, &log)
	}
}

func TestStatesThatCannotBeLoadedStayAsTheyAre(t *testing.T) {
	other := string(dump(t, newServer(t, Options{Accounts: []string{"210987654321"}})))
	cases := map[string]struct{ text, want string }{
		"broken":            {`{"version":`, "no JSON document of a state"},
		"empty":             {``, "no JSON document of a state"},
		"of other accounts": {other, "it belongs to the accounts [210987654321], and this server has the accounts [123456789012]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := Run(t.Context(), RunOptions{Listen: "127.0.0.1:0", State: path, Stdout: &bytes.Buffer{}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path+" is left as it is: put it right, start with what it belongs to, or move it away") {
				t.Errorf("error %v", err)
			}
			if got := content(t, path); got != c.text {
				t.Errorf("the file is now %s", got)
			}
		})
	}
}

// TestServeState is not a test by itself: it is the process that the test below
// kills.
func TestServeState(t *testing.T) {
	path := os.Getenv("AWSLOCAL_TEST_STATE")
	if path == "" {
		return
	}
	err := Run(t.Context(), RunOptions{
		Options:     Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), AdminToken: adminToken},
		ListenPlain: "127.0.0.1:0", State: path, Stdout: os.Stdout,
	})
	t.Fatal(err)
}

func TestStateSurvivesAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// When the context ends the process is killed, with no time to write.
	process := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestServeState$") //nolint:gosec // it is this program
	process.Env = append(os.Environ(), "AWSLOCAL_TEST_STATE="+path)
	var log bytes.Buffer
	process.Stderr = &log
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url, found := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "AWS_ENDPOINT_URL=")
	if !found {
		t.Fatalf("the first line is %s", line[:n])
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/_awslocal/clusters", strings.NewReader(`{"name":"survivor","issuer":"https://i.example"}`))
	if err != nil {
		t.Fatal(err)
	}
	bearer("Bearer " + adminToken)(request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, error %v", response.StatusCode, err)
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !strings.Contains(content(t, path), "survivor") {
		select {
		case <-poll.C:
		case <-t.Context().Done():
			t.Fatal("the file never has the cluster")
		}
	}
	cancel()
	if err := process.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	if !strings.Contains(log.String(), "make-believe") || !strings.Contains(log.String(), "the state file holds all their secrets") || !strings.Contains(log.String(), path) {
		t.Errorf("the process introduced itself with %s", &log)
	}
	second := newKeeper(t, path, Options{})
	if err := second.load(); err != nil {
		t.Fatal(err)
	}
	if got := second.server.Admin().Clusters(); len(got) != 1 || got[0].Name != "survivor" {
		t.Errorf("after the restart the clusters are %+v", got)
	}
	if strings.Contains(log.String(), second.server.Administrator(DefaultAccount).SecretAccessKey) {
		t.Error("a secret is in the log")
	}
}
