package instancetype_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	source "github.com/tabard-dev/tabard/internal/cloud/instancetype"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// busy answers every request with an error of a service that wants to be left
// alone, and counts them.
type busy struct {
	status int
	code   string
	// after writes the header.
	after    func() string
	requests atomic.Int32
}

func (b *busy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.requests.Add(1)
	w.Header().Set("Retry-After", b.after())
	w.WriteHeader(b.status)
	if err := r.ParseForm(); err == nil && r.PostForm.Get("Action") == "AssumeRole" {
		_, _ = fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>busy</Message></Error></ErrorResponse>`, b.code)
		return
	}
	_, _ = fmt.Fprintf(w, `<Response><Errors><Error><Code>%s</Code><Message>busy</Message></Error></Errors></Response>`, b.code)
}

func TestWhoeverWantsToBeLeftAloneIs(t *testing.T) {
	seconds := func() string { return "90" }
	date := func() string { return time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat) }
	endless := func() string { return "86400" }
	role := person.Assuming("arn:aws:iam::" + account + ":role/any")
	tests := map[string]struct {
		busy  *busy
		who   identity.Identity
		class fault.Class
		// wish is what the fault says, wait when it is asked again; a second less
		// or more may be lost in a date.
		wish, wait time.Duration
	}{
		"EC2 throttles":             {&busy{status: 503, code: "RequestLimitExceeded", after: seconds}, person, fault.Throttled, 90 * time.Second, 90 * time.Second},
		"EC2 says a date":           {&busy{status: 503, code: "RequestLimitExceeded", after: date}, person, fault.Throttled, 90 * time.Second, 90 * time.Second},
		"EC2 is out of service":     {&busy{status: 503, code: "Unavailable", after: seconds}, person, fault.Retry, 90 * time.Second, 90 * time.Second},
		"STS throttles":             {&busy{status: 400, code: "Throttling", after: seconds}, role, fault.Throttled, 90 * time.Second, 90 * time.Second},
		"STS is out of service":     {&busy{status: 503, code: "ServiceUnavailable", after: date}, role, fault.Retry, 90 * time.Second, 90 * time.Second},
		"longer than anybody waits": {&busy{status: 503, code: "RequestLimitExceeded", after: endless}, person, fault.Throttled, time.Hour, 5 * time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "us-east-1")
			l.front.next = test.busy
			types := source.New(l.auth, source.Options{Rate: 1e6, Burst: 1000, Now: l.clock})
			get := func(wantRequests int32) {
				t.Helper()
				answer, err := types.Get(t.Context(), test.who, ask("m5.large", "us-east-1"))
				wantFault(t, answer, err, test.class, test.busy.code)
				var known fault.Fault
				if !errors.As(err, &known) || (known.RetryAfter-test.wish).Abs() > time.Second {
					t.Errorf("the fault says to wait for %v, want %v", known.RetryAfter, test.wish)
				}
				if got := test.busy.requests.Load(); got != wantRequests {
					t.Errorf("%d requests, want %d", got, wantRequests)
				}
			}
			get(1)
			l.advance(test.wait - 2*time.Second)
			get(1)
			l.advance(4 * time.Second)
			get(2)
		})
	}
}

func TestWhoSTSHoldsUpHoldsUpNobodyElse(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.front.next = &busy{status: 400, code: "Throttling", after: func() string { return "90" }}
	types := source.New(l.auth, source.Options{Rate: 1e6, Burst: 1000, Now: l.clock})
	answer, err := types.Get(t.Context(), person.Assuming("arn:aws:iam::"+account+":role/any"), ask("m5.large", "us-east-1"))
	wantFault(t, answer, err, fault.Throttled, "Throttling")
	l.front.next = l.aws.Handler()
	if answer, err := types.Get(t.Context(), person, ask("m5.large", "us-east-1")); err != nil || answer.State != instancetype.Found {
		t.Errorf("another identity gets %+v, %v", answer, err)
	}
}
