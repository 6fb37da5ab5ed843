package issuer_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// signer is the pair that signs tokens.
func (m *model) signer() int { return m.signers[len(m.signers)-1] }

// advance lets time pass, in which tokens are signed.
func (m *model) advance(d time.Duration) {
	m.now = m.now.Add(d)
	m.signed[m.signer()] = m.now
}

// watch lets time pass under the operator's eyes.
func (m *model) watch(t *testing.T, d time.Duration) {
	t.Helper()
	const step = 25 * time.Minute
	for ; d > 0; d -= step {
		m.advance(min(d, step))
		m.settle(t)
	}
}

// holds says that the bucket's document holds a pair.
func (m *model) holds(pair int) bool {
	return strings.Contains(string(m.bucket.objects[issuer.KeysPath].Body), pairs[pair].ID)
}

// TestAKeyIsPublishedForAsLongAsItsTokensLive has a key replaced in all the ways in
// which nobody sees how long its tokens live. The model's check fails if it is
// unpublished before; at the end it must go all the same.
func TestAKeyIsPublishedForAsLongAsItsTokensLive(t *testing.T) {
	replace := func(m *model) { m.advance(time.Minute); m.signers = []int{1} }
	tests := map[string]func(*testing.T, *model){
		"the operator looks on": func(_ *testing.T, m *model) { replace(m) },
		"the operator was away for a day when it signed last": func(_ *testing.T, m *model) {
			m.advance(26 * time.Hour)
			replace(m)
		},
		"the operator is away while it is replaced": func(_ *testing.T, m *model) {
			replace(m)
			m.advance(20 * time.Hour)
		},
		"the source is refused for a day": func(t *testing.T, m *model) {
			m.refused = true
			m.watchAnyhow(t, 26*time.Hour)
			m.refused = false
			replace(m)
		},
		"one API server is silent for a day": func(t *testing.T, m *model) {
			m.silent = true
			m.watchAnyhow(t, 26*time.Hour)
			m.silent = false
			replace(m)
		},
		"one API server is silent while it retires": func(t *testing.T, m *model) {
			replace(m)
			m.settle(t)
			m.silent = true
			m.watchAnyhow(t, 26*time.Hour)
			m.silent = false
		},
		"no token can be had while it retires": func(t *testing.T, m *model) {
			replace(m)
			m.tokenless = true
			m.watchAnyhow(t, 26*time.Hour)
			m.tokenless = false
		},
		"the operator's clock jumps ahead": func(t *testing.T, m *model) {
			replace(m)
			m.settle(t)
			m.ahead = 30 * time.Hour
			m.watchAnyhow(t, time.Hour)
			m.ahead = 0
		},
		"the clocks of the cluster jump ahead, all of them": func(t *testing.T, m *model) {
			replace(m)
			m.settle(t)
			m.ahead, m.cluster = 30*time.Hour, 30*time.Hour
			m.watchAnyhow(t, time.Hour)
			m.ahead, m.cluster = 0, 0
		},
		"it was seen gone by clocks that were years behind": func(t *testing.T, m *model) {
			m.ahead, m.cluster = -9*365*24*time.Hour, -9*365*24*time.Hour
			m.settle(t)
			replace(m)
			m.settle(t)
			m.ahead, m.cluster = 0, 0
		},
		"it signs again while the operator is away": func(t *testing.T, m *model) {
			replace(m)
			m.watch(t, 24*time.Hour)
			m.signers = []int{0}
			m.advance(time.Hour)
			m.signers = []int{1}
		},
		"it comes back and goes again": func(t *testing.T, m *model) {
			replace(m)
			m.watch(t, 24*time.Hour)
			m.signers = []int{1, 0}
			m.watch(t, time.Hour)
			m.signers = []int{1}
		},
		"the status is of a version that did not note when": func(t *testing.T, m *model) {
			replace(m)
			m.settle(t)
			m.stored.Status.KeyRecord = v1alpha1.KeyRecord{}
			for i := range m.stored.Status.Keys {
				m.stored.Status.Keys[i].RetiringSince = nil
				m.stored.Status.Keys[i].LastSeen = metav1.NewTime(m.now.Add(-30 * time.Hour))
			}
		},
	}
	for name, happen := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			happen(t, m)
			m.settle(t)
			if !m.holds(0) {
				t.Fatal("the key is gone as soon as the operator looks")
			}
			m.watchAnyhow(t, 23*time.Hour)
			if !m.holds(0) {
				t.Fatal("the key is gone a day after it was seen gone")
			}
			m.watchAnyhow(t, 3*time.Hour)
			m.settle(t)
			if m.holds(0) || len(m.stored.Status.Keys) != 1 {
				t.Errorf("the key stays for good, status knows %+v", m.stored.Status.Keys)
			}
		})
	}
}

// TestAClockThatDiffersIsTold names the server whose token contradicts the clock.
func TestAClockThatDiffersIsTold(t *testing.T) {
	tests := map[string]struct {
		ahead time.Duration
		want  string
	}{
		"half a day ahead":       {12 * time.Hour, "Unknown ClockDiffers"},
		"half a day behind":      {-12 * time.Hour, "Unknown ClockDiffers"},
		"within what is allowed": {-4 * time.Minute, "True InSync"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			m.ahead = test.ahead
			got := lines(issuer.Decide(m.Observe()).Status.Conditions)[1]
			if want := issuer.TypeKeysInSync + " " + test.want; got != want {
				t.Errorf("the condition is %q, want %q", got, want)
			}
		})
	}
}

// TestStatusIsWrittenSeldom: a look that finds all well writes at most once in ten
// minutes.
func TestStatusIsWrittenSeldom(t *testing.T) {
	m := newModel()
	m.settle(t)
	writes := 0
	for range 60 {
		m.advance(time.Minute)
		before := m.stored.DeepCopy()
		m.pass(t)
		if !before.Status.KeyRecord.LastLook.Equal(m.stored.Status.KeyRecord.LastLook) {
			writes++
		}
	}
	if writes < 4 || writes > 6 {
		t.Errorf("%d writes of the last look in an hour, want about five", writes)
	}
}
