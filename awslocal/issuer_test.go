package awslocal

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestAnIssuerServesItsDocumentsUntilItsServerCloses(t *testing.T) {
	server, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := server.StartIssuer()
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client()
	fetch := func(url string, into any) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		return json.NewDecoder(answer.Body).Decode(into)
	}
	document := map[string]any{}
	if err := fetch(issuer.URL()+"/.well-known/openid-configuration", &document); err != nil {
		t.Fatal(err)
	}

	keys, _ := document["jwks_uri"].(string)
	if document["issuer"] != issuer.URL() || !strings.HasPrefix(keys, issuer.URL()) {
		t.Errorf("discovery is %v", document)
	}
	var set struct{ Keys []map[string]any }
	if err := fetch(keys, &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("keys %v, %v", set, err)
	}
	if _, private := set.Keys[0]["d"]; private {
		t.Error("the private key is published")
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections()
	if err := fetch(issuer.URL()+"/.well-known/openid-configuration", &document); err == nil {
		t.Error("the issuer answers after its server's Close")
	}
}

func TestATokenNamesAServiceAccountAndAnAudience(t *testing.T) {
	server, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := server.StartIssuer()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close(t.Context()) }()
	for name, c := range map[string]struct {
		issuer                       *Issuer
		namespace, account, audience string
		wrong                        string
	}{
		"all three":                       {issuer, "shop", "web", "sts.amazonaws.com", ""},
		"no namespace":                    {issuer, "", "web", "sts.amazonaws.com", `namespace "", ServiceAccount "web"`},
		"no ServiceAccount":               {issuer, "shop", "", "sts.amazonaws.com", "none of the three may be empty"},
		"no audience":                     {issuer, "shop", "web", "", `audience ""`},
		"an issuer that was made by hand": {&Issuer{}, "shop", "web", "sts.amazonaws.com", "Server.StartIssuer"},
	} {
		t.Run(name, func(t *testing.T) {
			token, err := c.issuer.Token(c.namespace, c.account, c.audience)
			if c.wrong == "" && (err != nil || strings.Count(token, ".") != 2) {
				t.Errorf("token %q, error %v", token, err)
			}
			if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) || token != "") {
				t.Errorf("token %q, error %v, want %q", token, err, c.wrong)
			}
		})
	}
}
