package issuer_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePublicLookTrustsTheSystemsRootsAlone, whatever this process's calls of AWS trust, and
// in a lab the CA that is named for it.
func TestThePublicLookTrustsTheSystemsRootsAlone(t *testing.T) {
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(front.Close)
	front.Config.ErrorLog = nil
	authority, empty := filepath.Join(t.TempDir(), "ca.crt"), filepath.Join(t.TempDir(), "empty.crt")
	for path, content := range map[string][]byte{
		authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), empty: []byte("nothing\n"),
	} {
		must.Do(t, os.WriteFile(path, content, 0o600))
	}
	t.Setenv("AWS_CA_BUNDLE", authority)
	for labCA, want := range map[string]struct {
		status int
		text   string
	}{"": {0, "certificate signed by unknown authority"}, authority: {http.StatusOK, ""}} {
		public := must.Get(issuer.NewPublic(labCA))(t)
		got := (&issuer.Observer{Public: public}).Fetch(t.Context(), front.URL)
		if got.Status != want.status || !strings.Contains(got.Error, want.text) {
			t.Errorf("with the lab's CA %q it saw %+v, want %+v", labCA, got, want)
		}
	}
	for labCA, want := range map[string]string{empty: "holds no certificate", "/none": "cannot be read"} {
		if _, err := issuer.NewPublic(labCA); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", labCA, want, err)
		}
	}
}

// TestAnAuthorityMayBeMadeTheSystems, as that of a proxy that opens TLS: by the variable
// that the page names, which Go reads once in a process.
func TestAnAuthorityMayBeMadeTheSystems(t *testing.T) {
	if url := os.Getenv("TEST_URL"); url != "" {
		public := must.Get(issuer.NewPublic(""))(t)
		if got := (&issuer.Observer{Public: public}).Fetch(t.Context(), url); got.Status != http.StatusOK {
			t.Errorf("it saw %+v", got)
		}
		return
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(front.Close)
	folder := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	must.Do(t, os.WriteFile(filepath.Join(folder, "proxy.pem"), authority, 0o600))
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAnAuthorityMayBeMadeTheSystems$")
	again.Env = append(os.Environ(), "TEST_URL="+front.URL, "SSL_CERT_DIR="+folder)
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
