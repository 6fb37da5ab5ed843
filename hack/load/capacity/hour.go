package capacity

import (
	"context"
	"fmt"
	"time"

	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
	"github.com/tabard-dev/tabard/internal/cloud/instancetype"
)

const (
	// resync is how often every object is looked at, looks how often that is in
	// an hour with the first time.
	resync = 10 * time.Minute
	looks  = 7
)

// hour counts the calls of AWS for many objects in an hour, by a clock that is
// moved.
func hour(ctx context.Context, s settings, on *stage.Stage) error {
	if err := fill(ctx, on, s.hourly); err != nil {
		return err
	}
	fmt.Printf("For %d objects that are looked at every %v for an hour, with credentials of an hour:\n", s.hourly, resync)
	if err := on.ClearJournal(ctx); err != nil {
		return err
	}
	passes, err := controllerHour(ctx, s, on)
	if err != nil {
		return err
	}
	fmt.Printf("  %d passes\n", passes)
	return tellCalls(ctx, on)
}

// controllerHour lets the controller look at all objects again and again. What it
// looks at by its own writes comes on top.
func controllerHour(ctx context.Context, s settings, on *stage.Stage) (int, error) {
	before, err := stage.Passes()
	if err != nil {
		return 0, err
	}
	running, err := on.Start(ctx, on.Environment(true), instancetype.Options{})
	if err != nil {
		return 0, err
	}
	err = await(ctx, 5*time.Minute, "all are annotated", func() (bool, error) {
		done, err := annotated(ctx, on)
		return done == s.hourly, err
	})
	for i := 1; i < looks && err == nil; i++ {
		err = lookAgain(ctx, s, on, running)
	}
	if stopErr := running.Stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return 0, err
	}
	after, err := stage.Passes()
	return after - before, err
}

// lookAgain lets ten minutes pass and wakes all objects.
func lookAgain(ctx context.Context, s settings, on *stage.Stage, running *stage.Controller) error {
	if err := quiet(ctx); err != nil {
		return err
	}
	before, err := stage.Passes()
	if err != nil {
		return err
	}
	if err := on.Advance(ctx, resync); err != nil {
		return err
	}
	running.Changed(kube.Reference{Resource: "infrastructures", Name: "cluster"})
	return await(ctx, time.Minute, "all are looked at again", func() (bool, error) {
		now, err := stage.Passes()
		return now-before >= s.hourly, err
	})
}

// quiet waits until no pass has ended for a second.
func quiet(ctx context.Context) error {
	last, since := -1, time.Now()
	return await(ctx, 5*time.Minute, "the controller comes to rest", func() (bool, error) {
		now, err := stage.Passes()
		if now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second, err
	})
}
