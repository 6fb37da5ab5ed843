package awslocal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keepEvery is how often changed state is written, and so about how much is lost
// with a process that is killed.
const keepEvery = time.Second

// keeper keeps a server's state in a file, so that it survives the process.
// Without a path it keeps nothing.
type keeper struct {
	server *Server
	path   string
	// kept is the count of changes that the file has.
	kept uint64
	// told is the last failure that was logged: a full disk is news once.
	told string
}

// load reads the state from the file, and makes the file where there is none, so
// that a folder that cannot be written to shows at once. A file that cannot be
// loaded is left as it is.
func (k *keeper) load() error {
	if k.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return fmt.Errorf("awslocal: making the folder of the state file: %w", err)
	}
	text, err := os.ReadFile(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k.save()
	case err != nil:
		return fmt.Errorf("awslocal: reading the state file: %w", err)
	}
	if err := k.server.Admin().Load(text); err != nil {
		return fmt.Errorf("%w; the state file %s is left as it is: put it right, start with what it belongs to, or move it away to begin with empty accounts", err, k.path)
	}
	k.kept = k.server.changes.Load()
	return nil
}

// save writes the state as it is now.
func (k *keeper) save() error {
	if k.path == "" {
		return nil
	}
	changes := k.server.changes.Load()
	if err := replaceFile(k.path, k.server.document().write); err != nil {
		return fmt.Errorf("awslocal: writing the state file: %w", err)
	}
	k.kept, k.told = changes, ""
	return nil
}

// keep saves at each tick what has changed, until the context ends. What fails is
// tried again at the next tick.
func (k *keeper) keep(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if k.server.changes.Load() == k.kept {
			continue
		}
		if err := k.save(); err != nil && err.Error() != k.told {
			k.told = err.Error()
			k.server.options.Logger.Error("the state is not kept; trying again", "error", err)
		}
	}
}
