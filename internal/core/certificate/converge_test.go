package certificate_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

// FuzzConverge runs lives of a certificate: API servers are down or do not see what
// has changed, the clock goes on, Secret and configuration are damaged. In the end
// every API server trusts the webhook. Without damage they must trust it all the
// time. A disturbance takes one byte.
func FuzzConverge(f *testing.F) {
	start := func(byte) crash.Model[certificate.World, certificate.Step] {
		c := makeCluster()
		if err := crash.Settle(c); err != nil {
			panic(err)
		}
		c.whole = true
		return c
	}
	crash.Fuzz(f, start,
		[]byte{0, 9, 0, 9, 0, 9, 0, 0, 0, 15, 3},
		[]byte{0, 9, 0, 15, 4, 9, 0, 15, 5, 9, 0, 15, 6, 9, 0, 15, 7, 9, 0, 15, 8},
		[]byte{0, 9, 0, 9, 0, 9, 0, 9, 0, 15, 9, 9, 0, 15, 10, 9, 0, 9, 0, 0, 0, 0, 0, 0, 0},
		[]byte{0, 15, 4, 15, 11, 9, 0, 9, 0, 9, 0, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 9, 0, 9, 0, 15, 3, 9, 0},
		[]byte{0, 15, 4, 9, 0, 9, 0, 9, 0, 15, 13, 9, 0, 15, 13, 0, 0, 9, 0, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 15, 13, 9, 0},
		[]byte{0, 15, 4, 15, 11, 15, 12, 15, 14, 9, 0, 9, 0, 9, 0, 15, 3, 15, 3, 15, 3, 9, 0, 15, 3},
	)
}

// Disturb lets one thing happen. What is not harmless ends the wholeness.
func (c *cluster) Disturb(next func() byte) error {
	switch event := next() % 16; event {
	case 0, 1, 2: // nothing
	case 3: // a day of passes
		for end := c.world.Now.Add(day); c.world.Now.Before(end); {
			if _, err := crash.Pass(c, crash.None); err != nil {
				return err
			}
			c.world.Now = c.world.Now.Add(max(c.plan.Again, time.Minute))
		}
		c.grow()
	case 4: // a new authority comes early, as if it had aged
		c.whole = c.age() && c.whole
	case 11, 12, 13: // an API server is cut off from what changes; it answers, and is asked by people
		server := c.servers[event-11]
		server.stuck, server.down = c.stuckDays < 15, false
	case 14: // an API server can be asked by nobody; what it has seen is not lost
		c.servers[0].down, c.servers[0].stuck = true, false
	case 15: // some seconds with passes
		for range 8 {
			c.world.Now = c.world.Now.Add(10 * time.Second)
			if _, err := crash.Pass(c, crash.None); err != nil {
				return err
			}
		}
	default:
		c.damage(event)
		c.whole = false
	}
	if broken := c.Violation(); broken != "" {
		return errors.New(broken)
	}
	return nil
}

// Violation says that a webhook that nobody damaged is not trusted.
func (c *cluster) Violation() string {
	if err := c.trusted(); err != nil && c.whole {
		return err.Error()
	}
	return ""
}

// Rest demands trust whatever was damaged.
func (c *cluster) Rest(int) (more bool, wrong string) {
	if err := c.trusted(); err != nil {
		return false, err.Error()
	}
	return false, ""
}

// Calm ends the trouble of the API servers.
func (c *cluster) Calm() {
	for _, server := range c.servers {
		server.stuck, server.down = false, false
	}
	c.world.Now = c.world.Now.Add(time.Hour)
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
