// Package console is the command "tabard console": it starts the web console's server, and opens a
// browser.
package console

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/operators"
)

// World is what the command needs of the world; the program's wiring fills it.
type World struct {
	// Start listens. An error is for a person as it is.
	Start func(ctx context.Context, asked Asked) (Server, error)
	// Browse opens an address in the person's browser.
	Browse func(ctx context.Context, address string) error
}

// Asked is what the person asks for.
type Asked struct {
	// Catalogue says which one is shown, and which cluster.
	Catalogue *operators.Source
	// Port is of 127.0.0.1; 0 for a free one.
	Port     int
	ReadOnly bool
}

// Server is one that listens.
type Server interface {
	// Address is an address with a new code, which is good once within a minute. The code before is no
	// longer good.
	Address() string
	// HasPages says whether the program was built with the front end.
	HasPages() bool
	// Serve answers until the context ends.
	Serve(ctx context.Context) error
}

const long = `Show operators and their roles in a browser: which take roles by short-lived tokens, what they
ask the cloud for, and whether the cluster gives such tokens. Install them with a role that is compared first,
follow them, and approve their upgrades.

The console listens on 127.0.0.1 only. It reads and writes the cluster as you, with your kubeconfig, as
"kubectl proxy" does. The address that it prints has a code in it, which opens one browser, once,
within a minute. Press Enter for another address. Everything ends with the program: type Ctrl-C.

With --catalogue PATH it shows a catalogue in files, for which no cluster is needed.

Exit codes: 0 it was ended; 1 it could not listen; 2 the input cannot be used.`

type flags struct {
	asked     Asked
	noBrowser bool
}

// New makes the command.
func New(streams command.Streams, world World) *cobra.Command {
	f := &flags{asked: Asked{Catalogue: &operators.Source{}}}
	out := &cobra.Command{
		Use:   "console",
		Short: "Show and install operators with their roles, in a browser",
		Long:  long,
		Example: `  tabard console

  # a catalogue in files, without a cluster; print the address, and open no browser
  tabard console --catalogue catalog.json --no-browser`,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world)
		}),
	}
	set := out.Flags()
	f.asked.Catalogue.AddFlags(set)
	set.IntVar(&f.asked.Port, "port", 0, "the `port` of 127.0.0.1 to listen on (default: a free one)")
	set.BoolVar(&f.asked.ReadOnly, "read-only", false, "refuse all that would change the cluster")
	set.BoolVar(&f.noBrowser, "no-browser", false, "open no browser: print the address alone")
	return out
}

func (f *flags) check() error {
	if f.asked.Port < 0 || f.asked.Port > 65535 {
		return fmt.Errorf("--port is %d, expected a number from 1 to 65535, or 0 for a free port", f.asked.Port)
	}
	return f.asked.Catalogue.Check()
}

func (f *flags) run(ctx context.Context, streams command.Streams, world World) error {
	server, err := world.Start(ctx, f.asked)
	if err != nil {
		return err
	}
	if !server.HasPages() {
		say(streams.Err, "tabard: this program was built without the console's pages: make console build, in its sources, makes one with them")
	}
	if err := f.open(ctx, streams, world, server.Address()); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go again(ctx, streams, server)
	return server.Serve(ctx)
}

// open prints the address, and opens it. Without a browser the person opens it.
func (f *flags) open(ctx context.Context, streams command.Streams, world World, address string) error {
	if err := streams.Print(address + "\n"); err != nil {
		return err
	}
	say(streams.Err, "tabard: the address opens one browser, once, within a minute; press Enter for another one, and Ctrl-C to end")
	if f.noBrowser {
		return nil
	}
	if err := world.Browse(ctx, address); err != nil {
		say(streams.Err, "tabard: no browser could be opened (%v): open the address yourself", err)
	}
	return nil
}

// again prints another address for each line that somebody types, until the input ends. In the
// background of a shell nothing can be read: it is tried again, since the person may come back.
func again(ctx context.Context, streams command.Streams, server Server) {
	stayInBackground()
	for ctx.Err() == nil {
		lines := bufio.NewScanner(streams.In)
		for lines.Scan() {
			if ctx.Err() != nil || streams.Print(server.Address()+"\n") != nil {
				return
			}
		}
		if lines.Err() == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// say writes one line. With the stream gone there is nobody to tell.
func say(to io.Writer, format string, args ...any) {
	_, _ = io.WriteString(to, command.Plain(fmt.Sprintf(format, args...))+"\n")
}
