package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// TestBucketsAreManagedWithTheRolesOfTheirSelectors goes through what happens to
// the selectors of one cluster in a day, with one controller that never restarts.
func TestBucketsAreManagedWithTheRolesOfTheirSelectors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	p := w.start("--feature-gates=IAMRoleSelector=true", "--leader-elect")
	p.awaitReadiness(200)
	var recover func(*world)
	for _, part := range []struct {
		name string
		run  func(*world)
	}{
		{"teams", (*world).teams},
		{"refused", func(w *world) { recover = w.refused() }},
		{"conflict", func(w *world) { w.conflict(p) }},
		{"labels", (*world).namespaceLabels},
		{"selector deleted", (*world).selectorDeleted},
		{"deletion", (*world).deletion},
		{"foreign", (*world).foreign},
		{"choices", (*world).choices},
		{"recovery", func(w *world) { recover(w) }},
		{"a role that is taken away in a slow pass", (*world).endsAPass},
	} {
		began := time.Now()
		if !t.Run(part.name, func(t *testing.T) { part.run(w.in(t)) }) {
			return
		}
		t.Logf("%s took %s", part.name, time.Since(began).Round(time.Millisecond))
	}
}

// teams: three accounts, three teams, one selector each; the bucket is made, kept
// and deleted with that role alone.
func (w *world) teams() {
	var made []*bucket.Bucket
	for team, account := range map[string]string{"red": red, "green": green, "blue": blue} {
		w.namespace(team, nil, nil)
		w.selects(team, w.aws.role(account, "team"), team)
		made = append(made, w.bucket(team, "data"))
	}
	for _, b := range made {
		account := map[string]string{"red": red, "green": green, "blue": blue}[b.Namespace]
		found := w.awaitReady(b, account, b.Namespace)
		used := found.Status.ACKResourceMetadata.IAMRoleSelector
		if used.DecidedBy != "Unique" || used.RoleARN != "arn:aws:iam::"+account+":role/team" || used.Generation != 1 || used.ResourceVersion == "" {
			w.Errorf("the status says of the selector: %+v", used)
		}
		w.wantCallers(b, account+"/team")
	}
	first := made[0]
	account := w.aws.accountOf(first.Spec.Name)
	w.Merge(first, `{"spec":{"tagging":{"tagSet":[{"key":"of","value":"another"}]}}}`)
	w.Await(func() error {
		if got := w.aws.tags(account, first.Spec.Name); got["of"] != "another" || got[bucket.OwnerTag] != string(first.UID) {
			return fmt.Errorf("the tags of the bucket are %v", got)
		}
		return nil
	})
	w.wantCallers(first, account+"/team")
	for _, b := range made {
		w.Remove(b)
		w.awaitGone(b)
		if account := w.aws.accountOf(b.Spec.Name); account != "" {
			w.Errorf("the bucket %s is still in the account %s", b.Spec.Name, account)
		}
	}
}

// wantCallers demands that nobody else has asked about a bucket.
func (w *world) wantCallers(b *bucket.Bucket, want ...string) {
	w.Helper()
	if got := w.aws.callers(b.Spec.Name); !slices.Equal(got, want) {
		w.Errorf("the bucket %s was asked about by %q, want %q:\n%s", b.Spec.Name, got, want, strings.Join(w.aws.calls(":::"+b.Spec.Name), "\n"))
	}
}

// wantQuiet demands that a Bucket is looked at, and AWS not asked about it.
func (w *world) wantQuiet(buckets ...*bucket.Bucket) {
	w.Helper()
	w.aws.Admin().ClearJournal()
	for _, b := range buckets {
		// The generation that the status was made for says that it was looked at.
		w.Merge(b, `{"spec":{"tagging":{"tagSet":[{"key":"of","value":"touched"}]}}}`)
		w.Await(func() error {
			found := w.reread(b)
			for _, c := range found.Status.Conditions {
				if c.ObservedGeneration != found.Generation {
					return fmt.Errorf("%s is not looked at: %v", b.Name, c)
				}
			}
			return nil
		})
	}
	for _, b := range buckets {
		w.wantCallers(b)
	}
}

// many is how many Buckets a conflict is tried with.
const many = 20

// conflict: it is told on each Bucket in ACK's words, nothing is called, and solving
// it goes on.
func (w *world) conflict(p *process) {
	w.namespace("quarrel", nil, nil)
	first, second := w.aws.role(red, "first"), w.aws.role(green, "second")
	w.selects("quarrel-b", first, "quarrel")
	var made []*bucket.Bucket
	for i := range many {
		made = append(made, w.bucket("quarrel", fmt.Sprintf("data-%d", i)))
	}
	for _, b := range made {
		w.awaitReady(b, red, "quarrel-b")
	}
	other := w.selects("quarrel-a", second, "quarrel")
	began := time.Now()
	const text = "Cannot determine which IAMRoleSelector to use. Conflicting IAMRoleSelectors: [quarrel-a, quarrel-b]"
	for i, b := range made {
		found := w.awaitCondition(b, "ACK.Recoverable=True IAMRoleSelectorConflict: "+text)
		for _, want := range []string{"ACK.IAMRoleSelected=False Conflict", "ACK.ResourceSynced=Unknown", "Ready=False ACK.Recoverable"} {
			if !strings.Contains(conditions(found), want) {
				w.Errorf("want %s in\n%s", want, conditions(found))
			}
		}
		if r := found.Recorded(); r.Selector != "quarrel-b" || r.Account != red {
			w.Errorf("the conflict has changed the record: %+v", r)
		}
		if i == 0 || i == many-1 {
			w.Logf("%d Buckets tell the conflict after %s", i+1, time.Since(began).Round(time.Millisecond))
		}
	}
	w.wantEvents(made[0], "Warning IAMRoleSelectorConflict: "+text, 1)
	w.wantQuiet(made[0], made[1])
	p.awaitMetric(fmt.Sprintf(`ack_iam_role_selector_conflicts{kind="Bucket.s3.services.k8s.aws"} %d`, many))
	w.wantEvents(made[0], "Warning IAMRoleSelectorConflict: "+text, 1)
	w.Remove(other)
	for _, b := range made {
		w.awaitReady(b, red, "quarrel-b")
	}
	p.awaitMetric(`ack_iam_role_selector_conflicts{kind="Bucket.s3.services.k8s.aws"} 0`)
	if times := w.aws.assumed(second); times > 0 {
		w.Errorf("the role of the other selector was assumed %d times, want never", times)
	}
}

// wantEvents demands so many events of a Bucket that begin so.
func (w *world) wantEvents(b *bucket.Bucket, begin string, want int) {
	w.Helper()
	w.Await(func() error {
		var list eventsv1.EventList
		if err := w.List(w.Context(), &list, client.InNamespace(b.Namespace)); err != nil {
			return err
		}
		var seen []string
		got := 0
		for _, e := range list.Items {
			if e.Regarding.Name != b.Name {
				continue
			}
			text := e.Type + " " + e.Reason + ": " + e.Note
			seen = append(seen, text)
			if strings.HasPrefix(text, begin) {
				got++
				if e.Series != nil {
					got += int(e.Series.Count) - 1
				}
			}
		}
		if got != want {
			return fmt.Errorf("%d events %q, want %d, among\n%s", got, begin, want, strings.Join(seen, "\n"))
		}
		return nil
	})
}

// namespaceLabels: another label moves nothing that exists, and what is new goes to
// the new account.
func (w *world) namespaceLabels() {
	home := w.namespace("moving", map[string]string{"team": "red"}, nil)
	for team, account := range map[string]string{"red": red, "green": green} {
		w.selector("moving-"+team, w.aws.role(account, "moving"), func(s *v1alpha1.IAMRoleSelectorSpec) {
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{LabelSelector: &v1alpha1.LabelSelector{MatchLabels: map[string]string{"team": team}}}
		})
	}
	before := w.bucket("moving", "before")
	w.awaitReady(before, red, "moving-red")
	w.Merge(home, `{"metadata":{"labels":{"team":"green"}}}`)
	w.awaitCondition(before, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+red+", and the role to use is in the account "+green)
	after := w.bucket("moving", "after")
	w.awaitReady(after, green, "moving-green")
	w.wantCallers(before, red+"/moving")
	w.wantCallers(after, green+"/moving")
	w.wantQuiet(before)
	if account := w.aws.accountOf(before.Spec.Name); account != red {
		w.Errorf("the bucket is in the account %q, want it to stay in %s", account, red)
	}
	w.Merge(home, `{"metadata":{"labels":{"team":"red"}}}`)
	w.awaitReady(before, red, "moving-red")
	w.awaitCondition(after, "ACK.Recoverable=True AccountMismatch")
}

// selectorDeleted: without its selector a Bucket is not managed with the
// controller's own role, and it is not deleted with it either.
func (w *world) selectorDeleted() {
	w.namespace("left", nil, nil)
	role := w.aws.role(blue, "left")
	selector := w.selects("left", role, "left")
	b := w.bucket("left", "data")
	w.awaitReady(b, blue, "left")
	w.Remove(selector)
	w.awaitCondition(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+blue+", and the role to use is in the account "+hub)
	w.wantQuiet(b)
	// One that is new is the controller's own: the policy says so.
	own := w.bucket("left", "own")
	w.awaitReady(own, hub, "")

	w.Remove(b)
	w.awaitCondition(b, "ACK.Recoverable=True SelectorGone")
	another := w.selects("left", w.aws.role(blue, "another"), "left") // of the name, with another role
	w.awaitCondition(own, "ACK.Recoverable=True AccountMismatch")
	w.awaitCondition(b, "ACK.Recoverable=True SelectorGone")
	w.wantCallers(b)
	if account := w.aws.accountOf(b.Spec.Name); account != blue {
		w.Errorf("the bucket is in %q, want it to stay in %s", account, blue)
	}
	w.Remove(another)
	w.selects("left", role, "left") // as a tool does that deletes what it makes anew
	w.awaitGone(b)
	w.wantWrites(b, "DeleteBucket by "+blue+"/left")
	w.wantCallers(b, blue+"/left")
	if account := w.aws.accountOf(b.Spec.Name); account != "" {
		w.Errorf("the bucket is left behind in %s", account)
	}
}

// deletion: a Bucket that others select, too, by now is deleted with the selector
// that it was managed with.
func (w *world) deletion() {
	w.namespace("ending", nil, nil)
	w.selects("ending-a", w.aws.role(red, "ending"), "ending")
	b := w.bucket("ending", "data")
	w.awaitReady(b, red, "ending-a")
	w.selects("ending-b", w.aws.role(green, "ending"), "ending")
	w.awaitCondition(b, "ACK.Recoverable=True IAMRoleSelectorConflict")
	w.aws.Admin().ClearJournal()
	w.Remove(b)
	w.awaitGone(b)
	w.wantCallers(b, red+"/ending")
	if account := w.aws.accountOf(b.Spec.Name); account != "" {
		w.Errorf("the bucket is still in %s", account)
	}
}

// foreign: a bucket of somebody else's is neither changed nor deleted, in whichever
// account it is, and ties a Bucket to nothing.
func (w *world) foreign() {
	somebodys := map[string]string{"owner": "somebody"}
	w.namespace("foreign", nil, nil)
	w.selects("foreign", w.aws.role(red, "foreign"), "foreign")
	w.aws.MakeForeign(w, red, "foreign-same", somebodys, false)
	w.aws.MakeForeign(w, blue, "foreign-other", somebodys, false)
	same, other := w.bucket("foreign", "same"), w.bucket("foreign", "other")
	w.awaitCondition(same, "ACK.Terminal=True BucketNotOurs")
	w.awaitCondition(other, "ACK.Recoverable=True Unauthorized")
	for _, b := range []*bucket.Bucket{same, other} {
		if metadata := w.reread(b).Status.ACKResourceMetadata; metadata != nil {
			w.Errorf("%s records %+v, want nothing", b.Name, metadata)
		}
		w.Remove(b)
		w.awaitGone(b)
		for _, call := range w.aws.calls(":::" + b.Spec.Name) {
			if operation, _, _ := strings.Cut(call, " "); !strings.HasPrefix(operation, "Head") && !strings.HasPrefix(operation, "Get") && !strings.HasPrefix(operation, "List") {
				w.Errorf("somebody else's bucket %s: %s", b.Spec.Name, call)
			}
		}
	}
	if got := w.aws.accountOf(same.Spec.Name) + " " + w.aws.accountOf(other.Spec.Name); got != red+" "+blue {
		w.Errorf("somebody else's buckets are in %s", got)
	}
}

// choices: people of a namespace choose among what they are offered.
func (w *world) choices() {
	w.namespace("choosing", nil, nil)
	for team, account := range map[string]string{"red": red, "green": green} {
		w.selector("choosing-"+team, w.aws.role(account, "choosing"), func(s *v1alpha1.IAMRoleSelectorSpec) {
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{"choosing"}}
			s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable, Choosers: []v1alpha1.Chooser{v1alpha1.NamespaceChoice, v1alpha1.ResourceAnnotation}}
		})
	}
	b := w.bucket("choosing", "data")
	w.awaitCondition(b, "ACK.Recoverable=True IAMRoleSelectorConflict")
	annotated := func(selector string) func(*bucket.Bucket) {
		return func(b *bucket.Bucket) { b.Annotations = map[string]string{v1alpha1.ChoiceAnnotation: selector} }
	}
	own := w.bucket("choosing", "own", annotated("choosing-red"))
	if by := w.awaitReady(own, red, "choosing-red").Status.ACKResourceMetadata.IAMRoleSelector.DecidedBy; by != "ResourceChoice" {
		w.Errorf("decided by %s, want ResourceChoice", by)
	}
	bad := w.bucket("choosing", "bad", annotated("red"))
	w.awaitCondition(bad, "ACK.Recoverable=True ChoiceNotPermitted")
	w.wantCallers(bad)
	w.Make(&identityv1alpha1.IAMRoleChoice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "choosing", Name: "ours"},
		Spec:       identityv1alpha1.IAMRoleChoiceSpec{SelectorRef: identityv1alpha1.SelectorRef{Name: "choosing-green"}},
	})
	if by := w.awaitReady(b, green, "choosing-green").Status.ACKResourceMetadata.IAMRoleSelector.DecidedBy; by != "NamespaceChoice" {
		w.Errorf("decided by %s, want NamespaceChoice", by)
	}
	w.wantCallers(b, green+"/choosing")
	w.wantCallers(own, red+"/choosing")
}
