package issuer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

const (
	foreignStatement = `{"Sid":"Theirs","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::tabard-demo"}`
	foreignPair      = 7 // never a signer of the cluster
)

// check fails if a rule that holds after every single step is broken.
func (m *model) check(t *testing.T) {
	t.Helper()
	if broken := m.violation(); broken != "" {
		t.Fatal(broken)
	}
}

// violation names the first broken rule: all that exists outside can be found
// from status, no reader ever misses a signing key that was published, and the
// bucket's name is never given up while somebody believes in it.
func (m *model) violation() string {
	if m.gaveUp != "" {
		return m.gaveUp
	}
	if broken := m.untold(); broken != "" {
		return broken
	}
	if m.bucket == nil {
		return ""
	}
	document, published := m.bucket.objects[issuer.KeysPath]
	if _, leads := m.bucket.objects[issuer.DiscoveryPath]; leads && !published {
		return "the discovery document leads to keys that are not there"
	}
	if published && m.misses(string(document.Body)) {
		return "a key that signs was published and is gone"
	}
	if published && m.strands(string(document.Body)) {
		return "a key was unpublished while its tokens live"
	}
	return ""
}

// untold names what exists outside and cannot be found from status.
func (m *model) untold() string {
	status := m.stored.Status
	for account, p := range m.providers {
		known := slices.ContainsFunc(status.Providers, func(s v1alpha1.ProviderStatus) bool { return s.AccountID == account })
		if p.owner == testURL && !known {
			return "status does not know the provider of account " + account
		}
	}
	if m.bucket != nil && status.Publication.Bucket != testBucket {
		return "status does not know the bucket"
	}
	return ""
}

// tokenLife is the longest life of a pod's token.
const tokenLife = 24 * time.Hour

// strands says that a document lacks a key that some reader has seen before, and by
// which a token was signed that has not expired.
func (m *model) strands(body string) bool {
	stranded := false
	for i := range foreignPair {
		there := strings.Contains(body, pairs[i].ID)
		signed, has := m.signed[i]
		stranded = stranded || m.read[i] && !there && has && m.now.Before(signed.Add(tokenLife))
		m.read[i] = m.read[i] || there
	}
	return stranded
}

// misses says that a key that signs, and that some reader has seen before, is
// not in a document; and notes what this reader sees.
func (m *model) misses(body string) bool {
	before, missing := m.published, false
	m.published = map[int]bool{}
	for _, signer := range m.signers {
		there := strings.Contains(body, pairs[signer].ID)
		missing = missing || before[signer] && !there
		m.published[signer] = there
	}
	return missing
}

func TestViolationsAreNoticed(t *testing.T) {
	tests := map[string]struct {
		plant func(*model)
		want  string
	}{
		"nothing is wrong after a quiet start": {func(*model) {}, ""},
		"a provider that status forgot":        {func(m *model) { m.stored.Status.Providers = nil }, "status does not know the provider of account"},
		"a bucket that status forgot":          {func(m *model) { m.stored.Status.Publication.Bucket = "" }, "status does not know the bucket"},
		"a discovery document alone":           {func(m *model) { delete(m.bucket.objects, issuer.KeysPath) }, "the discovery document leads to keys that are not there"},
		"a signing key is taken out": {func(m *model) {
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(1)}
		}, "a key that signs was published and is gone"},
		"a key is taken out before its last token has expired": {func(m *model) {
			m.signers = []int{1}
			m.settle(t)
			m.now = m.now.Add(tokenLife - time.Second)
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(1)}
		}, "a key was unpublished while its tokens live"},
		"a key is taken out after that": {func(m *model) {
			m.signers = []int{1}
			m.settle(t)
			m.now = m.now.Add(tokenLife)
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(1)}
		}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			test.plant(m)
			if got := m.violation(); !strings.HasPrefix(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("violation is %q, want %q", got, test.want)
			}
		})
	}
}

// disturb changes the environment behind the controller's back.
func (m *model) disturb(t *testing.T, what byte) {
	t.Helper()
	switch what % 21 {
	case 0: // a key is added and signs
		if next := m.signers[len(m.signers)-1] + 1; next < foreignPair {
			m.signers = append(m.signers, next)
		}
	case 1: // the oldest key goes
		// A key that is published while no status can be written, and is gone before
		// one can, is nobody's: that is what a person is told then.
		if len(m.signers) > 1 && m.knows(m.signers[0]) {
			m.signers = m.signers[1:]
		}
	case 2: // the operator is away
		m.advance(26 * time.Hour)
	case 3:
		m.advance(7 * time.Minute)
	case 4:
		m.throttled = !m.throttled
	case 5:
		m.silent = !m.silent
	case 6:
		m.foreignKey()
	case 7:
		if m.bucket != nil && m.bucket.policy != "" && !strings.Contains(m.bucket.policy, "Theirs") {
			m.bucket.policy = strings.Replace(m.bucket.policy, `"Statement":[`, `"Statement":[`+foreignStatement+`,`, 1)
		}
	case 8: // somebody else registers the issuer
		if m.providers["444455556666"] == nil {
			m.providers["444455556666"] = &modelProvider{audiences: []string{"theirs"}}
		}
	case 9:
		if p := m.providers[testAccount]; p != nil {
			p.audiences = []string{"changed"}
		}
	case 10: // the discovery document is lost
		if m.bucket != nil {
			delete(m.bucket.objects, issuer.DiscoveryPath)
		}
	case 11: // an entry of the spec goes, or comes back
		m.stored.Generation++
		if full := testIssuer().Spec.Providers; len(m.stored.Spec.Providers) == len(full) {
			m.stored.Spec.Providers = full[:1]
		} else {
			m.stored.Spec.Providers = full
		}
	default:
		m.disturbTime(t, what%21)
		m.disturbNames(what % 21)
	}
}

// disturbTime lets clocks go wrong, and things happen while nobody looks.
func (m *model) disturbTime(t *testing.T, what byte) {
	t.Helper()
	switch what {
	case 12: // the operator's clock jumps, and jumps back
		m.ahead = 30*time.Hour - m.ahead
	case 13: // all of the cluster's clocks were wrong together, and are put right
		const wrong = -40 * 24 * time.Hour
		m.ahead, m.cluster = wrong-m.ahead, wrong-m.cluster
	case 14: // while the operator is away, the API servers go back to an older key
		if last := m.signer(); last > 0 {
			was := m.signers
			m.advance(40 * time.Minute)
			m.signers = []int{last - 1}
			m.advance(time.Minute)
			m.signers = was
		}
	case 15: // a day under the operator's eyes
		m.watchAnyhow(t, 26*time.Hour)
	}
}

// watchAnyhow lets time pass with one pass at a time, whatever comes of it.
func (m *model) watchAnyhow(t *testing.T, d time.Duration) {
	t.Helper()
	const step = 25 * time.Minute
	for ; d > 0; d -= step {
		m.advance(step)
		m.pass(t, quiet)
	}
}

// knows says that status knows a key.
func (m *model) knows(pair int) bool {
	return slices.ContainsFunc(m.stored.Status.Keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == pairs[pair].ID })
}

// foreignKey puts somebody else's key into the published set.
func (m *model) foreignKey() {
	if m.bucket == nil || !m.bucket.objects[issuer.KeysPath].Exists {
		return
	}
	document := m.bucket.objects[issuer.KeysPath]
	if strings.Contains(string(document.Body), pairs[foreignPair].ID) {
		return
	}
	document.Body = []byte(strings.Replace(string(document.Body), `{"keys":[`, `{"keys":[`+pairs[foreignPair].JWK+`,`, 1))
	document.ETag = "theirs"
	m.bucket.objects[issuer.KeysPath] = document
}

// theirs is what of others is in the account.
func (m *model) theirs() (out []string) {
	if m.bucket != nil && strings.Contains(m.bucket.policy, foreignStatement) {
		out = append(out, "statement")
	}
	if m.bucket != nil && strings.Contains(string(m.bucket.objects[issuer.KeysPath].Body), pairs[foreignPair].JWK) {
		out = append(out, "key")
	}
	if m.bucket != nil && m.bucket.holdsOthers() {
		out = append(out, "object")
	}
	for account, p := range m.providers {
		if p.owner != testURL {
			out = append(out, "provider "+account+" "+strings.Join(p.audiences, ","))
		}
	}
	return out
}

// settle runs passes until one does nothing, twice.
func (m *model) settle(t *testing.T) {
	t.Helper()
	for range 20 {
		if m.pass(t, quiet) {
			continue
		}
		if m.pass(t, quiet) { // a second look, at what the first has written
			continue
		}
		before := m.stored.DeepCopy()
		m.pass(t, quiet)
		if diff := cmp.Diff(before, m.stored); diff != "" {
			t.Fatalf("status changes in a quiet world (-before +after):\n%s", diff)
		}
		return
	}
	t.Fatalf("no fixed point after 20 quiet passes; next plan: %+v", issuer.Decide(m.observe()).Steps)
}

// FuzzConverge stops after an arbitrary step of each pass while the world
// changes, then leaves the world alone. Two bytes are one round: the steps
// before which the pass dies and at which AWS throttles it, and what happens
// after it.
func FuzzConverge(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 3, 1, 3, 2, 3, 3, 3, 4, 3, 5, 3, 6, 3, 7, 3, 8, 3})
	f.Add([]byte{9, 0, 9, 0, 9, 1, 9, 2, 9, 2, 9, 1})
	f.Add([]byte{9, 3, 9, 6, 9, 7, 9, 8, 1, 9, 2, 10, 3, 11, 9, 11})
	f.Add([]byte{3, 4, 3, 4, 9, 5, 9, 1, 9, 2, 9, 5})
	f.Add([]byte{0x3f, 3, 0x5f, 0, 0x2f, 2, 0x4f, 9, 0x1f, 1})
	f.Add([]byte{9, 0, 0x1f, 0, 0x1f, 1, 0x1f, 0, 0x1f, 2, 0x1f, 1, 0x1f, 8, 0x1f, 6})
	f.Add([]byte{2, 8, 3, 8, 4, 8, 9, 0, 1, 1, 2, 2, 9, 2})
	f.Add([]byte{9, 0, 9, 1, 9, 15, 9, 3})
	f.Add([]byte{9, 0, 9, 2, 9, 1, 9, 12, 9, 12, 9, 15})
	f.Add([]byte{9, 0, 9, 13, 9, 1, 9, 15, 9, 13, 9, 3})
	f.Add([]byte{9, 0, 9, 1, 9, 14, 9, 15, 9, 14, 9, 3, 9, 5, 9, 15})
	f.Add([]byte{3, 19})
	f.Add([]byte{9, 17, 9, 16, 9, 18, 9, 16, 9, 19, 0})
	f.Add([]byte{9, 3, 9, 17, 9, 16, 9, 3, 2, 18, 9, 20, 9, 16, 9, 11, 4, 1})
	f.Add([]byte{9, 17, 0})
	f.Add([]byte{9, 17, 9, 18, 0})
	f.Add([]byte{9, 17, 9, 18})
	f.Add([]byte{9, 3, 9, 3, 9, 16, 9, 17, 9, 3, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		m := newModel()
		release := len(script)%2 == 1
		var theirs []string
		for len(script) >= 2 && len(script) < 400 {
			m.pass(t, trouble{dieAt: int(script[0] % 16), failAt: int(script[0]/16) - 1})
			if lost := missingFrom(theirs, m.theirs()); len(lost) > 0 {
				t.Fatalf("touched what is not ours: %v", lost)
			}
			m.disturb(t, script[1])
			theirs = m.theirs()
			script = script[2:]
		}
		m.throttled, m.silent, m.ahead, m.cluster = false, false, 0, 0
		m.settle(t)
		if lost := missingFrom(theirs, m.theirs()); len(lost) > 0 {
			t.Fatalf("touched what is not ours: %v", lost)
		}
		m.wantHealthy(t)
		m.deleteAll(t, release)
	})
}

func missingFrom(want, have []string) (out []string) {
	for _, one := range want {
		if !slices.Contains(have, one) {
			out = append(out, one)
		}
	}
	return out
}

// wantHealthy demands True, or a reason that names what others have done.
func (m *model) wantHealthy(t *testing.T) {
	t.Helper()
	excuses := map[string]bool{}
	for _, one := range m.theirs() {
		excuses[string(issuer.ReasonForeignKey)] = excuses[string(issuer.ReasonForeignKey)] || one == "key"
		excuses[string(issuer.ReasonProviderNotOurs)] = excuses[string(issuer.ReasonProviderNotOurs)] || strings.HasPrefix(one, "provider")
	}
	for _, c := range m.stored.Status.Conditions {
		if c.Status != metav1.ConditionTrue && !excuses[c.Reason] {
			t.Fatalf("%s is %s in a quiet world: %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
}
