package hubaccess_test

import (
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// wrote has the agent of the cluster one write annotations.
func wrote(shape byte) func(*model) {
	return func(m *model) { m.spokes["one"].cluster.Annotations = shaped("one", shape) }
}

func accepted(yes bool) func(*model) {
	return func(m *model) { m.spokes["one"].cluster.Accepted = yes }
}

// joined has a cluster come that is accepted, but for shape 4.
func joined(name string, shape byte) func(*model) {
	return func(m *model) {
		m.join(name, shape)
		m.spokes[name].cluster.Accepted = shape != 4
	}
}

// rest is a hub with nothing but an accepted cluster one, at rest.
func rest(t *testing.T, shape byte) *model {
	t.Helper()
	return settled(t, 4, joined("one", shape))
}

const (
	none, changed, given = 7, "False AnnotationsChanged", "True AccessGiven"
	neverHad             = changed + ": the cluster had no AWS annotations when it was accepted"
	hadOthers            = changed + ": the cluster had other AWS annotations than now"
)

// TestWhatAClusterIsAcceptedWithCounts: the agent of an accepted cluster may write annotations,
// and nobody has accepted those. Each row is a cluster one, and what happens to it; the hub
// comes to rest after each.
func TestWhatAClusterIsAcceptedWithCounts(t *testing.T) {
	tests := map[string]struct {
		shape    byte
		then     []func(*model)
		one, two string
		aws      string
	}{
		"annotations of another spoke come later":        {none, []func(*model){wrote(0)}, neverHad, "none", "0 roles, 0 entries"},
		"and keep no suffix from the spoke":              {none, []func(*model){wrote(0), joined("two", 0)}, neverHad, given, "1 roles, 1 entries"},
		"nor one that the spoke has":                     {none, []func(*model){joined("two", 0), wrote(0)}, neverHad, given, "1 roles, 1 entries"},
		"nor one of an equal name elsewhere":             {none, []func(*model){wrote(1), joined("two", 0)}, neverHad, given, "1 roles, 1 entries"},
		"annotations that are no good come later":        {none, []func(*model){wrote(6)}, neverHad, "none", "0 roles, 0 entries"},
		"those of a cluster without an ARN come later":   {none, []func(*model){wrote(3)}, neverHad, "none", "0 roles, 0 entries"},
		"they are taken back":                            {none, []func(*model){wrote(0), wrote(none)}, "True NoAnnotations", "none", "0 roles, 0 entries"},
		"denied":                                         {none, []func(*model){wrote(0), accepted(false)}, "none", "none", "0 roles, 0 entries"},
		"denied, and accepted with them":                 {none, []func(*model){wrote(0), accepted(false), accepted(true)}, given, "none", "1 roles, 1 entries"},
		"denied, written and accepted":                   {none, []func(*model){accepted(false), wrote(0), accepted(true)}, given, "none", "1 roles, 1 entries"},
		"the annotations come before the acceptance":     {4, []func(*model){accepted(true)}, given, "none", "1 roles, 1 entries"},
		"made anew with them":                            {none, []func(*model){wrote(0), joined("one", 0)}, given, "none", "1 roles, 1 entries"},
		"made anew without them":                         {0, []func(*model){joined("one", none), wrote(0)}, neverHad, "none", "0 roles, 0 entries"},
		"a person deletes the record":                    {none, []func(*model){wrote(0), func(m *model) { m.spokes["one"].record.DeletionTimestamp = deleted(m.now) }}, given, "none", "1 roles, 1 entries"},
		"one without an ARN names another's":             {3, []func(*model){wrote(0), joined("two", 0)}, hadOthers, given, "1 roles, 1 entries"},
		"a mismatch that is corrected":                   {5, []func(*model){wrote(0), joined("two", 0)}, hadOthers, given, "1 roles, 1 entries"},
		"what is malformed and is corrected":             {6, []func(*model){wrote(0), joined("two", 0)}, hadOthers, given, "1 roles, 1 entries"},
		"what is malformed and becomes so otherwise":     {6, []func(*model){func(m *model) { m.spokes["one"].cluster.Annotations = annotated(nextARN, "") }}, hadOthers, "none", "0 roles, 0 entries"},
		"a mismatch that is denied, corrected, accepted": {5, []func(*model){accepted(false), wrote(0), accepted(true)}, given, "none", "1 roles, 1 entries"},
		"a suffix in use for another":                    {1, []func(*model){wrote(2)}, hadOthers, given, "1 roles, 1 entries"},
		"a suffix in use, until it is free":              {1, []func(*model){func(m *model) { m.remove(m.spokes["two"]) }}, given, "none", "1 roles, 1 entries"},
		"switched off meanwhile":                         {none, []func(*model){func(m *model) { m.setting = off }, wrote(0), func(m *model) { m.setting = on }}, neverHad, "none", "0 roles, 0 entries"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(4)
			if strings.HasPrefix(name, "a suffix in use") {
				m.join("two", 0)
				must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
			}
			joined("one", test.shape)(m)
			for _, then := range append([]func(*model){func(*model) {}}, test.then...) {
				then(m)
				m.list()
				must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
			}
			m.check(t, test.one, test.two, test.aws)
			if c := m.spokes["one"].cluster; c.Held != strings.HasPrefix(test.one, given) {
				t.Errorf("the cluster is held: %t", c.Held)
			}
		})
	}
}

// TestAClusterWithoutAnnotationsCostsOneRecord: it is made once, written twice, calls
// nobody, and is not looked at again.
func TestAClusterWithoutAnnotationsCostsOneRecord(t *testing.T) {
	m := newModel(4)
	joined("one", none)(m)
	first := hubaccess.Decide(m.Observe())
	if made, is := first.Steps[0].(hubaccess.MakeRecord); len(first.Steps) != 1 || !is || made.AcceptedAnnotations != "None" || made.Access != nil {
		t.Fatalf("the first pass is %+v", first)
	}
	must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
	m.turn = "one"
	if plan := hubaccess.Decide(m.Observe()); len(plan.Steps) != 0 || plan.Again != 0 || plan.Look != hubaccess.LookNowhere || len(m.spokes["one"].record.Status.Conditions) != 1 {
		t.Errorf("at rest the plan is %+v", plan)
	}
	m.setting, m.spokes["one"].record = off, nil
	if plan := hubaccess.Decide(m.Observe()); len(plan.Steps) != 0 {
		t.Errorf("switched off the plan is %+v", plan)
	}
}

// TestRecordsOfEarlierVersions know no annotations. Access stays; a record without learns
// what stands at the first look, also where a kind of an earlier version drops that again.
func TestRecordsOfEarlierVersions(t *testing.T) {
	for name, shape := range map[string]byte{"True External": 3, "False AnnotationsMismatched": 5, given: 0} {
		t.Run(name, func(t *testing.T) {
			m := rest(t, shape)
			record := m.spokes["one"].record
			knew := record.Spec.AcceptedAnnotations
			record.Spec.AcceptedAnnotations = ""
			must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
			learns := map[bool]string{true: knew}[record.Spec.Access == nil]
			if got := m.says("one"); !strings.HasPrefix(got, name) || m.spokes["one"].record != record || record.Spec.AcceptedAnnotations != learns || knew == "" {
				t.Errorf("it says %q and remembers %q, want %q and %q", got, record.Spec.AcceptedAnnotations, name, learns)
			}
			wrote(2)(m)
			must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
			if got := m.says("one"); !strings.HasPrefix(got, changed) {
				t.Errorf("after other annotations it says %q", got)
			}
		})
	}
	m := rest(t, 3)
	m.spokes["one"].record.Spec.AcceptedAnnotations, m.turn = "", "one"
	if plan := hubaccess.Decide(m.Observe()); plan.Again != 0 || len(plan.Steps) != 1 {
		t.Errorf("where it is dropped the plan is %+v", plan)
	}
}

// TestAClaimIsTheAcceptedOne in what a cluster is to the others.
func TestAClaimIsTheAcceptedOne(t *testing.T) {
	m := rest(t, none)
	cluster, record := m.spokes["one"].cluster, m.spokes["one"].record
	cluster.Annotations = shaped("one", 0)
	former := record.DeepCopy()
	former.Spec.ClusterUID = "uid0"
	early := record.DeepCopy()
	early.Spec.AcceptedAnnotations = ""
	for name, test := range map[string]struct {
		record *v1alpha1.HubAccess
		want   bool
	}{
		"no look yet": {nil, true}, "accepted without": {record, false}, "a record of a former cluster": {former, true}, "a record of an earlier version": {early, true},
	} {
		if _, is := hubaccess.OtherOf("one", m.setting, cluster, test.record); is != test.want {
			t.Errorf("%s: it claims the suffix: %t", name, is)
		}
	}
}
