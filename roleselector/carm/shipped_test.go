package carm

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

type (
	spec       = v1alpha1.IAMRoleSelectorSpec
	namespaces = v1alpha1.NamespaceSelector
	labels     = v1alpha1.LabelSelector
	kind       = v1alpha1.ResourceType
)

func matchLabels(pairs ...string) *labels { return &labels{MatchLabels: entries(pairs...)} }

// TestShippedReadsSelectorsAsACKDoes is the truth table of ACK's matching: a
// bucket with the label app=x in the namespace prod with team=a and env=p.
func TestShippedReadsSelectorsAsACKDoes(t *testing.T) {
	const s3 = "s3.services.k8s.aws"
	bucket := Object{
		Kind:      schema.GroupVersionKind{Group: s3, Version: "v1alpha1", Kind: "Bucket"},
		Namespace: "prod", NamespaceLabels: entries("team", "a", "env", "p"), Labels: entries("app", "x"),
	}
	names := func(of ...string) *namespaces { return &namespaces{Names: of} }
	by := func(selector *labels, of ...string) *namespaces {
		return &namespaces{Names: of, LabelSelector: selector}
	}
	types := func(of ...kind) []kind { return of }
	notIn := &labels{MatchExpressions: []v1alpha1.LabelRequirement{{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a"}}}}
	for name, test := range map[string]struct {
		spec  *spec
		match bool
	}{
		"nothing but a role":         {&spec{}, true},
		"no spec":                    {nil, false},
		"the name":                   {&spec{NamespaceSelector: names("prod")}, true},
		"the name in capitals":       {&spec{NamespaceSelector: names("Prod")}, false},
		"one of two names":           {&spec{NamespaceSelector: names("dev", "prod")}, true},
		"part of the name":           {&spec{NamespaceSelector: names("pro")}, false},
		"no names":                   {&spec{NamespaceSelector: names()}, true},
		"name and label":             {&spec{NamespaceSelector: by(matchLabels("team", "a"), "prod")}, true},
		"name and another label":     {&spec{NamespaceSelector: by(matchLabels("team", "b"), "prod")}, false},
		"another name and the label": {&spec{NamespaceSelector: by(matchLabels("team", "a"), "dev")}, false},
		"the label alone":            {&spec{NamespaceSelector: by(matchLabels("team", "a"))}, true},
		"one of two labels":          {&spec{NamespaceSelector: by(matchLabels("team", "a", "env", "q"))}, false},
		"an empty value of a label that is absent": {&spec{NamespaceSelector: by(matchLabels("owner", ""))}, false},
		"expressions are not read":                 {&spec{NamespaceSelector: by(notIn)}, true},
		"a name twice":                             {&spec{NamespaceSelector: names("prod", "prod")}, false},
		"an empty name":                            {&spec{NamespaceSelector: names("prod", "")}, false},
		"the group":                                {&spec{ResourceTypeSelector: types(kind{Group: s3})}, true},
		"the kind":                                 {&spec{ResourceTypeSelector: types(kind{Kind: "Bucket"})}, true},
		"the version":                              {&spec{ResourceTypeSelector: types(kind{Version: "v1alpha1"})}, true},
		"another version":                          {&spec{ResourceTypeSelector: types(kind{Group: s3, Version: "v1beta1"})}, false},
		"the group in capitals":                    {&spec{ResourceTypeSelector: types(kind{Group: "S3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"})}, false},
		"the plural":                               {&spec{ResourceTypeSelector: types(kind{Group: s3, Kind: "buckets"})}, false},
		"one of two groups":                        {&spec{ResourceTypeSelector: types(kind{Group: "ec2.services.k8s.aws"}, kind{Group: s3})}, true},
		"no types":                                 {&spec{ResourceTypeSelector: types()}, true},
		"an empty type":                            {&spec{ResourceTypeSelector: types(kind{Group: s3}, kind{})}, false},
		"the documented form is not read":          {&spec{ResourceTypeSelector: types(kind{APIVersion: s3 + "/v1alpha1"})}, false},
		"a type twice":                             {&spec{ResourceTypeSelector: types(kind{Kind: "Bucket"}, kind{Kind: "Bucket"})}, false},
		"types that read the same":                 {&spec{ResourceTypeSelector: types(kind{Group: s3}, kind{Group: "a/b", Kind: "c"}, kind{Group: "a", Version: "b/", Kind: "c"})}, false},
		"the resource's label":                     {&spec{ResourceLabelSelector: matchLabels("app", "x")}, true},
		"one of two labels of the resource":        {&spec{ResourceLabelSelector: matchLabels("app", "x", "tier", "y")}, false},
		"all but the type":                         {&spec{NamespaceSelector: names("prod"), ResourceTypeSelector: types(kind{Group: "rds"}), ResourceLabelSelector: matchLabels("app", "x")}, false},
		"an empty key of a namespace's label":      {&spec{NamespaceSelector: by(matchLabels("", "x"))}, false},
		"an empty key of a resource's label":       {&spec{ResourceLabelSelector: matchLabels("", "x")}, false},
		"a text for a role":                        {&spec{ARN: "foo"}, false},
		"an ARN of five parts":                     {&spec{ARN: "arn:aws:iam::1"}, false},
		"another partition":                        {&spec{ARN: "arn:aws-us-gov:iam::111111111111:role/a"}, true},
		"an ARN of a bucket":                       {&spec{ARN: "arn:aws:s3:::b"}, true},
		"a role with the effect Deny, not read":    {&spec{Effect: v1alpha1.Deny}, true},
		"the mode is not read":                     {&spec{Selection: &v1alpha1.Selection{RequireChoice: true}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			want := Verdict{Outcome: Default}
			if test.spec != nil && test.spec.ARN == "" {
				test.spec.ARN = roleA
			}
			if test.match {
				want = Verdict{Outcome: Role, Role: test.spec.ARN, Selectors: []string{"s"}}
			}
			decide := Shipped([]Selector{{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: test.spec}})
			if got := decide(bucket); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	empty := Shipped([]Selector{existing("empty", "", nil), existing("deny", "", func(s *spec) { s.Effect = v1alpha1.Deny })})
	if got := empty(bucket); got.Outcome != Default {
		t.Errorf("selectors without a role: %+v, want the default role", got)
	}
	unknown := Shipped([]Selector{existing("l", roleA, func(s *spec) { s.NamespaceSelector = by(matchLabels("team", "a")) })})
	if got := unknown(Object{Kind: bucket.Kind, Namespace: "prod"}); got.Outcome != Default {
		t.Errorf("a namespace whose labels are not known: %+v, want the default role", got)
	}
}

func TestShippedCallsTwoMatchesAConflict(t *testing.T) {
	decide := Shipped([]Selector{existing("z", roleA, nil), existing("a", roleA, inNamespaces("prod"))})
	want := Verdict{Outcome: Conflict, Selectors: []string{"a", "z"}}
	if got := decide(Object{Namespace: "prod"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
