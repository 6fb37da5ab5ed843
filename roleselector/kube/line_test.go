package kube

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

var bucketKind = schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}

func bucketRef(namespace, name string) roleselector.Object {
	return roleselector.Object{Group: bucketKind.Group, Version: bucketKind.Version, Kind: bucketKind.Kind, Namespace: namespace, Name: name}
}

func TestNamespacesTakeTurnsInALine(t *testing.T) {
	l := newLine()
	for i := range 1000 {
		l.add(bucketRef("loud", fmt.Sprintf("b%d", i)))
	}
	l.add(bucketRef("quiet", "only"))
	l.add(bucketRef("quiet", "only"))
	var got []string
	for range 4 {
		o, _ := l.next()
		got = append(got, o.Namespace+"/"+o.Name)
	}
	if diff := cmp.Diff([]string{"loud/b0", "quiet/only", "loud/b1", "loud/b2"}, got); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
}

func TestAResourceThatWasGivenOutMayStandInLineAgain(t *testing.T) {
	l := newLine()
	for range 3 {
		l.add(bucketRef("prod", "logs"))
		if _, found := l.next(); !found {
			t.Fatal("it is not in the line")
		}
		if _, found := l.next(); found {
			t.Fatal("it is in the line twice")
		}
	}
}

func TestANamespaceThatChangesInALoopIsLookedAtInTurns(t *testing.T) {
	turns := newTurns()
	refs := []roleselector.Object{bucketRef("loud", "logs")}
	taken := 0
	for range 1000 {
		if turns.take("loud", refs) {
			taken++
		}
	}
	if taken != mostTurns {
		t.Errorf("%d of a thousand changes are looked at at once, want %d", taken, mostTurns)
	}
	if !turns.take("quiet", refs) || !turns.take("", refs) {
		t.Error("another namespace, or an administrator's change, has to wait for it")
	}
	if due := turns.refill(); len(due) != 1 || len(due[0]) != 1 {
		t.Errorf("what was put off is due as %v, want its one resource once", due)
	}
	if due := turns.refill(); len(due) != 0 {
		t.Errorf("it is due again: %v", due)
	}
	for range mostTurns {
		turns.refill()
	}
	if len(turns.used) != 0 || len(turns.late) != 0 {
		t.Errorf("a namespace that is quiet is still kept: %v %v", turns.used, turns.late)
	}
}

func TestAWaveOfEverythingTakesTheOthersIn(t *testing.T) {
	w := newWaves()
	w.add(wave{})
	w.add(wave{everything: true})
	w.add(wave{})
	if got := w.take(); len(got) != 2 || !got[0].everything {
		t.Errorf("the worker is given %v", got)
	}
}

func TestTheNamespaceOfAChangeIsWhoseAnswersForIt(t *testing.T) {
	choice := roleselector.CompileChoice(&identityv1alpha1.IAMRoleChoice{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "default"}})
	for want, changes := range map[string][]roleselector.Change{
		"prod": {{NewChoice: choice}, {OldChoice: choice}, {Namespace: &roleselector.NamespaceChange{Name: "prod"}}},
		"":     {{}, {NewSelector: roleselector.Compile(&v1alpha1.IAMRoleSelector{})}},
	} {
		for _, change := range changes {
			if got := (wave{change: change}).namespace(); got != want {
				t.Errorf("the change %+v is one of %q, want %q", change, got, want)
			}
		}
	}
}

func TestALineIsDrainedUntilTheEnd(t *testing.T) {
	l := newLine()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	given := make(chan roleselector.Object)
	ended := make(chan struct{})
	go func() {
		l.drain(ctx, func(o roleselector.Object) { given <- o })
		close(ended)
	}()
	for _, name := range []string{"a", "b"} {
		l.add(bucketRef("prod", name))
		select {
		case o := <-given:
			if o.Name != name {
				t.Errorf("%s is given out, want %s", o.Name, name)
			}
		case <-ctx.Done():
			t.Fatalf("%s is never given out", name)
		}
	}
	cancel()
	<-ended
}

// A thousand are given out in less than three seconds, and not all at once.
func TestAThousandAreGivenOutAtAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		for i := range 1000 {
			l.add(bucketRef("prod", fmt.Sprint(i)))
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var given atomic.Int64
		go l.drain(ctx, func(roleselector.Object) { given.Add(1) })
		synctest.Wait()
		if n := given.Load(); n != wokenAtOnce {
			t.Errorf("%d are given out at once, want %d", n, wokenAtOnce)
		}
		for given.Load() < 1000 && time.Since(began) < time.Minute {
			<-time.After(10 * time.Millisecond)
			synctest.Wait()
		}
		if n, took := given.Load(), time.Since(began); n != 1000 || took < 2*time.Second || took > 3*time.Second {
			t.Errorf("%d are given out after %v, want 1000 after two to three seconds", n, took)
		}
	})
}
