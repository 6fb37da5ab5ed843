//go:build !linux

package sandbox

import (
	"context"
	"os/exec"
)

// Command prepares the program of a spec; here it cannot.
func Command(string, []string, Spec) (*exec.Cmd, func() error, error) {
	return nil, nil, ErrUnsupported
}

// Try says whether the sandbox works here: it does not.
func Try(context.Context, string, []string, Spec) error { return ErrUnsupported }

// Init is the sandboxed half, which is never started here.
func Init() error { return ErrUnsupported }
