package operators

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/awsauth/kube/tokenmode"
	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestHelpTeaches: each command has examples that its flags take, and says what its exit codes are.
func TestHelpTeaches(t *testing.T) {
	operators := New(command.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, onAWS().world())
	says(t, operators.Long, "Exit codes:")
	if len(operators.Commands()) != 13 {
		t.Errorf("%d commands", len(operators.Commands()))
	}
	for _, c := range operators.Commands() {
		says(t, c.Long, "Exit codes: 0 ", "2 the")
		examples := 0
		for line := range strings.Lines(c.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " > ")
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(words) == 0 || words[0] == "#" {
				continue
			}
			examples++
			if len(words) < 3 || words[2] != c.Name() {
				t.Errorf("%s: %s", c.Name(), line)
				continue
			}
			if err := c.ParseFlags(words[3:]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if examples < 2 {
			t.Errorf("%s has %d examples", c.Name(), examples)
		}
	}
}

// TestTheHelpsRoleIsEnough: it has the right to get each object that is read, and no other verb.
func TestTheHelpsRoleIsEnough(t *testing.T) {
	var role rbacv1.ClusterRole
	must.Do(t, yaml.UnmarshalStrict([]byte(strings.ReplaceAll(strings.TrimPrefix(rights, "  "), "\n  ", "\n")), &role))
	for _, object := range []tokenmode.Object{tokenmode.Infrastructure, tokenmode.Authentication, tokenmode.CloudCredential, tokenmode.Legacy} {
		resource := object.Resource
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, resource.Group) && slices.Contains(r.Resources, resource.Resource) && slices.Equal(r.Verbs, []string{"get"})
		}) {
			t.Errorf("no rule is for %s", resource)
		}
	}
}

// BenchmarkList lists the generated catalogue of 5,000 bundles, read already. It is to take 20 ms
// at most.
func BenchmarkList(b *testing.B) {
	var all bytes.Buffer
	must.Do(b, generate.Plan{Seed: 1, Packages: 300, Bundles: 5000, Bytes: 60_000_000}.JSON(&all))
	read := must.Get(onAWS().world().Read(b.Context(), Origin{Kind: File, Path: "-"}, &all, nil))(b)
	for _, f := range []*listFlags{{}, {tokenAuth: "yes"}, {permissions: "sensitive"}, {search: "data"}} {
		b.Run(f.tokenAuth+f.permissions+f.search, func(b *testing.B) {
			for b.Loop() {
				f.list(&read)
			}
		})
	}
}
