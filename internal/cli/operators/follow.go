package operators

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/olm"
)

// glance is the time between two looks at an install.
const glance = time.Second

// waitFlags are those of commands that follow an operator.
type waitFlags struct {
	wait    bool
	timeout time.Duration
}

func (w *waitFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&w.wait, "wait", false, "follow the operator to its end")
	flags.DurationVar(&w.timeout, "timeout", 15*time.Minute, "how long to follow it")
}

func (w *waitFlags) check() error {
	if w.timeout <= 0 {
		return fmt.Errorf("--timeout is %s, expected more than 0", w.timeout)
	}
	return nil
}

// follower follows an install to its end.
type follower struct {
	streams command.Streams
	client  olm.Client
	wanted  operator.Wanted
	timeout time.Duration
	// approve approves the plan that waits, if it may; it is nil where nothing is approved.
	approve func(context.Context, *operator.Objects) (bool, error)

	said string
	done int
}

// follow looks until the install is done, needs a person, or the time is over. Each stage that is
// done is told, and each change of the one that is not. A look that fails changes nothing of what was
// seen before: at the end, the last stage is told, and the error only where no stage was ever seen.
func (f *follower) follow(ctx context.Context) error {
	end := time.Now().Add(f.timeout)
	var last operator.Stage
	for {
		objects, err := f.look(ctx, end)
		switch {
		case ctx.Err() != nil || errors.Is(err, olm.ErrNoOLM):
			return err
		case err != nil:
			last = f.unseen(last, err, end)
		default:
			all := operator.Progress(objects, time.Now())
			f.tell(objects, all)
			last = all[len(all)-1]
			if operator.IsInstalled(objects, all) {
				return nil
			}
			if over, err := f.needsPerson(ctx, objects, last); over || err != nil {
				return err
			}
		}
		if !time.Now().Add(glance).Before(end) {
			return f.stop(last, fmt.Sprintf("not done after %s: ", f.timeout))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(glance):
		}
	}
}

// unseen is the stage to go on with after a look that failed. A look that the end of the time cut off
// says nothing about the cluster.
func (f *follower) unseen(last operator.Stage, err error, end time.Time) operator.Stage {
	if time.Now().Before(end) {
		f.say("  the cluster cannot be read, and is asked again: %v", err)
	}
	if last.Name == "" {
		return operator.Stage{State: operator.Waiting, Sentence: err.Error()}
	}
	return last
}

// look reads the install. A cluster that does not answer takes no longer than the person waits.
func (f *follower) look(ctx context.Context, end time.Time) (*operator.Objects, error) {
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	return f.client.Observe(ctx, f.wanted)
}

// needsPerson says whether a stage waits for a person, who is then told. A plan that may be approved
// waits for nobody.
func (f *follower) needsPerson(ctx context.Context, objects *operator.Objects, last operator.Stage) (bool, error) {
	switch last.State {
	case operator.Done, operator.Waiting:
		return false, nil
	case operator.YourTurn:
		if f.approve == nil {
			return true, f.stop(last, "")
		}
		approved, err := f.approve(ctx, objects)
		if err != nil || approved {
			return false, err
		}
		return true, f.stop(last, "")
	case operator.Failed, operator.Unknown:
	}
	return true, f.stop(last, "")
}

// stop is the refusal of a stage that did not come to its end.
func (f *follower) stop(last operator.Stage, before string) error {
	text := before + last.Sentence
	if last.Next != "" {
		text += "\n  next: " + last.Next
	}
	return f.streams.Refuse(command.Found, errors.New(text))
}

func (f *follower) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != f.said {
		f.said = text
		sayOn(f.streams.Err, "%s", text)
	}
}

// tell says which stages came to be done, and of the next one what is seen.
func (f *follower) tell(o *operator.Objects, all []operator.Stage) {
	total := operator.Stages(o)
	for _, s := range all {
		switch {
		case s.State == operator.Done && s.N > f.done:
			f.done = s.N
			sayOn(f.streams.Err, "%2d/%d %s: %s", s.N, total, s.Name, s.Sentence)
		case s.State != operator.Done:
			f.say("%2d/%d %s: %s", s.N, total, s.Name, s.Sentence)
		}
	}
}
