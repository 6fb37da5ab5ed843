package carm

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// migrate runs Migrate and sees that the proof holds unless the migration is refused.
func migrate(t *testing.T, c Cluster, o Options, controllers ...Controller) Migration {
	t.Helper()
	m, err := Migrate(c, controllers, o)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Migrate(c, controllers, o); err != nil || !reflect.DeepEqual(m, again) {
		t.Errorf("the same input gives another output: %v\n%s", err, cmp.Diff(m, again))
	}
	if !m.Refused() {
		for _, line := range prove(t, labelled(c, m), controllers, Merge(c.Selectors, m.Selectors), ProofOptions{Semantics: o.Semantics}) {
			if !line.Verdict.Holds() {
				t.Errorf("not refused, and not the same: %+v", line)
			}
		}
	}
	return m
}

// labelled has the labels of a migration applied.
func labelled(c Cluster, m Migration) Cluster {
	out := c
	out.Namespaces = nil
	for _, n := range c.Namespaces {
		all := map[string]string{}
		for _, from := range []map[string]string{n.Labels, m.NamespaceLabels[n.Name]} {
			for key, value := range from {
				all[key] = value
			}
		}
		n.Labels = all
		out.Namespaces = append(out.Namespaces, n)
	}
	return out
}

func prove(t *testing.T, c Cluster, controllers []Controller, selectors []Selector, o ProofOptions) []Line {
	t.Helper()
	lines, err := Prove(c, controllers, selectors, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []Line
	for line := range lines {
		all = append(all, line)
	}
	return all
}

// brief is a selector in one line: role or effect, where, groups.
func brief(s Selector) string {
	where := strings.Join(s.Spec.NamespaceSelector.Names, ",")
	if by := s.Spec.NamespaceSelector.LabelSelector; by != nil {
		where = labelText(by.MatchLabels)
	}
	var groups []string
	for _, of := range s.Spec.ResourceTypeSelector {
		groups = append(groups, strings.TrimSuffix(of.Group, ".services.k8s.aws")+of.Version+of.Kind)
	}
	return fmt.Sprintf("%s%s [%s] [%s]", s.Spec.ARN, s.Spec.Effect, where, strings.Join(groups, ","))
}

func briefs(m Migration) map[string]bool {
	all := map[string]bool{}
	for _, s := range m.Selectors {
		all[brief(s)] = true
	}
	return all
}

func set(texts ...string) map[string]bool {
	all := map[string]bool{}
	for _, text := range texts {
		all[text] = true
	}
	return all
}

func TestAServicesEntryTakesTheServiceOutOfTheOthers(t *testing.T) {
	m := migrate(t, cluster(entries("1", roleA, "s3.1", roleB), nil, namespace("b", "owner-account-id", "1"), namespace("a", "owner-account-id", "1"), namespace("c")),
		Options{}, controller("s3", service), controller("rds", service), controller("ec2", service))
	want := []map[string]any{
		selectorObject("carm-a9f22b0c", roleB, "s3.1", []any{"a", "b"}, "s3.services.k8s.aws"),
		selectorObject("carm-cc6054d9", roleA, "1", []any{"a", "b"}, "ec2.services.k8s.aws", "rds.services.k8s.aws"),
	}
	var got []map[string]any
	for _, s := range m.Selectors {
		got = append(got, Manifest(s))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func selectorObject(name, role, key string, names []any, groups ...string) map[string]any {
	var types []any
	for _, group := range groups {
		types = append(types, map[string]any{"group": group, "version": "", "kind": ""})
	}
	return map[string]any{
		"apiVersion": "services.k8s.aws/v1alpha1", "kind": "IAMRoleSelector",
		"metadata": map[string]any{
			"name": name, "labels": map[string]string{"app.kubernetes.io/managed-by": "tabard"},
			"annotations": map[string]string{"tabard.dev/carm-sources": "ack-system/ack-role-account-map/" + key},
		},
		"spec": map[string]any{"arn": role, "namespaceSelector": map[string]any{"names": names}, "resourceTypeSelector": types},
	}
}

func TestMigrationCoversNamespacesAndGroups(t *testing.T) {
	a, b := namespace("a", "owner-account-id", one), namespace("b", "owner-account-id", two)
	maps := entries(one, roleA, two, roleB)
	for name, test := range map[string]struct {
		cluster     Cluster
		options     Options
		controllers []Controller
		want        map[string]bool
	}{
		"nobody is annotated": {cluster(maps, nil, namespace("a")), Options{}, []Controller{controller("s3")}, set()},
		"one role a namespace": {cluster(maps, nil, a, b), Options{}, []Controller{controller("s3"), controller("ec2")},
			set(roleA+" [a] [ec2,s3]", roleB+" [b] [ec2,s3]")},
		"two keys of one role": {cluster(entries(one, roleA, two, roleA), nil, a, b), Options{}, []Controller{controller("s3")}, set(roleA + " [a,b] [s3]")},
		"gates that differ": {cluster(maps, entries("t", roleB), namespace("a", "owner-account-id", one, "team-id", "t")), Options{},
			[]Controller{controller("s3", team), controller("ec2")}, set(roleA+" [a] [ec2]", roleB+" [a] [s3]")},
		"a watch list": {cluster(maps, nil, a, b, namespace("c")), Options{}, []Controller{controller("s3", watching("b", "c")), controller("ec2")},
			set(roleA+" [a] [ec2]", roleB+" [b] [ec2,s3]")},
		"two controllers of one group, of disjoint namespaces": {cluster(maps, nil, a, b, namespace("c"), namespace("d")), Options{},
			[]Controller{controller("s3", watching("a", "c")), controller("s3", watching("b", "d"), func(c *Controller) { c.Name = "s3-b" })},
			set(roleA+" [a] [s3]", roleB+" [b] [s3]")},
		"a group that is not the alias'": {cluster(maps, nil, a), Options{}, []Controller{controller("acm", func(c *Controller) { c.Alias = "certificates" })}, set(roleA + " [a] [acm]")},
		"CARM off":                       {cluster(maps, nil, a), Options{}, []Controller{controller("s3", off)}, set()},
		"wildcard types": {Cluster{Namespaces: []Namespace{a, b}, Maps: map[string]Maps{"ack-system": {Accounts: entries(one, roleA, two, roleB, "ec2."+two, roleA)}},
			Groups: []string{"s3.services.k8s.aws"}}, Options{WildcardTypes: true}, []Controller{controller("s3")},
			set(roleA+" [a] []", roleB+" [b] [s3]")},
		"wildcard types where controllers differ": {cluster(maps, nil, a), Options{WildcardTypes: true}, []Controller{controller("s3"), controller("ec2", off)}, set(roleA + " [a] [s3]")},
		"labels": {cluster(maps, entries("t", roleB), a, namespace("c", "team-id", "t")), Options{LabelMode: true}, []Controller{controller("s3", team), controller("ec2")},
			set(roleA+" [tabard.dev/carm-owner-account-id=111111111111] [ec2,s3]", roleB+" [tabard.dev/carm-owner-account-id=222222222222] [ec2,s3]",
				roleB+" [tabard.dev/carm-team-id=t] [s3]")},
	} {
		t.Run(name, func(t *testing.T) {
			m := migrate(t, test.cluster, test.options, test.controllers...)
			if m.Refused() {
				t.Errorf("refused: %+v", m.Findings)
			}
			if diff := cmp.Diff(test.want, briefs(m)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsAreCopiedFromAnnotations(t *testing.T) {
	m := migrate(t, cluster(entries(one, roleA), nil, namespace("a", "owner-account-id", one, "team-id", "t"), namespace("b")), Options{LabelMode: true}, controller("s3"))
	if diff := cmp.Diff(map[string]map[string]string{"a": {OwnerAccountLabel: one}}, m.NamespaceLabels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// many are annotated namespaces.
func many(n int) []Namespace {
	var all []Namespace
	for i := range n {
		all = append(all, namespace(fmt.Sprintf("n%04d", i), "owner-account-id", one))
	}
	return all
}

func TestManyNamespacesAreSpreadOverSelectors(t *testing.T) {
	m := migrate(t, cluster(entries(one, roleA), nil, many(1001)...), Options{}, controller("s3"))
	var sizes []string
	for _, s := range m.Selectors {
		sizes = append(sizes, fmt.Sprint(s.Name, " ", len(s.Spec.NamespaceSelector.Names), " ", s.Spec.NamespaceSelector.Names[0]))
	}
	name := m.Selectors[0].Name
	if want := []string{name + " 500 n0000", name + "-2 500 n0500", name + "-3 1 n1000"}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("got %q, want %q", sizes, want)
	}
}

func TestSelectorsWhoseNamesWouldBeTheSameGetLongerOnes(t *testing.T) {
	// Found by trying: the hashes of the two begin with the same eight digits.
	buckets := map[string]*bucket{"collision-55045": nil, "collision-70885": nil, "other": nil}
	names := namesFor(buckets)
	if len(names["other"]) != len("carm-")+8 {
		t.Errorf("a name without need for more: %s", names["other"])
	}
	first, second := names["collision-55045"], names["collision-70885"]
	if first == second || len(first) != len("carm-")+16 || first[:13] != second[:13] {
		t.Errorf("got %s and %s, want the same eight digits and eight more", first, second)
	}
}

func TestWhatBlocksIsKeptBlocked(t *testing.T) {
	c := cluster(entries(two, ""), nil, namespace("a", "owner-account-id", one), namespace("b", "owner-account-id", two), namespace("c", "owner-account-id", "x"))
	blocker := func(account string) string {
		return BlockerARN("aws", account)
	}
	m := migrate(t, c, Options{BlockerAccounts: map[string]string{"x": two}}, controller("s3"))
	if diff := cmp.Diff(set(blocker(one)+" [a] [s3]", blocker(two)+" [b,c] [s3]"), briefs(m)); diff != "" {
		t.Errorf("for ACK (-want +got):\n%s", diff)
	}
	for _, s := range m.Selectors {
		if s.Labels[BlockerLabel] != "true" {
			t.Errorf("%s is not labelled as what it is", s.Name)
		}
	}
	denied, err := Migrate(c, []Controller{controller("s3")}, Options{Deny: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set("Deny [a,b,c] [s3]"), briefs(denied)); diff != "" {
		t.Errorf("for our controllers (-want +got):\n%s", diff)
	}
	if _, there := Manifest(denied.Selectors[0])["spec"].(map[string]any)["arn"]; there {
		t.Error("a selector that denies has a role")
	}
	gov := cluster(entries(one, "", "x", "arn:aws-us-gov:iam::111111111111:role/a"), nil, namespace("a", "owner-account-id", one))
	if got := migrate(t, gov, Options{}, controller("s3")).Selectors[0].Spec.ARN; got != BlockerARN("aws-us-gov", one) {
		t.Errorf("the partition is not that of the maps: %s", got)
	}
}

func TestTheBlockersRoleCannotExist(t *testing.T) {
	if len(blockedRole) <= 64 {
		t.Errorf("IAM would take a role of the name %q", blockedRole)
	}
	if arn := BlockerARN("aws", one); !IsBlocker(arn) || accountOf(arn) != one || IsBlocker(roleA) {
		t.Errorf("%s is not known again", arn)
	}
}

func TestRunsReplaceTheirOwnSelectors(t *testing.T) {
	c := cluster(entries(one, roleA), nil, namespace("a", "owner-account-id", one))
	first := migrate(t, c, Options{}, controller("s3"))
	c.Selectors = first.Selectors
	c.Namespaces = append(c.Namespaces, namespace("b", "owner-account-id", one))
	second := migrate(t, c, Options{}, controller("s3"))
	if second.Refused() || len(second.Selectors) != 1 || second.Selectors[0].Name != first.Selectors[0].Name {
		t.Errorf("got %+v", second)
	}
	if got := Merge(c.Selectors, second.Selectors); len(got) != 1 || len(got[0].Spec.NamespaceSelector.Names) != 2 {
		t.Errorf("after that there are %+v", got)
	}
}
