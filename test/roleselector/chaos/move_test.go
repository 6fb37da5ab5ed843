package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/testkit"
)

// relocate prefers another role for each namespace after pacify, one of another
// account that lets Buckets move there, and kills the controller while they do.
func (w *world) relocate(c *testkit.Process, counts map[string]int) {
	d := &disturber{world: w, dice: newDice(*seed), counts: counts}
	for i, home := range homes {
		to := betaRole
		if teamRoles[i] == betaRole {
			to = alphaRole
		}
		there := &v1alpha1.NamespaceSelector{Names: []string{home}}
		found := d.get(selectors, key{name: "peace-" + home})
		if found == nil {
			w.Fatalf("the selector peace-%s is gone", home)
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
		pause(w.Context(), time.Duration(600+d.dice.IntN(900))*time.Millisecond)
		c.Restart()
		counts["kills"]++
	}
}

// lure leaves two selectors of different accounts, for one namespace, prefers the one
// and then the other, and gives Buckets the time to move. Some are made anew for it:
// those of the controller's own role stay where they are.
func (d *disturber) lure(ctx context.Context) {
	home, names := pickOf(d.dice, homes...), d.dice.Perm(len(selectorNames))
	for _, name := range selectorNames {
		d.remove(selectors, key{name: name}, "selectors deleted")
	}
	first := d.dice.IntN(bucketsOfHome - 4)
	for i := first; i < first+4; i++ {
		k := key{home, fmt.Sprintf("b%d", i)}
		if found := d.get(buckets, k); found != nil && found.GetAnnotations()[policyAnnotation] == "" {
			d.remove(buckets, k, "buckets deleted")
		}
	}
	if !pause(ctx, time.Second) {
		return
	}
	roles := []string{pickOf(d.dice, alphaRole, otherRole), betaRole}
	d.dice.Shuffle(2, func(i, j int) { roles[i], roles[j] = roles[j], roles[i] })
	for preferred, lasts := range []time.Duration{time.Second, 3 * time.Second} {
		for i, role := range roles {
			k := key{name: selectorNames[names[i]]}
			made := d.made(selectors, k, v1alpha1.IAMRoleSelectorSpec{
				ARN: role, NamespaceSelector: &v1alpha1.NamespaceSelector{Names: []string{home}}, OnAccountChange: v1alpha1.Recreate,
				Selection: &v1alpha1.Selection{Mode: v1alpha1.Selectable, Default: i == preferred},
			})
			if found := d.get(selectors, k); found != nil {
				made.SetResourceVersion(found.GetResourceVersion())
			}
			d.put(selectors, made, "selectors offered to move")
		}
		for i := first; i < first+4; i++ {
			k := key{home, fmt.Sprintf("b%d", i)}
			if d.get(buckets, k) == nil {
				d.put(buckets, d.made(buckets, k, map[string]any{"name": bucketName(k)}), "buckets made")
			}
		}
		if !pause(ctx, lasts) {
			return
		}
	}
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
