package roleselector

import (
	"fmt"
	"maps"
	"math/rand/v2"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// dice make small worlds in which selectors meet often: a few names, labels and
// types, all parts of a selector in every combination, and some of them broken.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 7))} }

// one in n.
func (d dice) one(n int) bool { return d.IntN(n) == 0 }

func pick[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }

func (d dice) some(list ...string) (chosen []string) {
	for range d.IntN(3) {
		chosen = append(chosen, pick(d, list...))
	}
	return chosen
}

var (
	someNames  = []string{"prod", "dev", "test", ""}
	someKeys   = []string{"team", "env", "app"}
	someValues = []string{"a", "b", ""}
	someGroups = []string{"s3.services.k8s.aws", "ec2.services.k8s.aws", "identity.tabard.dev"}
	someKinds  = []string{"Bucket", "Role"}
)

func (d dice) labels() map[string]string {
	labels := map[string]string{}
	for _, key := range someKeys {
		if d.one(2) {
			labels[key] = pick(d, someValues...)
		}
	}
	return labels
}

func (d dice) labelSelector() *v1alpha1.LabelSelector {
	s := &v1alpha1.LabelSelector{}
	if d.one(2) {
		s.MatchLabels = map[string]string{pick(d, someKeys...): pick(d, someValues...)}
		if d.one(40) {
			s.MatchLabels[""] = "x"
		}
	}
	for range d.IntN(3) {
		e := v1alpha1.LabelRequirement{Key: pick(d, someKeys...), Operator: pick(d,
			metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}
		if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
			e.Values = []string{pick(d, someValues...), pick(d, someValues...)}
		}
		if d.one(60) {
			e.Operator, e.Values = pick[metav1.LabelSelectorOperator](d, "Near", metav1.LabelSelectorOpIn, ""), nil
		}
		s.MatchExpressions = append(s.MatchExpressions, e)
	}
	if naiveIsEmpty(s) && !d.one(4) {
		s.MatchLabels = map[string]string{pick(d, someKeys...): pick(d, someValues...)}
	}
	return s
}

func (d dice) resourceTypes() (list []v1alpha1.ResourceType) {
	for range d.IntN(3) {
		e := v1alpha1.ResourceType{Group: pick(d, someGroups...)}
		switch d.IntN(12) {
		case 0:
			e.Group = ""
			e.Kind = pick(d, someKinds...)
		case 1:
			e = v1alpha1.ResourceType{APIVersion: pick(d, someGroups...) + "/v1", Kind: pick(d, append(someKinds, "")...)}
		case 2:
			e.Version = pick(d, "v1", "v2")
		case 3:
			e.Kind = pick(d, someKinds...)
		case 4:
			if d.one(4) {
				e = pick(d, v1alpha1.ResourceType{}, v1alpha1.ResourceType{APIVersion: "v1", Kind: "Bucket"},
					v1alpha1.ResourceType{APIVersion: someGroups[0] + "/v1", Group: someGroups[1], Version: "v1"})
			}
		}
		list = append(list, e)
	}
	return list
}

const someARN = "arn:aws:iam::111122223333:role/team"

func (d dice) selector(i int) *v1alpha1.IAMRoleSelector {
	o := &v1alpha1.IAMRoleSelector{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("s%d", i), UID: pick[types.UID](d, "u1", "u2"), Generation: d.Int64N(9),
	}}
	if d.one(150) {
		return o
	}
	spec := &v1alpha1.IAMRoleSelectorSpec{ARN: someARN}
	if d.one(50) {
		spec.ARN = pick(d, "", "foo", "arn:aws:iam::111122223333:user/a", "arn:aws:s3:::bucket")
	}
	if d.one(12) {
		spec.Effect = v1alpha1.Deny
	}
	if !d.one(8) {
		spec.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: d.some(someNames...)}
		if d.one(2) {
			spec.NamespaceSelector.LabelSelector = d.labelSelector()
		}
	}
	if !d.one(4) {
		spec.ResourceTypeSelector = d.resourceTypes()
	}
	if d.one(2) {
		spec.ResourceLabelSelector = d.labelSelector()
	}
	if !d.one(3) {
		spec.Selection = &v1alpha1.Selection{Mode: pick(d, v1alpha1.Selectable, v1alpha1.Selectable, v1alpha1.Exclusive, ""), Default: d.one(4), RequireChoice: d.one(4)}
		for _, chooser := range []v1alpha1.Chooser{v1alpha1.NamespaceChoice, v1alpha1.ResourceAnnotation} {
			if d.one(2) {
				spec.Selection.Choosers = append(spec.Selection.Choosers, chooser)
			}
		}
	}
	o.Spec = spec
	return o
}

func (d dice) choice(i int) *identityv1alpha1.IAMRoleChoice {
	c := &identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: pick(d, someNames...), Name: fmt.Sprintf("c%d", i)}}
	c.Spec.SelectorRef.Name = fmt.Sprintf("s%d", d.IntN(8))
	if d.one(3) {
		c.Spec.SelectorRef.UID = pick[types.UID](d, "u1", "u2")
	}
	if d.one(2) {
		c.Spec.ResourceTypeSelector = d.resourceTypes()
	}
	if d.one(2) {
		c.Spec.ResourceLabelSelector = d.labelSelector()
	}
	return c
}

func (d dice) query(namespaces map[string]map[string]string) Query {
	q := Query{
		Namespace: pick(d, someNames...), NamespaceKnown: !d.one(10),
		Group: pick(d, someGroups...), Version: "v1", Kind: pick(d, someKinds...), Labels: d.labels(),
	}
	if q.NamespaceKnown {
		q.NamespaceLabels = namespaces[q.Namespace]
	}
	if d.one(4) {
		q.Choice = fmt.Sprintf("s%d", d.IntN(8))
	}
	return q
}

func (d dice) namespaces() map[string]map[string]string {
	namespaces := map[string]map[string]string{}
	for _, name := range someNames {
		namespaces[name] = d.labels()
	}
	return namespaces
}

// world is a naive one and the index beside it, which are changed together.
type world struct {
	naiveWorld
	index *Index
}

func newWorld(policy NoSelectorPolicy) *world {
	return &world{
		naiveWorld{map[string]*v1alpha1.IAMRoleSelector{}, map[string]*identityv1alpha1.IAMRoleChoice{}, policy, false},
		fullIndex(Options{NoSelector: policy}),
	}
}

// change changes one thing at random.
func (w *world) change(d dice) Change {
	i := d.IntN(8)
	name := fmt.Sprintf("s%d", i)
	switch d.IntN(8) {
	case 0:
		delete(w.selectors, name)
		return w.index.Delete(name)
	case 1:
		c := d.choice(i)
		w.choices[c.Namespace+"/"+c.Name] = c
		return w.index.SetChoice(CompileChoice(c))
	case 2, 3:
		namespace, name := pick(d, someNames...), fmt.Sprintf("c%d", i)
		delete(w.choices, namespace+"/"+name)
		return w.index.DeleteChoice(namespace, name)
	}
	w.selectors[name] = d.selector(i)
	return w.index.Set(Compile(w.selectors[name]))
}

// frozen is a copy of the naive world that later changes do not touch.
func (w *world) frozen() naiveWorld {
	copied := w.naiveWorld
	copied.selectors, copied.choices = maps.Clone(w.selectors), maps.Clone(w.choices)
	return copied
}
