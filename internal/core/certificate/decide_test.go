package certificate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func TestFirstCertificate(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if diff := cmp.Diff([]string{"IssueAll", "PutBundle"}, c.settle()); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if err := c.trusted(); err != nil {
		t.Error(err)
	}
	if plan := c.decide(); plan != (certificate.Plan{Again: 12 * time.Hour, Phase: certificate.Steady}) {
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
		plan := c.decide()
		if plan.Again <= 0 {
			t.Fatalf("at %s nothing wakes the controller: %+v", c.world.Now, plan)
		}
		if plan.Step != nil {
			seen[nameOf(plan.Step)]++
			c.perform(plan.Step)
		}
		if plan.Again == 12*time.Hour {
			plan.Again = 10 * day // the operator was down for a while
			c.Die(0)
		}
		c.world.Now = c.world.Now.Add(plan.Again)
		c.spread()
		if err := c.trusted(); err != nil {
			t.Fatalf("at %s after %+v: %v", c.world.Now, seen, err)
		}
	}
	if seen["IssueAll"] != 0 || seen["IssueAuthority"] != 1 || seen["DropExpired"] != 1 || seen["PutBundle"] != 2 ||
		seen["IssueProbe"] != 1 || seen["IssueServing proven"] != 1 || seen["IssueServing waited"] != 0 || seen["IssueServing served"] < 70 {
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
			[]string{"PutBundle", "IssueServing served"}},
		"a bundle that somebody changed is put back":        {func(w *certificate.World) { w.Hooks[0].Bundle = []byte("x") }, []string{"PutBundle"}},
		"a second hook needs the bundle too":                {func(w *certificate.World) { w.Hooks = append(w.Hooks, serviceHook("webhook")) }, []string{"PutBundle"}},
		"with a lost serving key, from what is served":      {func(w *certificate.World) { delete(w.Secret.Data, "tls.key") }, takenOver},
		"with a lost authority key, from what is served":    {func(w *certificate.World) { delete(w.Secret.Data, "ca.key") }, takenOver},
		"with another authority key, from what is served":   {func(w *certificate.World) { w.Secret.Data["ca.key"] = w.Secret.Data["tls.key"] }, takenOver},
		"with a foreign bundle, from what is served":        {func(w *certificate.World) { w.Secret.Data["ca.crt"] = w.Secret.Data["tls.crt"] }, takenOver},
		"with rubbish, from what is served":                 {func(w *certificate.World) { w.Secret.Data["ca.crt"] = []byte("rubbish") }, takenOver},
		"with a deleted Secret, from what is served":        {func(w *certificate.World) { w.Secret = certificate.Secret{} }, takenOver},
		"with an emptied Secret, from what is served":       {func(w *certificate.World) { w.Secret.Data = nil }, takenOver},
		"what is published and deleted is published again":  {func(w *certificate.World) { w.Served = certificate.Secret{} }, nil},
		"what is published and changed is published again":  {func(w *certificate.World) { w.Served.Data = map[string][]byte{"tls.crt": []byte("x")} }, nil},
		"both deleted starts afresh":                        {func(w *certificate.World) { w.Secret, w.Served = certificate.Secret{}, certificate.Secret{} }, []string{"IssueAll", "PutBundle"}},
		"from the one Secret of an earlier version":         {func(w *certificate.World) { *w = earlier(*w) }, takenOver},
		"an earlier version's of somebody else, afresh":     {func(w *certificate.World) { *w = earlier(*w); w.Previous.Ours = false }, []string{"IssueAll", "PutBundle"}},
		"an earlier version's without key, afresh":          {func(w *certificate.World) { *w = earlier(*w); delete(w.Previous.Data, "tls.key") }, []string{"IssueAll", "PutBundle"}},
		"an earlier version's of another authority, afresh": {func(w *certificate.World) { *w = earlier(*w); w.Previous.Data["ca.crt"] = w.Previous.Data["tls.crt"] }, []string{"IssueAll", "PutBundle"}},
		"an earlier version's that has expired, afresh":     {func(w *certificate.World) { *w = earlier(*w); w.Now = noon.Add(100 * day) }, []string{"IssueAll", "PutBundle"}},
		"what an earlier version left counts for nothing later": {func(w *certificate.World) {
			w.Previous = certificate.Secret{Ours: true, Data: map[string][]byte{"tls.crt": []byte("x")}}
		}, nil},
		"after 59 days nothing":             {func(w *certificate.World) { w.Now = noon.Add(59 * day) }, nil},
		"after 60 days a new certificate":   {func(w *certificate.World) { w.Now = noon.Add(60 * day) }, []string{"IssueServing served"}},
		"an expired certificate at once":    {func(w *certificate.World) { w.Now = noon.Add(100 * day) }, []string{"IssueServing served"}},
		"an expired authority, afresh":      {func(w *certificate.World) { w.Now = noon.Add(11 * 365 * day) }, []string{"IssueAll", "PutBundle"}},
		"a clock that was ahead, afresh":    {func(w *certificate.World) { w.Now = noon.Add(-day) }, []string{"IssueAll", "PutBundle"}},
		"a clock a little behind is no sin": {func(w *certificate.World) { w.Now = noon.Add(-time.Minute) }, nil},
		"an authority of seven years": {func(w *certificate.World) { w.Now = noon.Add(7 * 365 * day) },
			[]string{"IssueAuthority", "PutBundle", "IssueServing served"}}, // the serving certificate has expired long ago
		"a new authority is proved": {func(w *certificate.World) { renewAuthority(t, w) },
			[]string{"PutBundle", "IssueProbe", "Probe", "IssueServing proven"}},
		"without a hook to prove by, time must do": {func(w *certificate.World) {
			renewAuthority(t, w)
			w.Hooks = w.Hooks[:1]
		}, []string{"PutBundle", "IssueServing waited"}},
		"a hook to prove by with the served name is none": {func(w *certificate.World) {
			renewAuthority(t, w)
			w.Hooks[1].Names = w.Hooks[0].Names
		}, []string{"PutBundle", "IssueServing waited"}},
		"a hook to prove by at an address is none": {func(w *certificate.World) {
			renewAuthority(t, w)
			w.Hooks[1].Names = []string{"127.0.0.1"}
		}, []string{"PutBundle", "IssueServing waited"}},
		"another name while the authority is new is proved": {func(w *certificate.World) {
			renewAuthority(t, w)
			w.Hooks = append(w.Hooks, serviceHook("other"))
		}, []string{"PutBundle", "IssueProbe", "Probe", "IssueServing proven"}},
		"only another name while the authority is new is not": {func(w *certificate.World) {
			renewAuthority(t, w)
			w.Hooks[0] = serviceHook("other")
		}, []string{"PutBundle", "IssueServing served"}},
		"a hook to prove by changes nothing else": {func(w *certificate.World) { w.Hooks[1] = hookOf(certificate.ProbeHook, "elsewhere") }, []string{"PutBundle"}},
		"what somebody else injects is left alone": {func(w *certificate.World) {
			w.Injector, w.Served.Ours, w.Hooks[0].Bundle = "cert-manager.io/inject-ca-from", false, []byte("theirs")
		}, nil},
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
			if len(c.world.Hooks) > 0 && c.world.Injector == "" {
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
			Served: certificate.Secret{Data: map[string][]byte{"tls.crt": []byte("theirs")}}}, "was not made by Tabard"},
		"a Secret of somebody else by the other name, too": {certificate.World{Now: noon, Hooks: []certificate.Hook{serviceHook("webhook")},
			Secret: certificate.Secret{Data: map[string][]byte{"tls.crt": []byte("theirs")}}}, "was not made by Tabard"},
		"a hook without a host": {certificate.World{Now: noon, Hooks: []certificate.Hook{certificate.NewHook("x", admissionv1.WebhookClientConfig{URL: &url})}},
			"no hook of the webhook configuration has a clientConfig"},
		"a Secret of ours beside a CA of somebody else": {certificate.World{Now: noon, Hooks: []certificate.Hook{serviceHook("webhook")}, Injector: "cert-manager.io/inject-ca-from",
			Served: certificate.Secret{Ours: true, Data: map[string][]byte{"tls.crt": []byte("ours")}}}, "cert-manager.io/inject-ca-from asks somebody else"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if plan := certificate.Decide(test.world); plan.Step != nil || plan.Phase != certificate.Blocked || !plan.Notice.Warning || !strings.Contains(plan.Notice.Note, test.want) {
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
			if diff := cmp.Diff(test.want, certificate.NewHook("x", test.config).Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}
