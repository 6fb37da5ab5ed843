package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/examples/bucket-controller/bucket"
)

// moveAway is how the announcement of a change of account from red to green begins.
const moveAway = "AccountChangePending=True AccountChangePending: The resource is in the account " + red +
	". It will be deleted there, and then made anew in " + green

// TestBucketsStayWhereTheyAre unless their selector, their deletion policy and the
// role on record let them move, which is announced first. They never change region.
func TestBucketsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.start(gate, "--resync-period=2s").awaitReadiness(200)
	for _, part := range []struct {
		name string
		run  func(*world)
	}{
		{"refused", (*world).staysByDefault},
		{"moved", (*world).moves},
		{"retained", (*world).staysRetained},
		{"not empty", (*world).movesOnceEmpty},
		{"selector gone", (*world).staysWithoutItsRole},
		{"own role", (*world).staysFromTheOwnRole},
		{"region", (*world).keepsItsRegion},
		{"a selector that lost its labels", (*world).managesNothingWithoutLabels}, // which is meant for all, so the last
	} {
		t.Run(part.name, func(t *testing.T) { part.run(w.in(t)) })
	}
}

// offers gives a namespace a role of red and one of green to choose from; each is
// called as the namespace.
func (w *world) offers(namespace string, change v1alpha1.AccountChange) {
	w.Helper()
	w.namespace(namespace, nil, nil)
	for team, account := range map[string]string{"red": red, "green": green} {
		w.selector(namespace+"-"+team, w.aws.role(account, namespace), func(s *v1alpha1.IAMRoleSelectorSpec) {
			s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{namespace}}
			s.Selection = &v1alpha1.Selection{Mode: v1alpha1.Selectable, Choosers: []v1alpha1.Chooser{v1alpha1.ResourceAnnotation}}
			s.OnAccountChange = change
		})
	}
}

// choose sets the annotation by which a Bucket's role is chosen.
func (w *world) choose(b *bucket.Bucket, team string) {
	w.Helper()
	w.Merge(b, fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s-%s"}}}`, v1alpha1.ChoiceAnnotation, b.Namespace, team))
}

// inRed is a Bucket that has chosen red, and is there.
func (w *world) inRed(namespace, name string) *bucket.Bucket {
	w.Helper()
	b := w.bucket(namespace, name, func(b *bucket.Bucket) {
		b.Annotations = map[string]string{v1alpha1.ChoiceAnnotation: namespace + "-red"}
	})
	w.awaitReady(b, red, namespace+"-red")
	return b
}

// wantStay demands that a Bucket is in an account and on record there, and that
// nothing of it is asked of AWS.
func (w *world) wantStay(b *bucket.Bucket, account, selector string) {
	w.Helper()
	w.wantQuiet(b)
	r := w.reread(b).Recorded()
	if r.Account != account || r.Selector != selector || w.aws.accountOf(b.Spec.Name) != account {
		w.Errorf("%s/%s is recorded as %+v and in %q, want it to stay in %s by %q", b.Namespace, b.Name, r, w.aws.accountOf(b.Spec.Name), account, selector)
	}
}

// wantWrites demands that these are the calls that changed something, in their order.
func (w *world) wantWrites(b *bucket.Bucket, want ...string) {
	w.Helper()
	var got []string
	for _, call := range w.aws.calls(":::" + b.Spec.Name) {
		if strings.HasPrefix(call, "Create") || strings.HasPrefix(call, "Put") || strings.HasPrefix(call, "Delete") {
			got = append(got, call)
		}
	}
	if !slices.Equal(got, want) {
		w.Errorf("the bucket %s was changed by\n%s\nwant\n%s", b.Spec.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// staysByDefault: a selector that says nothing, and one that says Refuse.
func (w *world) staysByDefault() {
	for namespace, change := range map[string]v1alpha1.AccountChange{"silent": "", "refusing": v1alpha1.Refuse} {
		w.offers(namespace, change)
		b := w.inRed(namespace, "data")
		w.choose(b, "green")
		w.awaitCondition(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+red+", and the role to use is in the account "+green+".")
		w.wantStay(b, red, namespace+"-red")
		w.choose(b, "red")
		w.awaitReady(b, red, namespace+"-red")
		w.wantCallers(b, red+"/"+namespace)
	}
}

// moves: the change is announced, and can be called off until it is due; then the
// bucket is deleted with the role that made it, and made with the other.
func (w *world) moves() {
	w.offers("moves", v1alpha1.Recreate)
	b := w.inRed("moves", "data")
	w.wantWrites(b, "CreateBucket by "+red+"/moves", "PutBucketTagging by "+red+"/moves")
	w.aws.Admin().ClearJournal()
	w.choose(b, "green")
	found := w.awaitCondition(b, moveAway)
	if r := found.Recorded(); r.Account != red || r.Selector != "moves-red" {
		w.Errorf("the announcement has changed the record: %+v", r)
	}
	w.awaitReady(b, green, "moves-green")
	w.wantWrites(b, "DeleteBucket by "+red+"/moves", "CreateBucket by "+green+"/moves", "PutBucketTagging by "+green+"/moves")
	if got := w.aws.tags(green, b.Spec.Name); got[bucket.OwnerTag] != string(b.UID) {
		w.Errorf("the tags of the new bucket are %v", got)
	}
	w.wantEvents(b, "Warning AccountChangePending", 1)
	w.wantEvents(b, "Normal AccountLeft", 1)
	if left := conditions(w.reread(b)); strings.Contains(left, "AccountChangePending") {
		w.Errorf("the change is made, and still announced:\n%s", left)
	}

	w.aws.Admin().ClearJournal()
	w.Remove(b)
	w.awaitGone(b)
	w.wantWrites(b, "DeleteBucket by "+green+"/moves")
	w.wantCallers(b, green+"/moves")
	if account := w.aws.accountOf(b.Spec.Name); account != "" {
		w.Errorf("there is still a bucket in %s", account)
	}
}

// staysRetained: what is to be retained is on record where it is, and when it is
// allowed to move it does.
func (w *world) staysRetained() {
	w.offers("retained", v1alpha1.Recreate)
	b := w.inRed("retained", "data")
	w.Merge(b, `{"metadata":{"annotations":{"services.k8s.aws/deletion-policy":"retain"}}}`)
	w.choose(b, "green")
	w.awaitCondition(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+red+", and the role to use is in the account "+green+
		". It is not made anew there, because its deletion policy is to retain it.")
	w.wantStay(b, red, "retained-red")
	w.Merge(b, `{"metadata":{"annotations":{"services.k8s.aws/deletion-policy":null}}}`)
	w.awaitReady(b, green, "retained-green")
	w.wantCallers(b, red+"/retained", green+"/retained")
}

// movesOnceEmpty: no object is ever deleted for a move.
func (w *world) movesOnceEmpty() {
	w.offers("full", v1alpha1.Recreate)
	b := w.inRed("full", "data")
	name, object := b.Spec.Name, "precious"
	w.aws.Must(w.AWS.S3(red).PutObject(w.Context(), &s3.PutObjectInput{Bucket: &name, Key: &object, Body: strings.NewReader("gold")}))
	w.aws.Admin().ClearJournal()
	w.choose(b, "green")
	found := w.awaitCondition(b, "ACK.Terminal=True BucketNotEmpty: The bucket full-data in the account "+red+" has objects in it")
	if !strings.Contains(conditions(found), moveAway) {
		w.Errorf("the change is announced no longer:\n%s", conditions(found))
	}
	w.wantCallers(b, red+"/full")
	if account := w.aws.accountOf(name); account != red {
		w.Errorf("the bucket is in %q, want %s", account, red)
	}
	w.aws.Must(w.AWS.S3(red).DeleteObject(w.Context(), &s3.DeleteObjectInput{Bucket: &name, Key: &object}))
	w.awaitReady(b, green, "full-green")
}

// staysWithoutItsRole: a role that is not offered any longer deletes nothing, neither
// for a move nor for the Bucket's own deletion. Who made the old bucket by mistake
// for good says so.
func (w *world) staysWithoutItsRole() {
	w.offers("withdrawn", v1alpha1.Recreate)
	b := w.inRed("withdrawn", "data")
	old := &v1alpha1.IAMRoleSelector{}
	old.Name = "withdrawn-red"
	w.Remove(old)
	w.choose(b, "green")
	w.awaitCondition(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+red+", and the role to use is in the account "+green+
		". It was managed with the IAMRoleSelector withdrawn-red (UID ")
	w.wantStay(b, red, "withdrawn-red")
	w.Remove(b)
	w.awaitCondition(b, "ACK.Recoverable=True SelectorGone")
	w.wantCallers(b)
	w.Merge(b, `{"metadata":{"annotations":{"services.k8s.aws/deletion-policy":"retain"}}}`)
	w.awaitGone(b)
	w.wantCallers(b)
	if account := w.aws.accountOf(b.Spec.Name); account != red {
		w.Errorf("the bucket that is left behind on purpose is in %q, want %s", account, red)
	}
}

// staysFromTheOwnRole: where a selector applies the controller's own role does
// nothing any longer, not even a move to it.
func (w *world) staysFromTheOwnRole() {
	w.namespace("adopted", nil, nil)
	b := w.bucket("adopted", "data")
	w.awaitReady(b, hub, "")
	w.selector("adopted", w.aws.role(green, "adopted"), func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{"adopted"}}
		s.OnAccountChange = v1alpha1.Recreate
	})
	w.awaitCondition(b, "ACK.Recoverable=True AccountMismatch: The resource is in the account "+hub+", and the role to use is in the account "+green+
		". It was managed with the controller's own role")
	w.wantStay(b, hub, "")
}

// keepsItsRegion: another region is as another account, and nothing allows it.
func (w *world) keepsItsRegion() {
	w.namespace("regions", nil, nil)
	w.selector("regions", w.aws.role(blue, "regions"), func(s *v1alpha1.IAMRoleSelectorSpec) {
		s.NamespaceSelector = &v1alpha1.NamespaceSelector{Names: []string{"regions"}}
		s.OnAccountChange = v1alpha1.Recreate
	})
	const elsewhere = `{"metadata":{"annotations":{"services.k8s.aws/region":"us-east-1"}}}`
	const told = "ACK.Recoverable=True RegionMismatch: The resource is in the region " + region + " and is wanted in us-east-1."
	kept, deleted := w.bucket("regions", "kept"), w.bucket("regions", "deleted")
	for _, b := range []*bucket.Bucket{kept, deleted} {
		w.awaitReady(b, blue, "regions")
		w.Merge(b, elsewhere)
		w.awaitCondition(b, told)
		w.wantStay(b, blue, "regions")
		if r := w.reread(b).Recorded().Region; r != region {
			w.Errorf("the region on record is %s, want %s", r, region)
		}
	}
	// "Not found" elsewhere would let the object go, and leave the bucket.
	w.Remove(deleted)
	w.awaitCondition(deleted, told)
	w.wantCallers(deleted)
	for _, b := range []*bucket.Bucket{kept, deleted} {
		w.Merge(b, `{"metadata":{"annotations":{"services.k8s.aws/region":null}}}`)
	}
	w.awaitGone(deleted)
	w.wantWrites(deleted, "DeleteBucket by "+blue+"/regions")
	w.awaitReady(kept, blue, "regions")
	if account := w.aws.accountOf(deleted.Spec.Name); account != "" {
		w.Errorf("the bucket is still in %s", account)
	}
}
