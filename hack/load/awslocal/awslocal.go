// Package awslocal measures the local AWS as its users run it, a process of its own:
// requests a second, processor time of a request, and memory with much in it. Its
// journal is full from the start.
// Where moto_server is on the PATH it is asked the same, right after. That one
// verifies neither tokens nor signatures; it is there as a scale for the machine.
package awslocal

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"time"

	"github.com/tabard-dev/tabard/hack/load/oidc"
)

// settings are the flags.
type settings struct {
	tabard         string
	span           time.Duration
	clients        int
	roles, objects int
}

// Run measures what the arguments say.
func Run(ctx context.Context, args []string) error {
	var s settings
	flags := flag.NewFlagSet("awslocal", flag.ContinueOnError)
	flags.StringVar(&s.tabard, "tabard", "bin/tabard", "the program to measure")
	flags.DurationVar(&s.span, "for", 10*time.Second, "how long each operation is asked")
	flags.IntVar(&s.clients, "clients", 16, "how many ask at once")
	flags.IntVar(&s.roles, "roles", 10_000, "roles to make before memory is measured")
	flags.IntVar(&s.objects, "objects", 100_000, "objects of 1 kB to make before memory is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return run(ctx, s)
}

// row is a line of the table; each is shown when it is known.
const row = "%-16v %-26v %10v %12v %10v %10v %7v\n"

func run(ctx context.Context, s settings) error {
	issuer, err := oidc.New()
	if err != nil {
		return err
	}
	defer issuer.Close()
	candidates := []func(context.Context, settings) (*server, error){startTabard}
	if _, err := exec.LookPath("moto_server"); err == nil {
		candidates = append(candidates, startMoto)
	} else {
		fmt.Println("moto_server is not on the PATH: nothing to compare with")
	}
	fmt.Printf(row, "SERVER", "OPERATION", "REQUESTS/S", "CPU/REQUEST", "P50", "P99", "FAILED")
	for i, start := range candidates {
		if err := report(ctx, s, start, issuer, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// report starts a server, asks it, and stops it. Only the first is filled: what
// another needs for as much is not our matter.
func report(ctx context.Context, s settings, start func(context.Context, settings) (*server, error), issuer *oidc.Issuer, fill bool) error {
	server, err := start(ctx, s)
	if err != nil {
		return err
	}
	defer server.stop()
	requests, err := prepare(ctx, server, issuer)
	if err != nil {
		return fmt.Errorf("%s: %w", server.name, err)
	}
	if fill {
		if err := fillJournal(ctx, requests[len(requests)-1], s.clients); err != nil {
			return fmt.Errorf("%s: filling the journal: %w", server.name, err)
		}
	}
	for _, one := range requests {
		got, err := ask(ctx, server, one, s.span, s.clients)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", server.name, one.name, err)
		}
		fmt.Printf(row, server.name, one.name, math.Round(got.Rate), got.cpu, got.P50, got.P99, got.Failed)
	}
	if !fill {
		return nil
	}
	before, err := server.program.Usage()
	if err != nil {
		return err
	}
	if err := server.fill(ctx, s); err != nil {
		return err
	}
	after, err := server.program.Usage()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d MiB resident, then with %d roles and %d objects of 1 kB %d MiB\n", server.name, before.Resident>>20, s.roles, s.objects, after.Resident>>20)
	return nil
}
