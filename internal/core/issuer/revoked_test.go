package issuer_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// revoke names a pair as revoked.
func (m *model) revoke(pair int, force bool) {
	m.stored.Spec.Keys.Revoked = append(m.stored.Spec.Keys.Revoked, v1alpha1.RevokedKey{KeyID: pairs[pair].ID, Force: force})
}

func TestDecideOnRevokedKeys(t *testing.T) {
	old, next := pairs[0].ID, pairs[1].ID
	tests := map[string]struct {
		happen func(*testing.T, *model)
		holds  bool   // the document holds the revoked key at the end
		keys   string // what KeysInSync is
		says   string
	}{
		"a key that signs stays, and it is told why": {func(_ *testing.T, m *model) { m.revoke(0, false) },
			true, "False KeyRevoked", "revoked key " + old + " is still published: the cluster signs with it; sign with another key on every API server, or set force"},
		"a key that signs goes by force, and it is told what that means": {func(_ *testing.T, m *model) { m.revoke(0, true) },
			false, "False KeyRevoked", "AWS refuses these tokens, the operator's own among them; sign with another key, then run tabard issuer bootstrap -f FILE with an AWS session of your own"},
		"a key that does not sign any more goes, and stays away though the API server shows it": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.revoke(0, false)
		}, false, "False KeyRevoked", "is out, but API servers still accept it for themselves: take it out of --service-account-key-file"},
		"a key that signs goes by itself once another is seen to": {func(t *testing.T, m *model) {
			m.revoke(0, false)
			m.settle(t)
			m.signers = []int{0, 1}
		}, false, "False KeyRevoked", "is out"},
		"a retiring key goes at once": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.signers = []int{1}
			m.settle(t)
			m.revoke(0, false)
		}, false, "True InSync", old + " is revoked and published nowhere"},
		"a retiring key goes at once though a server is silent": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.signers = []int{1}
			m.settle(t)
			m.silent = true
			m.revoke(0, false)
		}, false, "Unknown APIServerUnreachable", ""},
		"a key by which a silent server may sign stays": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.silent = true
			m.revoke(0, false)
		}, true, "False KeyRevoked", "not every one has given a token that verifies"},
		"a silent server does not keep a key by force": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.silent = true
			m.revoke(0, true)
		}, false, "False KeyRevoked", "is out"},
		"a key that signed the operator's own token stays": {func(t *testing.T, m *model) {
			m.signers = []int{0, 1}
			m.settle(t)
			m.ownToken = old
			m.revoke(0, false)
		}, true, "False KeyRevoked", "the operator's own token for AWS is signed with it: start the operator's pod anew"},
		"a refused source does not keep a key": {func(_ *testing.T, m *model) {
			m.revoke(0, true)
			m.refused = true
		}, false, "False PrivateKeyInSource", ""},
		"a foreign key goes at once": {func(t *testing.T, m *model) {
			m.foreignKey()
			m.settle(t)
			m.revoke(foreignPair, false)
		}, true, "True InSync", pairs[foreignPair].ID + " is revoked and published nowhere"},
		"a key that spec.keys.additional names too stays away": {func(_ *testing.T, m *model) {
			m.revoke(1, false)
			m.stored.Spec.Keys.Additional = []string{pairs[1].pem}
		}, true, "True InSync", next + " is revoked and published nowhere"},
		"an ID that nobody has is told": {func(_ *testing.T, m *model) {
			m.stored.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{KeyID: "typo"}}
		}, true, "True InSync", "typo is revoked and published nowhere; nothing is known of such a key, compare the ID"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			test.happen(t, m)
			m.settle(t)
			if got := m.holds(0); got != test.holds {
				t.Errorf("the document holds the key: %t, want %t", got, test.holds)
			}
			if m.holds(foreignPair) {
				t.Error("the foreign key is still there")
			}
			if got, want := lines(m.stored.Status.Conditions)[1], issuer.TypeKeysInSync+" "+test.keys; got != want {
				t.Errorf("the condition is %q, want %q", got, want)
			}
			if text := messages(m.stored.Status); !strings.Contains(text, test.says) {
				t.Errorf("messages are\n%s\nwant one to say %q", text, test.says)
			}
		})
	}
}

// TestReadySaysWhatARevokedKeyMeansForPods has an operator that is done with a key,
// and pods that are not.
func TestReadySaysWhatARevokedKeyMeansForPods(t *testing.T) {
	m := newModel()
	m.signers = []int{0, 1}
	m.settle(t)
	m.revoke(0, false)
	m.signers = []int{1}
	m.settle(t)
	last := m.stored.Status.Conditions[3]
	for _, want := range []string{"AWS refuses tokens signed with the revoked " + pairs[0].ID, "kubectl rollout restart"} {
		if last.Status != "True" || !strings.Contains(last.Message, want) {
			t.Errorf("Ready is %s and says %q, want it to say %q", last.Status, last.Message, want)
		}
	}
}

// TestARevokedKeyIsOutInOnePass: the pass that sees it revoked takes it out.
func TestARevokedKeyIsOutInOnePass(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.revoke(0, true)
	m.pass(t)
	if m.holds(0) {
		t.Error("the document holds the revoked key after the pass")
	}
	if got := string(m.bucket.objects[issuer.KeysPath].Body); got != `{"keys":[]}` {
		t.Errorf("the document is %s, want an empty set", got)
	}
}

// TestTheLockedOutPublisherIsTold has AWS refuse the operator, whose revoked key is
// still published: only a person can take it out.
func TestTheLockedOutPublisherIsTold(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.revoke(0, true)
	w := m.Observe()
	w.Caller = issuer.Caller{Fault: &fault.Fault{Class: fault.Unauthenticated, Service: "STS", Operation: "AssumeRoleWithWebIdentity", Code: "InvalidIdentityToken"}}
	if text, want := messages(issuer.Decide(w).Status), "tabard issuer bootstrap -f FILE with an AWS session of your own"; !strings.Contains(text, want) {
		t.Errorf("messages are\n%s\nwant one to say %q", text, want)
	}
}

// TestTwoWritersNeverBringARevokedKeyBack has two writers of whom one learns late that
// a key is revoked. Both read the spec after the documents, as operator and bootstrap do.
func TestTwoWritersNeverBringARevokedKeyBack(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		shared := newModel()
		shared.signers = []int{0, 1}
		shared.settle(t)
		late := newModel()
		late.bucket, late.providers, late.signers = shared.bucket, shared.providers, shared.signers
		late.stored.Status = *shared.stored.Status.DeepCopy()
		writers := []*model{shared, late}
		gone := false
		for range 12 {
			m := writers[random.IntN(2)]
			w := m.Observe() // the documents
			other := writers[random.IntN(2)]
			if random.IntN(3) == 0 && len(shared.stored.Spec.Keys.Revoked) == 0 {
				shared.revoke(0, false)
			}
			if random.IntN(2) == 0 {
				applyOnce(t, other, shared)
			}
			w.Issuer.Spec.Keys.Revoked = shared.stored.Spec.Keys.Revoked // the spec
			for _, step := range issuer.Decide(w).Steps {
				if put, is := step.(issuer.PutDocument); is {
					if known, is := errors.AsType[fault.Fault](m.put(put)); is && known.Class == fault.Changed {
						break
					}
				}
			}
			if gone && shared.holds(0) {
				t.Fatal("a revoked key was published again")
			}
			gone = gone || len(shared.stored.Spec.Keys.Revoked) > 0 && !shared.holds(0)
		}
	}
}

// applyOnce is a whole pass of a writer that reads the newest spec.
func applyOnce(t *testing.T, m, shared *model) {
	t.Helper()
	w := m.Observe()
	w.Issuer.Spec.Keys.Revoked = shared.stored.Spec.Keys.Revoked
	m.apply(t, issuer.Decide(w))
}

// TestTheNextKeyIsPublishedEarly follows a key from the spec to its retirement.
func TestTheNextKeyIsPublishedEarly(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.advance(10 * time.Minute)
	m.stored.Spec.Keys.Additional = []string{pairs[1].pem}
	m.settle(t)
	m.wantState(t, 1, v1alpha1.KeyAdditional)
	if want := pairs[1].ID + " can be read since"; !strings.Contains(keysMessage(m), want) {
		t.Errorf("KeysInSync says %s, want it to say %q", keysMessage(m), want)
	}
	m.watchAnyhow(t, 30*time.Hour)
	if want := pairs[1].ID + " is safe to sign with"; !m.holds(1) || !strings.Contains(keysMessage(m), want) {
		t.Fatalf("KeysInSync says %s, want it to say %q of a key that is published", keysMessage(m), want)
	}
	m.signers = []int{0, 1}
	m.settle(t)
	m.wantState(t, 1, v1alpha1.KeyActive)
	m.stored.Spec.Keys.Additional = nil
	m.settle(t)
	m.wantState(t, 1, v1alpha1.KeyActive)
	m.stored.Spec.Keys.Additional = []string{pairs[2].pem}
	m.settle(t)
	m.stored.Spec.Keys.Additional = nil
	m.watchAnyhow(t, 24*time.Hour)
	m.wantState(t, 2, v1alpha1.KeyRetiring)
	m.watchAnyhow(t, 2*time.Hour)
	if m.settle(t); m.holds(2) {
		t.Error("a key that left the list stays for good")
	}
}

func (m *model) wantState(t *testing.T, pair int, want v1alpha1.KeyState) {
	t.Helper()
	for _, key := range m.stored.Status.Keys {
		if key.KeyID == pairs[pair].ID && key.State == want && m.holds(pair) {
			return
		}
	}
	t.Fatalf("pair %d is not %s and published; status knows %+v", pair, want, m.stored.Status.Keys)
}

// TestAdditionalKeysThatCannotBeUsed are told, and keep nothing else from being done.
func TestAdditionalKeysThatCannotBeUsed(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a private key": {"-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "False PrivateKeyInSource"},
		"no key":        {"hello", "False KeyUnreadable"},
		"a certificate": {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "False UnsupportedKey"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			m.stored.Spec.Keys.Additional = []string{pairs[2].pem, test.text}
			m.signers = []int{0, 1}
			m.settle(t)
			if !m.holds(1) || m.holds(2) {
				t.Errorf("the new signing key is published: %t, the list beside a bad entry: %t", m.holds(1), m.holds(2))
			}
			if got := lines(m.stored.Status.Conditions)[1]; got != "KeysInSync "+test.want {
				t.Errorf("the condition is %q, want %q", got, test.want)
			}
		})
	}
}
