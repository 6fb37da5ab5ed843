package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

// fixedAccounts answers the same of every ServiceAccount.
type fixedAccounts struct {
	found *inject.ServiceAccount
	err   error
}

func (fixedAccounts) synced() bool { return true }

func (f fixedAccounts) find(context.Context, types.NamespacedName, string) (*inject.ServiceAccount, bool, error) {
	return f.found, f.err != nil, f.err
}

func annotated(with string) *inject.ServiceAccount {
	return &inject.ServiceAccount{Annotations: map[string]string{"eks.amazonaws.com/role-arn": with}}
}

// answered is what a path of a server says of a pod of shop/app: injected,
// unchanged, or why it does not start.
func answered(t *testing.T, s *server, path string) string {
	t.Helper()
	text := reply(t, s, path, pod)
	switch {
	case strings.Contains(text, `"patch"`):
		return injected
	case strings.Contains(text, `"allowed":true`):
		return unchanged
	}
	return text
}

// reply is the answer of a path of a server about a pod.
func reply(t *testing.T, s *server, path, pod string) string {
	t.Helper()
	return askPath(t, s, path, "application/json", reviewOf("v1", "shop", pod)).Body.String()
}

func TestWhereAnIdentityIsRequired(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		found           *inject.ServiceAccount
		mapping         string
		lenient, strict string // part of the answer
	}{
		"a ServiceAccount with a role":    {found: annotated(role), lenient: injected, strict: injected},
		"one that is to have none":        {found: &inject.ServiceAccount{}, lenient: unchanged, strict: unchanged},
		"one that does not exist":         {lenient: unchanged, strict: "ServiceAccount shop/app does not exist"},
		"one whose role is none":          {found: annotated("role/app"), lenient: unchanged, strict: `\"role/app\", no ARN of an IAM role`},
		"one with too many annotations":   {found: &inject.ServiceAccount{TooLong: true}, lenient: unchanged, strict: "more than 4096 bytes of annotations"},
		"though an entry gives it a role": {found: &inject.ServiceAccount{TooLong: true}, mapping: `{"shop/app":{"RoleARN":"` + role + `"}}`, lenient: unchanged, strict: "more than 4096 bytes of annotations"},
		"one whose entry cannot be read":  {found: &inject.ServiceAccount{}, mapping: `{"shop/app":{"RoleARN":1}}`, lenient: unchanged, strict: "cannot be read"},
		"one that has a role by an entry": {mapping: `{"shop/app":{"RoleARN":"` + role + `"}}`, lenient: injected, strict: injected},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testServer(t, fixedAccounts{found: test.found}, nil)
			s.put(t, test.mapping)
			for path, want := range map[string]string{"/mutate": test.lenient, "/mutate/required": test.strict} {
				if got := answered(t, s, path); !strings.Contains(got, want) {
					t.Errorf("%s answers %s, want %s", path, got, want)
				}
			}
		})
	}
}

// TestSkippingIsNoWayOut: a pod that asks to be left out, and was asked about all the
// same, is injected; where identities are required its author is told why.
func TestSkippingIsNoWayOut(t *testing.T) {
	t.Parallel()
	const skips = `{"metadata":{"labels":{"eks.amazonaws.com/skip-pod-identity-webhook":"true"}},"spec":{"serviceAccountName":"app","containers":[{"name":"app"}]}}`
	for path, want := range map[string]bool{"/mutate": false, "/mutate/required": true} {
		for account, injects := range map[*inject.ServiceAccount]bool{annotated(role): true, {}: false} {
			text := reply(t, testServer(t, fixedAccounts{found: account}, nil), path, skips)
			if warned := strings.Contains(text, "tabard.dev/injection-skip=allowed"); warned != (want && injects) || strings.Contains(text, `"patch"`) != injects {
				t.Errorf("%s answers %s; want it to inject: %t, to warn: %t", path, text, injects, want && injects)
			}
		}
	}
}

// TestAPodThatHidesItsTokenIsRefused where its identity is required.
func TestAPodThatHidesItsTokenIsRefused(t *testing.T) {
	t.Parallel()
	const hides = `{"spec":{"serviceAccountName":"app","volumes":[{"name":"aws-iam-token","emptyDir":{}}],"containers":[{"name":"app",` +
		`"volumeMounts":[{"name":"aws-iam-token","mountPath":"/var/run/secrets/eks.amazonaws.com/serviceaccount"}]}]}}`
	s := testServer(t, fixedAccounts{found: annotated(role)}, nil)
	const why = `container \"app\" mounts volume \"aws-iam-token\" at`
	if text := reply(t, s, "/mutate", hides); !strings.Contains(text, `"patch"`) || !strings.Contains(text, why) {
		t.Errorf("/mutate answers %s", text)
	}
	if text := reply(t, s, "/mutate/required", hides); !strings.Contains(text, `"allowed":false`) || !strings.Contains(text, why) {
		t.Errorf("/mutate/required answers %s", text)
	}
}

// TestWhatIsKnownStays: while the API server does not answer, who was known to
// have a role has it.
func TestWhatIsKnownStays(t *testing.T) {
	t.Parallel()
	const mapping = `{"shop/app":{"RoleARN":"` + role + `"}}`
	tests := map[string]struct {
		found         *inject.ServiceAccount
		mapping, want string
	}{
		"one that was known, with a role by an entry": {found: &inject.ServiceAccount{}, mapping: mapping, want: injected},
		"one that was known, and had none":            {found: &inject.ServiceAccount{}, want: "could not be read"},
		"one that was not known may have another":     {mapping: mapping, want: "could not be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testServer(t, fixedAccounts{found: test.found, err: errors.New("down")}, nil)
			s.put(t, test.mapping)
			if got := answered(t, s, "/mutate"); !strings.Contains(got, test.want) {
				t.Errorf("the answer is %s, want %s", got, test.want)
			}
		})
	}
}

// put gives the server a config map's text; empty for none.
func (s *server) put(t *testing.T, mapping string) {
	t.Helper()
	if mapping == "" {
		return
	}
	parsed, _ := inject.ParseMapping([]byte(mapping))
	if parsed == nil {
		t.Fatalf("%s is no mapping", mapping)
	}
	s.config.mapping.current.Store(parsed)
}
