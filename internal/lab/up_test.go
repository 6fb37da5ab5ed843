package lab

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tabard-dev/tabard/internal/lab/process"
)

// TestUpNoticesAComponentThatIsDying is about one that was killed just before:
// it is there when up looks first, and must not be waited for.
func TestUpNoticesAComponentThatIsDying(t *testing.T) {
	book := process.Book{Dir: t.TempDir()}
	record, ended, err := book.Start(process.Spec{
		Name: "component", Command: []string{"/bin/sh", "-c", "exec sleep 600"}, Dir: book.Dir, Log: filepath.Join(book.Dir, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	gone := whenGone(t.Context(), record)
	select {
	case err := <-gone:
		t.Fatalf("a process that runs is said to be gone: %v", err)
	default:
	}
	if err := syscall.Kill(record.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-gone; !errors.Is(err, errGone) {
		t.Errorf("got %v, want %v", err, errGone)
	}
	if err := <-ended; err == nil {
		t.Error("a process that was killed is said to have ended well")
	}
}
