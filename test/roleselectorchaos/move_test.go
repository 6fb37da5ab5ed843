package roleselectorchaos

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// relocate prefers another role for each namespace after pacify, one of another
// account that lets Buckets move there, and kills the controller while they do.
func (w *world) relocate(c *controller, counts map[string]int) {
	d := &disturber{world: w, dice: newDice(*seed), counts: counts}
	for i, home := range homes {
		to := betaRole
		if teamRoles[i] == betaRole {
			to = alphaRole
		}
		there := &v1alpha1.NamespaceSelector{Names: []string{home}}
		found := d.get(selectors, key{name: "peace-" + home})
		if found == nil {
			w.t.Fatalf("the selector peace-%s is gone", home)
		}
		found.Object["spec"] = d.plain(v1alpha1.IAMRoleSelectorSpec{
			ARN: teamRoles[i], NamespaceSelector: there, Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable},
		})
		d.put(selectors, found, "selectors rewritten")
		d.put(selectors, d.made(selectors, key{name: "away-" + home}, v1alpha1.IAMRoleSelectorSpec{
			ARN: to, NamespaceSelector: there, OnAccountChange: v1alpha1.Recreate,
			Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable, Default: true},
		}), "selectors made")
	}
	for range 3 {
		pause(w.t.Context(), time.Duration(600+d.dice.IntN(900))*time.Millisecond)
		c.kill()
		counts["kills"]++
	}
}

// lure rewrites two selectors of different accounts, if it finds them, so that the
// Buckets of a namespace that have the one may move to the other.
func (d *disturber) lure() {
	home, names := pickOf(d.dice, homes...), d.dice.Perm(len(selectorNames))
	from, to := d.get(selectors, key{name: selectorNames[names[0]]}), d.get(selectors, key{name: selectorNames[names[1]]})
	if from == nil || to == nil {
		return
	}
	roles := [2]string{}
	for i, s := range []*unstructured.Unstructured{from, to} {
		roles[i], _, _ = unstructured.NestedString(s.Object, "spec", "arn")
		if roles[i] == "" {
			return
		}
		spec := v1alpha1.IAMRoleSelectorSpec{
			ARN: roles[i], NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{home}}, OnAccountChange: v1alpha1.Recreate,
			Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable, Default: s == to},
		}
		s.Object["spec"] = d.plain(spec)
	}
	if accountOf(roles[0]) == accountOf(roles[1]) {
		return
	}
	d.put(selectors, from, "selectors rewritten")
	d.put(selectors, to, "selectors preferred")
}

// moves are how often Buckets have left their account for another, by versions that
// are sorted, and the times at which one did so without being nowhere in between.
func moves(versions []version[resource]) (times int, faults []string) {
	last := map[types.UID]*resource{}
	for _, v := range versions {
		is := v.object
		if is == nil {
			continue
		}
		was := last[is.uid]
		last[is.uid] = is
		switch {
		case was == nil || was.recorded.account == "" || was.recorded.account == is.recorded.account:
		case is.recorded.account != "":
			faults = append(faults, fmt.Sprintf("%s/%s is on record in %s at once after %s, in revision %d",
				is.namespace, is.name, is.recorded.account, was.recorded.account, v.revision))
		case was.announced != "":
			times++
		}
	}
	return times, faults
}

func TestMovesAreCounted(t *testing.T) {
	in := func(account, announced string) resource {
		return resource{recorded: recorded{account: account}, announced: announced}
	}
	toBeta := moving("222222222222", "333333333333")
	for name, c := range map[string]struct {
		versions []resource
		want     int
		fault    string
	}{
		"one that stays":             {[]resource{in("", ""), in("222222222222", ""), in("222222222222", toBeta), in("222222222222", "")}, 0, ""},
		"one that moves":             {[]resource{in("222222222222", toBeta), in("", toBeta), in("333333333333", "")}, 1, ""},
		"one that could not be made": {[]resource{in("222222222222", ""), in("", ""), in("333333333333", "")}, 0, ""},
		"one that is rewritten":      {[]resource{in("222222222222", toBeta), in("333333333333", "")}, 0, "at once"},
	} {
		tale := &tale{}
		for i, o := range c.versions {
			exists(float64(i), o)(tale)
		}
		times, faults := moves(tale.resources)
		if got := strings.Join(faults, "; "); times != c.want || (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %d moves, %q, want %d, %q", name, times, got, c.want, c.fault)
		}
	}
}
