package awslocal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

const (
	closeTimeout = 5 * time.Second
	// garbage is how much the heap may grow, in percent, before it is collected.
	// Most of it is objects, which live long and are cheap to mark, so a fifth of
	// Go's own value saves much memory for little work.
	garbage = 20
)

// RunOptions is what a process needs beyond Options.
type RunOptions struct {
	Options
	// Listen is the address for TLS, ListenPlain that for plain HTTP; at least
	// one must be given.
	Listen      string
	ListenPlain string
	// State is a file in which all state is kept: it is loaded where it exists,
	// and written within a second of each change and at the end. Its folder is
	// made where it does not exist. It holds the accounts' secrets, and only its
	// owner may read it. One process at a time may use it. Empty: state is in
	// memory only.
	State string
	// AdminTokenFile holds Options.AdminToken where that is empty. It is made where
	// it does not exist, for its owner only. Empty: the file admin-token in Dir, or,
	// without Dir, an admin API that answers nobody but who asks for its health.
	AdminTokenFile string
	// Stdout is told where the server listens, in lines of NAME=VALUE. ReadFolder finds
	// it by Dir while it runs.
	Stdout io.Writer
}

// Run serves until the context ends, and then returns nil once the calls under
// way are answered. While it runs, the process collects garbage more often than
// Go programs do, unless the environment variable GOGC says how often.
func Run(ctx context.Context, options RunOptions) error {
	if options.Listen == "" && options.ListenPlain == "" {
		return errors.New("awslocal: no address to listen on was given")
	}
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
	}
	if err := options.loadAdminToken(); err != nil {
		return err
	}
	server, err := New(options.Options)
	if err != nil {
		return err
	}
	kept := &keeper{server: server, path: options.State}
	if err := kept.load(); err != nil {
		return err
	}
	server.introduce(options)
	if err := server.startAll(options); err != nil {
		return errors.Join(err, server.Close(ctx))
	}
	withdraw, err := server.announce(options)
	if err != nil {
		return errors.Join(err, server.Close(ctx))
	}
	if _, err := fmt.Fprintf(options.Stdout, "AWS_ENDPOINT_URL=%s\n", server.URL()); err != nil {
		return errors.Join(fmt.Errorf("awslocal: telling the address: %w", err), withdraw(), server.Close(ctx))
	}
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	kept.keep(ctx, ticker.C)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(withdraw(), server.Close(closing), kept.save())
}

// introduce says what this is, so that nobody takes its keys for real ones, nor
// its files for some to pass around.
func (s *Server) introduce(options RunOptions) {
	log := s.options.Logger.With("accounts", s.options.Accounts)
	if options.AdminTokenFile != "" {
		log = log.With("adminTokenFile", options.AdminTokenFile)
	}
	if options.State == "" {
		log.Info("the accounts of this local AWS are make-believe: their keys open nothing of AWS's; state is in memory only")
		return
	}
	log.Info("the accounts of this local AWS are make-believe: their keys open nothing of AWS's; the state file holds all their secrets", "file", options.State)
}

func (s *Server) startAll(options RunOptions) error {
	if options.Listen != "" {
		if err := s.Start(options.Listen); err != nil {
			return err
		}
	}
	if options.ListenPlain == "" {
		return nil
	}
	return s.StartPlain(options.ListenPlain)
}
