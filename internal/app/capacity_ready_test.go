package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
)

// TestHalfAWebIdentityIsNotReady: it stays, to tell of it, and only its own
// environment makes it so.
func TestHalfAWebIdentityIsNotReady(t *testing.T) {
	l := newCapacityLab(t)
	alone := func(t *testing.T, address string) { l.start(t, "--health-addr="+address) }
	beside := func(controllers string) func(*testing.T, string) {
		return func(t *testing.T, address string) {
			l.startOperator(t, "--controllers="+controllers, "--health-probe-bind-address="+address)
		}
	}
	const (
		noToken = "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"
		noRole  = "AWS_WEB_IDENTITY_TOKEN_FILE is set but AWS_ROLE_ARN is missing"
		role    = "arn:aws:iam::" + capacityAccount + ":role/capacity"
	)
	tests := map[string]struct {
		start       func(*testing.T, string)
		role, token string
		// problem is what is told, empty for none.
		problem string
	}{
		"no-token":                    {start: alone, role: role, problem: noToken},
		"no-role":                     {start: alone, token: "/token", problem: noRole},
		"no-token-beside":             {start: beside("capacity"), role: role, problem: noToken},
		"no-role-beside":              {start: beside("capacity"), token: "/token", problem: noRole},
		"both-and-no-file":            {start: alone, role: role, token: "/no/such/file"},
		"neither":                     {start: alone},
		"another-controller-is-ready": {start: beside("certificate"), role: role},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("AWS_ROLE_ARN", test.role)
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", test.token)
			t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1") // nobody is there
			address := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))
			test.start(t, address)
			if test.problem == "" {
				l.awaitAnswer(t, address, "/readyz", http.StatusOK, "ok")
				return
			}
			l.awaitAnswer(t, address, "/readyz", http.StatusInternalServerError, "[-]capacity-identity failed")
			l.awaitAnswer(t, address, "/readyz/capacity-identity", http.StatusInternalServerError, test.problem+"\n")
			l.awaitAnswer(t, address, "/healthz", http.StatusOK, "ok")
			l.awaitProblem(t, l.set(t, name, "m5.large", "us-west-2"), test.problem)
		})
	}
}

// awaitAnswer waits for an answer with that status, and with a text in it.
func (l *capacityLab) awaitAnswer(t *testing.T, address, path string, status int, text string) {
	t.Helper()
	testkit.Await(t, func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		if response.StatusCode != status || !strings.Contains(string(body), text) {
			return fmt.Errorf("%s: %d %q, want %d with %q", path, response.StatusCode, body, status, text)
		}
		return nil
	})
}
