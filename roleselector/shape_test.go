package roleselector

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// A cluster has 1,000 namespaces with four labels each, and 40 services with five
// kinds. Selectors of a shape are made for it from a fixed seed.
const (
	shapeNamespaces = 1_000
	shapeGroups     = 40
	shapeKinds      = 5
	shapeQueries    = 4_096
	shapeVersion    = "v1alpha1"
)

// shapes are the kinds of populations that are measured.
var shapes = []string{"mixed", "names", "labels", "overlap", "negative"}

type cluster struct {
	*rand.Rand
	namespaces []map[string]string // labels, by number
}

func newCluster(seed uint64) *cluster {
	c := &cluster{Rand: rand.New(rand.NewPCG(seed, 0))}
	for i := range shapeNamespaces {
		c.namespaces = append(c.namespaces, map[string]string{
			"team": fmt.Sprintf("team-%d", c.IntN(200)), "env": fmt.Sprintf("env-%d", c.IntN(4)),
			"tier": fmt.Sprintf("tier-%d", c.IntN(10)), "kubernetes.io/metadata.name": namespaceName(i),
		})
	}
	return c
}

func namespaceName(i int) string { return fmt.Sprintf("namespace-%d", i) }

func groupName(i int) string { return fmt.Sprintf("service%d.services.k8s.aws", i) }

func kindName(i int) string { return fmt.Sprintf("Kind%d", i) }

func appName(i int) string { return fmt.Sprintf("app-%d", i) }

// selectorFor makes a selector of a shape and a query that it selects.
func (c *cluster) selectorFor(shape string, i int) (*v1alpha1.IAMRoleSelector, Query) {
	home, group, kind, app := c.IntN(shapeNamespaces), c.IntN(shapeGroups), c.IntN(shapeKinds), c.IntN(500)
	spec := &v1alpha1.IAMRoleSelectorSpec{ARN: fmt.Sprintf("arn:aws:iam::%012d:role/role-%d", i%100, i)}
	named := func(names ...string) { spec.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: names} }
	has := c.namespaces[home]
	switch {
	case shape == "names", shape == "mixed" && i%4 == 0:
		named(namespaceName(home))
		spec.ResourceTypeSelector = []v1alpha1.ResourceType{{Group: groupName(group)}}
	case shape == "mixed" && i%4 == 1:
		named(namespaceName(home), namespaceName(c.IntN(shapeNamespaces)), namespaceName(c.IntN(shapeNamespaces)))
		spec.ResourceTypeSelector = []v1alpha1.ResourceType{
			{Group: groupName(group), Version: shapeVersion, Kind: kindName(kind)},
			{Group: groupName(c.IntN(shapeGroups)), Version: shapeVersion, Kind: kindName(c.IntN(shapeKinds))},
		}
	case shape == "labels", shape == "mixed" && i%4 == 2:
		spec.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{
			MatchLabels: map[string]string{"team": has["team"], "env": has["env"]},
		}}
		spec.ResourceTypeSelector = []v1alpha1.ResourceType{{Group: groupName(group), Kind: kindName(kind)}}
	case shape == "mixed":
		named(namespaceName(home))
		spec.NamespaceSelector.LabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"tier": has["tier"]}}
		spec.ResourceLabelSelector = &v1alpha1.LabelSelector{MatchLabels: map[string]string{"app": appName(app)}}
	case shape == "negative":
		spec.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{MatchExpressions: []v1alpha1.LabelRequirement{
			{Key: "team", Operator: metav1.LabelSelectorOpNotIn, Values: []string{fmt.Sprintf("team-%d", c.IntN(200)), "none"}},
			{Key: "owner", Operator: metav1.LabelSelectorOpDoesNotExist},
			{Key: "env", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"env-0", "env-1", "env-2", "env-3"}},
		}}}
	}
	object := &v1alpha1.IAMRoleSelector{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("selector-%d", i), UID: "0c7b66b2-9f0d-4b1f-8a55-30d5a4a2f6a1", ResourceVersion: "123456", Generation: 1},
		Spec:       spec,
	}
	return object, c.query(home, group, kind, app)
}

func (c *cluster) query(home, group, kind, app int) Query {
	return Query{
		Namespace: namespaceName(home), NamespaceLabels: c.namespaces[home], NamespaceKnown: true,
		Group: groupName(group), Version: shapeVersion, Kind: kindName(kind),
		Labels: map[string]string{"app": appName(app), "color": "blue"},
	}
}

// population is n selectors of a shape as they are read from an API server, each
// with memory of its own, and queries, half of which one is made for.
func population(tb testing.TB, shape string, n int) ([]*v1alpha1.IAMRoleSelector, []Query) {
	c := newCluster(1)
	objects, queries := make([]*v1alpha1.IAMRoleSelector, n), make([]Query, 0, shapeQueries)
	hits := make([]Query, n)
	for i := range n {
		made, hit := c.selectorFor(shape, i)
		text, err := json.Marshal(made)
		if err != nil {
			tb.Fatal(err)
		}
		objects[i] = &v1alpha1.IAMRoleSelector{}
		if err := json.Unmarshal(text, objects[i]); err != nil {
			tb.Fatal(err)
		}
		hits[i] = hit
	}
	for len(queries) < shapeQueries {
		queries = append(queries, hits[c.IntN(n)],
			c.query(c.IntN(shapeNamespaces), c.IntN(shapeGroups), c.IntN(shapeKinds), c.IntN(500)))
	}
	return objects, queries
}

func compileAll(objects []*v1alpha1.IAMRoleSelector) []*Selector {
	compiled := make([]*Selector, len(objects))
	for i, object := range objects {
		compiled[i] = Compile(object)
	}
	return compiled
}

// fullIndex is one that knows everything.
func fullIndex(options Options, selectors ...*Selector) *Index {
	index := NewIndex(options)
	index.Replace(selectors)
	index.MarkSynced(Everything)
	return index
}
