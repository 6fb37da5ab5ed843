package chaos

import (
	"flag"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/roleselector"
)

var tales = flag.Int("tales", 400, "how many random histories the checker reads")

// randomly adds a change of one thing some time after the last.
func (t *tale) randomly(d dice, seconds float64) {
	name := pickOf(d, selectorNames...)
	switch d.IntN(8) {
	case 0:
		noSelector(seconds, name)(t)
	case 1, 2, 3:
		selector(seconds, name, *d.selector(pickOf(d, teamRoles...)))(t)
	case 4:
		t.history.namespaces = append(t.history.namespaces, stored(t, seconds, key{name: thing.namespace}, &namespace{d.homeLabels()}))
	case 5:
		c := &identityv1alpha1.IAMRoleChoice{Spec: d.choice()}
		if d.one(2) {
			c = nil
		}
		t.choices = append(t.choices, stored(t, seconds, key{thing.namespace, pickOf(d, "c0", "c1")}, c))
	case 6:
		gone(seconds)(t)
	default:
		o := resource{labels: d.ownLabels(), deleting: d.one(3)}
		if d.one(4) {
			o.choice = pickOf(d, selectorNames...)
		}
		if d.one(3) {
			o.recorded = recorded{pickOf(d, "222222222222", "333333333333"), name, types.UID("of-" + name), pickOf(d, append(teamRoles, "")...)}
			o.retain = d.one(4)
			if d.one(2) {
				o.announced = moving(o.recorded.account, pickOf(d, "222222222222", "333333333333"))
			}
		}
		exists(seconds, o)(t)
	}
}

// randomTale is one of many changes, or of few after a resource may move.
func randomTale(d dice) (t *tale, end float64) {
	t, changes := told(), 5+d.IntN(25)
	if d.one(3) {
		o := resource{retain: d.one(4)}
		if d.one(2) {
			o.announced = moving("222222222222", pickOf(d, "111111111111", "333333333333", "333333333333"))
		}
		t, changes, end = movable(o), d.IntN(4), 2
	}
	for range changes {
		end += d.Float64() * 1.5
		t.randomly(d, end)
	}
	return t, end
}

// moments are all that a controller may know at a time that is no older than it may
// be, by looking at each thing at some instant in between. It is the naive reading
// of what checker does.
func (t *tale) moments(seconds float64) []moment {
	var instants []time.Time
	for _, s := range slices.Concat(sorted(t.selectors), sorted(t.choices), sorted(t.history.namespaces), sorted(t.resources)) {
		if !s.earliest.After(at(seconds)) && s.earliest.After(at(seconds).Add(-allowance)) {
			instants = append(instants, *s.earliest)
		}
	}
	instants = append(instants, at(seconds).Add(-allowance))
	var found []moment
	for _, a := range instants {
		for _, b := range instants {
			for _, c := range instants {
				for _, e := range instants {
					found = append(found, moment{
						lastOf(t.selectors, a), lastOf(t.choices, b), lastOf(t.history.namespaces, c)[key{name: thing.namespace}], lastOf(t.resources, e)[thing],
					})
				}
			}
		}
	}
	return found
}

// moment is what is stored at one time.
func (t *tale) moment(seconds float64) moment {
	now := at(seconds)
	return moment{
		lastOf(t.selectors, now), lastOf(t.choices, now),
		lastOf(t.history.namespaces, now)[key{name: thing.namespace}], lastOf(t.resources, now)[thing],
	}
}

// lastOf is what is stored at an instant.
func lastOf[T any](versions []version[T], at time.Time) map[key]*T {
	objects := map[key]*T{}
	for _, v := range versions {
		if v.earliest.After(at) {
			break
		}
		delete(objects, v.key)
		if v.object != nil {
			objects[v.key] = v.object
		}
	}
	return objects
}

// TestCheckerAgreesWithNaiveReading gives the checker random histories and a call
// with each role at random times, and wants a violation for exactly those roles that
// no moment gives.
func TestCheckerAgreesWithNaiveReading(t *testing.T) {
	d := newDice(1)
	right, wrong := 0, 0
	for i := range *tales {
		tale, end := randomTale(d)
		checker := newChecker(ownRole, nil, &tale.history)
		seconds := d.Float64() * (end + 3)
		given := map[string]bool{}
		for _, m := range tale.moments(seconds) {
			role, _ := m.role(ownRole)
			given[role] = true
		}
		for _, role := range append([]string{ownRole}, teamRoles...) {
			found, checked := checker.check([]awslocal.Entry{used(seconds, role, "data")})
			if checked != 1 || (len(found) == 0) != given[role] {
				t.Fatalf("history %d at %.2f s, role %s: found %v of %d, want it to be right: %t", i, seconds, role, found, checked, given[role])
			}
			if given[role] {
				right++
			} else {
				wrong++
			}
		}
	}
	t.Logf("%d right calls, %d wrong ones", right, wrong)
	if 10*right < *tales || 10*wrong < *tales {
		t.Errorf("%d right and %d wrong calls: the test says little", right, wrong)
	}
}

func FuzzCheckerAcceptsRightCalls(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint16(1500))
	}
	f.Fuzz(func(t *testing.T, seed uint64, age uint16) {
		d := newDice(seed)
		tale, end := randomTale(d)
		checker := newChecker(ownRole, nil, &tale.history)
		// The controller looks at the cluster, and calls a while later.
		looked := d.Float64() * end
		role, _ := tale.moment(looked).role(ownRole)
		if role == "" {
			return
		}
		call := used(looked+float64(age%2000)/1000, role, "data")
		if found, _ := checker.check([]awslocal.Entry{call}); len(found) > 0 {
			t.Errorf("found %s", found[0])
		}
	})
}

// TestScanAgreesWithIndex: the scan by which the checker judges says the same as the
// library, which does it in another way.
func TestScanAgreesWithIndex(t *testing.T) {
	d := newDice(2)
	seen := map[string]int{}
	for range 5000 {
		tale, end := randomTale(d)
		m := tale.moment(end)
		if m.resource == nil || m.home == nil {
			continue
		}
		gotRole, gotWhy := m.role(ownRole)
		wantRole, wantWhy := m.byLibrary()
		if gotRole != wantRole || gotWhy != wantWhy {
			t.Fatalf("the scan says %q %s, the library %q %s of\n%+v\n%+v", gotRole, gotWhy, wantRole, wantWhy, m.resource, m.selectors)
		}
		seen[gotWhy+gotRole]++
		if gotWhy == "" && m.forbids(ownRole, "CreateBucket") != "" && !m.resource.deleting {
			seen["leaving"]++
		}
	}
	for _, each := range append([]string{ownRole, "Conflict", "Denied", "AmbiguousChoice", "ChoiceNotPermitted", "SelectorGone", "AccountMismatch", "AccountChangePending", "leaving"}, teamRoles...) {
		if t.Logf("%5d %s", seen[each], each); seen[each] < 20 {
			t.Errorf("%d cases end with %s: the test says little of it", seen[each], each)
		}
	}
}

// byLibrary is the role as package roleselector decides on it.
func (m moment) byLibrary() (role, why string) {
	index := roleselector.NewIndex(roleselector.Options{})
	for _, s := range m.selectors {
		index.Set(roleselector.Compile(s))
	}
	for of, c := range m.choices {
		named := c.DeepCopy()
		named.ObjectMeta = metav1.ObjectMeta{Namespace: of.namespace, Name: of.name}
		index.SetChoice(roleselector.CompileChoice(named))
	}
	index.MarkSynced(roleselector.Everything)
	query := roleselector.Query{
		Namespace: m.resource.namespace, NamespaceLabels: m.home.labels, NamespaceKnown: true,
		Group: group, Version: apiVersion, Kind: kind, Labels: m.resource.labels, Choice: m.resource.choice,
	}
	r := m.resource.recorded
	last := roleselector.Recorded{Account: r.account, Selector: r.selector, SelectorUID: r.selectorUID, RoleARN: r.role}
	course := roleselector.Proceed(roleselector.Situation{
		Decision: index.Decide(query), DefaultAccount: accountOf(ownRole), Deleting: m.resource.deleting,
		Recorded: last,
		LastUsed: index.LastUsed(query, last), Retain: m.resource.retain, Announced: m.resource.announced,
	})
	switch {
	case course.Step != roleselector.GoOn && course.Step != roleselector.DeleteBeforeMove:
		return "", string(course.Reason)
	case course.Selector.Name == "":
		return ownRole, ""
	}
	return course.Selector.ARN, ""
}
