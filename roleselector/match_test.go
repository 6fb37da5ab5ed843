package roleselector

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

const s3, ec2, rds = "s3.services.k8s.aws", "ec2.services.k8s.aws", "rds.services.k8s.aws"

// made is a selector with a sound role, changed.
func made(name string, change func(*v1alpha1.IAMRoleSelectorSpec)) *v1alpha1.IAMRoleSelector {
	o := &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-1", ResourceVersion: "7", Generation: 3},
		Spec:       &v1alpha1.IAMRoleSelectorSpec{ARN: someARN},
	}
	if change != nil {
		change(o.Spec)
	}
	return o
}

func names(list ...string) *v1alpha1.NamespaceSelector {
	return &v1alpha1.NamespaceSelector{Names: list}
}

func namesAndLabels(list []string, labels map[string]string) *v1alpha1.NamespaceSelector {
	return &v1alpha1.NamespaceSelector{Names: list, LabelSelector: &v1alpha1.LabelSelector{MatchLabels: labels}}
}

func expression(key string, operator metav1.LabelSelectorOperator, values ...string) *v1alpha1.LabelSelector {
	return &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{{Key: key, Operator: operator, Values: values}}}
}

func bucketInProd() Query {
	return Query{
		Namespace: "prod", NamespaceLabels: map[string]string{"team": "a", "env": "p"}, NamespaceKnown: true,
		Group: s3, Version: "v1alpha1", Kind: "Bucket", Labels: map[string]string{"app": "x"},
	}
}

type spec = v1alpha1.IAMRoleSelectorSpec

// matchCases are what one selector says of the bucket in prod. Where the kind as
// ACK ships it differs, because it ignores what is invalid or drops what it does
// not know, want is the safe answer.
var matchCases = map[string]struct {
	change func(*spec)
	query  func(*Query)
	want   Outcome
}{
	"nothing selects everything":               {want: Use},
	"the name":                                 {change: func(s *spec) { s.NamespaceSelector = names("prod") }, want: Use},
	"the name in upper case":                   {change: func(s *spec) { s.NamespaceSelector = names("Prod") }, want: NoSelector},
	"one of two names":                         {change: func(s *spec) { s.NamespaceSelector = names("dev", "prod") }, want: Use},
	"the beginning of the name":                {change: func(s *spec) { s.NamespaceSelector = names("pro") }, want: NoSelector},
	"a pattern of the name":                    {change: func(s *spec) { s.NamespaceSelector = names("prod*") }, want: NoSelector},
	"no names":                                 {change: func(s *spec) { s.NamespaceSelector = names() }, want: Use},
	"name and label":                           {change: func(s *spec) { s.NamespaceSelector = namesAndLabels([]string{"prod"}, map[string]string{"team": "a"}) }, want: Use},
	"name and another label":                   {change: func(s *spec) { s.NamespaceSelector = namesAndLabels([]string{"prod"}, map[string]string{"team": "b"}) }, want: NoSelector},
	"another name and the label":               {change: func(s *spec) { s.NamespaceSelector = namesAndLabels([]string{"dev"}, map[string]string{"team": "a"}) }, want: NoSelector},
	"the label alone":                          {change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{"team": "a"}) }, want: Use},
	"two labels, one of which differs":         {change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{"team": "a", "env": "q"}) }, want: NoSelector},
	"an empty value needs the key":             {change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{"owner": ""}) }, want: NoSelector},
	"In":                                       {change: namespaceTerm("team", metav1.LabelSelectorOpIn, "a", "b"), want: Use},
	"In of others":                             {change: namespaceTerm("team", metav1.LabelSelectorOpIn, "b", "c"), want: NoSelector},
	"In of an absent key":                      {change: namespaceTerm("owner", metav1.LabelSelectorOpIn, "a"), want: NoSelector},
	"NotIn is not dropped":                     {change: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "a"), want: NoSelector},
	"NotIn of others":                          {change: namespaceTerm("team", metav1.LabelSelectorOpNotIn, "b"), want: Use},
	"NotIn of an absent key":                   {change: namespaceTerm("owner", metav1.LabelSelectorOpNotIn, "a"), want: Use},
	"Exists":                                   {change: namespaceTerm("team", metav1.LabelSelectorOpExists), want: Use},
	"Exists of an absent key":                  {change: namespaceTerm("owner", metav1.LabelSelectorOpExists), want: NoSelector},
	"DoesNotExist":                             {change: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), want: NoSelector},
	"DoesNotExist of an absent key":            {change: namespaceTerm("owner", metav1.LabelSelectorOpDoesNotExist), want: Use},
	"resource labels without any give no role": {change: func(s *spec) { s.ResourceLabelSelector = &v1alpha1.LabelSelector{} }, want: Invalid},
	"resource labels without any, beside names": {change: func(s *spec) {
		s.NamespaceSelector, s.ResourceLabelSelector = names("prod"), &v1alpha1.LabelSelector{MatchLabels: map[string]string{}}
	}, want: Use},
	"resource labels without any, beside a namespace's label": {change: func(s *spec) {
		s.NamespaceSelector, s.ResourceLabelSelector = namesAndLabels(nil, map[string]string{"team": "a"}), &v1alpha1.LabelSelector{}
	}, want: Use},
	"resource labels without any, beside no names": {change: func(s *spec) {
		s.NamespaceSelector, s.ResourceLabelSelector = names(), &v1alpha1.LabelSelector{}
	}, want: Invalid},
	"resource labels without any, beside a type": {change: func(s *spec) {
		typed(v1alpha1.ResourceType{Group: s3})(s)
		s.ResourceLabelSelector = &v1alpha1.LabelSelector{}
	}, want: Invalid},
	"resource labels without any, another name": {change: func(s *spec) {
		s.NamespaceSelector, s.ResourceLabelSelector = names("dev"), &v1alpha1.LabelSelector{}
	}, want: NoSelector},
	"labels without any give no role": {change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{}) }, want: Invalid},
	"no expressions give no role": {change: func(s *spec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{}, LabelSelector: &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{}}}
	}, want: Invalid},
	"labels without any, of a namespace not yet seen": {
		change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, nil) }, query: unseen, want: Invalid,
	},
	"labels without any, beside the name":     {change: func(s *spec) { s.NamespaceSelector = namesAndLabels([]string{"prod"}, nil) }, want: Use},
	"labels without any, beside another name": {change: func(s *spec) { s.NamespaceSelector = namesAndLabels([]string{"dev"}, nil) }, want: NoSelector},
	"Deny without a label denies": {change: func(s *spec) {
		s.ARN, s.Effect = "", v1alpha1.Deny
		s.NamespaceSelector = namesAndLabels(nil, nil)
	}, want: Denied},
	"a name that is there twice":                {change: func(s *spec) { s.NamespaceSelector = names("prod", "prod") }, want: Use},
	"an empty name selects nothing":             {change: func(s *spec) { s.NamespaceSelector = names("") }, want: NoSelector},
	"an empty name beside the right one":        {change: func(s *spec) { s.NamespaceSelector = names("", "prod") }, want: Use},
	"a group":                                   {change: typed(v1alpha1.ResourceType{Group: s3}), want: Use},
	"another group":                             {change: typed(v1alpha1.ResourceType{Group: rds}), want: NoSelector},
	"apiVersion":                                {change: typed(v1alpha1.ResourceType{APIVersion: s3 + "/v1alpha1"}), want: Use},
	"apiVersion and kind":                       {change: typed(v1alpha1.ResourceType{APIVersion: s3 + "/v1alpha1", Kind: "Bucket"}), want: Use},
	"apiVersion and another kind":               {change: typed(v1alpha1.ResourceType{APIVersion: s3 + "/v1alpha1", Kind: "Key"}), want: NoSelector},
	"another apiVersion":                        {change: typed(v1alpha1.ResourceType{APIVersion: s3 + "/v1beta1"}), want: NoSelector},
	"a kind of any group":                       {change: typed(v1alpha1.ResourceType{Kind: "Bucket"}), want: Use},
	"a version of any group":                    {change: typed(v1alpha1.ResourceType{Version: "v1alpha1"}), want: Use},
	"another version":                           {change: typed(v1alpha1.ResourceType{Group: s3, Version: "v1beta1"}), want: NoSelector},
	"the group in upper case":                   {change: typed(v1alpha1.ResourceType{Group: "S3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}), want: NoSelector},
	"the kind in lower case":                    {change: typed(v1alpha1.ResourceType{Group: s3, Version: "v1alpha1", Kind: "bucket"}), want: NoSelector},
	"the plural":                                {change: typed(v1alpha1.ResourceType{Group: s3, Version: "v1alpha1", Kind: "buckets"}), want: NoSelector},
	"one of two groups":                         {change: typed(v1alpha1.ResourceType{Group: ec2}, v1alpha1.ResourceType{Group: s3}), want: Use},
	"no types":                                  {change: typed(), want: Use},
	"a type that is there twice":                {change: typed(v1alpha1.ResourceType{Group: s3}, v1alpha1.ResourceType{Group: s3}), want: Use},
	"types that look alike joined with slashes": {change: typed(v1alpha1.ResourceType{Group: "a/b", Kind: "c"}, v1alpha1.ResourceType{Group: "a", Version: "b/", Kind: "c"}), want: NoSelector},
	"an empty type blocks":                      {change: typed(v1alpha1.ResourceType{}), want: Invalid},
	"apiVersion without a group blocks":         {change: typed(v1alpha1.ResourceType{APIVersion: "v1", Kind: "Bucket"}), want: Invalid},
	"apiVersion without a group, another kind":  {change: typed(v1alpha1.ResourceType{APIVersion: "v1", Kind: "Key"}), want: NoSelector},
	"apiVersion against group blocks here":      {change: typed(v1alpha1.ResourceType{APIVersion: s3 + "/v1alpha1", Group: ec2}), want: Invalid},
	"apiVersion against group blocks not there": {change: typed(v1alpha1.ResourceType{APIVersion: rds + "/v1alpha1", Group: ec2}), want: NoSelector},
	"resource labels": {change: func(s *spec) {
		s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	}, want: Use},
	"more resource labels than there are": {change: func(s *spec) {
		s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x", "tier": "y"}}
	}, want: NoSelector},
	"all but the type": {change: func(s *spec) {
		s.NamespaceSelector = names("prod")
		s.ResourceTypeSelector = []v1alpha1.ResourceType{{Group: rds}}
		s.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	}, want: NoSelector},
	"another name": {change: func(s *spec) { s.NamespaceSelector = names("dev") }, want: NoSelector},
	"an ARN that is none blocks": {change: func(s *spec) {
		s.ARN = "foo"
		s.NamespaceSelector = names("prod")
	}, want: Invalid},
	"an ARN that is none blocks nothing elsewhere": {change: func(s *spec) {
		s.ARN = "foo"
		s.NamespaceSelector = names("dev")
	}, want: NoSelector},
	"no ARN":                                    {change: func(s *spec) { s.ARN = "" }, want: Invalid},
	"the ARN of a user":                         {change: func(s *spec) { s.ARN = "arn:aws:iam::111122223333:user/a" }, want: Invalid},
	"the ARN of a bucket":                       {change: func(s *spec) { s.ARN = "arn:aws:s3:::bucket" }, want: Invalid},
	"an ARN with a blank":                       {change: func(s *spec) { s.ARN += " " }, want: Invalid},
	"an ARN without an account":                 {change: func(s *spec) { s.ARN = "arn:aws:iam:::role/a" }, want: Invalid},
	"an ARN that is too long":                   {change: func(s *spec) { s.ARN += strings.Repeat("a", 2048) }, want: Invalid},
	"an ARN of another partition":               {change: func(s *spec) { s.ARN = "arn:aws-us-gov:iam::111122223333:role/a" }, want: Use},
	"an unknown operator blocks":                {change: namespaceTerm("team", "Near", "a"), want: Invalid},
	"In without values blocks":                  {change: namespaceTerm("team", metav1.LabelSelectorOpIn), want: Invalid},
	"Exists with values blocks":                 {change: namespaceTerm("team", metav1.LabelSelectorOpExists, "a"), want: Invalid},
	"a label without a key blocks":              {change: func(s *spec) { s.NamespaceSelector = namesAndLabels(nil, map[string]string{"": "a"}) }, want: Invalid},
	"an unknown effect blocks":                  {change: func(s *spec) { s.Effect = "Use!" }, want: Invalid},
	"an unknown mode blocks":                    {change: func(s *spec) { s.Selection = &v1alpha1.Selection{Mode: "Any"} }, want: Invalid},
	"an unknown chooser blocks":                 {change: func(s *spec) { s.Selection = &v1alpha1.Selection{Choosers: []v1alpha1.Chooser{"Me"}} }, want: Invalid},
	"an unknown account change blocks":          {change: func(s *spec) { s.OnAccountChange = "Move" }, want: Invalid},
	"a bad template blocks":                     {change: func(s *spec) { s.AssumeRole = &v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Template: "%X%"}} }, want: Invalid},
	"Deny needs no ARN":                         {change: func(s *spec) { s.ARN, s.Effect = "", v1alpha1.Deny }, want: Denied},
	"labels of a namespace not yet seen":        {change: namespaceTerm("team", metav1.LabelSelectorOpIn, "a"), query: unseen, want: NotYetKnown},
	"absent labels of a namespace not yet seen": {change: namespaceTerm("team", metav1.LabelSelectorOpDoesNotExist), query: unseen, want: NotYetKnown},
	"labels of a namespace not yet seen, another type": {change: func(s *spec) {
		namespaceTerm("team", metav1.LabelSelectorOpIn, "a")(s)
		typed(v1alpha1.ResourceType{Group: rds})(s)
	}, query: unseen, want: NoSelector},
	"labels of a namespace not yet seen, another name": {change: func(s *spec) {
		s.NamespaceSelector = namesAndLabels([]string{"dev"}, map[string]string{"team": "a"})
	}, query: unseen, want: NoSelector},
	"the name of a namespace not yet seen": {change: func(s *spec) { s.NamespaceSelector = names("prod") }, query: unseen, want: Use},
	"kube-system is a namespace like others": {
		change: func(s *spec) { s.NamespaceSelector = names("kube-system") },
		query:  func(q *Query) { q.Namespace = "kube-system" }, want: Use,
	},
	"a query without a kind":                     {query: func(q *Query) { q.Kind = "" }, want: Invalid},
	"a catch-all does not apply to other groups": {query: inTabard, want: NoSelector},
	"a kind alone does not apply to other groups": {
		change: typed(v1alpha1.ResourceType{Kind: "Bucket"}), query: inTabard, want: NoSelector,
	},
	"another group is selected by its name": {
		change: typed(v1alpha1.ResourceType{Kind: "Bucket"}, v1alpha1.ResourceType{Group: "identity.tabard.dev"}), query: inTabard, want: Use,
	},
	"another group is selected by apiVersion": {
		change: typed(v1alpha1.ResourceType{APIVersion: "identity.tabard.dev/v1alpha1"}), query: inTabard, want: Use,
	},
	"no name selects what is of the cluster": {
		change: func(s *spec) { s.NamespaceSelector = names("") }, query: func(q *Query) { q.Namespace = "" }, want: NoSelector,
	},
}

func namespaceTerm(key string, operator metav1.LabelSelectorOperator, values ...string) func(*spec) {
	return func(s *spec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: expression(key, operator, values...)}
	}
}

func typed(types ...v1alpha1.ResourceType) func(*spec) {
	return func(s *spec) { s.ResourceTypeSelector = types }
}

func unseen(q *Query) { q.NamespaceLabels, q.NamespaceKnown = nil, false }

func inTabard(q *Query) { q.Group = "identity.tabard.dev" }

func TestOneSelectorSelectsWhatItsPartsSay(t *testing.T) {
	for name, c := range matchCases {
		t.Run(name, func(t *testing.T) {
			q := bucketInProd()
			if c.query != nil {
				c.query(&q)
			}
			index := fullIndex(Options{}, Compile(made("one", c.change)))
			if got := index.Decide(q); got.Outcome != c.want {
				t.Errorf("Decide() = %s (%s), want %s", got.Outcome, got.Message(), c.want)
			}
		})
	}
}

func TestASelectorWithoutASpecBlocksEverything(t *testing.T) {
	index := fullIndex(Options{}, Compile(&v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}))
	got := index.Decide(bucketInProd())
	if got.Outcome != Invalid || got.Reason != ReasonSelectorInvalid || !strings.Contains(got.Message(), "empty: spec:") {
		t.Errorf("Decide() = %s %s: %s", got.Outcome, got.Reason, got.Message())
	}
}

func TestASelectorIsIndependentOfItsObject(t *testing.T) {
	object := made("one", func(s *spec) {
		s.NamespaceSelector = namesAndLabels([]string{"prod"}, map[string]string{"team": "a"})
		s.ResourceTypeSelector = []v1alpha1.ResourceType{{Group: s3}}
		s.ResourceLabelSelector = expression("app", metav1.LabelSelectorOpIn, "x")
		s.AssumeRole = &v1alpha1.AssumeRole{ExternalID: &v1alpha1.Text{Value: "mine"}}
	})
	s := Compile(object)
	object.Spec.NamespaceSelector.Names[0] = "dev"
	object.Spec.NamespaceSelector.LabelSelector.MatchLabels["team"] = "b"
	object.Spec.ResourceTypeSelector[0].Group = ec2
	object.Spec.ResourceLabelSelector.MatchExpressions[0].Values[0] = "y"
	object.Spec.AssumeRole.ExternalID.Value = "yours"
	if got := fullIndex(Options{}, s).Decide(bucketInProd()); got.Outcome != Use {
		t.Errorf("Decide() = %s after its object has changed, want Use", got.Outcome)
	}
	if input, problems := s.AssumeRole(Subject{}, Settings{}); input.Role.ExternalID != "mine" || problems != nil {
		t.Errorf("the external ID is %q (%v), want mine", input.Role.ExternalID, problems)
	}
}

func TestMatchingAllocatesNothing(t *testing.T) {
	objects, queries := population(t, "mixed", 1_000)
	index := fullIndex(Options{}, compileAll(objects)...)
	room := make([]*Selector, 0, 8)
	for _, q := range queries[:200] {
		if n := testing.AllocsPerRun(1, func() { index.Match(q, room) }); n != 0 {
			t.Fatalf("Match() allocates %v times", n)
		}
		if matches, _ := index.Match(q, nil); len(matches) > 1 {
			continue
		}
		if n := testing.AllocsPerRun(1, func() { index.Decide(q) }); n != 0 {
			t.Fatalf("Decide() allocates %v times", n)
		}
	}
}

func TestASelectorTakesLessThanAKilobyte(t *testing.T) {
	for _, shape := range shapes {
		if got := bytesPerSelector(t, shape, 4_000); got > 1_000 || got <= 0 {
			t.Errorf("a selector of the shape %s takes %.0f bytes, want at most 1,000", shape, got)
		}
	}
}

func TestASelectorWithManyNamesAndGroupsIsFoundOnce(t *testing.T) {
	s := Compile(made("a", func(s *spec) {
		typed(v1alpha1.ResourceType{Group: s3}, v1alpha1.ResourceType{Group: rds}, v1alpha1.ResourceType{Group: ec2, Kind: "Bucket"})(s)
		s.NamespaceSelector = names("prod")
		for i := range mostEntries {
			s.NamespaceSelector.Names = append(s.NamespaceSelector.Names, namespaceName(i))
		}
	}))
	index := fullIndex(Options{}, s)
	for group, want := range map[string]int{s3: 1, rds: 1, ec2: 1, "sqs.services.k8s.aws": 0} {
		q := bucketInProd()
		q.Group = group
		if got, _ := index.Match(q, nil); len(got) != want {
			t.Errorf("%d selectors of the group %s are found, want %d", len(got), group, want)
		}
	}
}

func TestATableThatIsEmptiedHoldsNothing(t *testing.T) {
	d := newDice(9)
	x := newTable(0)
	for i := range 2_000 {
		x.set(Compile(d.selector(i % 50)))
	}
	for _, f := range x.filed {
		if x.remove(f.selector.reference.Name) != f.selector {
			t.Fatalf("remove(%s) returns another selector", f.selector.reference.Name)
		}
	}
	left := len(x.filed) + len(x.names) + len(x.types)
	for _, l := range []labels{x.namespaceLabels, x.resourceLabels} {
		left += len(l.byKey) + len(l.keys)
	}
	if left != 0 {
		t.Errorf("%d entries are left in %+v", left, x)
	}
}
