package console

import (
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)} }

func TestACodeIsGoodOnceWithinAMinute(t *testing.T) {
	clock := newClock()
	sessions := NewSessions(clock.now)
	begins := func(code string, want bool) {
		t.Helper()
		if _, _, ok := sessions.begin(code); ok != want {
			t.Errorf("the code began a session: %v, want %v", ok, want)
		}
	}
	begins("", false)
	first := sessions.NewCode()
	second := sessions.NewCode()
	begins(first, false)
	begins(second+"x", false)
	begins(second, true)
	begins(second, false)
	late := sessions.NewCode()
	clock.at = clock.at.Add(codeGoodFor + time.Second)
	begins(late, false)
}

func TestASessionEnds(t *testing.T) {
	clock := newClock()
	sessions := NewSessions(clock.now)
	open := func() (cookie, token string) {
		t.Helper()
		cookie, token, ok := sessions.begin(sessions.NewCode())
		if !ok {
			t.Fatal("there is no session for a new code")
		}
		return cookie, token
	}
	want := func(cookie, token string, want verdict) {
		t.Helper()
		if got := sessions.admit(cookie, token); got != want {
			t.Errorf("the verdict is %d, want %d", got, want)
		}
	}
	cookie, token := open()
	other, otherToken := open()
	want(cookie, token, welcome)
	want(cookie, "", wrongToken)
	want(cookie, otherToken, wrongToken)
	want("", token, noSession)
	want(token, cookie, noSession)
	want(other, otherToken, welcome)
	for used := time.Duration(0); used < sessionAtMost; used += sessionIdle / 2 {
		want(cookie, token, welcome)
		clock.at = clock.at.Add(sessionIdle / 2)
	}
	clock.at = clock.at.Add(time.Second)
	want(cookie, token, noSession) // eight hours
	want(other, otherToken, noSession)
	idle, idleToken := open()
	clock.at = clock.at.Add(sessionIdle + time.Second)
	want(idle, idleToken, noSession)
}

func TestASessionHasSoManyRequests(t *testing.T) {
	clock := newClock()
	sessions := NewSessions(clock.now)
	cookie, token, _ := sessions.begin(sessions.NewCode())
	for range requestsBurst {
		if got := sessions.admit(cookie, token); got != welcome {
			t.Fatalf("the verdict is %d", got)
		}
	}
	if got := sessions.admit(cookie, token); got != tooMany {
		t.Errorf("the verdict is %d, want %d", got, tooMany)
	}
	clock.at = clock.at.Add(time.Second)
	for range requestsPerSec {
		if got := sessions.admit(cookie, token); got != welcome {
			t.Fatalf("a second later the verdict is %d", got)
		}
	}
}

func TestThereAreSoManySessions(t *testing.T) {
	clock := newClock()
	sessions := NewSessions(clock.now)
	first, firstToken, _ := sessions.begin(sessions.NewCode())
	used, usedToken, _ := sessions.begin(sessions.NewCode())
	for range mostSessions - 1 {
		clock.at = clock.at.Add(time.Second)
		sessions.admit(used, usedToken)
		sessions.begin(sessions.NewCode())
	}
	if got := len(sessions.sessions); got != mostSessions {
		t.Errorf("there are %d sessions, want %d", got, mostSessions)
	}
	if got := sessions.admit(first, firstToken); got != noSession {
		t.Errorf("the session that was not used for longest is there: %d", got)
	}
	if got := sessions.admit(used, usedToken); got != welcome {
		t.Errorf("the session that is used is gone: %d", got)
	}
}
