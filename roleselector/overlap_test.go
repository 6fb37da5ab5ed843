package roleselector

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

func onTypes(types ...v1alpha1.ResourceType) func(*spec) {
	return func(s *spec) { s.ResourceTypeSelector = types }
}

func inNamespaces(list ...string) func(*spec) {
	return func(s *spec) { s.NamespaceSelector = names(list...) }
}

func onResource(key string, operator metav1.LabelSelectorOperator, values ...string) func(*spec) {
	return func(s *spec) { s.ResourceLabelSelector = expression(key, operator, values...) }
}

func offered(s *spec) { s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable} }

func both(changes ...func(*spec)) func(*spec) {
	return func(s *spec) {
		for _, change := range changes {
			change(s)
		}
	}
}

var overlapCases = map[string]struct {
	a, b func(*spec)
	want bool
}{
	"two that select everything":              {want: true},
	"everything and one namespace":            {b: inNamespaces("prod"), want: true},
	"a common namespace":                      {a: inNamespaces("dev", "prod"), b: inNamespaces("prod", "test"), want: true},
	"different namespaces":                    {a: inNamespaces("dev"), b: inNamespaces("prod", "test")},
	"a name that no namespace can have":       {a: inNamespaces("Prod"), b: nil},
	"the same labels of namespaces":           {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpIn, "a", "b"), want: true},
	"different values of a label":             {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpIn, "b")},
	"different labels":                        {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), b: namespaceTerm("env", metav1.LabelSelectorOpIn, "p"), want: true},
	"In and NotIn of one value":               {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a")},
	"In and NotIn of one of two values":       {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a", "b"), b: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), want: true},
	"NotIn and NotIn":                         {a: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "b"), want: true},
	"Exists and DoesNotExist":                 {a: namespaceTerm("team", metav1.LabelSelectorOpExists), b: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist)},
	"Exists and NotIn":                        {a: namespaceTerm("team", metav1.LabelSelectorOpExists), b: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), want: true},
	"In and DoesNotExist":                     {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist)},
	"NotIn and DoesNotExist":                  {a: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), b: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), want: true},
	"DoesNotExist twice":                      {a: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), b: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), want: true},
	"a value that no label can have":          {a: namespaceTerm("team", metav1.LabelSelectorOpIn, "a b")},
	"a name and its own label":                {a: inNamespaces("prod"), b: namespaceTerm(namespaceNameLabel, metav1.LabelSelectorOpIn, "prod"), want: true},
	"a name and another's label":              {a: inNamespaces("prod"), b: namespaceTerm(namespaceNameLabel, metav1.LabelSelectorOpIn, "dev")},
	"a name and all but its label":            {a: inNamespaces("prod"), b: namespaceTerm(namespaceNameLabel, metav1.LabelSelectorOpNotIn, "prod")},
	"two names and all but one's label":       {a: inNamespaces("prod", "dev"), b: namespaceTerm(namespaceNameLabel, metav1.LabelSelectorOpNotIn, "prod"), want: true},
	"different labels of resources":           {a: onResource("app", metav1.LabelSelectorOpIn, "x"), b: onResource("app", metav1.LabelSelectorOpIn, "y")},
	"labels of resources that can be at once": {a: onResource("app", metav1.LabelSelectorOpIn, "x"), b: onResource("tier", metav1.LabelSelectorOpExists), want: true},
	"different groups":                        {a: onTypes(v1alpha1.ResourceType{Group: s3}), b: onTypes(v1alpha1.ResourceType{Group: ec2})},
	"one group in two ways":                   {a: onTypes(v1alpha1.ResourceType{Group: s3}), b: onTypes(v1alpha1.ResourceType{APIVersion: s3 + "/v1alpha1", Kind: "Bucket"}), want: true},
	"different kinds":                         {a: onTypes(v1alpha1.ResourceType{Group: s3, Kind: "Bucket"}), b: onTypes(v1alpha1.ResourceType{Group: s3, Kind: "Object"})},
	"a kind and a version":                    {a: onTypes(v1alpha1.ResourceType{Kind: "Bucket"}), b: onTypes(v1alpha1.ResourceType{Version: "v1alpha1"}), want: true},
	"different versions":                      {a: onTypes(v1alpha1.ResourceType{Group: s3, Version: "v1"}), b: onTypes(v1alpha1.ResourceType{Group: s3, Version: "v2"})},
	"one of several entries":                  {a: onTypes(v1alpha1.ResourceType{Group: rds}, v1alpha1.ResourceType{Group: s3}), b: onTypes(v1alpha1.ResourceType{Group: ec2}, v1alpha1.ResourceType{Group: s3}), want: true},
	"everything and a group of ours":          {b: onTypes(v1alpha1.ResourceType{Group: "identity.tabard.dev"})},
	"a kind and a group of ours":              {a: onTypes(v1alpha1.ResourceType{Kind: "Bucket"}), b: onTypes(v1alpha1.ResourceType{Group: "identity.tabard.dev"})},
	"a group of ours twice":                   {a: onTypes(v1alpha1.ResourceType{Group: "identity.tabard.dev"}), b: onTypes(v1alpha1.ResourceType{Group: "identity.tabard.dev"}), want: true},
	"one part that keeps them apart": {
		a: both(inNamespaces("prod"), onTypes(v1alpha1.ResourceType{Group: s3})),
		b: both(inNamespaces("prod"), onTypes(v1alpha1.ResourceType{Group: s3}), onResource("app", metav1.LabelSelectorOpDoesNotExist), func(s *spec) {
			s.ResourceLabelSelector.MatchLabels = map[string]string{"app": "x"}
		}),
	},
	"two that can be chosen":          {a: offered, b: offered},
	"one that can be chosen":          {a: offered, want: true},
	"one that denies":                 {a: func(s *spec) { s.Effect, s.ARN = v1alpha1.Deny, "" }},
	"a term that cannot be evaluated": {a: namespaceTerm("team", "Near", "a"), b: inNamespaces("prod"), want: true},
	"a role that is none":             {a: func(s *spec) { s.ARN = "foo" }, b: inNamespaces("prod"), want: true},
}

func TestSelectorsOverlapWhereAResourceCanBeInConflict(t *testing.T) {
	for name, c := range overlapCases {
		t.Run(name, func(t *testing.T) {
			a, b := Compile(made("a", c.a)), Compile(made("b", c.b))
			if got := Overlap(a, b); got != c.want {
				t.Errorf("they overlap: %v, want %v", got, c.want)
			}
			if got := Overlap(b, a); got != c.want {
				t.Errorf("the other way round they overlap: %v, want %v", got, c.want)
			}
		})
	}
}

// TestWhatIsInConflictOverlaps plays many worlds: no conflict may come up that
// Overlap did not say, but of two that are there to be chosen.
func TestWhatIsInConflictOverlaps(t *testing.T) {
	d, conflicts := newDice(11), 0
	for range 45_000 {
		a, b := Compile(d.selector(0)), Compile(d.selector(1))
		index := NewIndex(Options{})
		index.MarkSynced(Everything)
		index.Set(a)
		index.Set(b)
		q := d.query(d.namespaces())
		q.NamespaceKnown = true
		if index.Decide(q).Outcome != Conflict || a.selectable && b.selectable {
			continue
		}
		conflicts++
		if !Overlap(a, b) {
			t.Fatalf("they are in conflict and do not overlap:\n%+v\n%+v\n%+v", a, b, q)
		}
	}
	if conflicts < 500 {
		t.Errorf("there were %d conflicts, too few to say anything", conflicts)
	}
}

func TestOverlappingGoesByTheOptionsOfTheIndexAndLeavesTheSelectorItselfOut(t *testing.T) {
	index := NewIndex(Options{CatchAll: func(string) bool { return true }})
	for _, name := range []string{"c", "a", "b"} {
		index.Set(Compile(made(name, onTypes(v1alpha1.ResourceType{Group: "identity.tabard.dev"}))))
	}
	index.Set(Compile(made("d", onTypes(v1alpha1.ResourceType{Group: s3}))))
	var got []string
	for _, s := range index.Overlapping(Compile(made("b", func(s *spec) { s.ResourceTypeSelector = []v1alpha1.ResourceType{{Kind: "OIDCIssuer"}} }))) {
		got = append(got, s.Reference().Name)
	}
	if want := []string{"a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("it overlaps with %q, want %q", got, want)
	}
}
