package clock

import (
	"testing"
	"time"
)

func TestClockMoves(t *testing.T) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := New(func() time.Time { return base })
	check := func(step string, now, tokens time.Duration) {
		t.Helper()
		if got := c.Now().Sub(base); got != now {
			t.Errorf("%s: the clock is %v ahead, want %v", step, got, now)
		}
		if got := c.Tokens().Sub(base); got != tokens {
			t.Errorf("%s: the tokens' clock is %v ahead, want %v", step, got, tokens)
		}
	}
	check("at first", 0, 0)
	c.Advance(time.Minute)
	check("after an advance", time.Minute, time.Minute)
	c.ChangeOffsets(func(o *Offsets) { o.Tokens = time.Hour })
	check("with an offset for tokens", time.Minute, time.Hour+time.Minute)
	c.ChangeOffsets(func(o *Offsets) { o.Credentials, o.Signatures = 2*time.Hour, 3*time.Hour })
	check("with other offsets", time.Minute, time.Hour+time.Minute)
	if got := c.Credentials().Sub(base); got != 2*time.Hour+time.Minute {
		t.Errorf("the credentials' clock is %v ahead", got)
	}
	if got := c.Signatures().Sub(base); got != 3*time.Hour+time.Minute {
		t.Errorf("the signatures' clock is %v ahead", got)
	}
	c.Set(base.Add(time.Second))
	check("after a set", time.Second, time.Hour+time.Second)
	c.Reset()
	check("after a reset", 0, 0)
	if got := c.Offsets(); got != (Offsets{}) {
		t.Errorf("offsets after a reset: %+v", got)
	}
}
