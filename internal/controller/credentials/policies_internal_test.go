package credentials

import (
	"context"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// onePolicy answers with one policy, or with a fault, and counts.
type onePolicy struct {
	Roles
	document string
	fault    error
	asked    int
}

func (o *onePolicy) Policy(context.Context, identity.Identity, string) (document string, exists bool, err error) {
	o.asked++
	if o.fault != nil {
		return "", false, o.fault
	}
	return o.document, true, nil
}

// TestAPolicyIsReadOnceAWhile, at once for somebody who asks for a look, and counts on while AWS
// does not answer, for an hour.
func TestAPolicyIsReadOnceAWhile(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	aws := &onePolicy{document: "one"}
	changes := make(chan struct{}, 10)
	p := &policies{options: Options{AWS: AWS{Roles: aws}, Now: func() time.Time { return now }}, known: map[string]readPolicy{}, changed: func() { changes <- struct{}{} }}
	busy, denied := fault.Fault{Class: fault.Throttled}, fault.Fault{Class: fault.Denied}
	for _, step := range []struct {
		what     string
		later    time.Duration
		document string
		fault    error
		since    time.Duration // after now; 0 is nobody
		want     string
		failed   fault.Class
		asked    int
		changed  bool
	}{
		{what: "first", document: "one", want: "one", asked: 1},
		{what: "at once again", later: time.Second, document: "two", want: "one", asked: 1},
		{what: "a minute later", later: time.Minute, document: "two", want: "two", asked: 2, changed: true},
		{what: "a person asks", later: time.Second, document: "three", since: -time.Millisecond, want: "three", asked: 3, changed: true},
		{what: "the same asking", document: "four", since: -time.Millisecond, want: "three", asked: 3},
		{what: "from a clock that is ahead", document: "four", since: time.Hour, want: "three", asked: 3},
		{what: "AWS is busy", later: 2 * time.Minute, fault: busy, want: "three", asked: 4},
		{what: "and is asked again seconds later", later: 6 * time.Second, fault: busy, want: "three", asked: 5},
		{what: "for half an hour", later: 30 * time.Minute, fault: busy, want: "three", asked: 6},
		{what: "for more than one", later: 31 * time.Minute, fault: busy, failed: fault.Throttled, asked: 7},
		{what: "it is back", later: time.Minute, document: "three", want: "three", asked: 8},
		{what: "AWS refuses", later: 2 * time.Minute, fault: denied, failed: fault.Denied, asked: 9},
	} {
		now = now.Add(step.later)
		aws.document, aws.fault = step.document, step.fault
		since := time.Time{}
		if step.since != 0 {
			since = now.Add(step.since)
		}
		got := p.get(t.Context(), "arn", since)
		failed := fault.Class("")
		if got.Fault != nil {
			failed = got.Fault.Class
		}
		if got.Document != step.want || failed != step.failed || aws.asked != step.asked {
			t.Errorf("%s: %+v (%q) after %d readings, want %q, %q and %d", step.what, got, failed, aws.asked, step.want, step.failed, step.asked)
		}
		if step.changed {
			<-changes
		}
	}
	if len(changes) != 0 {
		t.Error("what did not change was told")
	}
	p.get(t.Context(), "another", time.Time{})
	now = now.Add(2 * policyAtMost)
	p.get(t.Context(), "third", time.Time{})
	if _, has := p.known["another"]; has || len(p.known) != 1 {
		t.Errorf("what nobody asks for is kept: %v", p.known)
	}
}
