package carm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// differences are the lines on which a proof does not stand, in brief.
func differences(lines []Line) []string {
	var all []string
	for _, l := range lines {
		if l.Verdict != Equal {
			all = append(all, strings.Join([]string{l.Namespace, strings.TrimPrefix(l.GVK, "s3.services.k8s.aws/v1alpha1/"), l.Resource, l.CARM, l.IRS, string(l.Verdict), l.Reason}, "|"))
		}
	}
	return all
}

func TestTheProofHasALineForEachThing(t *testing.T) {
	c := cluster(entries(one, roleA), nil, namespace("a", "owner-account-id", one))
	c.Resources = []Resource{resource("s3", "a", "x", one), resource("ec2", "a", "of nobody", two)}
	m := migrate(t, c, Options{}, controller("s3"))
	line := func(namespace, kind, resource, answer string) Line {
		return Line{Controller: "s3", Namespace: namespace, GVK: "s3.services.k8s.aws/v1alpha1/" + kind, Resource: resource, CARM: answer, IRS: answer, Verdict: Equal}
	}
	want := []Line{
		line("a", "Thing", "", roleA), line("a", "Other", "", roleA),
		line(unknownNamespace, "Thing", "", "DEFAULT"), line(unknownNamespace, "Other", "", "DEFAULT"),
		line("a", "Thing", "x", roleA),
	}
	if diff := cmp.Diff(want, prove(t, c, []Controller{controller("s3")}, m.Selectors, ProofOptions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheProofFindsWhatIsWrong(t *testing.T) {
	a := namespace("a", "owner-account-id", one)
	blocked := namespace("n", "owner-account-id", "x")
	kind := func(s *spec) { s.ResourceTypeSelector = []v1alpha1.ResourceType{{Kind: "Thing"}} }
	both := func(first, second func(*spec)) func(*spec) { return func(s *spec) { first(s); second(s) } }
	labelled := func(s *spec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: matchLabels("team", "x")}
	}
	exists := func(s *spec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &labels{MatchExpressions: []v1alpha1.LabelRequirement{
			{Key: "team", Operator: "In", Values: []string{"y", "z"}}, {Key: "on", Operator: "Exists"}, {Key: "off", Operator: "DoesNotExist"}}}}
	}
	copied := func(s *spec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: matchLabels(OwnerAccountLabel, one)}
	}
	for name, test := range map[string]struct {
		namespaces []Namespace
		resources  []Resource
		selectors  []Selector
		options    ProofOptions
		want       []string
	}{
		"no selector": {[]Namespace{a}, nil, nil, ProofOptions{}, []string{
			`a|Thing||` + roleA + `|DEFAULT|different|"111111111111" in ack-role-account-map; no selector matches`,
			`a|Other||` + roleA + `|DEFAULT|different|"111111111111" in ack-role-account-map; no selector matches`}},
		"another role for one kind": {[]Namespace{namespace("n")}, nil, []Selector{existing("x", roleB, both(inNamespaces("n"), kind))}, ProofOptions{}, []string{
			`n|Thing||DEFAULT|` + roleB + `|different|CARM looks nothing up; selectors x`}},
		"a conflict of the same role": {[]Namespace{a}, nil, []Selector{existing("x", roleA, inNamespaces("a")), existing("y", roleA, both(inNamespaces("a"), kind))}, ProofOptions{}, []string{
			`a|Thing||` + roleA + `|CONFLICT|different|"111111111111" in ack-role-account-map; selectors x, y`}},
		"a namespace to come": {[]Namespace{namespace("n")}, nil, []Selector{existing("x", roleA, both(labelled, kind))}, ProofOptions{}, []string{
			`any other namespace with team=x|Thing||DEFAULT|` + roleA + `|different|CARM looks nothing up; selectors x`}},
		"any namespace to come": {nil, nil, []Selector{existing("x", roleA, kind)}, ProofOptions{}, []string{
			`any other namespace|Thing||DEFAULT|` + roleA + `|different|CARM looks nothing up; selectors x`}},
		"a namespace to come, by expressions": {nil, nil, []Selector{existing("x", roleA, both(exists, kind))}, ProofOptions{Semantics: Tabard}, []string{
			`any other namespace with on=,team=y|Thing||DEFAULT|` + roleA + `|different|CARM looks nothing up; selectors x`}},
		"a namespace to come that gets what its key gives": {nil, nil, []Selector{existing("x", roleA, both(copied, kind)), existing("y", roleA, func(s *spec) {
			copied(s)
			s.ResourceTypeSelector = []v1alpha1.ResourceType{{Kind: "Other"}}
		})}, ProofOptions{}, nil},
		"a namespace to come that gets another role than its key": {nil, nil, []Selector{existing("x", roleB, both(copied, kind)), existing("y", roleA, func(s *spec) {
			copied(s)
			s.ResourceTypeSelector = []v1alpha1.ResourceType{{Kind: "Other"}}
		})}, ProofOptions{}, []string{
			`any other namespace with tabard.dev/carm-owner-account-id=111111111111|Thing||` + roleA + `|` + roleB + `|different|"111111111111" in ack-role-account-map; selectors x`}},
		"what blocks has a role": {[]Namespace{blocked}, nil, []Selector{existing("x", roleA, inNamespaces("n"))}, ProofOptions{}, []string{
			`n|Thing||BLOCKED|` + roleA + `|different|"x" in ack-role-account-map: key not found in CARM configmap; selectors x`,
			`n|Other||BLOCKED|` + roleA + `|different|"x" in ack-role-account-map: key not found in CARM configmap; selectors x`}},
		"what blocks is blocked": {[]Namespace{blocked}, nil, []Selector{existing("x", BlockerARN("aws", one), inNamespaces("n"))}, ProofOptions{}, nil},
		"what blocks is denied":  {[]Namespace{blocked}, nil, []Selector{existing("x", "", both(inNamespaces("n"), func(s *spec) { s.Effect = v1alpha1.Deny }))}, ProofOptions{Semantics: Tabard}, nil},
		"ACK does not know how to deny": {[]Namespace{blocked}, nil, []Selector{existing("x", "", both(inNamespaces("n"), func(s *spec) { s.Effect = v1alpha1.Deny }))}, ProofOptions{}, []string{
			`n|Thing||BLOCKED|DEFAULT|different|"x" in ack-role-account-map: key not found in CARM configmap; no selector matches`,
			`n|Other||BLOCKED|DEFAULT|different|"x" in ack-role-account-map: key not found in CARM configmap; no selector matches`}},
		"what has a role is blocked": {nil, []Resource{}, []Selector{existing("x", BlockerARN("aws", one), both(labelled, kind))}, ProofOptions{}, []string{
			`any other namespace with team=x|Thing||DEFAULT|` + BlockerARN("aws", one) + `|different|CARM looks nothing up; selectors x`}},
		"a selector that cannot be evaluated": {[]Namespace{namespace("n")}, nil, []Selector{existing("x", "foo", both(inNamespaces("n"), kind))}, ProofOptions{Semantics: Tabard}, []string{
			`n|Thing||DEFAULT|INVALID|different|CARM looks nothing up; selectors x`}},
		"a resource of another account": {[]Namespace{a}, []Resource{resource("s3", "a", "r", two)}, []Selector{existing("x", roleA, inNamespaces("a"))}, ProofOptions{}, []string{
			`a|Thing|r|` + roleA + `|` + roleA + `|different|the resource is in account 222222222222`}},
		"a resource of the status' account": {[]Namespace{namespace("n")}, []Resource{resource("s3", "n", "r", one)}, nil, ProofOptions{}, []string{
			`n|Thing|r|` + roleA + `|DEFAULT|different|"111111111111" in ack-role-account-map; no selector matches`}},
		"settings": {[]Namespace{namespace("kube-system", "default-region", "us-east-1")}, nil, nil, ProofOptions{}, []string{
			`kube-system|Thing||DEFAULT|DEFAULT|warning|settings {region "eu-west-1", endpoint "", deletion policy ""} become {region "us-east-1", endpoint "", deletion policy ""}`,
			`kube-system|Other||DEFAULT|DEFAULT|warning|settings {region "eu-west-1", endpoint "", deletion policy ""} become {region "us-east-1", endpoint "", deletion policy ""}`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(entries(one, roleA), nil, test.namespaces...)
			c.Resources = test.resources
			if diff := cmp.Diff(test.want, differences(prove(t, c, []Controller{controller("s3")}, test.selectors, test.options))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheProofReadsWhatResourcesRecord(t *testing.T) {
	selectors := []Selector{existing("x", roleA, inNamespaces("a", "blocked"))}
	selectors[0].Spec.NamespaceSelector.Names = []string{"a"}
	selectors = append(selectors, existing("z", BlockerARN("aws", one), inNamespaces("blocked")))
	for name, test := range map[string]struct {
		namespace string
		recorded  Recorded
		want      Result
		reason    string
	}{
		"the selector":                  {"a", Recorded{Selector: "x"}, Equal, ""},
		"the selector and the role":     {"a", Recorded{Selector: "x", Role: roleA}, Equal, ""},
		"another selector":              {"a", Recorded{Selector: "y", Role: roleA}, Different, `the status names the selector "y"`},
		"another role":                  {"a", Recorded{Selector: "x", Role: roleB}, Different, "the status names the role " + roleB},
		"nothing yet":                   {"a", Recorded{}, Pending, "the status names no selector yet"},
		"a selector where none matches": {"n", Recorded{Selector: "x"}, Different, `the status names the selector "x", and none matches`},
		"nothing where none matches":    {"n", Recorded{}, Equal, ""},
		"nothing where it is blocked":   {"blocked", Recorded{}, Equal, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(entries(one, roleA), nil, namespace("a", "owner-account-id", one), namespace("n"), namespace("blocked", "owner-account-id", "x"))
			c.Resources = []Resource{resource("s3", test.namespace, "r", "")}
			c.Resources[0].Recorded = test.recorded
			for _, live := range []bool{true, false} {
				lines := prove(t, c, []Controller{controller("s3")}, selectors, ProofOptions{Live: live})
				last := lines[len(lines)-1]
				want, reason := test.want, test.reason
				if !live {
					want, reason = Equal, ""
				}
				if last.Resource != "r" || last.Verdict != want || last.Reason != reason {
					t.Errorf("live %v: got %+v, want %s %q", live, last, want, reason)
				}
			}
		})
	}
}

// TestAPlantedMistakeIsFound breaks each selector of a migration in each way that
// matters; the proof must fall every time.
func TestAPlantedMistakeIsFound(t *testing.T) {
	c := cluster(entries("1", roleA, "s3.1", roleB), nil, namespace("a", "owner-account-id", "1"), namespace("b", "owner-account-id", "1"), namespace("c"))
	controllers := []Controller{controller("s3", service), controller("ec2", service)}
	m := migrate(t, c, Options{}, controllers...)
	for name, mistake := range map[string]func(*spec){
		"another role":          func(s *spec) { s.ARN += "x" },
		"a blocker":             func(s *spec) { s.ARN = BlockerARN("aws", one) },
		"a namespace too few":   func(s *spec) { s.NamespaceSelector.Names = s.NamespaceSelector.Names[:1] },
		"a namespace too many":  func(s *spec) { s.NamespaceSelector.Names = append(s.NamespaceSelector.Names, "c") },
		"all namespaces":        func(s *spec) { s.NamespaceSelector = nil },
		"another group":         func(s *spec) { s.ResourceTypeSelector[0].Group = "rds.services.k8s.aws" },
		"all groups":            func(s *spec) { s.ResourceTypeSelector = nil },
		"one kind of the group": func(s *spec) { s.ResourceTypeSelector[0].Kind = "Thing" },
		"another version":       func(s *spec) { s.ResourceTypeSelector[0].Version = "v1" },
		"labels of resources":   func(s *spec) { s.ResourceLabelSelector = matchLabels("x", "y") },
		"labels of namespaces":  func(s *spec) { s.NamespaceSelector.LabelSelector = matchLabels("x", "y") },
		"a name twice":          func(s *spec) { s.NamespaceSelector.Names = append(s.NamespaceSelector.Names, "a") },
	} {
		for i := range m.Selectors {
			planted := slices.Clone(m.Selectors)
			planted[i].Spec = m.Selectors[i].Spec.DeepCopy()
			mistake(planted[i].Spec)
			if len(differences(prove(t, c, controllers, planted, ProofOptions{}))) == 0 {
				t.Errorf("%s in %s is not found", name, brief(m.Selectors[i]))
			}
		}
	}
}
