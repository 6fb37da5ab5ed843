package awsauth

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProxiesOfTheEnvironmentCountButForAgents(t *testing.T) {
	if httpClient(nil).Transport.(*http.Transport).Proxy == nil {
		t.Error("the proxies of the environment are not asked for")
	}
	if direct().Transport.(*http.Transport).Proxy != nil {
		t.Error("an agent's token may go to a proxy")
	}
}

func TestRedirectsAreFollowedOnlyWhereTheMethodStays(t *testing.T) {
	for status, want := range map[int]int{301: 301, 302: 302, 303: 303, 307: 204, 308: 204} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			http.Redirect(w, r, "/there", status)
		}))
		t.Cleanup(server.Close)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := direct().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != want {
			t.Errorf("after %d the answer is %d, want %d", status, response.StatusCode, want)
		}
	}
}
