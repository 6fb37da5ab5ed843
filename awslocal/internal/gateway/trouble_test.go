package gateway

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/fault"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/journal"
)

// slow is a service that does nothing but what a fault asks for.
type slow struct{}

func (slow) Serve(w http.ResponseWriter, c *call.Call) {
	if failure := c.Interrupted("Wait"); failure != nil {
		http.Error(w, failure.Code, failure.Status)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// The server gives its clients less time than the fault takes.
func TestALatencyOutlivesTheServersDeadlines(t *testing.T) {
	const deadline = 50 * time.Millisecond
	faults := &fault.Book{}
	faults.Add(fault.Fault{Latency: 4 * deadline})
	door := New(Options{
		Services: map[string]Service{"s3": slow{}}, Region: "us-east-1", Now: time.Now,
		Identifiers: identifier.New(rand.Reader), Journal: journal.New(nil), Faults: faults,
	})
	server := httptest.NewUnstartedServer(door)
	server.Config.ReadTimeout, server.Config.WriteTimeout = deadline, deadline
	server.Start()
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/bucket/key", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // the body is empty
	if answer.StatusCode != http.StatusNoContent {
		t.Errorf("answered %d, want %d", answer.StatusCode, http.StatusNoContent)
	}
}
