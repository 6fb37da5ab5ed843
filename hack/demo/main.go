// Command demo tells Tabard's story on this machine: it starts a lab, prints
// every step with what was really observed, and takes the lab down. With KEEP=1
// in the environment the lab stays up. With the argument hub it tells the story of
// a hub of Open Cluster Management.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/tabard-dev/tabard/test/e2e"
)

func main() { os.Exit(run()) }

// run returns the exit code.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	story := tell
	if len(os.Args) == 2 && os.Args[1] == "hub" {
		story = tellHub
	}
	if err := story(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
	return 0
}

func tell(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "tabard-demo-")
	if err != nil {
		return err
	}
	s, err := e2e.Programs(".", dir, os.Stdout)
	if err != nil {
		return err
	}
	defer func() {
		if os.Getenv("KEEP") != "" {
			fmt.Printf("\nThe lab is still up:\n   eval \"$(bin/tabard lab env --dir %[1]s)\"\n   bin/tabard lab down --dir %[1]s\n", dir)
			return
		}
		// The teardown runs also when the story was interrupted. When it went
		// another way than told, the logs stay.
		failed := err != nil && ctx.Err() == nil
		down := s.Down(context.WithoutCancel(ctx), failed)
		if failed {
			err = errors.Join(fmt.Errorf("%w\nthe logs are in %s", err, filepath.Join(dir, "logs")), down)
			return
		}
		err = errors.Join(err, down, os.RemoveAll(dir))
	}()
	return s.Tell(ctx)
}
