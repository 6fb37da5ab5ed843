package roleselectore2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// crowd is how many Buckets share one role. They are all that there is in the
// namespace of that name.
const crowd = 1000

// TestAThousandBucketsFollowTheirSelector makes, moves, blocks and deletes a
// thousand Buckets by one change each. It runs before the tests that share the
// machine, since the log says how long each change takes.
func TestAThousandBucketsFollowTheirSelector(t *testing.T) { //nolint:paralleltest // see above
	w := newWorld(t, true)
	p := w.start(gate)
	p.awaitReadiness(200)
	home := w.namespace("crowd", map[string]string{"team": "one"}, nil)
	first, second, third := w.aws.role(blue, "first"), w.aws.role(blue, "second"), w.aws.role(green, "third")
	w.selector("crowd-one", first, ofTeam("one"))
	other := w.selector("crowd-two", second, ofTeam("two"))

	w.follow("making them", crowd, w.makeCrowd, managedBy("crowd-one", first))
	w.wantCrowdIn(blue)
	w.wantAssumed(map[string]int{first: 1})
	w.quarrel(p, third, first)
	w.follow("another label of the namespace", crowd, func() {
		w.change(home, `{"metadata":{"labels":{"team":"two"}}}`)
	}, managedBy("crowd-two", second))
	w.wantAssumed(map[string]int{first: 1, second: 1, third: 0})

	w.follow("a change of the selector", crowd, func() {
		w.change(other, `{"spec":{"namespaceSelector":{"labelSelector":{"matchLabels":{"team":"three"}}}}}`)
	}, leftAlone(second))
	w.follow("a change back", crowd, func() {
		w.change(other, `{"spec":{"namespaceSelector":{"labelSelector":{"matchLabels":{"team":"two"}}}}}`)
	}, managedBy("crowd-two", second))
	// What the selector says is new, so the role is asked for anew; once.
	w.wantAssumed(map[string]int{first: 1, second: 2, third: 0})
	w.follow("deleting the selector", crowd, func() { w.remove(other) }, leftAlone(second))
	w.follow("the first label again", crowd, func() {
		w.change(home, `{"metadata":{"labels":{"team":"one"}}}`)
	}, managedBy("crowd-one", first))
	w.wantCrowdIn(blue)

	w.dissolve(home)
	w.wantAssumed(map[string]int{first: 1, second: 2, third: 0})
}

// quarrel: a second selector selects them all, and goes again. In between nothing
// is called for any of them.
func (w *world) quarrel(p *process, role, before string) {
	w.t.Helper()
	const text = "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [another, crowd-one]"
	calls := len(w.crowdCalls())
	var another *v1alpha1.IAMRoleSelector
	w.follow("a conflict", crowd, func() { another = w.selects("another", role, "crowd") }, func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, "crowd-one", before), says(b,
			"ACK.Recoverable=True IAMRoleSelectorConflict: "+text, "ACK.IAMRoleSelected=False Conflict",
			"ACK.ResourceSynced=Unknown", "Ready=False ACK.Recoverable"))
	})
	conflicts := `ack_iam_role_selector_conflicts{kind="Bucket.s3.services.k8s.aws"} %d`
	p.awaitMetric(fmt.Sprintf(conflicts, crowd))
	if now := w.crowdCalls(); len(now) != calls {
		w.t.Errorf("in the conflict AWS is asked about the buckets:\n%s", strings.Join(now[calls:], "\n"))
	}
	w.follow("solving it", crowd, func() { w.remove(another) }, managedBy("crowd-one", before))
	p.awaitMetric(fmt.Sprintf(conflicts, 0))
}

// dissolve deletes all Buckets, which leaves nothing in AWS.
func (w *world) dissolve(home *corev1.Namespace) {
	w.t.Helper()
	if err := w.DeleteAllOf(w.t.Context(), &bucket.Bucket{}, client.InNamespace(home.Name)); err != nil {
		w.t.Fatal(err)
	}
	w.await(func() error {
		var list bucket.BucketList
		if err := w.List(w.t.Context(), &list, client.InNamespace(home.Name)); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%d Buckets are there, one with\n%s", len(list.Items), conditions(&list.Items[0]))
		}
		return nil
	})
	w.wantCrowdIn()
}

func ofTeam(team string) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": team}}}
	}
}

// makeCrowd makes the Buckets, some at a time.
func (w *world) makeCrowd() {
	names := make(chan string)
	var making sync.WaitGroup
	for range 8 {
		making.Go(func() {
			for name := range names {
				b := newBucket("crowd", name)
				if err := w.Create(w.t.Context(), b); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	for i := range crowd {
		names <- fmt.Sprintf("data-%04d", i)
	}
	close(names)
	making.Wait()
}

// managedBy demands that a Bucket is as it is wanted, with a selector's role.
func managedBy(selector, role string) func(*bucket.Bucket) error {
	return func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, selector, role), says(b, "ACK.IAMRoleSelected=True Selected", "ACK.ResourceSynced=True", "Ready=True"))
	}
}

// leftAlone demands that a Bucket without a selector stays where a role has made
// it: the controller's own is of another account.
func leftAlone(role string) func(*bucket.Bucket) error {
	return func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, "crowd-two", role), says(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+blue, "Ready=False"))
	}
}

func recordedAs(b *bucket.Bucket, selector, role string) error {
	r := b.Recorded()
	if r.Selector != selector || r.Account != blue || b.Status.ACKResourceMetadata.IAMRoleSelector.RoleARN != role {
		return fmt.Errorf("the record is %+v, want %s with %s", r, selector, role)
	}
	return nil
}

// says demands conditions that begin so.
func says(b *bucket.Bucket, begins ...string) error {
	for _, begin := range begins {
		if have := conditions(b); !strings.Contains("\n"+have, "\n"+begin) {
			return fmt.Errorf("the conditions are\n%s\nwant %s", have, begin)
		}
	}
	return nil
}

// wantCrowdIn demands that all buckets are in an account, or in none, and that no
// other account has one.
func (w *world) wantCrowdIn(home ...string) {
	w.t.Helper()
	for _, account := range accounts {
		have, want := 0, 0
		for _, name := range w.aws.buckets(account) {
			if strings.HasPrefix(name, "crowd-data-") {
				have++
			}
		}
		if len(home) > 0 && account == home[0] {
			want = crowd
		}
		if have != want {
			w.t.Errorf("%d of the buckets are in the account %s, want %d", have, account, want)
		}
	}
}

// crowdCalls are what was asked of AWS about the buckets.
func (w *world) crowdCalls() (calls []string) {
	for _, e := range w.aws.Admin().Journal() {
		if strings.Contains(e.Resource, ":::crowd-data-") {
			calls = append(calls, e.Operation+" "+e.Resource+" by "+caller(e.Caller))
		}
	}
	return calls
}

// wantAssumed demands how often each role has been asked for since the beginning.
func (w *world) wantAssumed(roles map[string]int) {
	w.t.Helper()
	for role, want := range roles {
		if times := w.aws.assumed(role); times != want {
			w.t.Errorf("the role %s was assumed %d times for %d Buckets, want %d", role, times, crowd, want)
		}
	}
}
