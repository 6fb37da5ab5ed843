package issuer_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/controller/issuer"
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
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("AWS_CA_BUNDLE", authority)
	for labCA, want := range map[string]struct {
		status int
		text   string
	}{"": {0, "certificate signed by unknown authority"}, authority: {http.StatusOK, ""}} {
		public, err := issuer.NewPublic(labCA)
		if err != nil {
			t.Fatal(err)
		}
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
