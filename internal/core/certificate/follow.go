package certificate

import (
	"bytes"
	"slices"
)

// Follower is a webhook configuration beside the one that injects. It is served by
// the same process, with the same certificate, and only follows: no certificate is
// made for its names, and none waits for it.
type Follower struct {
	// Hooks are its hooks, none without a configuration.
	Hooks []Hook
	// Injector is the annotation by which somebody else sets its caBundles, empty
	// without one.
	Injector string
}

// Follow says what a follower's hooks are to trust: all authorities of the Secret,
// the new one before anything is signed by it. Nil is nothing to change, also
// where somebody else keeps the Secret or the caBundles.
func Follow(w World, f Follower) (*PutBundle, Notice) {
	if w.Injector != "" || f.Injector != "" || !w.Secret.Ours || w.Served.isForeign() {
		return nil, Notice{}
	}
	if _, err := read(w.Secret.Data); err != nil {
		return nil, Notice{} // made afresh soon
	}
	bundle := w.Secret.Data[AuthoritiesKey]
	if !slices.ContainsFunc(f.Hooks, func(hook Hook) bool { return !bytes.Equal(hook.Bundle, bundle) }) {
		return nil, Notice{}
	}
	return &PutBundle{Bundle: string(bundle)}, replaced(f.Hooks)
}
