// Package gobuild runs go build and tells how far it is, in place of the list of
// packages that go build -v prints.
package gobuild

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Build is one call of go build.
type Build struct {
	// Name begins each line of the progress.
	Name string
	// Dir is the folder in which the Go tool runs; empty: this one.
	Dir string
	// Env is added to this process's environment.
	Env []string
	// Output is the file or the folder to write.
	Output string
	// Flags are those that decide what is compiled, such as -trimpath.
	Flags, Packages []string
	// Progress takes the progress and what the Go tool says beside names of packages
	// and of modules. A build that has nothing to compile writes nothing.
	Progress io.Writer
	// Terminal says that Progress shows a line that is written again, not a log.
	Terminal bool
}

// Run builds. Its error is that of the Go tool, whose messages are in Progress then.
func (b Build) Run(ctx context.Context) error {
	command := b.command(ctx, slices.Concat([]string{"build", "-v", "-o", b.Output}, b.Flags, b.Packages)...)
	output, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("run the Go tool: %w", err)
	}
	said := b.follow(ctx, output)
	if err := command.Wait(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(b.Packages, " "), err, strings.Join(said, "\n"))
	}
	for _, line := range said {
		fmt.Fprintln(b.Progress, line)
	}
	return nil
}

func (b Build) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.Env = b.Dir, append(os.Environ(), b.Env...)
	return command
}

// follow reads the output to its end, and returns the lines that are for people. The
// packages are counted once the first line is there: a build with nothing to do has none.
func (b Build) follow(ctx context.Context, output io.Reader) (said []string) {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	shown, now := display{to: b.Progress, name: b.Name, terminal: b.Terminal}, state{}
	var left atomic.Int64 // packages to compile at the time of the count
	started, counting := time.Now(), false
	for {
		select {
		case line, more := <-lines:
			if !more {
				shown.end(now.at(time.Since(started)))
				return said
			}
			if !counting {
				counting = true
				go func() { left.Store(int64(b.stale(ctx))) }()
			}
			if message, is := now.read(line); is {
				said = append(said, message)
			}
		case <-ticker.C:
			if count := int(left.Swap(0)); count > 0 {
				now.total = now.compiled + count
			}
			shown.show(now.at(time.Since(started)))
		}
	}
}

// stale counts the packages that the build's cache does not have; 0 if that fails. The
// programs themselves are not counted: they are stale wherever they are not installed.
func (b Build) stale(ctx context.Context) int {
	list := slices.Concat([]string{"list", "-deps", "-f", "{{if and .Stale (ne .Name \"main\")}}{{.ImportPath}}{{end}}"}, b.Flags, b.Packages)
	names, err := b.command(ctx, list...).Output()
	if err != nil {
		return 0
	}
	return len(strings.Fields(string(names)))
}
