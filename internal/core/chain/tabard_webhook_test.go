package chain_test

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/core/chain"
)

func TestTabardsDeploymentIsThatBehindTheHookThatIsAsked(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*chain.Evidence)
		want   string
	}{
		"Tabard's alone":     {want: "tabard-system/tabard-webhook"},
		"hooks not read":     {change: func(e *chain.Evidence) { e.Hooks = chain.Seen[[]chain.Hook]{Unread: "forbidden"} }, want: "/"},
		"none":               {change: func(e *chain.Evidence) { e.Hooks.Value = &[]chain.Hook{} }, want: "/"},
		"called by a URL":    {change: func(e *chain.Evidence) { (*e.Hooks.Value)[0].Service = "" }, want: "/"},
		"another beside it":  {change: func(e *chain.Evidence) { *e.Hooks.Value = append(*e.Hooks.Value, hookCalled("pod-identity-webhook")) }, want: "/"},
		"another for quotas": {change: func(e *chain.Evidence) { *e.Hooks.Value = append(*e.Hooks.Value, hookCalled("quotas")) }, want: "tabard-system/tabard-webhook"},
	} {
		e := world()
		if test.change != nil {
			test.change(&e)
		}
		if namespace, deployment := chain.TabardWebhook(e); namespace+"/"+deployment != test.want {
			t.Errorf("%s: it is %s/%s, want %s", name, namespace, deployment, test.want)
		}
	}
}

// hookCalled is somebody's hook that is called at the path of all hooks for identities.
func hookCalled(name string) chain.Hook {
	return chain.Hook{Configuration: name, Name: name + ".example.com", Path: "/mutate", Namespace: "other", Service: name}
}
