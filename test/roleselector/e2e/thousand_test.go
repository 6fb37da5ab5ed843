package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// crowd is how many Buckets share one role. They are all that there is in the
// namespace of that name.
const crowd = 1000

// TestLongAThousandBucketsFollowTheirSelector makes a thousand Buckets, and blocks, frees
// and moves them by one change each; in between the controller starts anew. The log says
// how long each change takes, beside the other tests.
func TestLongAThousandBucketsFollowTheirSelector(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	p := w.start(gate)
	p.awaitReadiness(200)
	home := w.namespace("crowd", map[string]string{"team": "one"}, nil)
	first, second, third := w.aws.role(blue, "first"), w.aws.role(blue, "second"), w.aws.role(green, "third")
	w.selector("crowd-one", first, ofTeam("one"))
	two := w.selector("crowd-two", second, ofTeam("two"))

	w.follow("making them", crowd, w.makeCrowd, managedBy("crowd-one", first))
	w.wantAsked(map[string]int{first: 1}, blue+"/first")
	w.quarrel(p, third, first)
	w.follow("another label of the namespace", crowd, func() {
		w.Merge(home, `{"metadata":{"labels":{"team":"two"}}}`)
	}, managedBy("crowd-two", second))
	w.wantAsked(map[string]int{second: 1}, blue+"/second")
	w.follow("deleting the selector", crowd, func() { w.Remove(two) }, func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, "crowd-two", second), says(b,
			"ACK.Recoverable=True AccountMismatch: The resource is in the account "+blue+", and the role to use is in the account "+hub,
			"ACK.ResourceSynced=Unknown", "Ready=False ACK.Recoverable"))
	})
	w.wantAsked(nil)
	w.wantCrowdIn(blue)
}

// quarrel: a second selector selects them all, until it is changed. In between
// nothing is called for any of them.
func (w *world) quarrel(p *process, role, before string) {
	w.Helper()
	const text = "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [another, crowd-one]"
	const conflicts = `ack_iam_role_selector_conflicts{kind="Bucket.s3.services.k8s.aws"} `
	var another *v1alpha1.IAMRoleSelector
	w.follow("a conflict", crowd, func() { another = w.selects("another", role, "crowd") }, func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, "crowd-one", before), says(b,
			"ACK.Recoverable=True IAMRoleSelectorConflict: "+text, "ACK.IAMRoleSelected=False Conflict",
			"ACK.ResourceSynced=Unknown", "Ready=False ACK.Recoverable"))
	})
	p.awaitMetric(fmt.Sprint(conflicts, crowd))
	w.wantAsked(nil)
	// One that starts anew comes to the same, and asks nothing.
	p.End()
	p = w.start(gate)
	p.awaitReadiness(200)
	p.awaitMetric(fmt.Sprint(conflicts, crowd))
	w.wantAsked(nil)
	w.follow("a change of the selector, which solves it", crowd, func() {
		w.Merge(another, `{"spec":{"namespaceSelector":{"names":["nowhere"]}}}`)
	}, managedBy("crowd-one", before))
	p.awaitMetric(conflicts + "0")
	w.wantAsked(map[string]int{before: 1}, blue+"/first")
}

func ofTeam(team string) func(*v1alpha1.IAMRoleSelectorSpec) {
	return func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": team}}}
	}
}

// makeCrowd begins to make the Buckets, some at a time.
func (w *world) makeCrowd() {
	var making sync.WaitGroup
	w.Cleanup(making.Wait)
	const hands = 8
	for hand := range hands {
		making.Go(func() {
			for i := hand; i < crowd; i += hands {
				if err := w.Create(w.Context(), newBucket("crowd", fmt.Sprintf("data-%04d", i))); err != nil {
					w.Error(err)
				}
			}
		})
	}
}

// managedBy demands that a Bucket is as it is wanted, with a selector's role.
func managedBy(selector, role string) func(*bucket.Bucket) error {
	return func(b *bucket.Bucket) error {
		return errors.Join(recordedAs(b, selector, role), says(b, "ACK.IAMRoleSelected=True Selected", "ACK.ResourceSynced=True", "Ready=True"))
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

// mostEntries are what the journal keeps.
const mostEntries = 10_000

// wantAsked demands which roles have been assumed, how often, and who has asked
// about the buckets, since it was called last.
func (w *world) wantAsked(assumed map[string]int, callers ...string) {
	w.Helper()
	roles, seen := map[string]int{}, map[string]int{}
	journal := w.aws.Admin().Journal()
	w.Logf("that took %d calls to AWS", len(journal))
	if len(journal) >= mostEntries {
		w.Fatal("the journal has forgotten its first entries")
	}
	for _, e := range journal {
		switch {
		case e.Operation == "AssumeRole":
			roles[e.Resource]++
		case strings.Contains(e.Resource, ":::crowd-data-"):
			seen[caller(e.Caller)]++
		}
	}
	w.aws.Admin().ClearJournal()
	if !maps.Equal(roles, assumed) {
		w.Errorf("for %d Buckets roles are assumed so often: %v, want %v", crowd, roles, assumed)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(seen)), callers) {
		w.Errorf("calls about the buckets are made so often: %v, want only %q", seen, callers)
	}
}

// wantCrowdIn demands that all buckets are in an account, and none in another.
func (w *world) wantCrowdIn(home string) {
	w.Helper()
	for _, account := range accounts {
		want := 0
		if account == home {
			want = crowd
		}
		if have := len(w.aws.buckets(account)); have != want {
			w.Errorf("%d buckets are in the account %s, want %d", have, account, want)
		}
	}
}
