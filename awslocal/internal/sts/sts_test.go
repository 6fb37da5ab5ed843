package sts

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/iam"
	"github.com/tabard-dev/tabard/awslocal/internal/oidc"
)

func TestClaimsOfVerifiedTokens(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := New(Options{TokenNow: func() time.Time { return now }})
	provider := iam.Provider{Clients: []string{"a", "b"}}
	token := func(change func(*oidc.Token)) *oidc.Token {
		one := &oidc.Token{Audience: []string{"a"}, Expires: now.Unix() + 60, Issued: now.Unix() - 60}
		change(one)
		return one
	}
	cases := map[string]struct {
		token     *oidc.Token
		want      string
		wantError string
	}{
		"one audience":                   {token(func(*oidc.Token) {}), "a", ""},
		"an authorized party replaces":   {token(func(k *oidc.Token) { k.Audience, k.AuthorizedParty = []string{"x", "y"}, "b" }), "b", ""},
		"an authorized party unknown":    {token(func(k *oidc.Token) { k.AuthorizedParty = "x" }), "", textAudience},
		"two audiences":                  {token(func(k *oidc.Token) { k.Audience = []string{"a", "b"} }), "", textAudiences},
		"expired within the grace":       {token(func(k *oidc.Token) { k.Expires = now.Unix() - 299 }), "a", ""},
		"expired at the end of grace":    {token(func(k *oidc.Token) { k.Expires = now.Unix() - 300 }), "", "Token expired: current date/time 1700000000 must be before the expiration date/time 1699999700"},
		"issued a day ago":               {token(func(k *oidc.Token) { k.Issued = now.Unix() - 86400 }), "a", ""},
		"issued more than a day ago":     {token(func(k *oidc.Token) { k.Issued = now.Unix() - 86401 }), "", "Token too old: 1699913599"},
		"issued by a clock a bit ahead":  {token(func(k *oidc.Token) { k.Issued = now.Unix() + 300 }), "a", ""},
		"issued by a clock too far":      {token(func(k *oidc.Token) { k.Issued = now.Unix() + 301 }), "", "Token issued in the future"},
		"wrong audience beats expiry":    {token(func(k *oidc.Token) { k.Audience, k.Expires = []string{"x"}, 0 }), "", textAudience},
		"expiry beats a date of issue 0": {token(func(k *oidc.Token) { k.Expires, k.Issued = 0, 0 }), "", "Token expired"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, fault := call.Answer(func() string { return s.checkClaims(provider, c.token) })
			message := ""
			if fault != nil {
				message = fault.Message
			}
			if got != c.want || !strings.HasPrefix(message, c.wantError) || (c.wantError == "") != (message == "") {
				t.Errorf("audience %q, fault %q; want %q, %q", got, message, c.want, c.wantError)
			}
		})
	}
}

func TestExpiredSessionsAreForgottenAfterADay(t *testing.T) {
	var all sessions
	start := time.Unix(1_700_000_000, 0)
	all.add(&session{keyID: "old", issued: start, expires: start.Add(time.Hour)})
	all.add(&session{keyID: "next", issued: start.Add(24 * time.Hour), expires: start.Add(25 * time.Hour)})
	if all.get("old") == nil {
		t.Error("a session is forgotten within a day of its end")
	}
	all.add(&session{keyID: "last", issued: start.Add(26 * time.Hour), expires: start.Add(27 * time.Hour)})
	if all.get("old") != nil {
		t.Error("a session is kept for more than a day after its end")
	}
}

func TestPackedSizeIsAShareOfTheRoom(t *testing.T) {
	for text, want := range map[string]int{"{}": 1, `"` + strings.Repeat("a", 1022) + `"`: 55, `"` + strings.Repeat("a", 2046) + `"`: 110, "{\n\n\n}": 1} {
		if got := packed(text, ""); got != want {
			t.Errorf("%d characters take %d%%, want %d%%", len(text), got, want)
		}
	}
}
