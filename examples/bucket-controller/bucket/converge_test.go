package bucket

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/roleselector/kube"
)

// stored is a bucket in the model of AWS.
type stored struct {
	tags    map[string]string
	foreign bool
}

// world is a cluster with one Bucket, and an AWS in which accounts do not even
// share the names of buckets: nothing but the controller's own care keeps it from
// making two.
type world struct {
	t       *testing.T
	bucket  *Bucket // nil once it is gone
	buckets map[string]*stored
	offered map[string]*v1alpha1.IAMRoleSelector // those that could be there
	there   map[string]bool                      // those that are
	// refused are accounts whose roles may not be assumed; barren is that nothing
	// may be made.
	refused map[string]bool
	barren  bool
	retain  bool
	now     time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		t: t, bucket: newBucket(), buckets: map[string]*stored{}, refused: map[string]bool{}, there: map[string]bool{"a": true},
		offered: map[string]*v1alpha1.IAMRoleSelector{
			"a": selector("a", teamA), "b": selector("b", teamB), "c": selector("c", teamA),
			"d": selector("d", teamA, selectable, recreating), "e": selector("e", teamB, preferred, recreating),
		},
		now: now,
	}
}

func (w *world) observe() Observed {
	var selectors []*v1alpha1.IAMRoleSelector
	for name, is := range w.there {
		if !is {
			continue
		}
		selectors = append(selectors, w.offered[name])
	}
	o := observedAt(w.now, w.bucket, indexOf(selectors...), home, Sight{}, w.retain)
	if o.NeedsLook() {
		o.Sight = w.look(o.Standing.Account)
	}
	return o
}

func (w *world) look(account string) Sight {
	if w.refused[account] {
		return Sight{Fault: &fault.Fault{Class: fault.Unauthorized, Service: "STS", Operation: "AssumeRole", Code: "AccessDenied"}}
	}
	found := w.buckets[account]
	switch {
	case found == nil:
		return Sight{Presence: Absent}
	case found.tags[OwnerTag] == string(w.bucket.UID):
		return Sight{Presence: Ours, Tags: found.tags}
	case len(found.tags) == 0:
		return Sight{Presence: Bare}
	}
	return Sight{Presence: Foreign, Tags: found.tags}
}

// pass makes one, and dies after some of its steps if there are more.
func (w *world) pass(steps int) (plan Plan) {
	if w.bucket == nil {
		return Plan{}
	}
	o := w.observe()
	plan = Decide(o)
	for i, step := range plan.Steps {
		if i == steps {
			return plan
		}
		if f := w.take(o, step); f != nil {
			plan = AfterFailure(o, step, f)
			break
		}
	}
	if w.bucket != nil && steps > len(plan.Steps) {
		w.bucket.Status = Report(o, plan)
	}
	return plan
}

func (w *world) take(o Observed, step Step) *fault.Fault {
	account := o.Standing.Account
	switch step {
	case HoldFinalizer:
		w.bucket.Finalizers = []string{Finalizer}
	case ReleaseFinalizer:
		w.release()
	case CreateBucket:
		return w.create(account)
	case PutTags:
		w.touch(account, "tags")
		w.buckets[account].tags = w.bucket.Tags()
	case DeleteBucket:
		w.touch(account, "deletes")
		w.mayDelete(o)
		delete(w.buckets, account)
	}
	return nil
}

func (w *world) release() {
	for account, found := range w.buckets {
		if !found.foreign && !w.retain {
			w.t.Fatalf("the Bucket is let go, and its bucket in the account %s is orphaned", account)
		}
	}
	w.bucket = nil
}

// mayDelete demands that a bucket goes with its Bucket, or before one is made in
// another account that was announced, and with a selector that is there.
func (w *world) mayDelete(o Observed) {
	used := w.bucket.Recorded().Selector
	isMove := !w.retain && used == "d" && w.there["d"] && w.there["e"] || !w.retain && used == "e" && w.there["e"] && w.there["d"]
	if w.bucket.DeletionTimestamp == nil && (!isMove || conditionOf(w.t, w.bucket.Status, kube.ConditionAccountChangePending).Message == "") {
		w.t.Fatalf("the bucket of a Bucket that stays is deleted with %q, and there are %v", used, w.there)
	}
	if o.Standing.Course.Selector.Name != used {
		w.t.Fatalf("the bucket is deleted with %q, and was made with %q", o.Standing.Course.Selector.Name, used)
	}
}

func (w *world) create(account string) *fault.Fault {
	if w.barren {
		return &fault.Fault{Class: fault.Unauthorized, Service: "S3", Operation: "CreateBucket", Code: "AccessDenied"}
	}
	if recorded := w.bucket.Recorded().Account; recorded != account {
		w.t.Fatalf("a bucket is made in the account %s, and %q is on record", account, recorded)
	}
	for other, found := range w.buckets {
		if !found.foreign && other != account {
			w.t.Fatalf("a second bucket is made in the account %s, the first is in %s", account, other)
		}
	}
	if w.buckets[account] == nil {
		w.buckets[account] = &stored{}
	}
	return nil
}

func (w *world) touch(account, how string) {
	if found := w.buckets[account]; found == nil || found.foreign {
		w.t.Fatalf("the controller %s a bucket of the account %s that is not its own: %v", how, account, found)
	}
}

// happen is one thing that happens, chosen by a byte.
func (w *world) happen(what byte) {
	accounts := []string{hub, teamA, teamB}
	account := accounts[int(what/16)%len(accounts)]
	switch what % 16 {
	case 0, 1, 2:
		name := string(rune('a' + what%16))
		w.there[name] = !w.there[name]
	case 3:
		w.refused[account] = !w.refused[account]
	case 4:
		w.barren = !w.barren
	case 5:
		w.retain = !w.retain
	case 6:
		if w.bucket != nil {
			deleting(w.bucket)
			if len(w.bucket.Finalizers) == 0 {
				w.release()
			}
		}
	case 7:
		if w.buckets[account] == nil {
			w.buckets[account] = &stored{foreign: true, tags: map[string]string{"somebody": "else"}}
		}
	case 8:
		// One without tags that is there before the Bucket is begun.
		if w.buckets[account] == nil && w.bucket != nil && w.bucket.Status.ACKResourceMetadata == nil {
			w.buckets[account] = &stored{foreign: true}
		}
	case 9:
		if found := w.buckets[account]; found != nil && !found.foreign {
			delete(w.buckets, account) // somebody deletes it
		}
	case 10:
		w.now = w.now.Add(2 * time.Hour)
	case 11, 12:
		name := string(rune('d' + what%16 - 11))
		w.there[name] = !w.there[name]
	default:
		w.pass(int(what/16) % 4)
	}
}

// FuzzConverge makes passes that die after any step, between which selectors, STS
// and other people change everything. Then there is peace, and the Bucket must come
// to what is right, and go without leaving anything.
func FuzzConverge(f *testing.F) {
	for _, seed := range []string{
		"", "\x3f\x3f\x3f", "\x3f\x3f\x1f\x00\x01\x3f\x3f", "\x3f\x3f\x0f\x06\x3f", "\x3f\x3f\x1f\x06\x3f", "\x3f\x3f\x3f\x3f\x00\x3f\x06\x3f",
		"\x08\x18\x28\x3f\x3f\x3f", "\x3f\x04\x3f\x3f\x3f\x00\x01\x04\x3f\x3f\x3f", "\x00\x3f\x3f\x3f\x00\x3f\x06\x3f", "\x3f\x3f\x1f\x3f\x17\x19\x17\x3f\x06\x3f", "ZZZZZZy77777777Z",
		"\x00\x0b\x3f\x3f\x3f\x0c\x3f\x0a\x3f\x3f\x3f", "\x00\x0b\x3f\x3f\x3f\x0c\x3f\x0a\x1f\x0c\x3f\x0c\x3f\x05\x3f\x0a\x3f", "\x00\x0b\x0c\x3f\x3f\x3f\x0c\x3f\x0c\x3f\x0a\x1f\x06\x3f",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newWorld(t)
		for _, what := range script[:min(len(script), 200)] {
			w.happen(what)
		}
		w.settle()
		if w.bucket != nil && w.bucket.DeletionTimestamp == nil {
			w.checkSettled()
			w.bucket.DeletionTimestamp = &metav1.Time{Time: now}
			w.settle()
		}
		if w.bucket != nil {
			// What is somebody else's by now is let go by a person.
			if trouble := Decide(w.observe()).Trouble; trouble == nil || trouble.Reason != "BucketNotOurs" {
				t.Fatalf("the Bucket stays, and its trouble is %v", fmt.Sprint(trouble))
			}
			w.retain = true
			w.settle()
		}
		if w.bucket != nil {
			t.Fatalf("the Bucket is not let go: %s", say(w.observe(), Decide(w.observe())))
		}
	})
}

// settle makes peace: the selector on record, or one, is there alone, and nobody
// refuses anything.
func (w *world) settle() {
	w.refused, w.barren = map[string]bool{}, false
	if w.bucket == nil {
		return
	}
	w.there = map[string]bool{}
	switch r := w.bucket.Recorded(); {
	case r.Selector != "":
		w.there[r.Selector] = true
	case r.Account == "":
		w.there["a"] = true
	}
	for range 6 {
		w.pass(mostSteps)
	}
}

const mostSteps = 9

// checkSettled demands that nothing is left to do, and that there is one bucket, or
// somebody else's in its place.
func (w *world) checkSettled() {
	before := w.bucket.DeepCopy()
	plan := w.pass(mostSteps)
	if len(plan.Steps) > 0 || plan.Again {
		w.t.Errorf("there is no end: %v", plan)
	}
	if diff := cmp.Diff(before, w.bucket); diff != "" {
		w.t.Errorf("a pass changes what should stay:\n%s", diff)
	}
	own := 0
	for _, found := range w.buckets {
		if !found.foreign {
			own++
		}
	}
	if own == 1 && plan.Trouble == nil {
		return
	}
	isTaken := own == 0 && plan.Trouble != nil && plan.Trouble.Reason == "BucketNotOurs"
	if !isTaken {
		w.t.Errorf("there are %d buckets of the Bucket's in %v, and the trouble is %v", own, slices.Sorted(maps.Keys(w.buckets)), fmt.Sprint(plan.Trouble))
	}
}
