package issuer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestTwoWritersNeverLoseASigningKey lets an operator and a person's bootstrap
// work on the same bucket at once, each from what it last observed, while keys
// come and go. Every write is conditional, so one of two always loses and looks
// again.
func TestTwoWritersNeverLoseASigningKey(t *testing.T) {
	const rounds = 1000
	random := rand.New(rand.NewPCG(1, 2))
	shared := newModel()
	shared.settle(t)
	writers := []*model{shared, newModel()}
	writers[1].bucket, writers[1].providers = shared.bucket, shared.providers
	lost, refused := 0, 0
	look := func() {
		if shared.misses(string(shared.bucket.objects[issuer.KeysPath].Body)) {
			lost++
		}
	}
	for range rounds {
		if random.IntN(4) == 0 {
			shared.signers = rotate(shared.signers, random)
		}
		writers[1].signers = shared.signers
		first := random.IntN(2)
		second := 1 - first
		a, b := writers[first].Observe(), writers[second].Observe()
		refused += writers[first].apply(t, issuer.Decide(a))
		look()
		refused += writers[second].apply(t, issuer.Decide(b))
		look()
	}
	if lost > 0 {
		t.Errorf("a reader missed a published signing key %d times in %d rounds", lost, rounds)
	}
	if refused == 0 {
		t.Error("no write was ever refused: the writers did not meet")
	}
}

// rotate adds the next key, or takes the oldest.
func rotate(signers []int, random *rand.Rand) []int {
	if len(signers) > 1 && random.IntN(2) == 0 {
		return signers[1:]
	}
	return append(append([]int(nil), signers...), (signers[len(signers)-1]+1)%foreignPair)
}

// apply performs a plan made from an older look, and counts refused writes.
func (m *model) apply(t *testing.T, plan issuer.Plan) int {
	t.Helper()
	for _, step := range plan.Steps {
		err := m.perform(plan, step)
		known, is := errors.AsType[fault.Fault](err)
		switch {
		case err == nil:
			continue
		case is && known.Class == fault.Changed:
			return 1
		}
		t.Fatal(err)
	}
	m.stored.Status = plan.Status
	return 0
}

// TestAStaleWriterIsRefused shows what the conditional write is for.
func TestAStaleWriterIsRefused(t *testing.T) {
	m := newModel()
	m.settle(t)
	m.signers = []int{0, 1}
	stale := issuer.Decide(m.Observe())
	m.foreignKey()
	if got := m.apply(t, stale); got != 1 {
		t.Fatalf("%d writes were refused, want 1; steps were %s", got, fmt.Sprint(kinds(stale.Steps)))
	}
	m.settle(t)
	body := string(m.bucket.objects[issuer.KeysPath].Body)
	for _, index := range []int{0, 1, foreignPair} {
		if !strings.Contains(body, pairs[index].ID) {
			t.Errorf("key %d is not in the document after both have written", index)
		}
	}
}

// kinds names steps without their content.
func kinds(steps []issuer.Step) (out []string) {
	for _, step := range steps {
		name := strings.TrimPrefix(fmt.Sprintf("%T", step), "issuer.")
		if put, is := step.(issuer.PutDocument); is {
			name += " " + put.Key
		}
		if put, is := step.(issuer.DeleteDocument); is {
			name += " " + put.Key
		}
		out = append(out, name)
	}
	return out
}
