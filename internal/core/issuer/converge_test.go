package issuer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/crash"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	foreignStatement = `{"Sid":"Theirs","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"s3:ListBucket","Resource":"arn:aws:s3:::tabard-demo"}`
	foreignPair      = 7 // never a signer of the cluster
	forgedPair       = 8 // in a forged status only
)

// Disturb changes the environment behind the controller's back.
func (m *model) Disturb(next func() byte) error {
	what := next() % 27
	switch what {
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
		m.disturbNames(what)
		m.disturbKeys(what)
		return m.disturbTime(what)
	}
	return nil
}

// disturbKeys has persons, and whoever may write a status, do what they like.
func (m *model) disturbKeys(what byte) {
	revoke := func(pair int, force bool) {
		if !m.isRevoked(pair) {
			m.stored.Generation++
			m.stored.Spec.Keys.Revoked = append(m.stored.Spec.Keys.Revoked, v1alpha1.RevokedKey{KeyID: pairs[pair].ID, Force: force})
		}
	}
	switch what {
	case 21: // a key is revoked that does not sign, or not for long
		revoke(max(m.signer()-1, 0), false)
	case 22: // the key that signs is revoked, whatever comes of it
		revoke(m.signer(), true)
	case 23: // the next key is published early, or no more
		m.stored.Generation++
		if next := m.signer() + 1; len(m.stored.Spec.Keys.Additional) == 0 && next < foreignPair {
			m.stored.Spec.Keys.Additional = []string{pairs[next].pem}
		} else {
			m.stored.Spec.Keys.Additional = nil
		}
	case 24: // the status is lost
		m.stored.Status = v1alpha1.OIDCIssuerStatus{Publication: m.stored.Status.Publication, Providers: m.stored.Status.Providers}
		m.lastLook, m.lost = time.Time{}, true
	case 25: // the status is forged
		m.forge(forgedPair, v1alpha1.KeyActive)
		m.forge(foreignPair, v1alpha1.KeyRetiring)
	case 26:
		revoke(foreignPair, false)
	}
}

// forge writes a key into status that no pass has seen.
func (m *model) forge(pair int, state v1alpha1.KeyState) {
	if slices.ContainsFunc(m.stored.Status.Keys, func(k v1alpha1.SigningKey) bool { return k.KeyID == pairs[pair].ID }) {
		return
	}
	future := metav1.NewTime(m.now.AddDate(10, 0, 0))
	m.stored.Status.Keys = append(m.stored.Status.Keys, v1alpha1.SigningKey{
		KeyID: pairs[pair].ID, Algorithm: pairs[pair].Algorithm, JWK: pairs[pair].JWK, State: state,
		FirstSeen: future, LastSeen: future, ReadableSince: &future, RetiringSince: &future,
	})
}

// disturbTime lets clocks go wrong, and things happen while nobody looks.
func (m *model) disturbTime(what byte) error {
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
		return m.under(26 * time.Hour)
	}
	return nil
}

// under lets time pass under the operator's eyes, with one pass at a time, whatever
// comes of it.
func (m *model) under(d time.Duration) error {
	const step = 25 * time.Minute
	for ; d > 0; d -= step {
		m.advance(step)
		if _, err := crash.Pass(m, crash.None); err != nil {
			return err
		}
	}
	return nil
}

// watchAnyhow is under for tests.
func (m *model) watchAnyhow(t *testing.T, d time.Duration) {
	t.Helper()
	must.Do(t, m.under(d))
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
	body := strings.Replace(string(document.Body), `{"keys":[`, `{"keys":[`+pairs[foreignPair].JWK+`,`, 1)
	document.Body = []byte(strings.Replace(body, ",]", "]", 1))
	document.ETag = "theirs"
	delete(m.out, foreignPair)
	m.bucket.objects[issuer.KeysPath] = document
}

// Foreign is what of others is in the account.
func (m *model) Foreign() (out []string) {
	goes := m.release && !m.stored.DeletionTimestamp.IsZero() // with the bucket
	if m.bucket != nil && strings.Contains(m.bucket.policy, foreignStatement) && !goes {
		out = append(out, "statement")
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

// pass makes one pass without trouble.
func (m *model) pass(t *testing.T) {
	t.Helper()
	must.Get(crash.Pass(m, crash.None))(t)
}

// settle makes passes until all is at rest.
func (m *model) settle(t *testing.T) {
	t.Helper()
	must.Do(t, crash.Settle(m))
}

// FuzzConverge runs lives of an issuer. A disturbance takes one byte.
func FuzzConverge(f *testing.F) {
	start := func(variety byte) crash.Model[issuer.World, issuer.Step] {
		m := newModel()
		m.release = variety%2 == 1
		return m
	}
	crash.Fuzz(f, start,
		[]byte{0},
		[]byte{0, 0, 3, 1, 3, 2, 3, 3, 3, 4, 3, 5, 3, 6, 3, 7, 3, 8, 3},
		[]byte{0, 9, 0, 9, 0, 9, 1, 9, 2, 9, 2, 9, 1},
		[]byte{0, 9, 3, 9, 6, 9, 7, 9, 8, 1, 9, 2, 10, 3, 11, 9, 11},
		[]byte{0, 3, 4, 3, 4, 9, 5, 9, 1, 9, 2, 9, 5},
		[]byte{0, 0x3e, 3, 0x5e, 0, 0x2e, 2, 0x4e, 9, 0x1e, 1},
		[]byte{0, 9, 0, 0x1e, 0, 0x1e, 1, 0x1e, 0, 0x1e, 2, 0x1e, 1, 0x1e, 8, 0x1e, 6},
		[]byte{0, 2, 8, 3, 8, 4, 8, 9, 0, 1, 1, 2, 2, 9, 2},
		[]byte{0, 9, 0, 9, 1, 9, 15, 9, 3},
		[]byte{0, 9, 0, 9, 2, 9, 1, 9, 12, 9, 12, 9, 15},
		[]byte{0, 9, 0, 9, 21, 9, 3, 9, 0, 9, 15},
		[]byte{0, 9, 22, 9, 0, 9, 3, 9, 1, 9, 24, 9, 15},
		[]byte{0, 9, 23, 9, 0, 9, 1, 9, 23, 9, 15, 9, 3},
		[]byte{0, 9, 6, 9, 3, 9, 24, 9, 15, 9, 3, 9, 6, 9, 3},
		[]byte{0, 9, 25, 9, 6, 9, 25, 9, 15, 9, 24, 9, 25, 9, 3},
		[]byte{0, 9, 0, 9, 6, 9, 26, 9, 4, 9, 24, 9, 4, 9, 1, 9, 25},
		[]byte{0, 9, 0, 9, 13, 9, 1, 9, 15, 9, 13, 9, 3},
		[]byte{0, 9, 0, 9, 1, 9, 14, 9, 15, 9, 14, 9, 3, 9, 5, 9, 15},
		[]byte{0, 3, 19},
		[]byte{1, 9, 17, 9, 16, 9, 18, 9, 16, 9, 19},
		[]byte{0, 9, 3, 9, 17, 9, 16, 9, 3, 2, 18, 9, 20, 9, 16, 9, 11, 4, 1},
		[]byte{1, 9, 17},
		[]byte{1, 9, 17, 9, 18},
		[]byte{0, 9, 17, 9, 18},
		[]byte{1, 9, 3, 9, 3, 9, 16, 9, 17, 9, 3},
	)
}

// unhealthy demands True, or a reason that names what others have done.
func (m *model) unhealthy() string {
	excuses := map[string]bool{string(issuer.ReasonForeignKey): m.holds(foreignPair) || m.lost}
	for i := range pairs { // a revoked key that the API servers go on to show
		excuses[string(issuer.ReasonKeyRevoked)] = excuses[string(issuer.ReasonKeyRevoked)] || m.isRevoked(i) && slices.Contains(m.signers, i)
	}
	excuses[string(issuer.ReasonTokenNotVerified)] = m.isRevoked(m.signer())
	for _, one := range m.Foreign() {
		excuses[string(issuer.ReasonProviderNotOurs)] = excuses[string(issuer.ReasonProviderNotOurs)] || strings.HasPrefix(one, "provider")
	}
	for _, c := range m.stored.Status.Conditions {
		if c.Status != metav1.ConditionTrue && !excuses[c.Reason] {
			return fmt.Sprintf("%s is %s in a quiet world: %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	return ""
}
