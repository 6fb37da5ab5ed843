package certificate_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/certificate"
)

// TestAFollowerTrustsWhatTheSecretHolds also while the configuration that injects
// has not been told yet: a new authority comes before what it signs.
func TestAFollowerTrustsWhatTheSecretHolds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*certificate.World, *certificate.Follower)
		put     bool
		warning string
	}{
		"a hook without a bundle": {func(*certificate.World, *certificate.Follower) {}, true, ""},
		"a hook with the bundle": {func(w *certificate.World, f *certificate.Follower) {
			f.Hooks[0].Bundle = w.Secret.Data["ca.crt"]
		}, false, ""},
		"a hook with a bundle of somebody else": {func(_ *certificate.World, f *certificate.Follower) {
			f.Hooks[0].Bundle = []byte("theirs")
		}, true, "BundleReplaced"},
		"no configuration": {func(_ *certificate.World, f *certificate.Follower) { f.Hooks = nil }, false, ""},
		"a follower that somebody else tells": {func(_ *certificate.World, f *certificate.Follower) {
			f.Injector = "cert-manager.io/inject-ca-from"
		}, false, ""},
		"a Secret that somebody else keeps": {func(w *certificate.World, _ *certificate.Follower) {
			w.Secret.Ours = false
		}, false, ""},
		"a configuration to inject that somebody else tells": {func(w *certificate.World, _ *certificate.Follower) {
			w.Injector = "cert-manager.io/inject-ca-from"
		}, false, ""},
		"a Secret without a certificate": {func(w *certificate.World, _ *certificate.Follower) { w.Secret.Data = nil }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.settle()
			world, follower := c.world, certificate.Follower{Hooks: []certificate.Hook{hookOf("role-selectors.tabard.dev", "webhook")}}
			test.change(&world, &follower)
			step, notice := certificate.Follow(world, follower)
			if (step != nil) != test.put || notice.Reason != test.warning {
				t.Fatalf("step %v, notice %q; want a step: %v, notice %q", step, notice.Reason, test.put, test.warning)
			}
			if step != nil && step.Bundle != string(world.Secret.Data["ca.crt"]) {
				t.Errorf("the bundle is %q, want what the Secret holds", step.Bundle)
			}
		})
	}
}
