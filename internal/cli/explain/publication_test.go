package explain_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/chain"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// fetch fetches the documents of an issuer as the program does, from a server that is whatever host is
// asked for.
func (a *api) fetch(ctx context.Context, url string) (core.Public, error) {
	if a.documents == nil {
		return core.Public{Discovery: core.Fetch{Error: "no such host"}, Keys: core.Fetch{Error: "no such host"}}, nil
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, has := a.documents[r.URL.Path]
		switch {
		case r.Header.Get("Authorization") != "":
			http.Error(w, "credentials came", http.StatusTeapot)
		case !has:
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte(text))
		}
	}))
	defer front.Close()
	client := front.Client()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, front.Listener.Addr().String())
	}
	return (&issuer.Observer{Public: client}).ObserveForeign(ctx, url), nil
}

// keySet is a key set of some public keys, by their IDs: each is the one of RFC 7517 (A.1).
func keySet(ids ...string) string {
	var keys []string
	for _, id := range ids {
		keys = append(keys, `{"kty":"EC","kid":"`+id+`","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}`)
	}
	return `{"keys":[` + strings.Join(keys, ",") + `]}`
}

// tokenOf answers a TokenRequest with a token of a key.
func tokenOf(id string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":{"token":"` + part(`{"alg":"ES256","kid":"`+id+`"}`) + "." + part(`{"iss":"https://`+bare+`"}`) + `.hunter2"}}`
}

// TestWhatIsPublishedIsComparedWithWhatSigns: by the API server's own keys, and by a token where these
// may not be read, or are not all published. A token is requested then alone.
func TestWhatIsPublishedIsComparedWithWhatSigns(t *testing.T) {
	forbidden := func(a *api, id string) {
		a.objects[issuerPath], a.objects[keysPath], a.objects[tokenPath] = "", "", tokenOf(id)
	}
	for name, each := range map[string]struct {
		change func(*api)
		state  chain.State
		code   chain.Code
		token  bool
	}{
		"all keys":                  {func(*api) {}, chain.Sound, "", false},
		"none of them":              {func(a *api) { a.objects[keysPath] = keySet("new") }, chain.Broken, chain.CodeKeyMissing, false},
		"one of them":               {func(a *api) { a.objects[keysPath], a.objects[tokenPath] = keySet("new", "a1b2"), "" }, chain.Broken, chain.CodeKeysDiffer, true},
		"the one that signs":        {func(a *api) { a.objects[keysPath], a.objects[tokenPath] = keySet("new", "a1b2"), tokenOf("a1b2") }, chain.Sound, "", true},
		"the one that does not":     {func(a *api) { a.objects[keysPath], a.objects[tokenPath] = keySet("new", "a1b2"), tokenOf("new") }, chain.Broken, chain.CodeKeyMissing, true},
		"the token's":               {func(a *api) { forbidden(a, "a1b2") }, chain.Sound, "", true},
		"not the token's":           {func(a *api) { forbidden(a, "new") }, chain.Broken, chain.CodeKeyMissing, true},
		"the keys alone are hidden": {func(a *api) { a.objects[keysPath], a.objects[tokenPath] = "", tokenOf("new") }, chain.Broken, chain.CodeKeyMissing, true},
		"no right at all":           {func(a *api) { a.objects[issuerPath], a.objects[keysPath], a.objects[tokenPath] = "", "", "" }, chain.Unreached, "", true},
		"the keys are no keys":      {func(a *api) { a.objects[keysPath], a.objects[tokenPath] = "{}", "" }, chain.Unseen, "", true},
		"an API server without any": {func(a *api) { delete(a.objects, keysPath) }, chain.Unseen, "", false},
		"nothing is published":      {func(a *api) { a.documents = map[string]string{} }, chain.Broken, chain.CodeNotPublic, false},
		"the keys are gone":         {func(a *api) { delete(a.documents, "/prod/keys") }, chain.Broken, chain.CodeNotPublic, false},
		"a page":                    {func(a *api) { a.documents["/prod/.well-known/openid-configuration"] = "<html>" }, chain.Broken, chain.CodeDocument, false},
		"this machine is offline":   {func(a *api) { a.documents = nil }, chain.Unseen, "", false},
	} {
		a, c := world("checkout")
		each.change(a)
		_, out, _ := typed(t, a, c, "pod", "shop/checkout-6d9c", "-o", "json")
		var r chain.Report
		must.Do(t, json.Unmarshal([]byte(out), &r))
		if step := r.Links[1]; step.State != each.state || each.code != "" && step.Findings[0].Code != each.code {
			t.Errorf("%s: %+v", name, step)
		}
		if slices.Contains(a.reads, "POST "+tokenPath) != each.token || strings.Contains(out, "eyJ") || strings.Contains(out, "hunter2") {
			t.Errorf("%s: it reads %q and prints %s", name, a.reads, out)
		}
	}
}
