package console

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ask posts a question, and reads the answer into a document.
func (b *browser) ask(path string, question, into any) string {
	b.Helper()
	out := b.do(b.request(http.MethodPost, path, string(must.Get(json.Marshal(question))(b.T))))
	if out.Code != http.StatusOK {
		b.Fatalf("%s answers %d: %s", path, out.Code, out.Body)
	}
	text := out.Body.String()
	must.Do(b, json.Unmarshal([]byte(text), into))
	return text
}

func TestAPastedTextIsDecoded(t *testing.T) {
	b := open(t, server(t, Options{}))
	// The token says {"iss":"https://oidc.example.com/prod","sub":"system:serviceaccount:shop:checkout"}.
	const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL29pZGMuZXhhbXBsZS5jb20vcHJvZCIsInN1YiI6InN5c3RlbTpzZXJ2aWNlYWNjb3VudDpzaG9wOmNoZWNrb3V0In0.c2lnbmF0dXJl"
	for text, want := range map[string]struct{ input, link, name string }{
		"An error occurred (AccessDenied) when calling the AssumeRoleWithWebIdentity operation: Not authorized to perform sts:AssumeRoleWithWebIdentity": {"error", "L9", "trust"},
		"the weather is fine":     {"unknown", "", ""},
		token:                     {"token", "L6", "token"},
		"Authorization: " + token: {"token", "L6", "token"},
	} {
		var got api.Decoded
		said := b.ask("/api/v1/try/decode", api.DecodeQuestion{Text: text}, &got)
		if string(got.Kind) != want.input || string(got.Link) != want.link || got.LinkName != want.name {
			t.Errorf("%.60s: decoded as %+v, want %+v", text, got, want)
		}
		if strings.Contains(said, "c2lnbmF0dXJl") || strings.Contains(said, "eyJ") {
			t.Errorf("%.60s: the answer has a piece of the token: %s", text, said)
		}
	}
}

func TestAPastedPolicyIsChecked(t *testing.T) {
	b := open(t, server(t, Options{}))
	const good = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}}`
	many := `{"Version":"2012-10-17","Statement":[` + strings.TrimSuffix(strings.Repeat(`{"Effect":"allow","Action":"s3:GetObject","Resource":"*"},`, 50), ",") + `]}`
	for name, test := range map[string]struct {
		asked    api.PolicyQuestion
		findings int
		sentence string
	}{
		"a good one": {api.PolicyQuestion{Text: good, Kind: "identity"}, 0, "Nothing is wrong with it"},
		"one word":   {api.PolicyQuestion{Text: strings.Replace(good, "Allow", "allow", 1), Kind: "identity"}, 1, "1 error and 0 warnings were found."},
		"many":       {api.PolicyQuestion{Text: many, Kind: "identity"}, mostFindings, "50 errors and 0 warnings were found. The first 20 are shown."},
		"no JSON":    {api.PolicyQuestion{Text: "Statement: []", Kind: "identity"}, 1, "The text is no JSON document."},
	} {
		var got api.PolicyCheck
		b.ask("/api/v1/try/policy", test.asked, &got)
		if len(got.Findings) != test.findings || !strings.HasPrefix(got.Sentence, test.sentence) || got.Command != "tabard policy check --kind identity FILE" {
			t.Errorf("%s: got %+v, want %d findings and %q", name, got, test.findings, test.sentence)
		}
	}
}

// TestWhatCannotBeTriedIsRefused: and the refusal does not repeat what was pasted.
func TestWhatCannotBeTriedIsRefused(t *testing.T) {
	b := open(t, server(t, Options{}))
	for body, path := range map[string]string{
		`{"text":" \n"}`:                     "decode",
		`{}`:                                 "decode",
		`{"text":"a secret","more":1}`:       "decode",
		`{"text":"a secret","kind":"other"}`: "policy",
		`{"text":"","kind":"trust"}`:         "policy",
		`{"text":"a secret","kind":"identity","roleARN":"arn:aws:iam::1"}`: "policy",
		`{"text":"a secret","kind":"trust","roleARN":"checkout"}`:          "policy",
	} {
		out := b.do(b.request(http.MethodPost, "/api/v1/try/"+path, body))
		if problem := refusal(t, out); out.Code != http.StatusBadRequest || strings.Contains(problem.Detail, "a secret") {
			t.Errorf("%s: answered %+v", body, problem)
		}
	}
}
