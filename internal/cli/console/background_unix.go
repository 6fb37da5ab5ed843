//go:build unix

package console

import (
	"os/signal"
	"syscall"
)

// stayInBackground lets a program that a shell runs in the background run on when it reads the
// terminal: the read fails, where the system would stop the program.
func stayInBackground() { signal.Ignore(syscall.SIGTTIN) }
