// Package credentials measures the credentials controller on a real API server and the
// local AWS, each a process of its own: how long many CredentialsRequests wait for their
// roles, what AWS and the API server are asked for them, what the program takes, and what
// its restart costs when all are fulfilled. The cluster that is served and the one that
// holds the lease may be two.
package credentials

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// settings are the flags.
type settings struct {
	tabard, localkube    string
	requests, namespaces int
	restarts             int
	writes               float64
	quiet                time.Duration
	apart                bool
}

// Run measures what the arguments say.
func Run(ctx context.Context, args []string) error {
	var s settings
	flags := flag.NewFlagSet("credentials", flag.ContinueOnError)
	flags.StringVar(&s.tabard, "tabard", "bin/tabard", "the program to measure")
	flags.StringVar(&s.localkube, "localkube", "bin/localkube", "the Kubernetes control plane")
	flags.IntVar(&s.requests, "requests", 1000, "CredentialsRequests to make")
	flags.IntVar(&s.namespaces, "namespaces", 20, "namespaces that they are in")
	flags.IntVar(&s.restarts, "restarts", 3, "how often the program is started again when all are fulfilled")
	flags.Float64Var(&s.writes, "writes-per-second", 10, "how many changes a second the program may make in AWS")
	flags.DurationVar(&s.quiet, "quiet", 10*time.Second, "how long the program is watched after each start, when it has nothing to do")
	flags.BoolVar(&s.apart, "apart", false, "hold the program's lease in a second cluster")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.requests < 1 || s.namespaces < 1 || s.requests < s.namespaces {
		return fmt.Errorf("%d requests in %d namespaces: want at least one request in each namespace", s.requests, s.namespaces)
	}
	return run(ctx, s)
}

func run(ctx context.Context, s settings) (err error) {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	on := &bed{settings: s, folder: folder}
	defer func() { err = errors.Join(err, on.close(context.WithoutCancel(ctx)), os.RemoveAll(folder)) }()
	if err := on.open(ctx); err != nil {
		return err
	}
	where := "one cluster"
	if s.apart {
		where = "the served cluster and the hosting one apart"
	}
	fmt.Printf("With %d CredentialsRequests in %d namespaces, %v changes a second in AWS at most, %s:\n", s.requests, s.namespaces, s.writes, where)
	if err := on.fill(ctx); err != nil {
		return err
	}
	if err := first(ctx, on); err != nil {
		return err
	}
	for i := range s.restarts {
		if err := again(ctx, on, i+1); err != nil {
			return err
		}
	}
	return nil
}

// first is the life of the program in which it makes all roles.
func first(ctx context.Context, on *bed) error {
	life, err := begin(ctx, on)
	if err != nil {
		return err
	}
	defer life.stop()
	if err := life.until(ctx, on.settings.requests); err != nil {
		return err
	}
	took := time.Since(life.Began)
	fmt.Printf("  all fulfilled after %v: %.1f a second\n", took.Round(100*time.Millisecond), float64(on.settings.requests)/took.Seconds())
	if err := life.rest(ctx, on.settings.quiet); err != nil {
		return err
	}
	if err := on.check(ctx); err != nil {
		return err
	}
	return life.report(ctx, on.settings.requests)
}

// again is a life in which all is fulfilled already: it must write nothing.
func again(ctx context.Context, on *bed, number int) error {
	before, err := on.versions(ctx)
	if err != nil {
		return err
	}
	life, err := begin(ctx, on)
	if err != nil {
		return err
	}
	defer life.stop()
	if err := life.until(ctx, on.settings.requests); err != nil {
		return err
	}
	fmt.Printf("  restart %d, all looked at after %v\n", number, time.Since(life.Began).Round(100*time.Millisecond))
	if err := life.rest(ctx, on.settings.quiet); err != nil {
		return err
	}
	if err := life.report(ctx, on.settings.requests); err != nil {
		return err
	}
	after, err := on.versions(ctx)
	if err != nil {
		return err
	}
	changed := 0
	for key, version := range before {
		if after[key] != version {
			changed++
		}
	}
	if changed > 0 || len(after) != len(before) {
		return fmt.Errorf("the restart changed %d of %d objects, and there are %d now", changed, len(before), len(after))
	}
	fmt.Printf("    none of %d objects was written\n", len(before))
	return nil
}
