package awslocal

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const adminToken = "a-secret-of-the-admin-api"

func bearer(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", value) }
}

// adminCalls are all that the admin API has, but health.
var adminCalls = map[string][]string{
	"journal": {"GET", "DELETE"}, "reset": {"POST"}, "state": {"GET", "POST"}, "clock": {"GET", "POST"},
	"faults": {"GET", "POST", "DELETE"}, "clusters": {"GET", "POST"}, "regions": {"GET", "POST"},
	"consistency": {"GET", "POST"}, "short-pages": {"GET", "POST"}, "no-such-thing": {"GET"},
}

func TestAdminAPIWantsItsToken(t *testing.T) {
	server := newServer(t, Options{AdminToken: adminToken})
	for path, methods := range adminCalls {
		for _, method := range methods {
			got := ask(server, method, "/_awslocal/"+path, "", nil)
			if got.Code != http.StatusUnauthorized || got.Header().Get("WWW-Authenticate") != "Bearer" || !strings.Contains(got.Body.String(), "--admin-token-file") {
				t.Errorf("%s %s is answered %d %s", method, path, got.Code, got.Body)
			}
		}
	}
	for name, c := range map[string]struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		"the token":                            {"journal", bearer("Bearer " + adminToken), http.StatusOK},
		"the scheme in small letters":          {"journal", bearer("bearer " + adminToken), http.StatusOK},
		"health without":                       {"health", nil, http.StatusOK},
		"another token":                        {"journal", bearer("Bearer " + adminToken + "x"), http.StatusUnauthorized},
		"the start of the token":               {"journal", bearer("Bearer " + adminToken[:5]), http.StatusUnauthorized},
		"an empty token":                       {"journal", bearer("Bearer "), http.StatusUnauthorized},
		"another scheme":                       {"journal", bearer("Basic " + adminToken), http.StatusUnauthorized},
		"the token alone":                      {"journal", bearer(adminToken), http.StatusUnauthorized},
		"the token in the URL":                 {"journal?token=" + adminToken, nil, http.StatusUnauthorized},
		"more than health":                     {"health/../journal", nil, http.StatusUnauthorized},
		"a path of an odd spelling":            {"%6Aournal", nil, http.StatusUnauthorized},
		"the token from another machine":       {"journal", func(r *http.Request) { bearer("Bearer " + adminToken)(r); r.RemoteAddr = "192.0.2.1:1" }, http.StatusForbidden},
		"the token from a page":                {"journal", func(r *http.Request) { bearer("Bearer " + adminToken)(r); r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"the token by a name that was rebound": {"journal", func(r *http.Request) { bearer("Bearer " + adminToken)(r); r.Host = "elsewhere.example" }, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(server, "GET", "/_awslocal/"+c.path, "", c.change); got.Code != c.want {
				t.Errorf("status %d, want %d", got.Code, c.want)
			}
		})
	}
	// The way past the admin API's door leads to S3, and to nothing behind it.
	if got := ask(server, "GET", "/x/../_awslocal/state", "", nil); strings.Contains(got.Body.String(), "administrator") {
		t.Errorf("the state is answered to %s", got.Body)
	}
}

// process is what a run of the local AWS leaves behind.
type leftovers struct{ said, logged bytes.Buffer }

// runAdmin runs a process whose admin API is asked for its journal with what the
// file says, and returns the status.
func runAdmin(t *testing.T, options RunOptions, token func(folder string) string) (int, *leftovers) {
	t.Helper()
	left := &leftovers{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	options.Logger = slog.New(slog.NewTextHandler(&left.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.ListenPlain, options.Stdout = "127.0.0.1:0", writer
	done := make(chan error, 1)
	go func() { done <- Run(ctx, options) }()
	line := make([]byte, 200)
	n, err := reader.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	left.said.Write(line[:n])
	url := strings.TrimSpace(strings.TrimPrefix(left.said.String(), "AWS_ENDPOINT_URL="))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/_awslocal/journal", nil)
	if err != nil {
		t.Fatal(err)
	}
	bearer("Bearer " + token(options.Dir))(request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, left
}

func inFolder(t *testing.T) func(string) string {
	return func(folder string) string {
		return strings.TrimSpace(content(t, filepath.Join(folder, adminTokenFile)))
	}
}

func TestAProcessMakesItsAdminTokenAndKeepsIt(t *testing.T) {
	folder := t.TempDir()
	options := RunOptions{Options: Options{Dir: folder}, State: filepath.Join(folder, "state.json")}
	status, left := runAdmin(t, options, inFolder(t))
	first := inFolder(t)(folder)
	if status != http.StatusOK {
		t.Errorf("the token of the file is answered %d", status)
	}
	if info, err := os.Stat(filepath.Join(folder, adminTokenFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want 0600", info.Mode(), err)
	}
	if len(first) < 26 || !strings.Contains(left.logged.String(), adminTokenFile) {
		t.Errorf("the token has %d characters; the log says %s", len(first), &left.logged)
	}
	for where, text := range map[string]string{"log": left.logged.String(), "output": left.said.String(), "state": content(t, options.State)} {
		if strings.Contains(text, first) {
			t.Errorf("the token is in the %s", where)
		}
	}
	if status, _ := runAdmin(t, options, func(string) string { return first }); status != http.StatusOK {
		t.Errorf("after a restart the token is answered %d", status)
	}
	if status, _ := runAdmin(t, RunOptions{}, func(string) string { return "" }); status != http.StatusUnauthorized {
		t.Errorf("a process without a folder answers %d", status)
	}
}

func TestAnAdminTokenFileThatIsNoSecretStopsTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"others may read it":  {adminToken, 0o644, "chmod 600"},
		"others may write it": {adminToken, 0o620, "chmod 600"},
		"empty":               {"\n", 0o600, "remove it"},
		"short":               {"secret", 0o600, "remove it"},
		"two words":           {adminToken + " " + adminToken, 0o600, "remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			err := Run(t.Context(), RunOptions{AdminTokenFile: path, ListenPlain: "127.0.0.1:0", Stdout: io.Discard})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), adminToken) {
				t.Errorf("got %v", err)
			}
		})
	}
}
