package certificate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// TestANewAuthorityIsProved begins a rotation while the API servers are in some
// state, lets time go on, and says when the serving certificate is exchanged and
// on what basis.
func TestANewAuthorityIsProved(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		trouble func(*cluster)
		// after is when the trouble ends; zero for never.
		after time.Duration
		basis certificate.Basis
		// from and to bound the time from the beginning to the exchange.
		from, to time.Duration
		warned   string
	}{
		"one minute of trust is enough":              {func(*cluster) {}, 0, certificate.Proven, time.Minute, 2 * time.Minute, ""},
		"who is behind for a while is waited for":    {func(c *cluster) { c.servers[1].stuck = true }, 5 * time.Minute, certificate.Proven, 6 * time.Minute, 7 * time.Minute, ""},
		"who is behind for hours is waited for, too": {func(c *cluster) { c.servers[1].stuck = true }, 5 * time.Hour, certificate.Proven, 5 * time.Hour, 6 * time.Hour, "old CA"},
		"who cannot be asked is given ten minutes":   {func(c *cluster) { c.servers[1].down = true }, 0, certificate.Waited, 10 * time.Minute, 11 * time.Minute, "new CA, without proof"},
		"who never follows, until the last week":     {func(c *cluster) { c.servers[2].stuck = true }, 0, certificate.Waited, 83 * day, 85 * day, "new CA, without proof"},
		"nobody there is no proof":                   {func(c *cluster) { c.servers = nil }, 0, certificate.Waited, 10 * time.Minute, 11 * time.Minute, "no API server was found"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.settle()
			test.trouble(c)
			renewAuthority(t, &c.world)
			begun, warned := c.world.Now, ""
			for range 2000 {
				if test.after > 0 && c.world.Now.Sub(begun) > test.after {
					for _, server := range c.servers {
						server.stuck, server.down = false, false
					}
				}
				plan := c.decide()
				if plan.Notice.Warning {
					warned = plan.Notice.Note
				}
				if step, ok := plan.Step.(certificate.IssueServing); ok {
					took := c.world.Now.Sub(begun)
					if step.Basis != test.basis || took < test.from || took > test.to {
						t.Errorf("exchanged after %s on the basis %q, want %s to %s, %q", took, step.Basis, test.from, test.to, test.basis)
					}
					if (test.warned == "") != (warned == "") || !strings.Contains(warned, test.warned) {
						t.Errorf("warned %q, want %q", warned, test.warned)
					}
					return
				}
				if plan.Step != nil {
					c.perform(plan.Step)
				}
				c.world.Now = c.world.Now.Add(plan.Again)
				if plan.Step == nil && c.world.Now.Sub(begun) > day {
					c.world.Now = c.world.Now.Add(6 * time.Hour) // to come to the end sooner
				}
			}
			t.Errorf("never exchanged; warned %q", warned)
		})
	}
}

// TestProofMustHold plants a look that fails in the minute, and a restart.
func TestProofMustHold(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*cluster){
		"a look that fails begins the minute anew": func(c *cluster) {
			c.servers[0].down = true
			c.world.Now = c.world.Now.Add(10 * time.Second)
			c.pass()
			c.servers[0].down = false
		},
		"a process that starts anew does, too":             func(c *cluster) { c.Die(0) },
		"a probe certificate that was exchanged does, too": func(c *cluster) { delete(c.world.Secret.Data, "probe.key") },
		"a bundle that was changed does, too":              func(c *cluster) { c.world.Hooks = slices.Clone(c.world.Hooks); c.world.Hooks[0].Bundle = nil },
	}
	for name, disturb := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.settle()
			renewAuthority(t, &c.world)
			for range 40 {
				c.world.Now = c.world.Now.Add(c.pass())
				if since := c.world.Memory.Proof.Since; !since.IsZero() && c.world.Now.Sub(since) > 50*time.Second {
					break
				}
			}
			disturb(c)
			disturbed := c.world.Now
			c.settle()
			if took := c.world.Now.Sub(disturbed); took < time.Minute || took > 2*time.Minute {
				t.Errorf("exchanged %s after the disturbance, want a minute or a little more", took)
			}
		})
	}
}

func TestOthersAreToldOfTheirBundle(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for range 2 { // the first bundle, and that after a rotation, replace nothing foreign
		c.world.Now = c.world.Now.Add(time.Hour)
		for _, step := range []string{"IssueAll", "Publish", "PutBundle"} {
			plan := c.decide()
			if nameOf(plan.Step) != step || plan.Notice != (certificate.Notice{}) {
				t.Errorf("%s with %+v, want %s without a notice", nameOf(plan.Step), plan.Notice, step)
			}
			c.perform(plan.Step)
		}
		c.world.Secret, c.world.Served = certificate.Secret{}, certificate.Secret{}
	}
	c.settle()
	ours := c.world.Hooks[0].Bundle
	for name, bundle := range map[string][]byte{
		"something appended":    append(slices.Clone(ours), []byte("\n# a note\n")...),
		"a certificate of ours": c.world.Secret.Data["tls.crt"],
		"rubbish":               []byte("x"),
	} {
		c.world.Hooks = slices.Clone(c.world.Hooks)
		c.world.Hooks[0].Bundle = bundle
		plan := c.decide()
		if plan.Step != (certificate.PutBundle{Bundle: string(ours)}) || plan.Notice.Reason != "BundleReplaced" || !plan.Notice.Warning {
			t.Errorf("%s: plan %+v, want it replaced and told", name, plan)
		}
	}
}

func TestWhoKeepsWhat(t *testing.T) {
	t.Parallel()
	mark := map[string]string{"app.kubernetes.io/managed-by": "tabard"}
	type seen struct {
		Ours     bool
		Injector string
	}
	tests := map[string]struct {
		labels, annotations map[string]string
		want                seen
	}{
		"nobody":                      {nil, nil, seen{}},
		"Tabard":                      {mark, nil, seen{Ours: true}},
		"cert-manager's Secret":       {mark, map[string]string{"cert-manager.io/certificate-name": "x"}, seen{}},
		"OpenShift's Secret":          {mark, map[string]string{"service.beta.openshift.io/originating-service-name": "x"}, seen{}},
		"cert-manager's caBundle":     {mark, map[string]string{"cert-manager.io/inject-ca-from": "a/b"}, seen{true, "cert-manager.io/inject-ca-from"}},
		"OpenShift's caBundle":        {nil, map[string]string{"service.beta.openshift.io/inject-cabundle": "true"}, seen{false, "service.beta.openshift.io/inject-cabundle"}},
		"OpenShift's, switched off":   {nil, map[string]string{"service.beta.openshift.io/inject-cabundle": "false"}, seen{}},
		"an annotation without value": {nil, map[string]string{"cert-manager.io/inject-ca-from": ""}, seen{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := seen{certificate.IsOurs(test.labels, test.annotations), certificate.InjectorOf(test.annotations)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
