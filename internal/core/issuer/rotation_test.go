package issuer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestKeysInSyncTellsHowFarARotationIs follows two keys through a rotation. The model's
// last signer signs.
func TestKeysInSyncTellsHowFarARotationIs(t *testing.T) {
	first, second := pairs[0].ID, pairs[1].ID
	type step struct {
		after   time.Duration // since the new key came
		signers []int
		says    []string
	}
	tests := map[string][]step{
		"in the only safe order": {
			{0, []int{1, 0}, []string{first + " signs;", second + " can be read since 2026-03-14T17:09:26Z, sign with it after 2026-03-14T18:09:26Z"}},
			{59 * time.Minute, []int{1, 0}, []string{second + " can be read since"}},
			{time.Hour, []int{1, 0}, []string{first + " signs;", second + " is safe to sign with"}},
			{time.Hour, []int{0, 1}, []string{first + " is safe to sign with;", second + " signs"}},
			{2 * time.Hour, []int{1}, []string{first + " has gone from the API server and is published until 2026-03-15T20:09:26Z", second + " signs"}},
			{48 * time.Hour, []int{1}, []string{"published: " + second + " signs"}},
		},
		"signed with too early": {
			{0, []int{0, 1}, []string{first + " is safe to sign with;", second + " signs, although it can be read only since 2026-03-14T17:09:26Z", "may refuse its tokens until 2026-03-14T18:09:26Z"}},
			{time.Hour, []int{0, 1}, []string{second + " signs"}},
		},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			if got := keysMessage(m); !strings.HasSuffix(got, "published: "+first+" signs") {
				t.Fatalf("a new cluster's key is told so: %s", got)
			}
			start := m.now.Add(2 * time.Hour)
			for _, step := range steps {
				m.watch(t, start.Add(step.after).Sub(m.now))
				m.signers = step.signers
				m.settle(t)
				for _, want := range step.says {
					if got := keysMessage(m); !strings.Contains(got, want) {
						t.Errorf("after %s the message is\n%s\nwant it to say %q", step.after, got, want)
					}
				}
			}
			if got, want := keysMessage(m), second+" signs"; !strings.HasSuffix(got, want) {
				t.Errorf("at the end the message is\n%s\nwant it to end with %q", got, want)
			}
		})
	}
}

// TestKeysThatAreNotPublishedAreTold tells a key that only waits from one that signs.
func TestKeysThatAreNotPublishedAreTold(t *testing.T) {
	first, second := pairs[0].ID, pairs[1].ID
	tests := map[string]struct {
		signers []int
		change  func(*issuer.World)
		says    string
	}{
		"a key that only verifies": {[]int{1, 0}, nil, "the API server shows " + second + ", which the keys document does not hold yet: do not sign with it"},
		"a key that signs":         {[]int{0, 1}, nil, "the cluster signs tokens with " + second + ", which the keys document does not hold: clouds refuse these tokens until it is written and fetched; sign with " + first + " again"},
		"no key to go back to":     {[]int{1}, nil, "clouds refuse these tokens until it is written and fetched"},
		"who knows what signs":     {[]int{0, 1}, func(w *issuer.World) { w.Cluster.APIServers[0].Token = issuer.Token{Error: "forbidden"} }, "the API server shows " + second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			m.signers = test.signers
			w := m.Observe()
			if test.change != nil {
				test.change(&w)
			}
			plan := issuer.Decide(w)
			for _, c := range plan.Status.Conditions {
				if c.Type == issuer.TypeKeysInSync && (c.Reason != string(issuer.ReasonKeyNotPublished) || !strings.Contains(c.Message, test.says)) {
					t.Errorf("%s: %s, want it to say %q", c.Reason, c.Message, test.says)
				}
			}
		})
	}
}

// TestAKeyIsReadableOnlyOnceItWasReadBack keeps a key from being called safe while
// nobody has seen it at the URL.
func TestAKeyIsReadableOnlyOnceItWasReadBack(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.signers = []int{1, 0}
	m.settle(t)
	stored := m.stored.DeepCopy()
	for i := range stored.Status.Keys {
		stored.Status.Keys[i].ReadableSince = nil
	}
	w := m.Observe()
	w.Issuer = stored
	w.Public = issuer.Public{Keys: issuer.Fetch{Error: "no route"}, Discovery: issuer.Fetch{Error: "no route"}}
	w.Now = w.Now.Add(24 * time.Hour)
	w.Cluster.APIServers[0].Token.IssuedAt = w.Now
	plan := issuer.Decide(w)
	for _, key := range plan.Status.Keys {
		if key.ReadableSince != nil {
			t.Errorf("key %s is readable since %s, though nobody could read it", key.KeyID, key.ReadableSince)
		}
	}
	if want := pairs[1].ID + " was not read back from the URL yet, do not sign with it"; !strings.Contains(messages(plan.Status), want) {
		t.Errorf("messages are\n%s\nwant one to say %q", messages(plan.Status), want)
	}
}

// keysMessage is what KeysInSync says.
func keysMessage(m *model) string {
	for _, c := range m.stored.Status.Conditions {
		if c.Type == issuer.TypeKeysInSync {
			return c.Message
		}
	}
	return ""
}
