package issuer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TestANewKeyDoesNotWaitForTheStatus tells which steps are taken when the status
// cannot be stored before them: those that make a new key known and nothing else.
func TestANewKeyDoesNotWaitForTheStatus(t *testing.T) {
	rotated := func(m *model) { m.signers = []int{0, 1} }
	tests := map[string]struct {
		change func(*model)
		world  func(*issuer.World)
		want   []string
	}{
		"a new key":       {rotated, nil, []string{"PutDocument keys.json"}},
		"nothing new":     {func(*model) {}, nil, nil},
		"a lost document": {func(m *model) { delete(m.bucket.objects, issuer.KeysPath) }, nil, []string{"PutDocument keys.json"}},
		"a new key while another one expires": {func(m *model) {
			rotated(m)
			m.settle(t)
			m.signers = []int{1}
			m.settle(t)
			m.watch(t, 25*time.Hour)
			m.signers, m.now = []int{1, 2}, m.now.Add(time.Second)
		}, nil, []string{"PutDocument keys.json"}},
		"a key that only expires": {func(m *model) {
			rotated(m)
			m.settle(t)
			m.signers = []int{1}
			m.settle(t)
			m.now = m.now.Add(30 * 24 * time.Hour)
		}, nil, nil},
		"a bucket that is to be made":               {func(m *model) { rotated(m); m.bucket = nil }, nil, nil},
		"a bucket that status does not know":        {func(m *model) { rotated(m); m.stored.Status.Publication.Bucket = "" }, nil, nil},
		"an object that nothing holds":              {func(m *model) { rotated(m); m.stored.Finalizers = nil }, nil, nil},
		"a foreign key that a person wants dropped": {func(m *model) { rotated(m); m.foreignKey() }, func(w *issuer.World) { w.DropForeignKeys = true }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newModel()
			m.settle(t)
			test.change(m)
			w := m.Observe()
			if test.world != nil {
				test.world(&w)
			}
			plan := issuer.Decide(w)
			if diff := cmp.Diff(test.want, kinds(plan.Unrecorded(issuer.Record{}))); diff != "" {
				t.Errorf("steps of %v (-want +got):\n%s", kinds(plan.Steps), diff)
			}
			for _, failed := range []issuer.Step{issuer.HoldFinalizer{}, issuer.PutDocument{}} {
				if got := plan.Unrecorded(failed); got != nil {
					t.Errorf("%v are taken after a %T that failed", kinds(got), failed)
				}
			}
		})
	}
}

// TestKeysAreAddedBeforeOthersAreTakenOut has a key expire in the moment in which
// another comes: one write adds, the next takes out.
func TestKeysAreAddedBeforeOthersAreTakenOut(t *testing.T) {
	m := newModel()
	m.signers = []int{0, 1}
	m.settle(t)
	m.signers = []int{1}
	m.settle(t)
	m.watch(t, 25*time.Hour)
	m.signers, m.now = []int{1, 2}, m.now.Add(time.Second)
	var written []string
	for range 4 {
		m.pass(t)
		var held []string
		for i := range 3 {
			if strings.Contains(string(m.bucket.objects[issuer.KeysPath].Body), pairs[i].ID) {
				held = append(held, string(rune('0'+i)))
			}
		}
		written = append(written, strings.Join(held, ""))
	}
	if want := []string{"012", "12"}; !slices.Equal(slices.Compact(written), want) {
		t.Errorf("the document held the keys %v one after the other, want %v", written, want)
	}
}
