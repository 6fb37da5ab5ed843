package certificate_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/tabard-dev/tabard/internal/core/certificate"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// cluster is where the steps are performed in tests: the Secret and what is
// published of it, one configuration with a hook to serve and one to prove by, and API servers.
type cluster struct {
	crash.Plain
	t       testing.TB
	world   certificate.World
	servers []*apiServer
	// stuckDays are those that API servers were cut off, in all.
	stuckDays int
	// whole says that nobody has damaged anything.
	whole bool
	// plan is what the last pass decided, done the steps since the last settle.
	plan certificate.Plan
	done []string
}

// apiServer is one that may lag behind with the configuration.
type apiServer struct {
	hooks []certificate.Hook
	// stuck says that it does not take changes up, down that it does not answer.
	stuck, down bool
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := makeCluster()
	c.t = t
	return c
}

func makeCluster() *cluster {
	return &cluster{servers: []*apiServer{{}, {}, {}},
		world: certificate.World{Now: noon, Hooks: []certificate.Hook{serviceHook("webhook"), probeHook()}}}
}

func serviceHook(name string) certificate.Hook { return hookOf("pod-identity.tabard.dev", name) }

func probeHook() certificate.Hook { return hookOf(certificate.ProbeHook, "probe") }

func hookOf(name, service string) certificate.Hook {
	return certificate.NewHook(name, admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: service, Namespace: "tabard-system"}})
}

// Observe implements crash.Model.
func (c *cluster) Observe() certificate.World {
	c.spread()
	c.world.Memory = c.world.Memory.Seeing(c.world.Hooks, c.world.Now)
	w := c.world
	w.Secret.Data, w.Served.Data = maps.Clone(w.Secret.Data), maps.Clone(w.Served.Data)
	w.Hooks = slices.Clone(w.Hooks)
	return w
}

// Decide implements crash.Model.
func (c *cluster) Decide(w certificate.World) []certificate.Step {
	if c.plan = certificate.Decide(w); c.plan.Step == nil {
		return nil
	}
	return []certificate.Step{c.plan.Step}
}

// decide is a pass up to its decision.
func (c *cluster) decide() certificate.Plan {
	c.Decide(c.Observe())
	return c.plan
}

// spread lets all API servers that are not stuck take the configuration up.
func (c *cluster) spread() {
	for _, server := range c.servers {
		if !server.stuck {
			server.hooks = slices.Clone(c.world.Hooks)
		}
	}
}

// Die lets the operator forget what only its process knew.
func (c *cluster) Die(int) { c.world.Memory = certificate.Memory{} }

// Idle lets the time of a rotation go by.
func (c *cluster) Idle() bool {
	waits := (c.plan.Phase == certificate.Proving || c.plan.Phase == certificate.Waiting) && !c.plan.Notice.Warning
	if waits {
		c.world.Now = c.world.Now.Add(c.plan.Again)
	}
	return waits
}

// Patience implements crash.Model.
func (c *cluster) Patience() int { return 100 }

// look asks every API server as a dry run does.
func (c *cluster) look(fingerprint string) (found []certificate.Trust, err error) {
	pair, err := tls.X509KeyPair(c.world.Served.Data["probe.crt"], c.world.Served.Data["probe.key"])
	if err != nil {
		return nil, fmt.Errorf("a look without a probe certificate: %w", err)
	}
	if certificate.Fingerprint(pair.Leaf.Raw) != fingerprint {
		return nil, fmt.Errorf("a look for %s, the probe certificate is another", fingerprint)
	}
	for _, server := range c.servers {
		trust := certificate.Trust{Verdict: certificate.Trusted}
		switch err := server.trusts(pair.Leaf, c.world.Now, func(h certificate.Hook) bool { return h.Probe }); {
		case server.down:
			trust = certificate.Trust{Verdict: certificate.Unknown, Detail: "down"}
		case err != nil:
			trust = certificate.Trust{Verdict: certificate.Refused, Detail: err.Error()}
		}
		found = append(found, trust)
	}
	return found, nil
}

// trusts says why an API server would not talk to the webhook by such a hook.
func (s *apiServer) trusts(served *x509.Certificate, now time.Time, by func(certificate.Hook) bool) error {
	for _, hook := range s.hooks {
		if !by(hook) {
			continue
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(hook.Bundle)
		if _, err := served.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now}); err != nil {
			return err
		}
		for _, name := range hook.Names {
			if err := served.VerifyHostname(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// perform does what the shell does with a step.
func (c *cluster) perform(step certificate.Step) {
	c.t.Helper()
	must.Do(c.t, c.Perform(step, false))
}

// Perform implements crash.Model.
func (c *cluster) Perform(step certificate.Step, fail bool) error {
	if fail {
		return errors.New("the API server refuses it")
	}
	if step != (certificate.Publish{}) { // after each change; TestPublish looks at it
		c.done = append(c.done, nameOf(step))
	}
	defer c.spread()
	switch step := step.(type) {
	case certificate.PutBundle:
		c.world.Hooks = slices.Clone(c.world.Hooks)
		for i := range c.world.Hooks {
			c.world.Hooks[i].Bundle = []byte(step.Bundle)
		}
		return nil
	case certificate.Probe:
		found, err := c.look(step.Certificate)
		c.world.Memory.Proof = c.world.Memory.Proof.After(step.Certificate, c.world.Now, found)
		return err
	case certificate.Publish:
		c.world.Served = certificate.Secret{Ours: true, Data: certificate.Published(c.world.Secret.Data)}
		return nil
	}
	from := c.world.Secret.Data
	if step == (certificate.TakeOver{}) {
		from = c.world.Handover()
	}
	before := maps.Clone(from)
	data, err := certificate.Apply(step, from, c.world.Now, rand.Reader)
	if err != nil {
		return fmt.Errorf("%T: %w", step, err)
	}
	if diff := cmp.Diff(before, from); diff != "" {
		return fmt.Errorf("%T changed what it was given:\n%s", step, diff)
	}
	c.world.Secret = certificate.Secret{Ours: true, Data: data}
	return nil
}

// pass makes one pass without trouble, and says when the next is wanted.
func (c *cluster) pass() time.Duration {
	c.t.Helper()
	must.Get(crash.Pass(c, crash.None))(c.t)
	return c.plan.Again
}

// settle makes passes until there is nothing to do now, and says what was done.
// A rotation is gone through to its end.
func (c *cluster) settle() []string {
	c.t.Helper()
	c.done = nil
	must.Do(c.t, crash.Settle(c))
	return slices.Compact(c.done)
}

func nameOf(step certificate.Step) string {
	switch step := step.(type) {
	case nil:
		return ""
	case certificate.IssueServing:
		return step.String() + " " + string(step.Basis)
	default:
		return step.String()
	}
}

// trusted says why an API server would not talk to the webhook now.
func (c *cluster) trusted() error { return c.trustedWith(c.world.Served.Data) }

// trustedWith says it of a webhook that serves with that.
func (c *cluster) trustedWith(served map[string][]byte) error {
	pair, err := tls.X509KeyPair(served["tls.crt"], served["tls.key"])
	if err != nil {
		return err
	}
	for i, server := range c.servers {
		if err := server.trusts(pair.Leaf, c.world.Now, func(h certificate.Hook) bool { return !h.Probe }); err != nil {
			return fmt.Errorf("API server %d: %w", i, err)
		}
	}
	return nil
}

// renewAuthority lets the rotation of the authority begin, as if it had aged.
func renewAuthority(t testing.TB, w *certificate.World) {
	t.Helper()
	data := must.Get(certificate.Apply(certificate.IssueAuthority{}, w.Secret.Data, w.Now, rand.Reader))(t)
	w.Secret.Data = data
}
