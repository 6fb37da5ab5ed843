package issuer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
)

// Violation names the first broken rule: all that exists outside can be found
// from status, no reader ever misses a signing key that was published, and the
// bucket's name is never given up while somebody believes in it.
func (m *model) Violation() string {
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
	return m.strangers(published)
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

// strangers names a broken rule on keys that are not to be published, or not by us.
func (m *model) strangers(published bool) string {
	if !published {
		return ""
	}
	if m.holds(forgedPair) {
		return "a key was published that only status had"
	}
	for i := range pairs {
		if !m.isRevoked(i) {
			continue
		}
		if m.out[i] && m.holds(i) {
			return "a revoked key was published again"
		}
		m.out[i] = m.out[i] || !m.holds(i)
	}
	early := m.foreign && !m.holds(foreignPair) && !m.isRevoked(foreignPair) && m.now.Before(m.looked.Add(25*time.Hour))
	m.foreign = m.holds(foreignPair)
	if early {
		return "somebody else's key was taken out early"
	}
	return ""
}

// isRevoked says that the spec revokes a pair.
func (m *model) isRevoked(pair int) bool {
	return slices.ContainsFunc(m.stored.Spec.Keys.Revoked, func(k v1alpha1.RevokedKey) bool { return k.KeyID == pairs[pair].ID })
}

// noteLook keeps the model's own record of the looks at the cluster.
func (m *model) noteLook() {
	if m.silent || m.refused || m.tokenless || m.ahead != m.cluster {
		return
	}
	if m.lastLook.IsZero() || m.now.Sub(m.lastLook) > 30*time.Minute {
		m.looked = m.now
	}
	m.lastLook = m.now
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
		lives := has && m.now.Before(signed.Add(tokenLife)) && !m.isRevoked(i)
		stranded = stranded || m.read[i] && !there && lives
		m.read[i] = there || m.read[i] && lives
	}
	return stranded
}

// misses says that a key that signs, and that some reader has seen before, is
// not in a document; and notes what this reader sees.
func (m *model) misses(body string) bool {
	before, missing := m.published, false
	m.published = map[int]bool{}
	for _, signer := range m.signers {
		there := strings.Contains(body, pairs[signer].ID) || m.isRevoked(signer)
		missing = missing || before[signer] && !there
		m.published[signer] = there
	}
	return missing
}

func TestViolationsAreNoticed(t *testing.T) {
	tests := map[string]struct {
		plant func(*testing.T, *model)
		want  string
	}{
		"nothing is wrong after a quiet start": {func(*testing.T, *model) {}, ""},
		"a provider that status forgot":        {func(t *testing.T, m *model) { m.stored.Status.Providers = nil }, "status does not know the provider of account"},
		"a bucket that status forgot":          {func(t *testing.T, m *model) { m.stored.Status.Publication.Bucket = "" }, "status does not know the bucket"},
		"a discovery document alone":           {func(t *testing.T, m *model) { delete(m.bucket.objects, issuer.KeysPath) }, "the discovery document leads to keys that are not there"},
		"a signing key is taken out": {func(t *testing.T, m *model) {
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(1)}
		}, "a key that signs was published and is gone"},
		"a key is taken out before its last token has expired": {func(t *testing.T, m *model) {
			m.signers = []int{1}
			m.settle(t)
			m.now = m.now.Add(tokenLife - time.Second)
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(1)}
		}, "a key was unpublished while its tokens live"},
		"a key that only status had is published": {func(t *testing.T, m *model) {
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(0, forgedPair)}
		}, "a key was published that only status had"},
		"a revoked key is published again": {func(t *testing.T, m *model) {
			m.stored.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{KeyID: pairs[1].ID}}
			m.settle(t)
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(0, 1)}
		}, "a revoked key was published again"},
		"somebody else's key is taken out early": {func(t *testing.T, m *model) {
			m.foreignKey()
			m.settle(t)
			m.bucket.objects[issuer.KeysPath] = issuer.Document{Exists: true, Body: keySet(0)}
		}, "somebody else's key was taken out early"},
		"a key is taken out after that": {func(t *testing.T, m *model) {
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
			_, err := crash.Pass(&crash.Planted[issuer.World, issuer.Step]{Model: m, Plant: func() { test.plant(t, m) }}, crash.None)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the driver found %v, want %q", err, test.want)
			}
		})
	}
}
