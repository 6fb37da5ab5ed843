package roleselector

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

func exclusive(name string) *v1alpha1.IAMRoleSelector { return made(name, nil) }

func denying(name string) *v1alpha1.IAMRoleSelector {
	return made(name, func(s *spec) { s.Effect = v1alpha1.Deny })
}

func broken(name string) *v1alpha1.IAMRoleSelector {
	return made(name, func(s *spec) { s.ARN = "foo" })
}

// nameless has a label selector that lost its terms.
func nameless(name string) *v1alpha1.IAMRoleSelector {
	return made(name, func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{}) })
}

func selectable(name string, changes ...func(*v1alpha1.Selection)) *v1alpha1.IAMRoleSelector {
	return made(name, func(s *spec) {
		s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable}
		for _, change := range changes {
			change(s.Selection)
		}
	})
}

func asDefault(s *v1alpha1.Selection)     { s.Default = true }
func requireChoice(s *v1alpha1.Selection) { s.RequireChoice = true }
func byAnnotation(s *v1alpha1.Selection) {
	s.Choosers = []v1alpha1.Chooser{v1alpha1.ResourceAnnotation}
}

func choosing(name, selector string, changes ...func(*identityv1alpha1.IAMRoleChoice)) *identityv1alpha1.IAMRoleChoice {
	c := &identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: name}}
	c.Spec.SelectorRef.Name = selector
	for _, change := range changes {
		change(c)
	}
	return c
}

func pinned(uid types.UID) func(*identityv1alpha1.IAMRoleChoice) {
	return func(c *identityv1alpha1.IAMRoleChoice) { c.Spec.SelectorRef.UID = uid }
}

func forBuckets(c *identityv1alpha1.IAMRoleChoice) {
	c.Spec.ResourceTypeSelector = []v1alpha1.ResourceType{{Kind: "Bucket"}}
}

func forApp(c *identityv1alpha1.IAMRoleChoice) {
	c.Spec.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
}

func forNearApp(c *identityv1alpha1.IAMRoleChoice) {
	c.Spec.ResourceLabelSelector = expression("app", "Near", "x")
}

func forNoLabel(c *identityv1alpha1.IAMRoleChoice) {
	c.Spec.ResourceLabelSelector = &v1alpha1.LabelSelector{}
}

func elsewhere(c *identityv1alpha1.IAMRoleChoice) { c.Namespace = "dev" }

type (
	selectors = []*v1alpha1.IAMRoleSelector
	choices   = []*identityv1alpha1.IAMRoleChoice
)

var decideCases = map[string]struct {
	selectors  selectors
	choices    choices
	annotation string
	policy     NoSelectorPolicy
	reason     Reason
	by         DecidedBy
	used       string
	names      string
}{
	"one exclusive":                              {selectors: selectors{exclusive("a")}, reason: ReasonSelected, by: Unique, used: "a", names: "a"},
	"exclusive and selectable":                   {selectors: selectors{exclusive("a"), selectable("b")}, reason: ReasonConflict, names: "a,b"},
	"exclusive and selectable, and a choice":     {selectors: selectors{exclusive("a"), selectable("b")}, choices: choices{choosing("c", "b")}, reason: ReasonConflict, names: "a,b"},
	"two exclusive with one ARN":                 {selectors: selectors{exclusive("b"), exclusive("a")}, reason: ReasonConflict, names: "a,b"},
	"two selectable":                             {selectors: selectors{selectable("a"), selectable("b")}, reason: ReasonConflict, names: "a,b"},
	"two selectable, one the default":            {selectors: selectors{selectable("a", asDefault), selectable("b")}, reason: ReasonSelected, by: AdminDefault, used: "a", names: "a,b"},
	"two selectable, both the default":           {selectors: selectors{selectable("a", asDefault), selectable("b", asDefault)}, reason: ReasonConflict, names: "a,b"},
	"two selectable and a choice":                {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "b")}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"a choice goes before the default":           {selectors: selectors{selectable("a", asDefault), selectable("b")}, choices: choices{choosing("c", "b")}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"a choice of what is not there":              {selectors: selectors{selectable("a")}, choices: choices{choosing("c", "z")}, reason: ReasonChoiceNotPermitted, names: "a"},
	"a choice where nothing is":                  {choices: choices{choosing("c", "a")}, reason: ReasonChoiceNotPermitted},
	"an annotation where nothing is":             {annotation: "a", reason: ReasonChoiceNotPermitted},
	"a choice in another namespace":              {choices: choices{choosing("c", "a", elsewhere)}, reason: ReasonNoSelector, by: DefaultRole},
	"only with a choice, and none":               {selectors: selectors{selectable("a", requireChoice)}, reason: ReasonNoSelector, by: DefaultRole},
	"only with a choice, and none, under Deny":   {selectors: selectors{selectable("a", requireChoice)}, policy: PolicyDeny, reason: ReasonNoSelectorPolicy},
	"only with a choice, and it":                 {selectors: selectors{selectable("a", requireChoice)}, choices: choices{choosing("c", "a")}, reason: ReasonSelected, by: NamespaceChoice, used: "a", names: "a"},
	"only one without a choice":                  {selectors: selectors{selectable("a", requireChoice), selectable("b")}, reason: ReasonSelected, by: Unique, used: "b", names: "a,b"},
	"a conflict of those without a choice":       {selectors: selectors{selectable("a", requireChoice), selectable("b"), selectable("c")}, reason: ReasonConflict, names: "b,c"},
	"nothing":                                    {reason: ReasonNoSelector, by: DefaultRole},
	"nothing under Deny":                         {policy: PolicyDeny, reason: ReasonNoSelectorPolicy},
	"nothing under a policy that is none":        {policy: "Defaultrole", reason: ReasonNoSelectorPolicy},
	"one selectable":                             {selectors: selectors{selectable("a")}, reason: ReasonSelected, by: Unique, used: "a", names: "a"},
	"a denial goes before all":                   {selectors: selectors{exclusive("a"), denying("d"), broken("b")}, choices: choices{choosing("c", "a"), choosing("e", "a")}, reason: ReasonDenied, names: "d"},
	"a broken one goes before a conflict":        {selectors: selectors{exclusive("a"), broken("b"), exclusive("c")}, reason: ReasonSelectorInvalid, names: "b"},
	"two broken ones":                            {selectors: selectors{broken("c"), broken("b")}, reason: ReasonSelectorInvalid, names: "b,c"},
	"one that names nothing":                     {selectors: selectors{nameless("n")}, reason: ReasonSelectorInvalid, names: "n"},
	"one that names nothing, under Deny":         {selectors: selectors{nameless("n")}, policy: PolicyDeny, reason: ReasonSelectorInvalid, names: "n"},
	"two that name nothing":                      {selectors: selectors{nameless("o"), nameless("n")}, reason: ReasonSelectorInvalid, names: "n,o"},
	"one that names nothing is in no conflict":   {selectors: selectors{nameless("n"), exclusive("a")}, reason: ReasonSelected, by: Unique, used: "a", names: "a"},
	"one that names nothing ends no conflict":    {selectors: selectors{nameless("n"), exclusive("a"), exclusive("b")}, reason: ReasonConflict, names: "a,b"},
	"one that names nothing beside a broken one": {selectors: selectors{nameless("n"), broken("b")}, reason: ReasonSelectorInvalid, names: "b"},
	"one that names nothing is denied":           {selectors: selectors{nameless("n"), denying("d")}, reason: ReasonDenied, names: "d"},
	"one that names nothing is chosen":           {selectors: selectors{nameless("n"), selectable("a")}, choices: choices{choosing("c", "n")}, reason: ReasonSelectorInvalid, names: "n"},
	"one that names nothing needs a choice not":  {selectors: selectors{nameless("n"), selectable("a", requireChoice)}, reason: ReasonSelectorInvalid, names: "n"},
	"a choice without a label is for all":        {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a", forNoLabel)}, reason: ReasonSelected, by: NamespaceChoice, used: "a", names: "a,b"},
	"an exclusive one is what was chosen":        {selectors: selectors{exclusive("a")}, choices: choices{choosing("c", "a")}, reason: ReasonSelected, by: Unique, used: "a", names: "a"},
	"an exclusive one is not what was chosen":    {selectors: selectors{exclusive("a")}, choices: choices{choosing("c", "b")}, reason: ReasonChoiceNotPermitted, names: "a"},
	"an exclusive one is not what was annotated": {selectors: selectors{exclusive("a")}, annotation: "b", reason: ReasonChoiceNotPermitted, names: "a"},
	"an exclusive one is not the pinned one":     {selectors: selectors{exclusive("a")}, choices: choices{choosing("c", "a", pinned("other"))}, reason: ReasonChoiceNotPermitted, names: "a"},
	"an annotation that is not offered":          {selectors: selectors{selectable("a"), selectable("b")}, annotation: "a", reason: ReasonChoiceNotPermitted, names: "a,b"},
	"an annotation that is offered":              {selectors: selectors{selectable("a", byAnnotation), selectable("b")}, annotation: "a", reason: ReasonSelected, by: ResourceChoice, used: "a", names: "a,b"},
	"a choice that is not offered":               {selectors: selectors{selectable("a", byAnnotation), selectable("b")}, choices: choices{choosing("c", "a")}, reason: ReasonChoiceNotPermitted, names: "a,b"},
	"an annotation goes before choices":          {selectors: selectors{selectable("a", byAnnotation), selectable("b")}, choices: choices{choosing("c", "b"), choosing("d", "b")}, annotation: "a", reason: ReasonSelected, by: ResourceChoice, used: "a", names: "a,b"},
	"a choice pinned to it":                      {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a", pinned("uid-1"))}, reason: ReasonSelected, by: NamespaceChoice, used: "a", names: "a,b"},
	"a choice pinned to one that was there":      {selectors: selectors{selectable("a"), selectable("b", asDefault)}, choices: choices{choosing("c", "a", pinned("uid-0"))}, reason: ReasonChoiceNotPermitted, names: "a,b"},
	"two choices":                                {selectors: selectors{selectable("a")}, choices: choices{choosing("c", "a"), choosing("d", "a")}, reason: ReasonAmbiguousChoice, names: "a"},
	"type goes before none":                      {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a"), choosing("d", "b", forBuckets)}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"labels go before type":                      {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a", forBuckets), choosing("d", "b", forApp)}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"labels and type go before labels":           {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a", forApp), choosing("d", "b", forApp, forBuckets)}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"a tie below the most specific":              {selectors: selectors{selectable("a"), selectable("b")}, choices: choices{choosing("c", "a"), choosing("d", "a"), choosing("e", "b", forApp)}, reason: ReasonSelected, by: NamespaceChoice, used: "b", names: "a,b"},
	"a broken choice blocks":                     {selectors: selectors{selectable("a")}, choices: choices{choosing("c", "a", forNearApp)}, reason: ReasonChoiceInvalid, names: "a"},
	"a choice of nothing blocks":                 {selectors: selectors{selectable("a")}, choices: choices{choosing("c", "")}, reason: ReasonChoiceInvalid, names: "a"},
}

func TestSelectorsAndChoicesLeadToOneDecision(t *testing.T) {
	for name, c := range decideCases {
		t.Run(name, func(t *testing.T) {
			index := fullIndex(Options{NoSelector: c.policy})
			for _, s := range c.selectors {
				index.Set(Compile(s))
			}
			for _, choice := range c.choices {
				index.SetChoice(CompileChoice(choice))
			}
			q := bucketInProd()
			q.Choice = c.annotation
			got := index.Decide(q)
			if want := (naiveDecision{c.reason, c.by, c.used, c.names}); naivelyOf(got) != want {
				t.Errorf("Decide() = %+v (%s), want %+v", naivelyOf(got), got.Message(), want)
			}
			if want := outcomes[c.reason]; got.Outcome != want {
				t.Errorf("the outcome is %s, want %s", got.Outcome, want)
			}
			if (got.Used() != nil) != (got.Outcome == Use) || got.MayCallAWS() != (c.reason == ReasonSelected || c.reason == ReasonNoSelector) {
				t.Errorf("%s: Used() = %v, MayCallAWS() = %t", got.Outcome, got.Used(), got.MayCallAWS())
			}
		})
	}
}

var outcomes = map[Reason]Outcome{
	ReasonSelected: Use, ReasonNoSelector: NoSelector, ReasonConflict: Conflict,
	ReasonDenied: Denied, ReasonChoiceNotPermitted: Denied, ReasonAmbiguousChoice: Denied, ReasonNoSelectorPolicy: Denied,
	ReasonSelectorInvalid: Invalid, ReasonChoiceInvalid: Invalid,
}

func TestNothingIsDecidedBeforeAllIsSynced(t *testing.T) {
	index := NewIndex(Options{})
	index.Set(Compile(exclusive("a")))
	for _, source := range []Source{Selectors, Namespaces, Choices} {
		got := index.Decide(bucketInProd())
		if got.Outcome != NotYetKnown || got.Reason != ReasonNotSynced || index.Ready() {
			t.Errorf("before source %d: Decide() = %s %s, Ready() = %t", source, got.Outcome, got.Reason, index.Ready())
		}
		index.MarkSynced(source)
	}
	if got := index.Decide(bucketInProd()); got.Outcome != Use || !index.Ready() {
		t.Errorf("Decide() = %s, Ready() = %t when all has synced", got.Outcome, index.Ready())
	}
	index.MarkStale(Selectors)
	if got := index.Decide(bucketInProd()); got.Outcome != NotYetKnown {
		t.Errorf("Decide() = %s when selectors cannot be read any more, want NotYetKnown", got.Outcome)
	}
}

func TestADecisionNamesTheSelectorThatIsUsed(t *testing.T) {
	got := fullIndex(Options{}, Compile(exclusive("a"))).Decide(bucketInProd()).Selector
	want := Reference{Name: "a", UID: "uid-1", ResourceVersion: "7", Generation: 3, ARN: someARN, Account: "111122223333"}
	if got != want {
		t.Errorf("Selector = %+v, want %+v", got, want)
	}
}

func TestDecisionsDifferByWhatASelectorSays(t *testing.T) {
	decide := func(change func(*v1alpha1.IAMRoleSelector)) Decision {
		object := exclusive("a")
		change(object)
		return fullIndex(Options{}, Compile(object)).Decide(bucketInProd())
	}
	first := decide(func(*v1alpha1.IAMRoleSelector) {})
	for name, c := range map[string]struct {
		change func(*v1alpha1.IAMRoleSelector)
		equal  bool
	}{
		"nothing":          {func(*v1alpha1.IAMRoleSelector) {}, true},
		"resource version": {func(o *v1alpha1.IAMRoleSelector) { o.ResourceVersion = "8" }, true},
		"generation":       {func(o *v1alpha1.IAMRoleSelector) { o.Generation = 4 }, false},
		"uid":              {func(o *v1alpha1.IAMRoleSelector) { o.UID = "uid-2" }, false},
		"account change":   {func(o *v1alpha1.IAMRoleSelector) { o.Spec.OnAccountChange = v1alpha1.Recreate }, false},
		"role":             {func(o *v1alpha1.IAMRoleSelector) { o.Spec.ARN += "-b" }, false},
	} {
		if got := first.Equal(decide(c.change)); got != c.equal {
			t.Errorf("Equal() = %t with another %s, want %t", got, name, c.equal)
		}
	}
}

func TestAConflictListsTenNamesInTheOrderOfTheirBytes(t *testing.T) {
	conflict := func(n int) string {
		var all []*Selector
		for i := range n {
			all = append(all, Compile(exclusive(fmt.Sprintf("s%02d", n-1-i))))
		}
		return fullIndex(Options{}, all...).Decide(bucketInProd()).Message()
	}
	const begin = "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: "
	ten := "s00, s01, s02, s03, s04, s05, s06, s07, s08, s09"
	for n, want := range map[int]string{2: begin + "[s00, s01]", 10: begin + "[" + ten + "]", 13: begin + "[" + ten + ", ... and 3 more]"} {
		if got := conflict(n); got != want {
			t.Errorf("with %d the message is\n%s, want\n%s", n, got, want)
		}
	}
}

func TestEveryReasonHasASentence(t *testing.T) {
	for _, reason := range []Reason{
		ReasonDenied, ReasonChoiceNotPermitted, ReasonAmbiguousChoice, ReasonNoSelectorPolicy, ReasonSelectorInvalid,
		ReasonAssumeRoleInputInvalid, ReasonChoiceInvalid, ReasonTypeUnknown, ReasonNotSynced, ReasonNamespaceUnknown,
	} {
		if got := (Decision{Outcome: Denied, Reason: reason}).Message(); !strings.HasSuffix(got, ".") {
			t.Errorf("the message of %s is %q", reason, got)
		}
	}
}

func TestLaterOfTwoWithOneNameCounts(t *testing.T) {
	index := fullIndex(Options{}, Compile(denying("a")), Compile(exclusive("a")))
	if got := index.Decide(bucketInProd()); got.Outcome != Use {
		t.Errorf("Decide() = %s, want Use", got.Outcome)
	}
	index.Set(Compile(denying("a")))
	if got := index.Decide(bucketInProd()); got.Outcome != Denied {
		t.Errorf("Decide() = %s, want Denied", got.Outcome)
	}
	if got := index.All(); len(got) != 1 || !slices.Equal(got, []*Selector{index.Get("a")}) {
		t.Errorf("All() = %v", got)
	}
}
