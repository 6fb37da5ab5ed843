package issuer_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestThePublicLookFollowsNoRedirect asks servers that redirect, with the client
// that the program has and with one that follows.
func TestThePublicLookFollowsNoRedirect(t *testing.T) {
	asked := 0
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte("the document"))
	}))
	t.Cleanup(plain.Close)
	public := must.Get(issuer.NewPublic(""))(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		front := httptest.NewServer(http.RedirectHandler(plain.URL+"/keys.json", status))
		t.Cleanup(front.Close)
		for name, client := range map[string]issuer.Fetcher{"the program's": public, "one that follows": front.Client()} {
			before := asked
			got := (&issuer.Observer{Public: client}).Fetch(t.Context(), front.URL+"/keys.json")
			if got.Redirect != plain.URL+"/keys.json" || got.Status == http.StatusOK || strings.Contains(string(got.Body), "document") {
				t.Errorf("%d, %s client: saw %+v, want a redirect", status, name, got)
			}
			if name == "the program's" && asked != before {
				t.Errorf("%d: the program's client followed", status)
			}
		}
	}
	if got := (&issuer.Observer{Public: public}).Fetch(t.Context(), plain.URL+"/keys.json"); got.Status != http.StatusOK || got.Redirect != "" {
		t.Errorf("without a redirect it saw %+v", got)
	}
}
