package selector

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/manifest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

// choosing is a choice in the bucket's namespace.
func choosing(name, selector string) string {
	return "\n---\napiVersion: identity.tabard.dev/v1alpha1\nkind: IAMRoleChoice\nmetadata: {name: " + name + ", namespace: prod}\nspec: {selectorRef: {name: " + selector + "}}\n"
}

// situations are those of the page's table, by its first column.
var situations = map[string]string{
	"none":                    "",
	"none, and one is chosen": choosing("c", "a"),
	"one":                     withRole("a", ""),
	"one `Exclusive` selector (the default), another one is chosen":          withRole("a", "") + choosing("c", "b"),
	"an `Exclusive` selector and any other":                                  withRole("a", "") + withRole("b", ", selection: {mode: Selectable}"),
	"several `Selectable` ones, one is chosen":                               withRole("a", ", selection: {mode: Selectable}") + withRole("b", ", selection: {mode: Selectable}") + choosing("c", "b"),
	"several, the chosen one is none of them, or may not be chosen this way": withRole("a", ", selection: {mode: Selectable}") + withRole("b", ", selection: {mode: Selectable, choosers: [ResourceAnnotation]}") + choosing("c", "b"),
	"several, no choice, one is `default`":                                   withRole("a", ", selection: {mode: Selectable}") + withRole("b", ", selection: {mode: Selectable, default: true}"),
	"several, no choice, none or two are `default`":                          withRole("a", ", selection: {mode: Selectable, default: true}") + withRole("b", ", selection: {mode: Selectable, default: true}"),
	"one with `requireChoice`, no choice":                                    "",
	"one with `effect: Deny`, and any others":                                withRole("a", "") + selecting("b", "effect: Deny"),
	"one that cannot be evaluated, such as one with an invalid `arn`":        selecting("a", "arn: a"),
	"two choices that are equally specific":                                  withRole("a", "") + choosing("c", "a") + choosing("d", "a"),
	"selectors, choices or the namespace's labels have not been read":        withRole("a", ", namespaceSelector: {labelSelector: {matchLabels: {team: a}}}"),
}

// TestThePagesDecisions decides in the situation of each row of the page.
func TestThePagesDecisions(t *testing.T) {
	rows := tableOf(t, readPage(t), "| selectors that select the resource |")
	if len(rows) != len(situations) {
		t.Errorf("the page has %d situations; the test knows %d", len(rows), len(situations))
	}
	for _, row := range rows {
		in, known := situations[row[0]]
		if !known {
			t.Errorf("the test does not know the situation %q", row[0])
			continue
		}
		if row[0] == "one with `requireChoice`, no choice" {
			sameAsWithout(t)
			continue
		}
		got := decideIn(t, in, roleselector.PolicyDefaultRole)
		blocked := strings.HasPrefix(row[1], "blocked")
		if !strings.Contains(row[2], "`"+string(got.Reason)+"`") || blocked == got.MayCallAWS() {
			t.Errorf("%s: %s because of %s, the page says %q because of %q", row[0], got.Outcome, got.Reason, row[1], row[2])
		}
	}
	if got := decideIn(t, "", roleselector.PolicyDeny); got.Reason != roleselector.ReasonNoSelectorPolicy {
		t.Errorf("nothing, with the policy Deny: %+v", got)
	}
}

// sameAsWithout sees that a selector that needs a choice is as if it were not
// there, beside none and beside one that may be chosen, but for a conflict.
func sameAsWithout(t *testing.T) {
	t.Helper()
	needed := withRole("needs", ", selection: {mode: Selectable, requireChoice: true}")
	for _, beside := range []string{"", withRole("a", ", selection: {mode: Selectable}")} {
		with, without := decideIn(t, beside+needed, roleselector.PolicyDefaultRole), decideIn(t, beside, roleselector.PolicyDefaultRole)
		if with.Outcome != without.Outcome || with.Selector.Name != without.Selector.Name {
			t.Errorf("with a selector that needs a choice %+v, without %+v", with, without)
		}
	}
	if got := decideIn(t, needed+withRole("a", ""), roleselector.PolicyDefaultRole); got.Outcome != roleselector.Conflict {
		t.Errorf("beside an exclusive one: %+v, want a conflict", got)
	}
}

// decideIn decides on the bucket beside objects.
func decideIn(t *testing.T, in string, policy roleselector.NoSelectorPolicy) roleselector.Decision {
	t.Helper()
	objects := must.Get(manifest.Read([]string{"-"}, strings.NewReader(in+bucket)))(t)
	b := &bundle{world: newWorld(administrator{options: roleselector.Options{NoSelector: policy}}), seen: map[string]bool{}, ignored: map[string]int{}}
	must.Do(t, b.add(objects))
	return b.world.index.Decide(b.world.query(b.resources[0]))
}
