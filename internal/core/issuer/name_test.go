package issuer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
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

// Rest demands health of the issuer, and then that its deletion waits as long as
// others hold on to it, and leaves nothing when they have let go.
func (m *model) Rest(chapter int) (more bool, wrong string) {
	own, s3 := m.providers[testAccount], &m.stored.Spec.Publication.S3
	if m.heldBy != "" && (m.bucket == nil || len(m.bucket.objects) < 2 || len(m.stored.Finalizers) == 0) {
		return false, "documents went while " + m.heldBy
	}
	const byRole, byProvider = "a role trusts the issuer", "a provider of others knows the issuer"
	switch {
	case chapter == 0:
		if wrong := m.unhealthy(); wrong != "" || m.stored.Status.Publication.Bucket == "" && len(m.stored.Status.Providers) == 0 {
			return false, wrong
		}
		if err := m.forgetLost(); err != nil {
			return false, err.Error()
		}
		m.stored.DeletionTimestamp = &metav1.Time{Time: m.now}
		m.stored.Spec.DeletionPolicy, s3.ReleaseName = v1alpha1.DeletionPolicyDelete, m.release
		m.roles[testAccount] = []string{operatorsRole, "app"}
		if own != nil || m.release {
			m.heldBy = byRole
		}
		return true, ""
	case chapter == 1 && own != nil && own.owner != testURL:
		m.roles[testAccount], m.heldBy = []string{operatorsRole}, byProvider
		m.advance(10 * time.Minute)
		return true, ""
	case !m.free:
		m.roles[testAccount], m.heldBy, m.free = []string{operatorsRole}, "", true
		m.advance(10 * time.Minute)
		m.othersLetGo()
		return true, ""
	}
	return false, m.left()
}

// forgetLost lets the time of keys that the status forgot go by: they hold up a
// deletion.
func (m *model) forgetLost() error {
	if !m.lost {
		return nil
	}
	if err := m.under(26 * time.Hour); err != nil {
		return err
	}
	return crash.Settle(m)
}

// left names what a deletion has left behind, or has taken away and should not.
func (m *model) left() string {
	switch {
	case len(m.providers) > 0 || len(m.stored.Finalizers) > 0:
		return fmt.Sprintf("left after deletion: providers %v, finalizers %v, conditions %+v", m.providers, m.stored.Finalizers, m.stored.Status.Conditions)
	case (m.bucket == nil) != m.release:
		return fmt.Sprintf("the bucket is %+v, and releaseName was %t", m.bucket, m.release)
	case !m.release:
		return m.noTombstone()
	}
	return ""
}

// othersLetGo removes what others have put in the way.
func (m *model) othersLetGo() {
	for account, p := range m.providers {
		if p.owner != testURL {
			delete(m.providers, account)
		}
	}
	if m.bucket == nil {
		return
	}
	if document, found := m.bucket.objects[issuer.KeysPath]; found {
		document.Body = []byte(strings.Replace(string(document.Body), pairs[foreignPair].JWK+",", "", 1))
		document.Body = []byte(strings.Replace(string(document.Body), ","+pairs[foreignPair].JWK, "", 1))
		document.Body = []byte(strings.Replace(string(document.Body), pairs[foreignPair].JWK, "", 1))
		m.bucket.objects[issuer.KeysPath], m.foreign = document, false
	}
	if m.release {
		delete(m.bucket.objects, "theirs")
	}
}

// noTombstone demands that the bucket keeps its name and nothing else of ours,
// and that an issuer of the same URL makes it its own again.
func (m *model) noTombstone() string {
	b := m.bucket
	_, keys := b.objects[issuer.KeysPath]
	_, discovery := b.objects[issuer.DiscoveryPath]
	if b.owner != testURL || keys || discovery || strings.Contains(b.policy, "TabardPublicRead") {
		return fmt.Sprintf("the bucket is %+v, expected it with our tag, without documents and without our statement", b)
	}
	if shut := b.access.BlockPublicPolicy && b.access.RestrictPublicBuckets && b.tombstone; shut == b.holdsOthers() {
		return fmt.Sprintf("the bucket is %+v, expected it closed if nobody else uses it", b)
	}
	next := newModel()
	next.stored.Name, next.bucket = "next", b
	next.stored.Status.Publication.Bucket = testBucket // the rule on what status knows is for what is made anew
	if err := crash.Settle(next); err != nil {
		return err.Error()
	}
	if b.tombstone || b.access.BlockPublicPolicy {
		return fmt.Sprintf("the bucket is %+v, expected it open again", b)
	}
	return next.unhealthy()
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
			must.Do(t, m.perform(issuer.Plan{}, issuer.DeleteBucket{}))
			if got := m.Violation(); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("violation is %q, want %q", got, test.want)
			}
		})
	}
}
