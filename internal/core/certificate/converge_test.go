package certificate_test

import (
	"bytes"
	"crypto/rand"
	"maps"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// FuzzConverge lets an operator be killed before or after any step, API servers
// be down or not see what has changed, the clock go on, and Secret and
// configuration be damaged; and demands that passes without trouble then come to
// an end at which every API server trusts the webhook. Without damage they must
// trust it all the time.
func FuzzConverge(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 3})
	f.Add([]byte{0, 4, 0, 5, 0, 6, 0, 7, 0, 8})
	f.Add([]byte{0, 1, 0, 0, 9, 0, 10, 0, 0, 2, 2, 2})
	f.Add([]byte{4, 11, 0, 0, 0, 13, 13, 13, 13, 13, 13, 13, 13, 0, 0, 3, 0})
	f.Add([]byte{4, 0, 0, 0, 13, 0, 13, 2, 0, 13, 13, 13, 13, 13, 13, 13, 13, 13, 0})
	f.Add([]byte{4, 11, 12, 14, 0, 0, 0, 3, 3, 3, 0, 3})
	f.Fuzz(func(t *testing.T, script []byte) {
		c := newCluster(t)
		c.settle()
		whole := true
		for _, event := range script[:min(len(script), 60)] {
			whole = c.happen(event) && whole
			if err := c.trusted(); err != nil && whole {
				t.Fatalf("after %v: %v", script, err)
			}
		}
		c.repair()
		c.settle()
		if err := c.trusted(); err != nil {
			t.Errorf("in the end: %v", err)
		}
		if again := c.settle(); again != nil {
			t.Errorf("not at rest: %q", again)
		}
	})
}

// repair ends the trouble of the API servers.
func (c *cluster) repair() {
	for _, server := range c.servers {
		server.stuck, server.down = false, false
	}
	c.world.Now = c.world.Now.Add(time.Hour)
}

// happen lets one thing happen. It says whether it was harmless.
func (c *cluster) happen(event byte) bool {
	c.t.Helper()
	switch event % 16 {
	case 0, 1: // a pass
		c.pass()
	case 2: // a pass that is killed before its step, or after a step whose end it did not see
		c.decide()
		c.restart()
	case 3: // a day of passes
		for end := c.world.Now.Add(day); c.world.Now.Before(end); {
			c.world.Now = c.world.Now.Add(max(c.pass(), time.Minute))
		}
		c.grow()
	case 4: // a new authority comes early, as if it had aged
		return c.age()
	case 11, 12, 13: // an API server is cut off from what changes; it answers, and is asked by people
		server := c.servers[event%16-11]
		server.stuck, server.down = c.stuckDays < 15, false
	case 14: // an API server can be asked by nobody; what it has seen is not lost
		c.servers[0].down, c.servers[0].stuck = true, false
	case 15: // some seconds with passes
		for range 8 {
			c.world.Now = c.world.Now.Add(10 * time.Second)
			c.pass()
		}
	default:
		c.damage(event % 16)
		return false
	}
	return true
}

// grow counts the days on which an API server was cut off: after too many the
// old certificate expires, and somebody has to look after it.
func (c *cluster) grow() {
	for _, server := range c.servers {
		if server.stuck {
			c.stuckDays++
			server.stuck = c.stuckDays < 15
		}
	}
}

// pass is one of the operator, whole. It says when the next is wanted.
func (c *cluster) pass() time.Duration {
	plan := c.decide()
	if plan.Step != nil {
		c.perform(plan.Step)
	}
	c.spread()
	return plan.Again
}

// age makes the rotation of the authority begin, in the middle of whatever else
// is going on. It is harmless only if the Secret is sound.
func (c *cluster) age() bool {
	data, err := certificate.Apply(certificate.IssueAuthority{}, c.world.Secret.Data, c.world.Now, rand.Reader)
	if err != nil {
		return false
	}
	c.world.Secret.Data = data
	return true
}

// damage is done by somebody else.
func (c *cluster) damage(event byte) {
	data := map[string][]byte{}
	maps.Copy(data, c.world.Secret.Data)
	switch event {
	case 5:
		c.world.Now = c.world.Now.Add(3000 * day)
	case 6:
		data["tls.crt"] = bytes.ToLower(data["tls.crt"])
	case 7:
		delete(data, "ca.key")
	case 8:
		data = nil
	case 9:
		c.world.Hooks = append([]certificate.Hook{serviceHook("webhook")}, c.world.Hooks[1:]...)
	case 10:
		c.world.Hooks = []certificate.Hook{c.world.Hooks[0], serviceHook("other"), probeHook()}
	}
	c.world.Secret.Data = data
}
