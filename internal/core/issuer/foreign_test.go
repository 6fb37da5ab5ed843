package issuer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestAForeignKeyGoesAfterItsTime has a foreign key in all sorts of buckets.
func TestAForeignKeyGoesAfterItsTime(t *testing.T) {
	tests := map[string]struct {
		happen func(*testing.T, *model)
		early  bool // it is gone as soon as it is seen
		stays  bool // after a day and more under the operator's eyes
		says   string
	}{
		"in a bucket that Tabard made": {func(*testing.T, *model) {}, false, false, "it is taken out at 2026-03-15T16:09:26Z: add it to spec.keys.additional"},
		"in a bucket that Tabard made, under an old record": {func(t *testing.T, m *model) { m.watchAnyhow(t, 26*time.Hour) },
			true, false, ""},
		"in a bucket of somebody else": {func(_ *testing.T, m *model) { m.bucket.owner = "" }, false, true, "it is left there, as Tabard did not make the bucket"},
		"that the spec names": {func(_ *testing.T, m *model) { m.stored.Spec.Keys.Additional = []string{pairs[foreignPair].pem} },
			false, true, ""},
		"after the operator was away": {func(t *testing.T, m *model) {
			m.watchAnyhow(t, 24*time.Hour)
			m.advance(time.Hour)
		}, false, false, "it is taken out at"},
		"after the status was lost": {func(t *testing.T, m *model) {
			m.watchAnyhow(t, 26*time.Hour)
			m.stored.Status = v1alpha1.OIDCIssuerStatus{}
			m.lastLook = time.Time{}
		}, false, false, "it is taken out at"},
		"after an API server was silent": {func(t *testing.T, m *model) {
			m.watchAnyhow(t, 26*time.Hour)
			m.silent = true
			m.watchAnyhow(t, time.Hour)
			m.silent = false
		}, false, false, "it is taken out at"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			test.happen(t, m)
			m.foreignKey()
			m.settle(t)
			if got := !m.holds(foreignPair); got != test.early {
				t.Fatalf("the key is gone at once: %t, want %t", got, test.early)
			}
			text := messages(m.stored.Status)
			if !strings.Contains(text, test.says) || strings.Contains(text, string(issuer.ReasonForeignKey)) {
				t.Errorf("messages are\n%s\nwant one to say %q", text, test.says)
			}
			if m.watchAnyhow(t, 26*time.Hour); m.holds(foreignPair) != test.stays {
				t.Errorf("after a day the key is there: %t, want %t", m.holds(foreignPair), test.stays)
			}
		})
	}
}

// TestTheStatusIsLostDuringARotation: what status forgot is told as a foreign key, and
// stays for longer than the last token lives.
func TestTheStatusIsLostDuringARotation(t *testing.T) {
	m := newModel()
	m.signers = []int{0, 1}
	m.settle(t)
	m.signers = []int{1}
	m.watchAnyhow(t, 26*time.Hour-time.Minute)
	m.signers = []int{0, 1, 2} // the old key comes back, and signs for the last time
	m.settle(t)
	m.signers = []int{1, 2}
	m.stored.Status = v1alpha1.OIDCIssuerStatus{}
	m.lastLook = time.Time{}
	m.settle(t)
	if got := lines(m.stored.Status.Conditions)[1]; got != "KeysInSync False ForeignKey" || !strings.Contains(keysMessage(m), pairs[0].ID) {
		t.Errorf("the condition is %s: %s, want it to name the key as foreign", got, keysMessage(m))
	}
	m.watchAnyhow(t, 24*time.Hour)
	if !m.holds(0) {
		t.Error("the key is gone while its tokens live")
	}
	if m.watchAnyhow(t, 2*time.Hour); m.holds(0) {
		t.Error("the key stays for good")
	}
}

// TestAPersonDropsForeignKeysAtOnce, also in a bucket of somebody else, and keeps those of
// the cluster; without that word the pass keeps all.
func TestAPersonDropsForeignKeysAtOnce(t *testing.T) {
	for name, owner := range map[string]string{"in a bucket that Tabard made": testURL, "in a bucket of somebody else": ""} {
		for _, drop := range []bool{true, false} {
			m := newModel()
			m.settle(t)
			m.bucket.owner = owner
			m.foreignKey()
			w := m.Observe()
			w.DropForeignKeys = drop
			m.apply(t, issuer.Decide(w))
			if m.holds(foreignPair) == drop || !m.holds(0) {
				t.Errorf("%s, dropping %t: the foreign key is there: %t, the cluster's: %t", name, drop, m.holds(foreignPair), m.holds(0))
			}
		}
	}
}
