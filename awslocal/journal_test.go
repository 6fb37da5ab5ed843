package awslocal

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestNobodyFillsTheMemoryThroughTheJournal sends what comes back in the journal as
// large as it may be, and small parts of large bodies.
func TestNobodyFillsTheMemoryThroughTheJournal(t *testing.T) {
	const limit = 40 << 20
	server, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	for i := range 200 {
		body := "Version=2011-06-15&Action=" + strings.Repeat("a", 3<<20)
		if i%2 == 0 {
			body = "Version=2011-06-15&Action=GetCallerIdentity&X=" + strings.Repeat("a", 3<<20)
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		form(r)
		server.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	entries := server.Admin().Journal()
	if len(entries) != 200 || entries[198].Operation != "GetCallerIdentity" || !strings.HasPrefix(entries[199].Operation, "aaaa") {
		t.Errorf("%d calls are in the journal, the last are %.60v", len(entries), entries[len(entries)-2:])
	}
	if after := heap(); after > before+limit {
		t.Errorf("200 calls keep %d MiB, want at most %d", (after-before)>>20, limit>>20)
	}
	runtime.KeepAlive(server)
}
