package iam

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/iampolicy"
)

// BenchmarkAccountAuthorizationDetails reads one full page of an account of 10,000
// roles from its middle.
func BenchmarkAccountAuthorizationDetails(b *testing.B) {
	s := newService()
	policy := constantPolicy(somePolicy)
	trusted, fault := s.parseTrust(someTrust)
	if fault != nil {
		b.Fatal(fault)
	}
	for i := range 10_000 {
		name := fmt.Sprintf("role-%05d", i)
		made := &role{holder: newHolder(s.accounts[own].home, roleKind, name, "/tabard/", "AROA"+name, time.Now()), trust: trusted}
		made.inline["p"] = policy
		s.accounts[own].roles[name] = made
	}
	marker := ""
	for range 6 {
		marker = readMarker(b, readDetails(s, marker))
	}
	for b.Loop() {
		readDetails(s, marker)
	}
}

func readDetails(s *Service, marker string) string {
	values := url.Values{"Action": {"GetAccountAuthorizationDetails"}, "MaxItems": {"1000"}, "Filter.member.1": {"Role"}}
	if marker != "" {
		values.Set("Marker", marker)
	}
	c := &call.Call{
		HTTP: httptest.NewRequest(http.MethodPost, "/", nil), Payload: []byte(values.Encode()), Now: time.Now(), Entry: &call.Entry{},
		Caller: call.Caller{Principal: iampolicy.Principal{Kind: iampolicy.User, ARN: "arn:aws:iam::" + own + ":user/administrator", AccountID: own}},
		Authorize: func(string, string, call.Side, iampolicy.Context) iampolicy.Decision {
			return iampolicy.Decision{Effect: iampolicy.Allow, Kind: iampolicy.IdentityPolicy}
		},
		Trouble: func(string) *call.Fault { return nil },
	}
	w := httptest.NewRecorder()
	s.Serve(w, c)
	return w.Body.String()
}

var markerOf = regexp.MustCompile(`<Marker>(.+)</Marker>`)

func readMarker(tb testing.TB, page string) string {
	tb.Helper()
	match := markerOf.FindStringSubmatch(page)
	if match == nil {
		tb.Fatalf("the page has no marker: %.300s", page)
	}
	return match[1]
}
