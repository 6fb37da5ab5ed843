package podidentity

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awslocal/internal/eks"
	"github.com/tabard-dev/tabard/awslocal/internal/sts"
)

func TestTheAgentTakesOnlyWhatS3CouldNotAnswer(t *testing.T) {
	none := ""
	cases := map[string]struct {
		method, target string
		header         *string
		want           bool
	}{
		"a raw token":              {"GET", "/v1/credentials", text("a.b.c"), true},
		"an empty token":           {"GET", "/v1/credentials", &none, true},
		"a bearer":                 {"GET", "/v1/credentials", text("Bearer a.b.c"), true},
		"nothing: anonymous to S3": {"GET", "/v1/credentials", nil, false},
		"signed for S3":            {"GET", "/v1/credentials", text("AWS4-HMAC-SHA256 Credential=x"), false},
		"signed the old way":       {"GET", "/v1/credentials", text("AWS x:y"), false},
		"presigned":                {"GET", "/v1/credentials?X-Amz-Algorithm=AWS4-HMAC-SHA256", text("a.b.c"), false},
		"another object":           {"GET", "/v1/credentials2", text("a.b.c"), false},
		"an encoded slash":         {"GET", "/v1%2Fcredentials", text("a.b.c"), false},
		"another method":           {"PUT", "/v1/credentials", text("a.b.c"), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.target, http.NoBody)
			if c.header != nil {
				r.Header["Authorization"] = []string{*c.header}
			}
			if got := Wants(r); got != c.want {
				t.Errorf("the agent's: %v, want %v", got, c.want)
			}
		})
	}
}

func text(s string) *string { return &s }

func TestNamesOfOthersAreNotTheAgents(t *testing.T) {
	a := New(Options{Hosts: []string{"aws.test"}})
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:80": true, "[::1]:80": true, "[fd00:ec2::23]": true, "localhost:4566": true, "aws.test": true, "aws.test:443": true,
		"evil.example": false, "127.0.0.1.evil.example:80": false, "": false, "localhost.": false,
	} {
		if got := a.isOwn(host); got != want {
			t.Errorf("%q is its own: %v, want %v", host, got, want)
		}
	}
}

func granted(id string, expires time.Time) eks.PodCredentials {
	return eks.PodCredentials{Granted: sts.Granted{KeyID: id, Expires: expires}}
}

func TestCredentialsAreRenewedInTime(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	cases := map[string]struct {
		life, age time.Duration
		want      state
	}{
		"new ones":                             {6 * time.Hour, 0, fresh},
		"just before three hours":              {6 * time.Hour, 3*time.Hour - 1, fresh},
		"after three hours":                    {6 * time.Hour, 3 * time.Hour, usable},
		"with 15 seconds left":                 {6 * time.Hour, 6*time.Hour - 15*time.Second, usable},
		"with less left":                       {6 * time.Hour, 6*time.Hour - 14*time.Second, missing},
		"short ones until their end":           {time.Hour, time.Hour - 1, fresh},
		"short ones after it":                  {time.Hour, time.Hour, missing},
		"when the clock was set back, renewed": {6 * time.Hour, -time.Minute, usable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var kept cache
			kept.put(keyOf("t"), granted("one", start.Add(c.life)), start)
			if _, got := kept.get(keyOf("t"), start.Add(c.age)); got != c.want {
				t.Errorf("state %d, want %d", got, c.want)
			}
		})
	}
}

func TestTheCacheIsBoundedAndForgetsTheOldest(t *testing.T) {
	var kept cache
	start := time.Unix(1_700_000_000, 0)
	for i := range maxCached + 2 {
		kept.put(keyOf(strconv.Itoa(i)), granted("k", start.Add(6*time.Hour)), start.Add(time.Duration(i)*time.Second))
	}
	now := start.Add(time.Hour)
	if len(kept.all) != maxCached {
		t.Errorf("%d are kept, want %d", len(kept.all), maxCached)
	}
	for i, want := range map[int]state{0: missing, 1: missing, 2: fresh, maxCached + 1: fresh} {
		if _, got := kept.get(keyOf(strconv.Itoa(i)), now); got != want {
			t.Errorf("number %d is in state %d, want %d", i, got, want)
		}
	}
}

func TestTheFirstOfTwoAnswersCounts(t *testing.T) {
	var kept cache
	now := time.Unix(1_700_000_000, 0)
	kept.put(keyOf("t"), granted("one", now.Add(time.Hour)), now)
	if got := kept.put(keyOf("t"), granted("two", now.Add(time.Hour)), now); got.KeyID != "one" {
		t.Errorf("the second caller gets %s", got.KeyID)
	}
}
