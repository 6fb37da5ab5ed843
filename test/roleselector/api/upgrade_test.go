package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
	"github.com/tabard-dev/tabard/roleselector"
)

const other = "arn:aws:iam::222222222222:role/other"

// stored are objects that ACK's schema took: good ones, and one of each oddity that
// ours refuses in a new object.
var stored = map[string]string{
	"good": with(`namespaceSelector: {names: [prod], labelSelector: {matchLabels: {team: a}}},
  resourceTypeSelector: [{group: s3.services.k8s.aws, version: "", kind: ""}], resourceLabelSelector: {matchLabels: {}}`),
	"empty-forms":  with("namespaceSelector: {names: [], labelSelector: {matchLabels: {}}}, resourceTypeSelector: []"),
	"named":        with("namespaceSelector: {names: [prod], labelSelector: {matchLabels: {}}}, resourceTypeSelector: []"),
	"labels-alone": with("resourceLabelSelector: {matchLabels: {app: x}}"),
	"no-spec":      "{}",
	"empty-arn":    "spec: {arn: '', namespaceSelector: {names: [prod]}}",
	"no-arn":       "spec: {arn: foo, namespaceSelector: {names: [prod]}}",
	"twice":        with("namespaceSelector: {names: [prod, prod]}"),
	"star":         with("namespaceSelector: {names: ['prod*'], labelSelector: {matchLabels: {team: a}}}"),
	"empty-type":   with(`namespaceSelector: {names: [prod]}, resourceTypeSelector: [{group: "", version: "", kind: ""}]`),
	"same-types":   with(`resourceTypeSelector: [{group: g.io, version: "", kind: ""}, {group: g.io, version: "", kind: ""}]`),
	"odd-labels":   with(`namespaceSelector: {names: [prod], labelSelector: {matchLabels: {"a b": "c d"}}}`),
	"many-names":   with("namespaceSelector: {names: [" + many(1100, "n%d") + "]}"),
}

// edit is one change of a stored object under our schema, and the refusal it earns.
type edit struct {
	of   string
	do   func(map[string]any)
	want string
}

var edits = map[string]edit{
	"another field of a selector without an ARN": {"no-arn", set([]any{"dev"}, "spec", "namespaceSelector", "names"), ""},
	"another field beside a name with a star":    {"star", set(map[string]any{"team": "b"}, "spec", "namespaceSelector", "labelSelector", "matchLabels"), ""},
	"another field beside an empty type":         {"empty-type", set([]any{"dev"}, "spec", "namespaceSelector", "names"), ""},
	"another field beside impossible labels":     {"odd-labels", set([]any{"dev"}, "spec", "namespaceSelector", "names"), ""},
	"another field beside too many names":        {"many-names", set(map[string]any{"matchLabels": map[string]any{"a": "b"}}, "spec", "resourceLabelSelector"), ""},
	"another field beside two equal types":       {"same-types", set([]any{"dev"}, "spec", "namespaceSelector", "names"), ""},
	"a name twice put right":                     {"twice", set([]any{"prod"}, "spec", "namespaceSelector", "names"), ""},
	"a star put right":                           {"star", set([]any{"prod"}, "spec", "namespaceSelector", "names"), ""},
	"a star made another star":                   {"star", set([]any{"dev*"}, "spec", "namespaceSelector", "names"), noPattern},
	"an empty type put right":                    {"empty-type", set([]any{map[string]any{"kind": "Bucket"}}, "spec", "resourceTypeSelector"), ""},
	"an ARN that is none, made one":              {"no-arn", set(arn, "spec", "arn"), immutable},
	"an empty ARN, set at last":                  {"empty-arn", set(arn, "spec", "arn"), ""},
	"an empty ARN made a word":                   {"empty-arn", set("foo", "spec", "arn"), noPattern},
	"another field beside no labels":             {"empty-forms", set([]any{map[string]any{"kind": "Bucket"}}, "spec", "resourceTypeSelector"), ""},
	"no labels put right":                        {"empty-forms", set(nil, "spec", "namespaceSelector", "labelSelector"), ""},
	"no labels made one":                         {"good", set(map[string]any{"app": "x"}, "spec", "resourceLabelSelector", "matchLabels"), ""},
	"one label made none":                        {"labels-alone", set(map[string]any{}, "spec", "resourceLabelSelector", "matchLabels"), noTerm},
	"a spec, set at last":                        {"no-spec", set(map[string]any{"arn": arn}, "spec"), ""},
	"a spec without an ARN, set at last":         {"no-spec", set(map[string]any{}, "spec"), "arn is required"},
	"another ARN":                                {"good", set(other, "spec", "arn"), immutable},
	"an empty ARN in place of one":               {"good", set("", "spec", "arn"), immutable},
	"no ARN in place of one":                     {"good", set(nil, "spec", "arn"), immutable},
	"no spec in place of one":                    {"good", set(nil, "spec"), immutable},
	"Deny in place of an ARN":                    {"good", set(map[string]any{"effect": "Deny"}, "spec"), immutable},
	"another whole spec":                         {"good", set(map[string]any{"arn": other}, "spec"), immutable},
	"the documented form":                        {"good", set([]any{map[string]any{"apiVersion": "s3.services.k8s.aws/v1alpha1", "kind": "Bucket"}}, "spec", "resourceTypeSelector"), ""},
}

const immutable = "Value is immutable once set"

// testUpgrade: what ACK's schema stored is read as before
// under ours, can be labelled whatever it is, and be put right; and no series of
// edits swaps a role.
func (u *user) testUpgrade() {
	t := u.t
	t.Run("ACK's schema lets a role be swapped in two steps", u.swapsUnderShipped)
	before := map[string]map[string]any{}
	for _, name := range sorted(stored) {
		u.create(selectors, name, stored[name])
		before[name] = u.get(selectors, name)
	}

	testkit.Shell(t, u.server.Config, "kubectl apply -f config/crd")
	u.until(func() string { return "our schema is served" }, func() bool {
		_, err := u.try(selectors, "spec: {effect: Deny}", "Strict")
		return err == nil
	})
	for _, name := range sorted(stored) {
		t.Run("read and label "+name, func(t *testing.T) {
			if diff := cmp.Diff(before[name], u.get(selectors, name)); diff != "" {
				t.Errorf("it is read otherwise than before (-before +after):\n%s", diff)
			}
			judge(t, u.change(selectors, name, set("b", "metadata", "labels", "a")), "")
			judge(t, u.change(selectors, name, set([]any{"example.com/hold"}, "metadata", "finalizers")), "")
			judge(t, u.change(selectors, name, set(nil, "metadata", "finalizers")), "")
			if diff := cmp.Diff(before[name]["spec"], u.get(selectors, name)["spec"]); diff != "" {
				t.Errorf("a label changed its spec (-before +after):\n%s", diff)
			}
		})
	}
	for name, want := range map[string]roleselector.Outcome{
		"empty-forms": roleselector.Invalid, "good": roleselector.Use, "labels-alone": roleselector.Use, "named": roleselector.Use,
	} {
		t.Run("decide by "+name, func(t *testing.T) {
			if got := u.decide(name); got.Outcome != want {
				t.Errorf("it is decided: %s: %s; want %s", got.Outcome, got.Message(), want)
			}
		})
	}
	for _, name := range sorted(edits) {
		t.Run(name, func(t *testing.T) {
			judge(t, u.tryChange(selectors, edits[name].of, edits[name].do), edits[name].want)
		})
	}
}

// decide says what is decided by a stored selector alone, of a Bucket that it may mean.
func (u *user) decide(name string) roleselector.Decision {
	u.t.Helper()
	var object v1alpha1.IAMRoleSelector
	must.Do(u.t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.get(selectors, name), &object))
	index := roleselector.NewIndex(roleselector.Options{})
	index.Set(roleselector.Compile(&object))
	index.MarkSynced(roleselector.Everything)
	return index.Decide(roleselector.Query{
		Namespace: "prod", NamespaceLabels: map[string]string{"team": "a"}, NamespaceKnown: true,
		Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket", Labels: map[string]string{"app": "x"},
	})
}

// swapsUnderShipped is the hole that ours closes.
func (u *user) swapsUnderShipped(t *testing.T) {
	u.create(selectors, "swapped", with("namespaceSelector: {names: [prod]}"))
	judge(t, u.change(selectors, "swapped", set(other, "spec", "arn")), immutable)
	judge(t, u.change(selectors, "swapped", set(nil, "spec")), "")
	judge(t, u.change(selectors, "swapped", set(map[string]any{"arn": other}, "spec")), "")
}
