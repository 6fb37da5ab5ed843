package roleselector

import (
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

var (
	cases = flag.Int("cases", 40_000, "how many queries the index and the scan answer")
	seed  = flag.Uint64("seed", 1, "the seed of these queries")
)

// TestIndexAgreesWithScan compares the index with the plain scan; five million
// cases are decided by
//
//	go test -run IndexAgreesWithScan ./roleselector -args -cases 5000000 -seed 2
func TestIndexAgreesWithScan(t *testing.T) {
	d := newDice(*seed)
	seen := map[Reason]int{}
	var w *world
	var namespaces map[string]map[string]string
	for i := range *cases {
		if i%200 == 0 {
			w, namespaces = newWorld(pick(d, "", PolicyDeny)), d.namespaces()
		}
		w.change(d)
		if d.one(50) {
			w.index.Replace(slices.Collect(maps.Values(compiledOf(w.naiveWorld))))
			w.index.ReplaceChoices(compiledChoicesOf(w.naiveWorld))
		}
		q := d.query(namespaces)
		seen[agree(t, w, q).Reason]++
	}
	for _, reason := range []Reason{
		ReasonSelected, ReasonNoSelector, ReasonConflict, ReasonDenied, ReasonChoiceNotPermitted, ReasonAmbiguousChoice,
		ReasonNoSelectorPolicy, ReasonSelectorInvalid, ReasonChoiceInvalid, ReasonNamespaceUnknown,
	} {
		t.Logf("%6.2f%% %s", 100*float64(seen[reason])/float64(*cases), reason)
		if 1000*seen[reason] < *cases {
			t.Errorf("%d of %d decisions are %s: the test says little of it", seen[reason], *cases, reason)
		}
	}
}

func compiledOf(w naiveWorld) map[string]*Selector {
	compiled := map[string]*Selector{}
	for name, object := range w.selectors {
		compiled[name] = Compile(object)
	}
	return compiled
}

func compiledChoicesOf(w naiveWorld) []*Choice {
	var compiled []*Choice
	for _, object := range w.choices {
		compiled = append(compiled, CompileChoice(object))
	}
	return compiled
}

// agree compares matches and decision of a query.
func agree(t *testing.T, w *world, q Query) Decision {
	t.Helper()
	var want []string
	wantKnown := true
	for name, object := range w.selectors {
		fits, _ := naiveSelects(object, q)
		wantKnown = wantKnown && fits != Unknown
		if fits == Yes {
			want = append(want, name)
		}
	}
	matches, known := w.index.Match(q, nil)
	var got []string
	for _, s := range matches {
		got = append(got, s.Reference().Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if known != wantKnown || !slices.Equal(got, want) {
		t.Fatalf("Match() = %v known %t, the scan %v known %t for\n%s", got, known, want, wantKnown, describe(w, q))
	}
	decision := w.index.Decide(q)
	if got, want := naivelyOf(decision), naiveDecide(w.naiveWorld, q); got != want {
		t.Fatalf("Decide() = %+v, the scan %+v for\n%s", got, want, describe(w, q))
	}
	return decision
}

func describe(w *world, q Query) string {
	text, err := json.MarshalIndent(map[string]any{"query": q, "selectors": w.selectors, "choices": w.choices}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func FuzzIndexAgreesWithScan(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, uint8(20))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		d := newDice(seed)
		w, namespaces := newWorld(pick(d, "", PolicyDeny)), d.namespaces()
		for range changes {
			w.change(d)
			agree(t, w, d.query(namespaces))
		}
	})
}

// TestAnswersBesideWritersAreThoseOfSomeMoment lets readers decide while a writer
// changes selectors and choices, one by one and all at once. Each answer must be
// the scan's over a state between the start and the end of the read.
func TestAnswersBesideWritersAreThoseOfSomeMoment(t *testing.T) {
	const changes, readers = 600, 3
	d := newDice(5)
	w, namespaces := newWorld(""), d.namespaces()
	// What a reader may see is known before it reads: states, and their number
	// before and after each change. Writing in another world makes the script.
	script := []func(){}
	states := []naiveWorld{w.frozen()}
	shadow := newWorld("")
	for i := range changes {
		change := shadow.change(d)
		states = append(states, shadow.frozen())
		compiled := slices.Collect(maps.Values(compiledOf(shadow.naiveWorld)))
		choices := compiledChoicesOf(shadow.naiveWorld)
		script = append(script, func() {
			if i%20 == 0 {
				replaceAll(w.index, change, compiled, choices)
			} else {
				replay(w.index, change)
			}
		})
	}
	var started, done atomic.Int64
	finished := make(chan string, readers)
	for r := range readers {
		go func() {
			d := newDice(uint64(100 + r))
			for done.Load() < changes {
				q := d.query(namespaces)
				first := done.Load()
				got := naivelyOf(w.index.Decide(q))
				last := started.Load()
				isSome := false
				for i := first; i <= last && !isSome; i++ {
					isSome = got == naiveDecide(states[i], q)
				}
				if !isSome {
					finished <- strings.Join([]string{string(got.Reason), got.Names, "is the answer of no moment"}, " ")
					return
				}
			}
			finished <- ""
		}()
	}
	for _, change := range script {
		started.Add(1)
		change()
		done.Add(1)
	}
	for range readers {
		if fault := <-finished; fault != "" {
			t.Error(fault)
		}
	}
}

// replaceAll does to an index what was done to another by replacing everything of
// the kind that was changed.
func replaceAll(index *Index, change Change, selectors []*Selector, choices []*Choice) {
	if change.NewSelector != nil || change.OldSelector != nil {
		index.Replace(selectors)
	} else {
		index.ReplaceChoices(choices)
	}
}

// replay does to an index what was done to another.
func replay(index *Index, change Change) {
	switch {
	case change.NewSelector != nil:
		index.Set(change.NewSelector)
	case change.OldSelector != nil:
		index.Delete(change.OldSelector.Reference().Name)
	case change.NewChoice != nil:
		index.SetChoice(change.NewChoice)
	case change.OldChoice != nil:
		index.DeleteChoice(change.OldChoice.namespace, change.OldChoice.name)
	}
}
