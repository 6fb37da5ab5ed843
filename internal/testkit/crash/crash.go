// Package crash runs a controller's decision through lives in which its process
// dies, its steps fail and others change the world, each at any moment. It demands
// that no rule is broken after any step, that nothing of others is touched, and
// that a world that is left alone comes to rest, as it should be.
package crash

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// Model is a cluster and a cloud in memory, with one object of a controller. W is
// what a pass observes, S is a step.
type Model[W, S any] interface {
	// Observe is what a pass reads: a copy, so that it shows what Decide did to it.
	Observe() W
	// Decide returns the steps. The rest of the plan, such as a status, the model
	// keeps for Perform and Report.
	Decide(world W) []S
	// Perform does a step, idempotently as its adapter does; or, if it shall fail
	// and can, does nothing and returns the error. An error ends the pass.
	Perform(step S, fail bool) error
	// Disturb is what others do between two passes. It takes from next as many
	// bytes as it needs to choose, and returns what was wrong with passes that it
	// made.
	Disturb(next func() byte) error
	// Violation names the first broken rule of those that hold after every step,
	// such as that all that exists outside can be found from status; empty for none.
	Violation() string

	// The others are Plain's where a model does not need them.

	// Report ends a pass whose process lives: the first steps were done, and the
	// next failed if there is an error.
	Report(done int, failed error) error
	// Die ends a pass whose process dies, before the next step or in the midst of
	// it; what only the process knew is lost.
	Die(done int)
	// Foreign are things of others that have to stay as they are.
	Foreign() []string
	// Calm ends all trouble.
	Calm()
	// Idle is called after a pass without steps. It says whether the controller
	// waits for a moment, to which the time has now gone on.
	Idle() bool
	// Stored is a copy of what passes have to leave as it is when all is at rest.
	Stored() any
	// Patience is how many passes may be made until all is at rest.
	Patience() int
	// Rest says what is wrong with a world at rest, empty for nothing. Then it may
	// begin the next chapter of the life, such as the object's deletion; chapters
	// count from 0. Without more the life is over.
	Rest(chapter int) (more bool, wrong string)
}

// Plain has the methods that a simple model does not need, for embedding.
type Plain struct{}

// Report does nothing.
func (Plain) Report(int, error) error { return nil }

// Die forgets nothing.
func (Plain) Die(int) {}

// Foreign are none.
func (Plain) Foreign() []string { return nil }

// Calm ends nothing.
func (Plain) Calm() {}

// Idle waits for nothing.
func (Plain) Idle() bool { return false }

// Stored is nothing.
func (Plain) Stored() any { return nil }

// Patience is for 20 passes.
func (Plain) Patience() int { return 20 }

// Rest finds nothing wrong, and ends the life.
func (Plain) Rest(int) (more bool, wrong string) { return false, "" }

// Trouble is what befalls a pass: its process dies before a step, or a step fails.
// Steps count from 0; a negative number is never.
type Trouble struct{ DieAt, FailAt int }

// None is a pass without trouble.
var None = Trouble{-1, -1}

// Pass makes one pass, and says whether there was something to do.
func Pass[W, S any](m Model[W, S], trouble Trouble) (busy bool, err error) {
	theirs := m.Foreign()
	seen, world := m.Observe(), m.Observe()
	steps := m.Decide(world)
	if !reflect.DeepEqual(seen, world) {
		return true, fmt.Errorf("the decision changed the world that it was given:\n%+v", world)
	}
	for done, step := range steps {
		if done == trouble.DieAt {
			m.Die(done)
			return true, nil
		}
		failed := m.Perform(step, done == trouble.FailAt)
		if err := check(m, theirs); err != nil {
			return true, fmt.Errorf("after the step %+v: %w", step, err)
		}
		if failed != nil {
			return true, end(m, done, failed, theirs)
		}
	}
	if len(steps) == trouble.DieAt {
		m.Die(len(steps))
		return len(steps) > 0, nil
	}
	return len(steps) > 0, end(m, len(steps), nil, theirs)
}

func end[W, S any](m Model[W, S], done int, failed error, theirs []string) error {
	if err := m.Report(done, failed); err != nil {
		return err
	}
	return check(m, theirs)
}

func check[W, S any](m Model[W, S], theirs []string) error {
	if broken := m.Violation(); broken != "" {
		return errors.New(broken)
	}
	have := m.Foreign()
	for _, one := range theirs {
		if !slices.Contains(have, one) {
			return fmt.Errorf("touched what is not ours: %s; there is %q", one, have)
		}
	}
	return nil
}

// Settle makes passes without trouble until three in a row have nothing to do, of
// which the last changes nothing.
func Settle[W, S any](m Model[W, S]) error {
	idle := 0
	for range m.Patience() {
		before := m.Stored()
		busy, err := Pass(m, None)
		if err != nil {
			return err
		}
		if idle++; busy || m.Idle() {
			idle = 0
		}
		if idle < 3 {
			continue
		}
		if diff := cmp.Diff(before, m.Stored()); diff != "" {
			return fmt.Errorf("a pass without steps changes what is stored (-before +after):\n%s", diff)
		}
		return nil
	}
	return fmt.Errorf("no rest after %d passes, the next steps are %+v", m.Patience(), m.Decide(m.Observe()))
}

// noPass is the trouble of a round without a pass.
const noPass = 15

// Run runs a life. A script is rounds of bytes: the step before which the pass
// dies (the lower half; 15 for no pass at all) and 1 more than that which fails
// (the upper half), then what Disturb takes. At its end the world is left alone.
func Run[W, S any](m Model[W, S], script []byte) error {
	next := func() (b byte) {
		if len(script) > 0 {
			b, script = script[0], script[1:]
		}
		return b
	}
	for len(script) > 0 {
		if b := int(next()); b%16 != noPass {
			if _, err := Pass(m, Trouble{b % 16, b/16 - 1}); err != nil {
				return err
			}
		}
		if err := m.Disturb(next); err != nil {
			return err
		}
	}
	m.Calm()
	for chapter := 0; ; chapter++ {
		if err := Settle(m); err != nil {
			return fmt.Errorf("chapter %d of a quiet end: %w", chapter, err)
		}
		more, wrong := m.Rest(chapter)
		if wrong != "" {
			return fmt.Errorf("at rest in chapter %d: %s", chapter, wrong)
		}
		if !more {
			return nil
		}
		for i, busy := 1, true; busy && i < 20; i++ {
			var err error
			if busy, err = Pass(m, Trouble{i % 4, -1}); err != nil {
				return fmt.Errorf("chapter %d: %w", chapter, err)
			}
		}
	}
}

// Fuzz runs lives, at first those of the seeds. The first byte of each chooses
// what start begins with.
func Fuzz[W, S any](f *testing.F, start func(variety byte) Model[W, S], seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 || len(script) > 400 {
			return
		}
		must.Do(t, Run(start(script[0]), script[1:]))
	})
}

// Planted is a model in which something goes wrong once, at the end of a pass: a
// test of the model's own rules.
type Planted[W, S any] struct {
	Model[W, S]
	// Plant does it.
	Plant func()
}

// Report implements Model.
func (p *Planted[W, S]) Report(done int, failed error) error {
	err := p.Model.Report(done, failed)
	if p.Plant != nil {
		p.Plant()
		p.Plant = nil
	}
	return err
}
