package command

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestWhoWaitsIsToldForWhat(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		1900 * time.Millisecond: "",
		3 * time.Second:         "tabard: waiting for AWS (2s)\n",
		13 * time.Second:        "tabard: waiting for AWS (2s)\ntabard: waiting for AWS (12s)\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var said strings.Builder
			done := Waiting(&said, "AWS")
			<-time.After(wait)
			done()
			done() // a second time is one too many, and does nothing
			<-time.After(time.Minute)
			if said.String() != want {
				t.Errorf("after %s it said %q, want %q", wait, said.String(), want)
			}
		})
	}
}

// slow answers after a time.
type slow time.Duration

func (s slow) RoundTrip(*http.Request) (*http.Response, error) {
	<-time.After(time.Duration(s))
	return &http.Response{StatusCode: http.StatusOK}, nil
}

func TestOfRequestsAtTheSameTimeOneSaysThatItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		client := SayWaits(&said)(slow(5 * time.Second))
		where := must.Get(url.Parse("https://user:secret@api.example.com:6443/api?token=secret"))(t)
		for range 2 {
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					if _, err := client.RoundTrip(&http.Request{URL: where}); err != nil { //nolint:bodyclose // it has none
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
		const line = "tabard: waiting for the API server at https://api.example.com:6443 (2s)\n"
		if said.String() != line+line {
			t.Errorf("it said %q, want one line for each time", said.String())
		}
	})
}
