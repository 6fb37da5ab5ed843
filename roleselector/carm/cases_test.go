package carm

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// TestCasesThatSelectorsCannotExpressAreFound has each case of the list, and for
// each what it is about and whether it stops the migration.
func TestCasesThatSelectorsCannotExpressAreFound(t *testing.T) {
	maps := entries(one, roleA, two, roleB)
	a := namespace("a", "owner-account-id", one)
	s3 := []Controller{controller("s3")}
	with := func(c Cluster, resources ...Resource) Cluster {
		c.Resources = resources
		return c
	}
	beside := func(selectors ...Selector) Cluster {
		c := cluster(maps, nil, a, namespace("b"))
		c.Selectors = selectors
		return c
	}
	byLabel := func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: matchLabels("team", "x")}
	}
	byResource := func(s *v1alpha1.IAMRoleSelectorSpec) { s.ResourceLabelSelector = matchLabels("x", "y") }
	stale := existing("carm-00000000", roleB, inNamespaces("a"))
	stale.Labels, stale.Annotations = map[string]string{ManagedByLabel: ManagedBy}, map[string]string{SourcesAnnotation: "x"}
	labelledKube := namespace("kube-system")
	labelledKube.Labels[OwnerAccountLabel] = one
	for name, test := range map[string]struct {
		cluster     Cluster
		options     Options
		controllers []Controller
		want        Case
		severity    Severity
		seen        string
		object      string
	}{
		"U1 a key without an entry": {cluster(maps, nil, namespace("n", "owner-account-id", "333333333333")), Options{}, s3,
			NoRole, Note, `CARM blocks: retrieving role ARN for account/team ID "333333333333"`, "s3: n"},
		"U1 a key that names no account": {cluster(maps, nil, namespace("n", "owner-account-id", "x")), Options{}, s3,
			NoRole, Refused, "key not found in CARM configmap", "s3: n"},
		"U1 a team of twelve digits is no account": {cluster(maps, entries(), namespace("n", "team-id", one)), Options{}, []Controller{controller("s3", team)},
			NoRole, Refused, `"ack-role-team-map" configmap: key not found`, "s3: n"},
		"U1 no config map":            {cluster(nil, nil, a), Options{}, s3, NoRole, Note, "CARM configmap not found", "s3: a"},
		"U1 for our own controllers":  {cluster(maps, nil, namespace("n", "owner-account-id", "x")), Options{Deny: true, Semantics: Tabard}, s3, NoRole, Note, "key not found", "s3: n"},
		"U2 what is no role":          {cluster(entries(one, "role/x"), nil, a), Options{}, s3, NotARole, Refused, `"111111111111" in ack-role-account-map is "role/x"`, "s3: a"},
		"U2 by label":                 {cluster(entries("free", "x"), nil, namespace("n")), Options{LabelMode: true}, s3, NotARole, Refused, `"free" in ack-role-account-map`, "carm-owner-account-id=free"},
		"U3 an account in the status": {with(cluster(maps, nil, namespace("n")), resource("s3", "n", "x", one)), Options{}, s3, StatusOnly, Refused, "resources are in account " + one, "s3: s3.services.k8s.aws/v1alpha1/Thing n/x"},
		"U3 in an ignored namespace":  {with(cluster(maps, nil, namespace("kube-system", "owner-account-id", one)), resource("s3", "kube-system", "x", two)), Options{}, s3, StatusOnly, Refused, "in account " + two, "kube-system/x"},
		"U3 without an entry":         {with(cluster(nil, nil, namespace("n")), resource("s3", "n", "x", one)), Options{}, s3, StatusOnly, Refused, "by their status alone", "n/x"},
		"U4 namespaces to come":       {cluster(maps, nil, a), Options{}, s3, FutureNamespaces, Warning, "keys are in use", "a"},
		"U4 a key that is no label":   {cluster(entries("a b", roleA), nil, namespace("n", "owner-account-id", "a b")), Options{LabelMode: true}, s3, FutureNamespaces, Refused, `"a b" cannot be the value of a label`, "n"},
		"U4 a free key that is no label": {cluster(entries("-", roleA), nil, namespace("n")), Options{LabelMode: true}, s3, FutureNamespaces, Refused,
			`the key "-" cannot be the value of a label`, "ack-role-account-map"},
		"U4 team and account": {cluster(maps, entries("t", roleA), namespace("n", "owner-account-id", one, "team-id", "t")), Options{LabelMode: true},
			[]Controller{controller("s3", team)}, FutureNamespaces, Refused, "both a team and an account", "n"},
		"U4 two maps of a group": {Cluster{Namespaces: []Namespace{namespace("n"), namespace("m")}, Maps: map[string]Maps{"ack-system": {Accounts: entries(one, roleA)}, "second": {Accounts: entries(one, roleB)}}},
			Options{LabelMode: true}, []Controller{controller("s3", watching("n", "x")), controller("s3", watching("m", "y"), func(c *Controller) { c.Name, c.SystemNamespace = "s3-2", "second" })},
			FutureNamespaces, Refused, "have different roles for the key", "s3-2"},
		"U5 kube-system has a key":   {cluster(maps, nil, namespace("kube-system", "owner-account-id", one)), Options{}, s3, IgnoredNamespace, Note, "namespaces that CARM ignores", "s3: kube-system"},
		"U5 a namespace not watched": {cluster(maps, nil, a), Options{}, []Controller{controller("s3", watching("b", "c"))}, IgnoredNamespace, Note, "namespaces that CARM ignores", "s3: a"},
		"U5 by label":                {cluster(maps, nil, namespace("kube-public", "owner-account-id", one)), Options{LabelMode: true}, s3, IgnoredNamespace, Refused, "namespaces that CARM ignores have a key", "kube-public"},
		"U5 with the label already":  {cluster(maps, nil, labelledKube), Options{LabelMode: true}, s3, IgnoredNamespace, Refused, "another value than the annotation", "kube-system"},
		"U6 services to come":        {cluster(maps, nil, a), Options{}, s3, FutureControllers, Warning, "today's controllers", "carm-"},
		"U6 wildcards beside others": {Cluster{Maps: map[string]Maps{}, Groups: []string{"s3.services.k8s.aws", "ec2.services.k8s.aws"}}, Options{WildcardTypes: true}, s3, FutureControllers, Refused, "wildcard types are wanted", "ec2.services.k8s.aws"},
		"U6 other services":          {Cluster{Maps: map[string]Maps{}, Groups: []string{"s3.services.k8s.aws", "ec2.services.k8s.aws"}}, Options{}, s3, FutureControllers, Warning, "not part of this", "ec2.services.k8s.aws"},
		"U7 gates that differ": {cluster(maps, entries("t", roleB), namespace("n", "owner-account-id", one, "team-id", "t")), Options{},
			[]Controller{controller("s3"), controller("s3", team, func(c *Controller) { c.Name = "s3-2" })}, DifferentMaps, Refused, "the controllers s3 and s3-2 both reconcile s3.services.k8s.aws", "n"},
		"U7 one watches a list": {cluster(maps, nil, a), Options{}, []Controller{controller("s3"), controller("s3", watching("a"), func(c *Controller) { c.Name = "s3-2" })},
			DifferentMaps, Refused, "s3 and s3-2", "a"},
		"U8 one watched namespace":               {cluster(maps, nil, a), Options{}, []Controller{controller("s3", watching("a"))}, SingleNamespace, Refused, "the only watched namespace has a key", "s3: a"},
		"U8 one watched namespace, a team":       {cluster(maps, nil, namespace("n", "team-id", "t")), Options{}, []Controller{controller("s3", team, watching("n"))}, SingleNamespace, Refused, "only watched", "s3: n"},
		"U9 a selector of the same":              {beside(existing("mine", roleA, inNamespaces("a"))), Options{}, s3, OtherSelectors, Refused, "mine and [carm-", "s3: a"},
		"U9 a selector of all":                   {beside(existing("mine", roleA, nil)), Options{}, s3, OtherSelectors, Refused, "mine gives " + roleA + " where CARM gives DEFAULT", "s3: b"},
		"U9 a selector of namespaces to come":    {beside(existing("mine", roleA, byLabel)), Options{}, s3, OtherSelectors, Refused, "mine gives", unknownNamespace},
		"U9 a selector of resources":             {beside(existing("mine", roleA, byResource)), Options{}, s3, OtherSelectors, Refused, "mine and [carm-", "s3: a"},
		"U9 one that cannot be evaluated":        {beside(existing("mine", "foo", inNamespaces("b"))), Options{Semantics: Tabard, Deny: true}, s3, OtherSelectors, Refused, "mine gives INVALID where CARM gives DEFAULT", "s3: b"},
		"U9 one of an earlier run":               {beside(stale), Options{}, s3, OtherSelectors, Refused, "carm-00000000 and [carm-", "s3: a"},
		"U9 one with our name":                   {beside(existing(nameOfA(t), roleA, inNamespaces("z"))), Options{}, s3, OtherSelectors, Refused, "has the name", nameOfA(t)},
		"U10 annotations choose":                 {cluster(maps, nil, a), Options{}, s3, SelfService, Note, "annotations choose", "a"},
		"U10 labels choose":                      {cluster(maps, nil, a), Options{LabelMode: true}, s3, SelfService, Warning, "labels are to choose", "a"},
		"U11 a resource of another account":      {with(cluster(maps, nil, a), resource("s3", "a", "x", two)), Options{}, s3, Drift, Refused, "resources are in account " + two + " and get " + roleA, "a/x"},
		"U11 a resource with CARM off":           {with(cluster(maps, nil, namespace("n")), resource("s3", "n", "x", two)), Options{}, []Controller{controller("s3", off)}, Drift, Refused, "and get DEFAULT", "n/x"},
		"U12 a region for an ignored namespace":  {cluster(maps, nil, namespace("kube-system", "default-region", "us-east-1")), Options{}, s3, OtherSettings, Warning, "region, endpoint or deletion policy", "s3: kube-system"},
		"U12 an endpoint for the only namespace": {cluster(maps, nil, namespace("n", "endpoint-url", "https://x")), Options{}, []Controller{controller("s3", watching("n"))}, OtherSettings, Warning, "region, endpoint", "s3: n"},
		"U12 a deletion policy with CARM off":    {cluster(maps, nil, namespace("n", "s3.services.k8s.aws/deletion-policy", "retain")), Options{}, []Controller{controller("s3", off)}, OtherSettings, Warning, "deletion policy", "s3: n"},
		"U13 there is no overlap":                {cluster(maps, nil), Options{}, s3, NoOverlap, Note, "1 controllers change over", ""},
		"U14 very many namespaces":               {cluster(maps, nil, many(600)...), Options{}, s3, ObjectSize, Note, "selectors list 500 namespaces", nameOfA(t)},
	} {
		t.Run(name, func(t *testing.T) {
			m := migrate(t, test.cluster, test.options, test.controllers...)
			at := slices.IndexFunc(m.Findings, func(f Finding) bool {
				return f.Case == test.want && f.Severity == test.severity && strings.Contains(f.Seen, test.seen) &&
					(test.object == "" || slices.ContainsFunc(f.Objects, func(o string) bool { return strings.Contains(o, test.object) }))
			})
			if at < 0 {
				t.Fatalf("no finding %s %s %q of %q in %+v", test.want, test.severity, test.seen, test.object, m.Findings)
			}
			if f := m.Findings[at]; f.Why == "" || f.Do == "" {
				t.Errorf("%s does not say why or what to do: %+v", f.Case, f)
			}
			if m.Refused() != (test.severity == Refused) {
				t.Errorf("refused is %v: %+v", m.Refused(), m.Findings)
			}
			if !strings.HasPrefix(name, string(test.want)+" ") {
				t.Errorf("the row %q tests %s", name, test.want)
			}
		})
	}
}

// nameOfA is the name of the selector for roleA and s3.
func nameOfA(t *testing.T) string {
	t.Helper()
	m, err := Migrate(cluster(entries(one, roleA), nil, namespace("a", "owner-account-id", one)), []Controller{controller("s3")}, Options{})
	if err != nil || len(m.Selectors) != 1 {
		t.Fatalf("%+v %v", m, err)
	}
	return m.Selectors[0].Name
}

func TestACaseThatIsNotThereIsNotFound(t *testing.T) {
	m := migrate(t, cluster(entries(one, roleA), nil, namespace("a"), namespace("kube-system")), Options{}, controller("s3"))
	for _, f := range m.Findings {
		if f.Case != NoOverlap {
			t.Errorf("found without a cause: %+v", f)
		}
	}
}

func TestStatusAloneMayBeServedByAHandWrittenSelector(t *testing.T) {
	c := cluster(entries(one, roleA), nil, namespace("n"))
	c.Resources = []Resource{resource("s3", "n", "x", one)}
	c.Resources[0].Labels = map[string]string{"x": "y"}
	c.Selectors = []Selector{existing("mine", roleA, func(s *v1alpha1.IAMRoleSelectorSpec) { s.ResourceLabelSelector = matchLabels("x", "y") })}
	if m := migrate(t, c, Options{}, controller("s3")); m.Refused() {
		t.Errorf("refused: %+v", m.Findings)
	}
}
