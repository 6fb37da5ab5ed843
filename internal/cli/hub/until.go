package hub

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

// patience are the flags by which a command waits, as clusteradm has them.
type patience struct {
	wait    bool
	timeout seconds
}

func (p *patience) add(f *pflag.FlagSet, what string) {
	p.timeout = seconds(300 * time.Second)
	f.BoolVar(&p.wait, "wait", false, "wait until "+what)
	f.Var(&p.timeout, "timeout", "with --wait: how long, in seconds or as `time`, such as 5m")
}

// seconds is a time that is written in seconds, as with clusteradm, or with its unit.
type seconds time.Duration

// String implements pflag.Value.
func (s *seconds) String() string { return time.Duration(*s).String() }

// Type implements pflag.Value.
func (s *seconds) Type() string { return "duration" }

// Set implements pflag.Value.
func (s *seconds) Set(text string) error {
	if number, err := strconv.ParseUint(text, 10, 31); err == nil {
		*s = seconds(time.Duration(number) * time.Second) //nolint:gosec // 31 bits
		return nil
	}
	given, err := time.ParseDuration(text)
	if err != nil || given < 0 {
		return fmt.Errorf("%.40q is no time, expected seconds such as 300, or 5m", text)
	}
	*s = seconds(given)
	return nil
}

// until looks until nothing is missing. It says what is, each time that it changes.
func (p *patience) until(ctx context.Context, streams command.Streams, look func(context.Context) ([]string, error)) error {
	missing, err := command.Until(ctx, streams.Err, time.Duration(p.timeout), look)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("not there after %s:\n%s", time.Duration(p.timeout), command.Indented(missing))
	}
	return err
}
