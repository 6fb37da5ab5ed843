//go:build unix

package program

import (
	"context"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/usage"
)

// TestOneSignalEndsACommandThatDoesNotHearIt such as one that reads its input.
func TestOneSignalEndsACommandThatDoesNotHearIt(t *testing.T) {
	never := make(chan struct{})
	for name, wait := range map[string]func(context.Context) error{
		"one that hears it": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"one that does not": func(context.Context) error { <-never; return nil },
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			root := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(c *cobra.Command, _ []string) error {
				if err := syscall.Kill(syscall.Getpid(), signal); err != nil {
					return err
				}
				return wait(c.Context())
			}}
			if code := RunAtOnce(root, nil); code != usage.Interrupted {
				t.Errorf("%s, by %s: exit code %d", name, signal, code)
			}
		}
	}
}
