package certificate_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// cluster is where the steps are performed in tests: one Secret, one
// configuration with one hook.
type cluster struct {
	t     testing.TB
	world certificate.World
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{t: t, world: certificate.World{Now: noon, Hooks: []certificate.Hook{serviceHook("webhook")}}}
}

func serviceHook(name string) certificate.Hook {
	return certificate.NewHook(admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: name, Namespace: "tabard-system"}})
}

// perform does what the shell does with a step.
func (c *cluster) perform(step certificate.Step) {
	c.t.Helper()
	if put, ok := step.(certificate.PutBundle); ok {
		for i := range c.world.Hooks {
			c.world.Hooks[i].Bundle = []byte(put.Bundle)
		}
		return
	}
	before := maps.Clone(c.world.Secret.Data)
	data, err := certificate.Apply(step, c.world.Secret.Data, c.world.Now, rand.Reader)
	if err != nil {
		c.t.Fatalf("%T: %v", step, err)
	}
	if diff := cmp.Diff(before, c.world.Secret.Data); diff != "" {
		c.t.Fatalf("%T changed what it was given:\n%s", step, diff)
	}
	c.world.Secret = certificate.Secret{Ours: true, Data: data}
}

// settle makes passes until there is nothing to do now, and says what was done.
func (c *cluster) settle() []string {
	c.t.Helper()
	var done []string
	for range 10 {
		plan := certificate.Decide(c.world)
		if plan.Step == nil {
			return done
		}
		done = append(done, nameOf(plan.Step))
		c.perform(plan.Step)
	}
	c.t.Fatalf("no end of steps: %q", done)
	return nil
}

func nameOf(step certificate.Step) string {
	switch step.(type) {
	case certificate.IssueAll:
		return "IssueAll"
	case certificate.IssueAuthority:
		return "IssueAuthority"
	case certificate.DropExpired:
		return "DropExpired"
	case certificate.IssueServing:
		return "IssueServing"
	case certificate.PutBundle:
		return "PutBundle"
	}
	return "unknown"
}

// trusted says why an API server would not talk to the webhook.
func (c *cluster) trusted() error {
	pair, err := tls.X509KeyPair(c.world.Secret.Data["tls.crt"], c.world.Secret.Data["tls.key"])
	if err != nil {
		return err
	}
	for _, hook := range c.world.Hooks {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(hook.Bundle)
		for _, name := range hook.Names {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name, CurrentTime: c.world.Now}); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestFirstCertificate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if diff := cmp.Diff([]string{"IssueAll", "PutBundle"}, c.settle()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if err := c.trusted(); err != nil {
		t.Error(err)
	}
	if plan := certificate.Decide(c.world); plan != (certificate.Plan{Again: 12 * time.Hour}) {
		t.Errorf("a sound Secret asks for %+v", plan)
	}
}

// TestLife goes through twelve years, a pass when the plan asks for one or days
// later, and demands that what is served is trusted at every moment.
func TestLife(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.settle()
	seen := map[string]int{}
	for end := noon.Add(12 * 365 * day); c.world.Now.Before(end); {
		plan := certificate.Decide(c.world)
		if plan.Again <= 0 {
			t.Fatalf("at %s nothing wakes the controller: %+v", c.world.Now, plan)
		}
		if plan.Step != nil {
			seen[nameOf(plan.Step)]++
			c.perform(plan.Step)
		}
		if plan.Again == 12*time.Hour {
			plan.Again = 10 * day // the operator was down for a while
		}
		c.world.Now = c.world.Now.Add(plan.Again)
		if err := c.trusted(); err != nil {
			t.Fatalf("at %s after %+v: %v", c.world.Now, seen, err)
		}
	}
	if seen["IssueAll"] != 0 || seen["IssueAuthority"] != 1 || seen["DropExpired"] != 1 || seen["PutBundle"] != 2 || seen["IssueServing"] < 70 {
		t.Errorf("steps in twelve years: %v", seen)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*certificate.World)
		want   []string
	}{
		"nothing changed, nothing to do":  {func(*certificate.World) {}, nil},
		"no configuration, nothing to do": {func(w *certificate.World) { w.Hooks = nil }, nil},
		"another service name needs another certificate": {func(w *certificate.World) { w.Hooks = []certificate.Hook{serviceHook("other")} },
			[]string{"PutBundle", "IssueServing"}},
		"a bundle that somebody changed is put back": {func(w *certificate.World) { w.Hooks[0].Bundle = []byte("x") }, []string{"PutBundle"}},
		"a second hook needs the bundle too":         {func(w *certificate.World) { w.Hooks = append(w.Hooks, serviceHook("webhook")) }, []string{"PutBundle"}},
		"a lost serving key starts afresh":           {func(w *certificate.World) { delete(w.Secret.Data, "tls.key") }, []string{"IssueAll", "PutBundle"}},
		"a lost authority key starts afresh":         {func(w *certificate.World) { delete(w.Secret.Data, "ca.key") }, []string{"IssueAll", "PutBundle"}},
		"a serving key as authority key starts afresh": {func(w *certificate.World) { w.Secret.Data["ca.key"] = w.Secret.Data["tls.key"] },
			[]string{"IssueAll", "PutBundle"}},
		"a foreign bundle in the Secret starts afresh": {func(w *certificate.World) { w.Secret.Data["ca.crt"] = w.Secret.Data["tls.crt"] },
			[]string{"IssueAll", "PutBundle"}},
		"rubbish starts afresh":             {func(w *certificate.World) { w.Secret.Data["ca.crt"] = []byte("rubbish") }, []string{"IssueAll", "PutBundle"}},
		"a deleted Secret starts afresh":    {func(w *certificate.World) { w.Secret = certificate.Secret{} }, []string{"IssueAll", "PutBundle"}},
		"an emptied Secret starts afresh":   {func(w *certificate.World) { w.Secret.Data = nil }, []string{"IssueAll", "PutBundle"}},
		"after 59 days nothing":             {func(w *certificate.World) { w.Now = noon.Add(59 * day) }, nil},
		"after 60 days a new certificate":   {func(w *certificate.World) { w.Now = noon.Add(60 * day) }, []string{"IssueServing"}},
		"an expired certificate at once":    {func(w *certificate.World) { w.Now = noon.Add(100 * day) }, []string{"IssueServing"}},
		"an expired authority, afresh":      {func(w *certificate.World) { w.Now = noon.Add(11 * 365 * day) }, []string{"IssueAll", "PutBundle"}},
		"a clock that was ahead, afresh":    {func(w *certificate.World) { w.Now = noon.Add(-day) }, []string{"IssueAll", "PutBundle"}},
		"a clock a little behind is no sin": {func(w *certificate.World) { w.Now = noon.Add(-time.Minute) }, nil},
		"an authority of seven years": {func(w *certificate.World) { w.Now = noon.Add(7 * 365 * day) },
			[]string{"IssueAuthority", "PutBundle", "IssueServing"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.settle()
			test.change(&c.world)
			if diff := cmp.Diff(test.want, c.settle()); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if len(c.world.Hooks) > 0 {
				if err := c.trusted(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	url := "https://:8443/mutate"
	tests := map[string]struct {
		world certificate.World
		want  string
	}{
		"a Secret of somebody else is left alone": {certificate.World{Now: noon, Hooks: []certificate.Hook{serviceHook("webhook")},
			Secret: certificate.Secret{Data: map[string][]byte{"tls.crt": []byte("theirs")}}}, "was not made by Tabard"},
		"a hook without a host": {certificate.World{Now: noon, Hooks: []certificate.Hook{certificate.NewHook(admissionv1.WebhookClientConfig{URL: &url})}},
			"no hook of the webhook configuration has a clientConfig"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if plan := certificate.Decide(test.world); plan.Step != nil || !strings.Contains(plan.Problem, test.want) {
				t.Errorf("plan %+v, want a problem with %q", plan, test.want)
			}
		})
	}
}

func TestNewHook(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	tests := map[string]struct {
		config admissionv1.WebhookClientConfig
		want   []string
	}{
		"a service": {admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "w", Namespace: "n"}},
			[]string{"w", "w.n", "w.n.svc", "w.n.svc.cluster.local"}},
		"a URL with a name":           {admissionv1.WebhookClientConfig{URL: text("https://Hooks.example.com:8443/mutate")}, []string{"hooks.example.com"}},
		"a URL with an address":       {admissionv1.WebhookClientConfig{URL: text("https://127.0.0.1:8443/mutate")}, []string{"127.0.0.1"}},
		"a URL with a long address":   {admissionv1.WebhookClientConfig{URL: text("https://[0:0:0:0:0:0:0:1]/mutate")}, []string{"::1"}},
		"a URL with a comma in it":    {admissionv1.WebhookClientConfig{URL: text("https://b,a/mutate")}, nil},
		"a URL that is none":          {admissionv1.WebhookClientConfig{URL: text("https://%zz")}, nil},
		"neither a service nor a URL": {admissionv1.WebhookClientConfig{}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, certificate.NewHook(test.config).Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzConverge lets an operator be killed before or after any step, the clock go
// on, and Secret and configuration be damaged; and demands that passes without
// trouble then come to an end at which the webhook is trusted. Without damage it
// must be trusted all the time.
func FuzzConverge(f *testing.F) {
	f.Add([]byte{0, 0, 1, 2, 3})
	f.Add([]byte{0, 4, 0, 5, 0, 6, 0, 7, 0, 8})
	f.Add([]byte{0, 1, 0, 0, 9, 0, 10, 0, 0, 2, 2, 2})
	f.Fuzz(func(t *testing.T, script []byte) {
		c := newCluster(t)
		c.settle()
		whole := true
		for _, event := range script[:min(len(script), 40)] {
			whole = c.happen(event) && whole
			if err := c.trusted(); err != nil && whole {
				t.Fatalf("after %v: %v", script, err)
			}
		}
		c.settle()
		if err := c.trusted(); err != nil {
			t.Errorf("in the end: %v", err)
		}
		if again := c.settle(); again != nil {
			t.Errorf("not at rest: %q", again)
		}
	})
}

// happen lets one thing happen. It says whether it was harmless.
func (c *cluster) happen(event byte) bool {
	c.t.Helper()
	data := map[string][]byte{}
	maps.Copy(data, c.world.Secret.Data)
	switch event % 11 {
	case 0, 1: // a pass that is killed after its step
		if step := certificate.Decide(c.world).Step; step != nil {
			c.perform(step)
		}
		return true
	case 2: // a pass that is killed before its step
		certificate.Decide(c.world)
		return true
	case 3: // a quiet day
		c.settle()
		c.world.Now = c.world.Now.Add(day)
		return true
	case 4: // a new authority comes early, as if it had aged
		return c.age()
	case 5:
		c.world.Now = c.world.Now.Add(3000 * day)
	case 6:
		data["tls.crt"] = bytes.ToLower(data["tls.crt"])
	case 7:
		delete(data, "ca.key")
	case 8:
		data = nil
	case 9:
		c.world.Hooks[0].Bundle = nil
	case 10:
		c.world.Hooks = append(c.world.Hooks[:1:1], serviceHook("other"))
	}
	c.world.Secret.Data = data
	return false
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
