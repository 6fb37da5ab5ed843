package issuer_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// lateReader reads the API server, and lets something happen before it reads one object
// for the second time: the first is what the pass decides on.
type lateReader struct {
	client.Reader
	reads  int
	before func()
}

func (r *lateReader) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if r.reads++; r.reads == 2 {
		r.before()
	}
	return r.Reader.Get(ctx, key, into, options...)
}

// TestAKeyThatIsRevokedDuringAPassIsNotWritten revokes a new key when the pass that
// publishes it has decided to.
func TestAKeyThatIsRevokedDuringAPassIsNotWritten(t *testing.T) {
	f := newFixture(t)
	cluster := f.onRotating(t)
	f.create(t, "main", unchanged)
	f.settle(t, "main")
	key := cluster.replace(t)
	late := &lateReader{Reader: f.controller.Kit.Live}
	revoked := false
	late.before = func() {
		var stored v1alpha1.OIDCIssuer
		if err := f.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &stored); err != nil {
			t.Error(err)
		}
		stored.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{KeyID: key, Force: true}}
		if err := f.client.Update(t.Context(), &stored); err != nil {
			t.Error(err)
		}
		revoked = true
	}
	f.controller.Kit.Live = late
	for range 5 {
		f.pass(t, "main")
		seen := must.Get(f.published(t.Context()))(t)
		if seen[key] {
			t.Fatal("the revoked key is published")
		}
	}
	if !revoked {
		t.Fatal("nothing was read between the decision and the write")
	}
	stored, _ := f.pass(t, "main")
	wantCondition(t, stored, core.TypeKeysInSync, metav1.ConditionFalse, core.ReasonKeyRevoked)
}

// TestTheSchemaBoundsStatusAndKeys tries what a patch of the status or the spec must not
// be able to store.
func TestTheSchemaBoundsStatusAndKeys(t *testing.T) {
	f := newFixture(t)
	f.create(t, "main", unchanged)
	public, private := keyPair(t)
	many := make([]v1alpha1.SigningKey, 301)
	for i := range many {
		many[i] = v1alpha1.SigningKey{KeyID: string(rune('a'+i%26)) + string(rune('a'+i/26)), State: v1alpha1.KeyRetiring, FirstSeen: metav1.Now(), LastSeen: metav1.Now()}
	}
	big := []v1alpha1.SigningKey{{KeyID: "a", JWK: string(make([]byte, 1<<20)), State: v1alpha1.KeyRetiring, FirstSeen: metav1.Now(), LastSeen: metav1.Now()}}
	tests := map[string]struct {
		change  func(*v1alpha1.OIDCIssuer)
		status  bool
		refused bool
	}{
		"301 keys in the status":         {func(o *v1alpha1.OIDCIssuer) { o.Status.Keys = many }, true, true},
		"a key of a megabyte":            {func(o *v1alpha1.OIDCIssuer) { o.Status.Keys = big }, true, true},
		"300 keys in the status":         {func(o *v1alpha1.OIDCIssuer) { o.Status.Keys = many[:300] }, true, false},
		"an additional public key":       {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Additional = []string{public} }, false, false},
		"an additional private key":      {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Additional = []string{private} }, false, true},
		"a private key after a public":   {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Additional = []string{public + private} }, false, true},
		"an additional text of no key":   {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Additional = []string{"hello"} }, false, true},
		"a revoked key without an ID":    {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{}} }, false, true},
		"the same key revoked twice":     {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{KeyID: "a"}, {KeyID: "a"}} }, false, true},
		"a revoked key, whatever its ID": {func(o *v1alpha1.OIDCIssuer) { o.Spec.Keys.Revoked = []v1alpha1.RevokedKey{{KeyID: "a"}} }, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stored v1alpha1.OIDCIssuer
			must.Do(t, f.client.Get(t.Context(), client.ObjectKey{Name: "main"}, &stored))
			test.change(&stored)
			write := f.client.Update
			if test.status {
				write = func(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
					return f.client.Status().Update(ctx, o)
				}
			}
			err := write(t.Context(), &stored)
			if (err != nil) != test.refused {
				t.Errorf("the API server says %v, refused should be %t", err, test.refused)
			}
		})
	}
}
