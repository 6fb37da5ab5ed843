package hubaccess_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubaccess"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// settled is a hub with the cluster one of a shape, at rest.
func settled(t *testing.T, shape byte, change ...func(*model)) *model {
	t.Helper()
	m := newModel(shape)
	for _, c := range change {
		c(m)
	}
	must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
	return m
}

// says is the condition of a cluster, "none" without a record.
func (m *model) says(name string) string {
	record := m.spokes[name].record
	if record == nil {
		return "none"
	}
	v, _ := condition.Read(record.Status.Conditions, hubaccess.TypeReady)
	return fmt.Sprintf("%s %s: %s", v.Status, v.Reason, v.Message)
}

// has are the names of what there is in AWS.
func (m *model) has() string {
	return fmt.Sprintf("%d roles, %d entries", len(m.roles), len(m.entries))
}

var (
	on  = hub.Setting{IAM: hub.On, Hub: parsed(hubARN)}
	off = hub.Setting{IAM: hub.Off, Why: "it is off", Hub: parsed(hubARN)}
)

// TestValuesMatrix is table 3.10, and the classes of 3.3.
func TestValuesMatrix(t *testing.T) {
	noHub := hub.Decide(hub.On, "", hub.ClusterManager{})
	noHubOff := hub.Decide(hub.Off, "", hub.ClusterManager{})
	tests := map[string]struct {
		setting hub.Setting
		shape   byte
		want    string
		aws     string
	}{
		"a hub, an ARN, managed IAM on":     {on, 0, "True AccessGiven", "1 roles, 1 entries"},
		"a hub, no ARN, managed IAM on":     {on, 3, "True External", "0 roles, 0 entries"},
		"a hub, an ARN, managed IAM off":    {off, 0, "none", "0 roles, 0 entries"},
		"a hub, no ARN, managed IAM off":    {off, 3, "none", "0 roles, 0 entries"},
		"no hub, an ARN, managed IAM on":    {noHub, 0, "False HubARNMissing: the ARN of the hub is required for managed IAM", "0 roles, 0 entries"},
		"no hub, no ARN, managed IAM on":    {noHub, 3, "False HubARNMissing: the ARN of the hub is required for managed IAM", "0 roles, 0 entries"},
		"no hub, an ARN, managed IAM off":   {noHubOff, 0, "none", "0 roles, 0 entries"},
		"no annotations":                    {on, 7, "True NoAnnotations: the cluster was accepted without AWS annotations", "0 roles, 0 entries"},
		"an ARN without a suffix":           {on, 6, "False AnnotationsMalformed", "0 roles, 0 entries"},
		"a suffix that is another's":        {on, 5, "False AnnotationsMismatched", "0 roles, 0 entries"},
		"managed IAM is not known":          {hub.Setting{IAM: hub.Unknown, Hub: on.Hub}, 0, "none", "0 roles, 0 entries"},
		"the driver of OCM acts":            {hub.Setting{IAM: hub.Off, ByOCM: true, Hub: on.Hub}, 0, "none", "0 roles, 0 entries"},
		"a cluster that is not accepted":    {on, 4, "none", "0 roles, 0 entries"},
		"the hub is in another partition":   {hub.Setting{IAM: hub.On, Hub: parsed(strings.Replace(hubARN, "arn:aws:", "arn:aws-cn:", 1))}, 0, "False AnnotationsMismatched", "0 roles, 0 entries"},
		"a wrong hub is given at join time": {hub.Setting{IAM: hub.On, Hub: parsed(otherHub)}, 0, "False AnnotationsMismatched", "0 roles, 0 entries"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel(4)
			m.spokes["one"].cluster.Accepted, m.spokes["one"].cluster.Annotations = test.shape != 4, shaped("one", test.shape%8)
			m.setting = test.setting
			must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m))
			if got := m.says("one"); !strings.HasPrefix(got, test.want) || m.has() != test.aws {
				t.Errorf("it says %q with %s, want %q with %s", got, m.has(), test.want, test.aws)
			}
			if c := m.spokes["one"].cluster; c.Held != (test.aws == "1 roles, 1 entries") {
				t.Errorf("the cluster is held: %t", c.Held)
			}
		})
	}
}

// TestSwitchedOff is table 3.9: what comes of clusters while managed IAM is off, and after.
func TestSwitchedOff(t *testing.T) {
	settle := func(t *testing.T, m *model) { must.Do(t, crash.Settle[hubaccess.World, hubaccess.Step](m)) }
	for name, closed := range map[string]hub.Setting{
		"Off": off, "Unknown": {IAM: hub.Unknown, Why: "?", Hub: on.Hub}, "ByOCM": {IAM: hub.Off, ByOCM: true, Hub: on.Hub},
		"HubUnknown": {IAM: hub.On, HubProblem: "?"}, "HubChanged": {IAM: hub.On, Hub: parsed(otherHub)},
	} {
		t.Run("what exists is left alone: "+name, func(t *testing.T) {
			m := settled(t, 0)
			m.setting = closed
			settle(t, m)
			if got := m.says("one"); !strings.HasPrefix(got, "Unknown ") || m.has() != "1 roles, 1 entries" {
				t.Errorf("it says %q with %s", got, m.has())
			}
			if held := m.spokes["one"].cluster.Held; held == (closed.IAM == hub.Off) {
				t.Errorf("the cluster is held: %t", held)
			}
			m.remove(m.spokes["one"])
			settle(t, m)
			if got := m.says("one"); m.spokes["one"].cluster != nil || !strings.Contains(got, "role/ocm-hub-") || m.has() != "1 roles, 1 entries" {
				t.Errorf("after the deletion it says %q with %s", got, m.has())
			}
			m.setting = on
			settle(t, m)
			if m.says("one") != "none" || m.has() != "0 roles, 0 entries" {
				t.Errorf("switched on again it says %q with %s", m.says("one"), m.has())
			}
		})
	}
	t.Run("a cluster that was let go is held again", func(t *testing.T) {
		m := settled(t, 0)
		for _, setting := range []hub.Setting{off, on} {
			m.setting = setting
			settle(t, m)
			if held := m.spokes["one"].cluster.Held; held != (setting.IAM == hub.On) || m.has() != "1 roles, 1 entries" {
				t.Errorf("while managed IAM is %s the cluster is held: %t, with %s", setting.IAM, held, m.has())
			}
		}
	})
	t.Run("a cluster that was accepted meanwhile gets its access", func(t *testing.T) {
		m := newModel(0)
		for _, setting := range []hub.Setting{off, on} {
			m.setting = setting
			settle(t, m)
			if got := m.says("one"); strings.HasPrefix(got, "True AccessGiven") != (setting.IAM == hub.On) || setting.IAM == hub.Off && (got != "none" || m.has() != "0 roles, 0 entries") {
				t.Errorf("while managed IAM is %s it says %q with %s", setting.IAM, got, m.has())
			}
		}
	})
	t.Run("a cluster that is denied keeps its access as long", func(t *testing.T) {
		m := settled(t, 0)
		m.setting, m.spokes["one"].cluster.Accepted = off, false
		settle(t, m)
		if got := m.says("one"); !strings.HasPrefix(got, "Unknown ManagedIAMDisabled") || m.has() != "1 roles, 1 entries" {
			t.Errorf("it says %q with %s", got, m.has())
		}
		m.setting = on
		settle(t, m)
		if m.says("one") != "none" || m.has() != "0 roles, 0 entries" {
			t.Errorf("switched on again it says %q with %s", m.says("one"), m.has())
		}
	})
	t.Run("what was made by hand meanwhile is not adopted", func(t *testing.T) {
		m := newModel(0)
		m.setting = off
		settle(t, m)
		m.byHand("one", spokeARN)
		m.setting = on
		settle(t, m)
		if got := m.says("one"); !strings.HasPrefix(got, "True MadeByHand") {
			t.Errorf("it says %q", got)
		}
		m.remove(m.spokes["one"])
		settle(t, m)
		if m.says("one") != "none" || m.has() != "1 roles, 1 entries" {
			t.Errorf("after the deletion it says %q with %s", m.says("one"), m.has())
		}
	})
	t.Run("a mismatch is told by an event, and is no error", func(t *testing.T) {
		m := newModel(0)
		m.setting, m.spokes["one"].cluster.Annotations = off, shaped("one", 5)
		if plan := hubaccess.Decide(m.Observe()); len(plan.Events) != 1 || plan.Events[0].Reason != hubaccess.ReasonAnnotationsMismatched || len(plan.Steps) != 0 {
			t.Errorf("the plan is %+v", plan)
		}
	})
}

// byHand has a person make the role and the entry of a cluster.
func (m *model) byHand(name, arn string) {
	suffix := suffixOf(arn, name)
	r := &role{Role: hubaccess.Role{Exists: true, ID: m.newID(), Trust: hub.Trust(parsed(hubARN), parsed(arn), suffix)}}
	m.roles[hub.RoleName(suffix)] = r
	m.entries[parsed(hubARN).RoleARN(hub.RoleName(suffix))] = &entry{bound: r.ID, Entry: hubaccess.Entry{
		Exists: true, Username: name, Groups: []string{hub.Group(name)}, Type: hubaccess.Standard,
	}}
}

// TestSafety are the rows of what annotations, roles and entries of others may be.
func TestSafety(t *testing.T) {
	name := hub.RoleName(suffixOf(spokeARN, "one"))
	arn := parsed(hubARN).RoleARN(name)
	accept := func(m *model, shape byte) {
		m.join("two", shape)
		m.spokes["two"].cluster.Accepted = shape != 4
	}
	tests := map[string]struct {
		before, then func(*model)
		one, two     string
		aws          string
	}{
		"the first of two clusters of one suffix keeps it": {nil, func(m *model) { accept(m, 1) },
			"True AccessGiven", "False SuffixInUse: the ManagedCluster one has the suffix", "1 roles, 1 entries"},
		"of two accepted at once neither gets it": {func(m *model) { accept(m, 0) }, nil,
			"False SuffixInUse: the accepted ManagedCluster two says", "False SuffixInUse: the accepted ManagedCluster one says", "0 roles, 0 entries"},
		"when one of two goes the other gets it": {func(m *model) { accept(m, 0) }, func(m *model) { m.remove(m.spokes["one"]) },
			"none", "True AccessGiven", "1 roles, 1 entries"},
		"a cluster that is not accepted takes nothing": {func(m *model) { accept(m, 4) }, nil, "True AccessGiven", "none", "1 roles, 1 entries"},
		"a lie about the suffix takes nothing":         {func(m *model) { accept(m, 5) }, nil, "True AccessGiven", "False AnnotationsMismatched", "1 roles, 1 entries"},
		"a role of others": {func(m *model) { m.roles[name] = &role{Role: hubaccess.Role{Exists: true, ID: "AROAX", Trust: "{}"}} }, nil,
			"False RoleNotOurs", "none", "1 roles, 0 entries"},
		"a role of others that has the wanted trust, and no entry": {func(m *model) { m.byHand("one", spokeARN); delete(m.entries, arn) }, nil,
			"False RoleNotOurs", "none", "1 roles, 0 entries"},
		"a role by hand whose entry is another user's": {func(m *model) { m.byHand("one", spokeARN); m.entries[arn].Username = "admin" }, nil,
			"False RoleNotOurs", "none", "1 roles, 1 entries"},
		"an entry of others": {func(m *model) { m.byHand("one", spokeARN); delete(m.roles, name) }, nil, "False EntryNotOurs", "none", "0 roles, 1 entries"},
		"our entry is replaced by another's": {nil, func(m *model) { m.entries[arn].Tags = nil; m.now = m.now.Add(time.Hour) },
			"False EntryNotOurs", "none", "1 roles, 1 entries"},
		"a role that came back with another ID": {nil, func(m *model) { m.roles[name].ID = "AROANEW"; m.list() }, "True AccessGiven", "none", "1 roles, 1 entries"},
		"annotations that change later move nothing": {nil, func(m *model) { m.spokes["one"].cluster.Annotations = shaped("one", 2) },
			"False AnnotationsChanged", "none", "1 roles, 1 entries"},
		"annotations that are taken off move nothing": {nil, func(m *model) { m.spokes["one"].cluster.Annotations = nil },
			"False AnnotationsChanged", "none", "1 roles, 1 entries"},
		"annotations that change before anything is made give nothing": {func(m *model) { m.noSpokeRole = true },
			func(m *model) { m.noSpokeRole, m.spokes["one"].cluster.Annotations = false, shaped("one", 2) },
			"False AnnotationsChanged: the access is that of " + spokeARN, "none", "0 roles, 0 entries"},
		"the spoke's role does not exist": {func(m *model) { m.noSpokeRole = true }, nil,
			"False SpokeRoleMissing: AWS knows no role ocm-managed-cluster-141fc72f17164e5a28c2b4e384694bae", "none", "0 roles, 0 entries"},
		"works are left": {nil, func(m *model) {
			m.spokes["one"].works = []hubaccess.Work{{Name: "ManifestWork app"}}
			m.remove(m.spokes["one"])
		},
			"False WaitingForWorks: 1 works or add-ons are left in namespace one, such as ManifestWork app", "none", "1 roles, 1 entries"},
		"works are left after a denial": {nil, func(m *model) {
			m.spokes["one"].works = []hubaccess.Work{{Name: "x"}}
			m.spokes["one"].cluster.Accepted = false
		},
			"False WaitingForWorks", "none", "1 roles, 1 entries"},
		"add-ons are left after a denial": {nil, func(m *model) {
			m.spokes["one"].works, m.spokes["one"].cluster.Accepted = []hubaccess.Work{{Name: "x", AddOn: true}}, false
		}, "none", "none", "0 roles, 0 entries"},
		"add-ons are left after a deletion": {nil, func(m *model) {
			m.spokes["one"].works = []hubaccess.Work{{Name: "x", AddOn: true}}
			m.remove(m.spokes["one"])
		}, "False WaitingForWorks", "none", "1 roles, 1 entries"},
		"the agent takes the finalizer off and the cluster goes, and works are left": {nil, func(m *model) {
			m.spokes["one"].works, m.spokes["one"].cluster = []hubaccess.Work{{Name: "x"}}, nil
		}, "False WaitingForWorks", "none", "1 roles, 1 entries"},
		"works cannot be read": {nil, func(m *model) { m.trouble = "forbidden"; m.remove(m.spokes["one"]) }, "Unknown WorksUnread", "none", "1 roles, 1 entries"},
		"it is denied":         {nil, func(m *model) { m.spokes["one"].cluster.Accepted = false }, "none", "none", "0 roles, 0 entries"},
		"it is deleted":        {nil, func(m *model) { m.remove(m.spokes["one"]) }, "none", "none", "0 roles, 0 entries"},
		"a cluster of the same name comes after it": {nil, func(m *model) { m.join("one", 2) }, "True AccessGiven", "none", "1 roles, 1 entries"},
		"works of a later cluster keep nothing of the former": {nil, func(m *model) {
			m.now = m.now.Add(time.Minute)
			m.join("one", 2)
			m.spokes["one"].works = []hubaccess.Work{{Name: "x", Created: m.now}}
		}, "True AccessGiven", "none", "1 roles, 1 entries"},
		"the role has policies of others": {nil, func(m *model) { m.roles[name].inUse = true; m.remove(m.spokes["one"]) }, "False RoleInUse", "none", "1 roles, 0 entries"},
		"AWS denies": {func(m *model) {
			m.fault = &fault.Fault{Class: fault.Denied, Service: "IAM", Operation: "GetRole", Code: "AccessDenied"}
		}, nil,
			"False AccessDenied: Tabard may not do what it has to (IAM GetRole: AccessDenied)", "none", "0 roles, 0 entries"},
	}
	for title, test := range tests {
		t.Run(title, func(t *testing.T) {
			m := newModel(0)
			if test.before != nil {
				test.before(m)
			}
			for _, change := range []func(*model){nil, test.then} {
				if change != nil {
					change(m)
				}
				m.list()
				for range 40 { // a step may fail for ever, so there need be no rest
					_, err := crash.Pass[hubaccess.World, hubaccess.Step](m, crash.None)
					must.Do(t, err)
				}
			}
			m.check(t, test.one, test.two, test.aws)
		})
	}
}

// TestCallsOfACluster counts looks and calls: each live look is two calls, a quiet one one.
func TestCallsOfACluster(t *testing.T) {
	m := newModel(0)
	calls := 0
	for range 10 {
		_, err := crash.Pass[hubaccess.World, hubaccess.Step](m, crash.None)
		must.Do(t, err)
		calls += m.calls
		m.list()
	}
	// The look, the role and the entry; then three quiet looks.
	if calls != 6 || !strings.HasPrefix(m.says("one"), "True") {
		t.Errorf("%d looks and calls in 10 passes, and it says %q", calls, m.says("one"))
	}
	m.turn = "one"
	if plan := hubaccess.Decide(m.Observe()); plan.Look != hubaccess.LookQuietly {
		t.Errorf("the next look is %q", plan.Look)
	}
	if _, err := crash.Pass[hubaccess.World, hubaccess.Step](m, crash.None); err != nil || m.calls != 1 || m.plan.Again != time.Hour {
		t.Errorf("it took %d looks, the next is in %s, %v", m.calls, m.plan.Again, err)
	}
}

// TestRetriesOfANewRole has EKS not know a role for two minutes.
func TestRetriesOfANewRole(t *testing.T) {
	m := settled(t, 4)
	m.spokes["one"].cluster.Accepted = true
	m.lag = 1000
	var waits []time.Duration
	for range 24 {
		m.turn = "one"
		_, err := crash.Pass[hubaccess.World, hubaccess.Step](m, crash.None)
		must.Do(t, err)
		if strings.Contains(m.says("one"), "RoleNotYetEffective") {
			waits = append(waits, m.plan.Again)
			m.now = m.now.Add(m.plan.Again)
		}
	}
	for i, wait := range waits {
		if wait < 2*time.Second || wait > time.Minute || i > 0 && wait < waits[i-1] || i == 0 && wait != 2*time.Second {
			t.Errorf("wait %d is %s of %v", i, wait, waits)
		}
	}
	if last := waits[len(waits)-1]; last != time.Minute {
		t.Errorf("the last wait is %s of %v", last, waits)
	}
}

// TestViolationsAreNoticed plants faults that the fuzz test's model has to see.
func TestViolationsAreNoticed(t *testing.T) {
	name := hub.RoleName(suffixOf(spokeARN, "one"))
	arn := parsed(hubARN).RoleARN(name)
	tests := map[string]struct {
		plant func(*model)
		want  string
	}{
		"nothing is wrong":         {func(*model) {}, ""},
		"a role without a record":  {func(m *model) { m.spokes["one"].record = nil }, "no record knows"},
		"a record of another life": {func(m *model) { m.spokes["one"].record.Spec.ClusterUID = types.UID("uid9") }, "no record knows"},
		"works are left":           {func(m *model) { m.over(); m.do(hubaccess.DeleteRole{Role: name, Owner: "one/uid1"}) }, "while works are left"},
		"the cluster lives":        {func(m *model) { m.do(hubaccess.DeleteEntry{RoleARN: arn, Owner: "one/uid1"}) }, "a cluster that lives"},
		"a role goes before its entry": {func(m *model) {
			m.over()
			m.spokes["one"].works = nil
			m.do(hubaccess.DeleteRole{Role: name, Owner: "one/uid1"})
		}, "before its entry"},
		"managed IAM is off":        {func(m *model) { m.setting = off; m.do(hubaccess.DeleteEntry{RoleARN: arn, Owner: "one/uid1"}) }, "shall not be"},
		"a trust of others":         {func(m *model) { m.roles[name].Tags = nil; m.do(hubaccess.SetTrust{Role: name, Owner: "one/uid1"}) }, "a thing of another"},
		"a foreign role is changed": {func(m *model) { m.roles["theirs"].Trust = "{}" }, "touched what is not ours"},
	}
	for title, test := range tests {
		t.Run(title, func(t *testing.T) {
			m := settled(t, 0)
			m.list()
			m.turn = "one"
			m.roles["theirs"] = &role{Role: hubaccess.Role{Trust: `{"a":1}`}}
			plant := func() { m.turn = "one"; test.plant(m) }
			_, err := crash.Pass(&crash.Planted[hubaccess.World, hubaccess.Step]{Model: m, Plant: plant}, crash.None)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the driver found %v, want %q", err, test.want)
			}
		})
	}
}

// over ends the life of the cluster one, with a work left.
func (m *model) over() {
	m.spokes["one"].cluster.Accepted, m.spokes["one"].works = false, []hubaccess.Work{{Name: "x"}}
}

// do performs a step that no decision asked for.
func (m *model) do(step hubaccess.Step) { _ = m.Perform(step, false) }

// check checks what the records of both clusters say first, and what there is in AWS.
func (m *model) check(t *testing.T, one, two, aws string) {
	t.Helper()
	for name, want := range map[string]string{"one": one, "two": two} {
		if got := m.says(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s says %q, want %q", name, got, want)
		}
	}
	if got := m.has(); got != aws {
		t.Errorf("there are %s, want %s", got, aws)
	}
}
