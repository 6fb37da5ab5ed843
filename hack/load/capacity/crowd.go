package capacity

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tabard-dev/tabard/hack/load/capacity/stage"
)

// makers is how many MachineSets are made at once.
const makers = 16

// fill makes MachineSets of several types.
func fill(ctx context.Context, on *stage.Stage, count int) error {
	names := []string{"m5.large", "m5.xlarge", "c5.2xlarge", "m6g.4xlarge", "r5.large"}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(makers)
	for i := range count {
		group.Go(func() error {
			set, err := stage.MachineSet(fmt.Sprintf("shop-7xk2p-worker-%05d", i), names[i%len(names)])
			if err != nil {
				return err
			}
			return on.Cluster.Create(ctx, set)
		})
	}
	return group.Wait()
}

// crowd starts the program in a cluster with many MachineSets, and once more when
// they all are annotated.
func crowd(ctx context.Context, s settings, on *stage.Stage) error {
	if err := fill(ctx, on, s.crowd); err != nil {
		return err
	}
	if err := on.ClearJournal(ctx); err != nil {
		return err
	}
	for _, round := range []struct{ title, outcome string }{
		{"none of them is annotated", "annotated"}, {"all of them are", "unchanged"},
	} {
		fmt.Printf("With %d MachineSets in the cluster when the program starts, and %s:\n", s.crowd, round.title)
		if err := one(ctx, s, on, round.outcome); err != nil {
			return err
		}
		if err := on.ClearJournal(ctx); err != nil {
			return err
		}
	}
	return nil
}

// one is one life of the program: it works until as many passes as there are
// MachineSets have ended so, then it is idle.
func one(ctx context.Context, s settings, on *stage.Stage, outcome string) error {
	running, err := start(ctx, s, on)
	if err != nil {
		return err
	}
	defer running.Stop()
	err = await(ctx, 20*time.Minute, "the MachineSets are "+outcome, func() (bool, error) {
		done, err := running.Sum(ctx, fmt.Sprintf(`%s{kind="MachineAPIMachineSet",outcome=%q}`, stage.PassesMetric, outcome))
		return int(done) >= s.crowd, err
	})
	if err != nil {
		return err
	}
	took := time.Since(running.Began)
	done, err := annotated(ctx, on)
	if err != nil {
		return err
	}
	if done != s.crowd {
		return fmt.Errorf("%d of %d MachineSets are annotated", done, s.crowd)
	}
	fmt.Printf("  from its start until all were looked at: %v\n", took.Round(100*time.Millisecond))
	if err := running.report(ctx, "then"); err != nil {
		return err
	}
	if err := tellCalls(ctx, on); err != nil {
		return err
	}
	if err := running.idle(ctx, s.idle); err != nil {
		return err
	}
	return running.idle(ctx, s.idle)
}
