package issuer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// operatorsRole is the role of the model's operator, which goes with the issuer.
const operatorsRole = "tabard-issuer-demo"

// holdsOthers says that there is more in the bucket than the two documents.
func (b *modelBucket) holdsOthers() bool {
	keys, discovery := issuer.DocumentKeys("")
	for key := range b.objects {
		if key != keys && key != discovery {
			return true
		}
	}
	return false
}

// giveUp deletes the bucket as S3 does, and notes who believes in its name then.
func (m *model) giveUp() error {
	if len(m.bucket.objects) > 0 {
		return fault.Fault{Class: fault.Invalid, Service: "S3", Operation: "DeleteBucket", Code: "BucketNotEmpty"}
	}
	if !m.stored.Spec.Publication.S3.ReleaseName {
		m.gaveUp = "the bucket's name was given up, and nobody said so"
	}
	if m.bucket.owner != testURL {
		m.gaveUp = "the name of a bucket of others was given up"
	}
	for _, account := range m.seenAccounts() {
		believes := m.providers[account] != nil || slices.ContainsFunc(m.roles[account], func(role string) bool { return role != operatorsRole || account != testAccount })
		if believes {
			m.gaveUp = "the bucket's name was given up while account " + account + " believes in it"
		}
	}
	m.bucket = nil
	return nil
}

// seenAccounts are those that the operator can know of.
func (m *model) seenAccounts() []string {
	out := []string{testAccount}
	for _, entry := range m.stored.Status.Providers {
		out = append(out, entry.AccountID)
	}
	return out
}

// disturbNames changes who believes in the issuer's name, and what the object
// says of that.
func (m *model) disturbNames(what byte) {
	switch what {
	case 16: // what deletion is to do changes
		m.stored.Generation++
		if m.stored.Spec.DeletionPolicy == v1alpha1.DeletionPolicyDelete {
			m.stored.Spec.DeletionPolicy = v1alpha1.DeletionPolicyRetain
		} else {
			m.stored.Spec.DeletionPolicy = v1alpha1.DeletionPolicyDelete
		}
	case 17: // no account is wanted any more
		m.stored.Generation++
		m.stored.Spec.Providers = nil
	case 18: // somebody registers the issuer in the own account
		if m.providers[testAccount] == nil {
			m.providers[testAccount] = &modelProvider{audiences: []string{"theirs"}}
		}
	case 19: // somebody uses the bucket
		if m.bucket != nil && m.bucket.owner != "" {
			m.bucket.objects["theirs"] = issuer.Document{Exists: true}
		}
	case 20: // somebody marks the bucket
		if m.bucket != nil && m.bucket.owner != "" {
			m.bucket.tombstone = true
		}
	}
}

// deleteAll deletes the issuer, with a crash after each number of steps, while
// others hold on to it and then let go; and looks for what is left.
func (m *model) deleteAll(t *testing.T, release bool) {
	t.Helper()
	if m.lost { // keys that the status forgot hold up a deletion until their time is over
		m.watchAnyhow(t, 26*time.Hour)
		m.settle(t)
	}
	m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
	m.stored.Spec.DeletionPolicy, m.stored.Spec.Publication.S3.ReleaseName = v1alpha1.DeletionPolicyDelete, release
	made := m.stored.Status.Publication.Bucket != "" || len(m.stored.Status.Providers) > 0
	if !made {
		return
	}
	m.roles[testAccount] = []string{operatorsRole, "app"}
	if m.providers[testAccount] != nil || release {
		m.wantHeld(t, "a role trusts the issuer")
	}
	m.roles[testAccount] = []string{operatorsRole}
	if own := m.providers[testAccount]; own != nil && own.owner != testURL {
		m.wantHeld(t, "a provider of others knows the issuer")
	}
	m.othersLetGo(release)
	m.crashAndGoOn(t)
	if len(m.providers) > 0 || len(m.stored.Finalizers) > 0 {
		t.Fatalf("left after deletion: providers %v, finalizers %v, conditions %+v", m.providers, m.stored.Finalizers, m.stored.Status.Conditions)
	}
	if (m.bucket == nil) != release {
		t.Fatalf("the bucket is %+v, and releaseName was %t", m.bucket, release)
	}
	if !release {
		m.wantTombstone(t)
	}
}

// othersLetGo removes what others have put in the way.
func (m *model) othersLetGo(release bool) {
	for account, p := range m.providers {
		if p.owner != testURL {
			delete(m.providers, account)
		}
	}
	if document, found := m.bucket.objects[issuer.KeysPath]; found {
		document.Body = []byte(strings.Replace(string(document.Body), pairs[foreignPair].JWK+",", "", 1))
		document.Body = []byte(strings.Replace(string(document.Body), ","+pairs[foreignPair].JWK, "", 1))
		document.Body = []byte(strings.Replace(string(document.Body), pairs[foreignPair].JWK, "", 1))
		m.bucket.objects[issuer.KeysPath], m.foreign = document, false
	}
	if release {
		delete(m.bucket.objects, "theirs")
	}
}

// wantHeld demands that a deletion does not go on.
func (m *model) wantHeld(t *testing.T, by string) {
	t.Helper()
	m.crashAndGoOn(t)
	if m.bucket == nil || len(m.bucket.objects) < 2 || len(m.stored.Finalizers) == 0 {
		t.Fatalf("documents went while %s", by)
	}
}

// crashAndGoOn runs passes that die, and then some that do not.
func (m *model) crashAndGoOn(t *testing.T) {
	t.Helper()
	for crash := 1; len(m.stored.Finalizers) > 0 && crash < 20; crash++ {
		m.pass(t, trouble{dieAt: crash % 4, failAt: -1})
	}
	for range 3 {
		m.pass(t, quiet)
	}
}

// wantTombstone demands that the bucket keeps its name and nothing else of ours,
// and that an issuer of the same URL makes it its own again.
func (m *model) wantTombstone(t *testing.T) {
	t.Helper()
	b := m.bucket
	_, keys := b.objects[issuer.KeysPath]
	_, discovery := b.objects[issuer.DiscoveryPath]
	if b.owner != testURL || keys || discovery || strings.Contains(b.policy, "TabardPublicRead") {
		t.Fatalf("the bucket is %+v, expected it with our tag, without documents and without our statement", b)
	}
	if shut := b.access.BlockPublicPolicy && b.access.RestrictPublicBuckets && b.tombstone; shut == b.holdsOthers() {
		t.Fatalf("the bucket is %+v, expected it closed if nobody else uses it", b)
	}
	next := newModel()
	next.stored.Name, next.bucket = "next", b
	next.stored.Status.Publication.Bucket = testBucket // the rule on what status knows is for what is made anew
	next.settle(t)
	next.wantHealthy(t)
	if b.tombstone || b.access.BlockPublicPolicy {
		t.Fatalf("the bucket is %+v, expected it open again", b)
	}
}

func TestAGivenUpNameIsNoticed(t *testing.T) {
	tests := map[string]struct {
		plant func(*model)
		want  string
	}{
		"as it should be":             {func(*model) {}, ""},
		"nobody said so":              {func(m *model) { m.stored.Spec.Publication.S3.ReleaseName = false }, "nobody said so"},
		"a bucket of others":          {func(m *model) { m.bucket.owner = "" }, "of others"},
		"a provider of the own":       {func(m *model) { m.providers[testAccount] = &modelProvider{} }, "while account " + testAccount},
		"a provider that status told": {func(m *model) { m.providers["444455556666"] = &modelProvider{} }, "while account 444455556666"},
		"a role without its provider": {func(m *model) { m.roles[testAccount] = []string{operatorsRole, "app"} }, "while account " + testAccount},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			clear(m.bucket.objects)
			clear(m.providers)
			m.roles[testAccount] = []string{operatorsRole}
			m.stored.Spec.Publication.S3.ReleaseName = true
			test.plant(m)
			if err := m.perform(issuer.Plan{}, issuer.DeleteBucket{}); err != nil {
				t.Fatal(err)
			}
			if got := m.violation(); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("violation is %q, want %q", got, test.want)
			}
		})
	}
}
