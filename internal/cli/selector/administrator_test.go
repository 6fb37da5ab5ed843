package selector

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// TestRolesThatAdministratorsDoNotAllowAreNotUsed decides by what the controllers'
// flags say of the role itself.
func TestRolesThatAdministratorsDoNotAllowAreNotUsed(t *testing.T) {
	const (
		labelled   = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: prod, labels: {c.d/team: a}}\n"
		externalID = ", assumeRole: {externalID: {value: of-team-a}}"
		byLabel    = ", assumeRole: {sessionTags: [{key: ack-team, template: '%NAMESPACE_LABEL(c.d/team)%'}]}"
	)
	const ours, protect = "--allowed-role-arn-patterns=arn:aws:iam::*:role/ack/*", "--protected-label-prefixes=c.d/"
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		want string
	}{
		"a role that is allowed":              {selecting("a", "arn: 'arn:aws:iam::111111111111:role/ack/a'") + bucket, []string{ours}, 0, "Use a (Unique)"},
		"a role that is not":                  {withRole("a", "") + bucket, []string{ours}, command.Found, "IAMRoleSelector a: spec.arn: the administrator"},
		"a role that is not, as expected":     {withRole("a", "") + expecting("AssumeRoleInputInvalid"), []string{ours}, 0, "1 resources, 0 failed"},
		"a role that is not, and is expected": {withRole("a", "") + expecting("a"), []string{ours}, command.Found, "FAILED"},
		"the controller's own role":           {withRole("a", ", namespaceSelector: {names: [dev]}") + bucket, []string{ours}, 0, "NoSelector"},
		"a field that is open":                {withRole("a", externalID) + bucket, nil, 0, "Use a (Unique)"},
		"a field that is locked":              {withRole("a", externalID) + bucket, []string{"--lock-assume-role-fields=external-id"}, command.Found, "has locked the external-id"},
		"a label that is protected":           {withRole("a", byLabel) + labelled + bucket, []string{protect}, 0, "Use a (Unique)"},
		"a label that is not":                 {withRole("a", byLabel) + labelled + bucket, nil, command.Found, "is not protected by the administrator"},
		"a label that is not there":           {withRole("a", byLabel) + prod + bucket, []string{protect}, command.Found, "Invalid (AssumeRoleInputInvalid)"},
		"a label that is not known":           {withRole("a", byLabel) + bucket, []string{protect}, command.Found, "NotYetKnown (NamespaceUnknown)"},
		"a role that is not, labels unknown":  {withRole("a", byLabel) + bucket, []string{protect, ours}, command.Found, "Invalid (AssumeRoleInputInvalid)"},
		"a default that has no value here":    {withRole("a", "") + prod + bucket, []string{protect, "--assume-role-session-tags=ack-team=%NAMESPACE_LABEL(c.d/team)%"}, command.Found, "has no value here"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, test.in, append([]string{"selector", "test", "-f", "-"}, test.args...)...)
			if got.code != test.code || !strings.Contains(got.out, test.want) || got.errOut != "" {
				t.Errorf("%+v, want exit code %d and %q", got, test.code, test.want)
			}
		})
	}
}

func TestARoleThatIsNotAllowedIsExplained(t *testing.T) {
	b := read(t, "testdata/explain/used.yaml", roleselector.PolicyDefaultRole)
	b.world.settings.AllowedRoles = []string{"arn:aws:iam::*:role/ack/*"}
	r := b.resources[0]
	e := must.Get(b.world.explain(r, kind{GroupVersionKind: r.gvk, plural: "buckets", namespaced: true}, ""))(t)
	text := e.text()
	for _, want := range []string{
		"Decision:  Invalid (AssumeRoleInputInvalid)\n", "IAMRoleSelector team-a: spec.arn: the administrator", "No role may be used now.", "kubectl edit iamroleselector team-a",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %q", text, want)
		}
	}
	if e.mayCallAWS || e.Decision.RoleARN != "" || e.Course == nil || e.Course.Step == roleselector.GoOn {
		t.Errorf("got %+v, course %+v; want no role and no going on", e.Decision, e.Course)
	}
}
