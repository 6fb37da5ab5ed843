package issuer_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestWhoeverWritesStatusPublishesNothing has a status that somebody else wrote.
func TestWhoeverWritesStatusPublishesNothing(t *testing.T) {
	forged := func(id, jwk string, state v1alpha1.KeyState, at time.Time) v1alpha1.SigningKey {
		when := metav1.NewTime(at)
		return v1alpha1.SigningKey{KeyID: id, Algorithm: "ES256", JWK: jwk, State: state, FirstSeen: when, LastSeen: when, ReadableSince: &when, RetiringSince: &when}
	}
	own, evil := pairs[1], pairs[forgedPair]
	tests := map[string]func(*model) []v1alpha1.SigningKey{
		"a key of theirs, retiring": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(evil.ID, evil.JWK, v1alpha1.KeyRetiring, m.now)}
		},
		"a key of theirs, in use": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(evil.ID, evil.JWK, v1alpha1.KeyActive, m.now)}
		},
		"a key of theirs, named by the spec": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(evil.ID, evil.JWK, v1alpha1.KeyAdditional, m.now)}
		},
		"a key of theirs, last seen in ten years": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(evil.ID, evil.JWK, v1alpha1.KeyRetiring, m.now.AddDate(10, 0, 0))}
		},
		"their key under the ID of a retiring one": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(own.ID, strings.Replace(evil.JWK, evil.ID, own.ID, 1), v1alpha1.KeyRetiring, m.now)}
		},
		"their key beside the retiring one's ID": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(own.ID, evil.JWK, v1alpha1.KeyRetiring, m.now)}
		},
		"two keys in one": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(own.ID, own.JWK+","+evil.JWK, v1alpha1.KeyRetiring, m.now)}
		},
		"no key at all": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged(own.ID, strings.Repeat("x", 8192), v1alpha1.KeyRetiring, m.now)}
		},
		"an ID of its own choice": func(m *model) []v1alpha1.SigningKey {
			return []v1alpha1.SigningKey{forged("mine", strings.Replace(evil.JWK, evil.ID, "mine", 1), v1alpha1.KeyRetiring, m.now)}
		},
	}
	for name, write := range tests {
		for _, place := range []string{"while all is well", "while the documents are gone", "while no API server answers"} {
			t.Run(name+", "+place, func(t *testing.T) {
				m := newModel()
				m.signers = []int{1, 0}
				m.settle(t)
				m.signers = []int{0}
				m.settle(t)
				m.stored.Status.Keys = append(m.stored.Status.Keys, write(m)...)
				switch place {
				case "while the documents are gone":
					clear(m.bucket.objects)
				case "while no API server answers":
					m.silent = true
				}
				m.settle(t)
				body := string(m.bucket.objects[issuer.KeysPath].Body)
				if _, theirs, _ := strings.Cut(evil.JWK, `"x"`); strings.Contains(body, theirs) {
					t.Errorf("their key is published: %s", body)
				}
				if !m.holds(0) || len(m.stored.Status.Keys) > 2 {
					t.Errorf("the document is %s, status knows %+v", body, m.stored.Status.Keys)
				}
			})
		}
	}
}

// TestAForgedStatusDoesNotHideAForeignKeyForGood: a key in the document that status
// claims is retiring, for ever, goes all the same, and Ready counts it meanwhile.
func TestAForgedStatusDoesNotHideAForeignKeyForGood(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.foreignKey()
	m.forge(foreignPair, v1alpha1.KeyRetiring)
	m.settle(t)
	if last := m.stored.Status.Conditions[3]; !strings.Contains(last.Message, "1 retiring key is published") {
		t.Errorf("Ready says %q, want it to count the retiring key", last.Message)
	}
	m.watchAnyhow(t, 26*time.Hour)
	if m.settle(t); m.holds(foreignPair) {
		t.Error("the foreign key is still published")
	}
}

// TestKeysOfAnExternalSignerRetire: an ID that the signer chose proves nothing by
// itself, but the document holds the very same key.
func TestKeysOfAnExternalSignerRetire(t *testing.T) {
	m := newModel()
	m.settle(t)
	was := pairs[1]
	pairs[1].ID, pairs[1].JWK = "chosen", strings.Replace(was.JWK, was.ID, "chosen", 1)
	defer func() { pairs[1] = was }()
	m.signers = []int{0, 1}
	m.settle(t)
	m.signers = []int{0}
	m.watchAnyhow(t, 24*time.Hour)
	m.wantState(t, 1, v1alpha1.KeyRetiring)
	m.watchAnyhow(t, 2*time.Hour)
	if m.settle(t); m.holds(1) {
		t.Error("the key stays for good")
	}
}

// TestTenThousandForgedKeysAreForgotten: what the schema would not let in, and what it
// would, is gone after one pass.
func TestTenThousandForgedKeysAreForgotten(t *testing.T) {
	for name, known := range map[string]bool{"with the bucket in view": true, "while AWS does not answer": false} {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			for range 10000 {
				m.stored.Status.Keys = append(m.stored.Status.Keys, v1alpha1.SigningKey{KeyID: "x", JWK: strings.Repeat("x", 8192)})
			}
			for _, pair := range pairs[1:7] {
				m.stored.Status.Keys = append(m.stored.Status.Keys, v1alpha1.SigningKey{KeyID: pair.ID, JWK: pair.JWK, State: v1alpha1.KeyActive})
			}
			m.throttled = !known
			m.pass(t)
			if got := len(m.stored.Status.Keys); got > 7 || known && got != 1 {
				t.Errorf("status knows %d keys", got)
			}
		})
	}
}
