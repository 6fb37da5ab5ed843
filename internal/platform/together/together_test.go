package together_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tabard-dev/tabard/internal/platform/together"
)

func TestFunctionsRunAtTheSameTime(t *testing.T) {
	var all together.Group
	there, back := make(chan int), make(chan int)
	got := 0
	all.Go(func() { there <- 1; got = <-back }) // each of the two waits for the other one
	all.Go(func() { back <- <-there + 1 })
	all.Wait()
	if got != 2 {
		t.Errorf("got %d", got)
	}
}

// breaksHere panics, in a function that a stack names.
func breaksHere(with any) { panic(with) }

// recovered is the panic of a function; nil for none.
func recovered(run func()) (value any) {
	defer func() { value = recover() }()
	run()
	return nil
}

func TestAPanicGoesOnWhereItIsWaitedFor(t *testing.T) {
	for name, value := range map[string]any{"a text": "no third word", "an error": errors.New("no third word")} {
		var all together.Group
		var ended atomic.Int32
		for range 3 {
			all.Go(func() { ended.Add(1) })
		}
		all.Go(func() { breaksHere(value) })
		got, is := recovered(all.Wait).(*together.Panic)
		if !is || got.Value != value || ended.Load() != 3 {
			t.Fatalf("%s: the panic is %v, after %d others", name, got, ended.Load())
		}
		if text := fmt.Sprint(got); !strings.HasPrefix(text, "no third word\n") || !strings.Contains(text, "breaksHere") {
			t.Errorf("%s: it says %s", name, text)
		}
	}
}

// Of two panics the first one goes on: the other may be because of it.
func TestTheFirstPanicGoesOn(t *testing.T) {
	var all together.Group
	all.Go(func() { panic("first") })
	if got := recovered(all.Wait).(*together.Panic); got.Value != "first" {
		t.Errorf("the panic is %v", got.Value)
	}
	all.Go(func() { panic("second") })
	if got := recovered(all.Wait).(*together.Panic); got.Value != "first" {
		t.Errorf("the panic is %v", got.Value)
	}
}
