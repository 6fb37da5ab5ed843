package carm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// FuzzMigrateThenProve makes a random cluster of a seed: unless a case stops the
// migration, the proof must stand, for ACK's controllers and for ours; and where
// one of the selectors is broken, it must fall.
func FuzzMigrateThenProve(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 4))
		c, controllers := randomCluster(r)
		o := Options{LabelMode: r.IntN(4) == 0, BlockerAccounts: map[string]string{"x": one, "y": two, "z": one}}
		o.WildcardTypes = !o.LabelMode && r.IntN(4) == 0
		if r.IntN(2) == 0 {
			o.Semantics, o.Deny = Tabard, true
		}
		m := migrate(t, c, o, controllers...)
		if m.Refused() || len(m.Selectors) == 0 {
			return
		}
		after, planted := labelled(c, m), Merge(c.Selectors, m.Selectors)
		i := r.IntN(len(m.Selectors))
		for j := range planted {
			if planted[j].Name == m.Selectors[i].Name {
				planted[j].Spec = planted[j].Spec.DeepCopy()
				planted[j].Spec.ARN, planted[j].Spec.Effect = "arn:aws:iam::999999999999:role/planted", ""
			}
		}
		if len(differences(prove(t, after, controllers, planted, ProofOptions{Semantics: o.Semantics}))) == 0 {
			t.Errorf("a planted role is not found in %s", brief(m.Selectors[i]))
		}
	})
}

// TestRandomClustersAreMigrated sees that the fuzz test reaches what it is about.
func TestRandomClustersAreMigrated(t *testing.T) {
	refused, migrated := 0, 0
	cases := map[Case]int{}
	for seed := range uint64(500) {
		c, controllers := randomCluster(rand.New(rand.NewPCG(seed, 4)))
		m, err := Migrate(c, controllers, Options{LabelMode: seed%8 == 0})
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range m.Findings {
			cases[finding.Case]++
		}
		if m.Refused() {
			refused++
		} else if len(m.Selectors) > 0 {
			migrated++
		}
	}
	if refused < 30 || migrated < 30 {
		t.Errorf("of 300 random clusters %d are migrated and %d refused; want some of each", migrated, refused)
	}
	for _, one := range Cases() {
		if cases[one] == 0 && one != ObjectSize { // that many namespaces are a table's row
			t.Errorf("no random cluster has the case %s", one)
		}
	}
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// often is true n times of ten.
func often(r *rand.Rand, n int) bool { return r.IntN(10) < n }

func randomCluster(r *rand.Rand) (Cluster, []Controller) {
	c := Cluster{Maps: map[string]Maps{}}
	for _, name := range []string{"a", "b", "c", "d", "kube-system"} {
		n := namespace(name)
		for _, annotation := range []string{OwnerAccountAnnotation, TeamAnnotation} {
			if often(r, 3) && (name != "kube-system" || often(r, 2)) {
				n.Annotations[annotation] = pick(r, one, two, "x", "y", "s3.x", "")
			}
		}
		if often(r, 1) {
			n.Annotations[pick(r, DefaultRegionAnnotation, EndpointAnnotation, "s3"+DeletionPolicySuffix)] = "retain"
		}
		c.Namespaces = append(c.Namespaces, n)
	}
	for _, system := range []string{"ack-system", "ack-two"} {
		c.Maps[system] = Maps{randomMap(r), randomMap(r)}
	}
	var controllers []Controller
	for i := range 1 + r.IntN(3) {
		k := controller(pick(r, "s3", "ec2", "rds"))
		k.Name = fmt.Sprint(k.Alias, i)
		k.TeamLevelCARM, k.ServiceLevelCARM, k.DisableCARM = often(r, 4), often(r, 5), often(r, 1)
		if often(r, 1) {
			k.SystemNamespace = "ack-two"
		}
		if often(r, 3) {
			k.WatchNamespaces = pick(r, []string{"a"}, []string{"a", "b"}, []string{"b", "c", "kube-system"})
		}
		controllers = append(controllers, k)
		c.Groups = append(c.Groups, k.Group)
	}
	for i := range r.IntN(3) {
		owner := pick(r, "", own, own, one, two)
		c.Resources = append(c.Resources, resource(pick(r, "s3", "ec2"), pick(r, "a", "b", "c"), fmt.Sprint("r", i), owner))
	}
	if often(r, 2) {
		c.Selectors = append(c.Selectors, existing("mine", pick(r, roleA, roleB, "foo"), randomSpec(r)))
	}
	return c, controllers
}

func randomMap(r *rand.Rand) map[string]string {
	if often(r, 1) {
		return nil
	}
	m := map[string]string{}
	for _, key := range []string{one, two, "x", "y", "s3." + one, "ec2.x", "s3.x", own} {
		if often(r, 7) {
			m[key] = pick(r, roleA, roleB, roleA, roleB, roleA, roleB, roleA, roleB, roleA, roleB, roleA, roleB, "", "no role")
		}
	}
	return m
}

func randomSpec(r *rand.Rand) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) {
		switch r.IntN(3) {
		case 0:
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{pick(r, "a", "d", "other")}}
		case 1:
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: matchLabels("team", "x")}
		}
		switch r.IntN(3) {
		case 0:
			s.ResourceTypeSelector = []v1alpha1.ResourceType{{Group: pick(r, "s3.services.k8s.aws", "other")}}
		case 1:
			s.ResourceLabelSelector = matchLabels("x", "y")
		}
	}
}
