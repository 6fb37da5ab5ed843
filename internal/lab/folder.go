package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// folders are what a lab's folder holds.
var folders = []string{"aws", "bin", "etcd", "logs", "manifests", "node", "pki", "pods", "run", "tmp"}

// prepareDir makes the lab's folder, for its owner only. A folder that holds
// something else already is refused: "down" will empty it.
func prepareDir(dir string) error {
	if err := asDirError(private.Make(dir)); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the lab's folder: %w", err)
	}
	known := map[string]bool{"lab.json": true, "lab.json.part": true, "lock": true}
	for _, entry := range entries {
		if !known[entry.Name()] && !exist(filepath.Join(dir, "lab.json")) {
			return &DirError{fmt.Sprintf("%s is not empty (it holds %q) and is no lab; name an empty or new folder with --dir", dir, entry.Name())}
		}
	}
	if err := checkContent(dir); err != nil {
		return err
	}
	// The keys in it make anybody an administrator.
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("close the lab's folder to others: %w", err)
	}
	return nil
}

// checkDir says whether a lab's folder and what is in it are its user's alone: what
// another user wrote would be run, or name processes to end.
func checkDir(dir string) error {
	if err := private.Check(dir); err != nil {
		return asDirError(err)
	}
	return checkContent(dir)
}

func checkContent(dir string) error {
	errs := []error{private.CheckContent(dir, false)}
	// The others are for programs to put into what they like.
	for _, folder := range []string{"aws", "logs", "manifests", "pki", "run"} {
		errs = append(errs, private.CheckContent(filepath.Join(dir, folder), false))
	}
	errs = append(errs, private.CheckContent(filepath.Join(dir, "bin"), true))
	return asDirError(errors.Join(errs...))
}

// asDirError makes a refusal one of the lab's folder.
func asDirError(err error) error {
	if refusal, ok := errors.AsType[*private.Refusal](err); ok {
		return &DirError{refusal.Reason}
	}
	return err
}

func (lab Lab) makeFolders() error {
	for _, folder := range folders {
		if err := os.MkdirAll(lab.Path(folder), 0o700); err != nil {
			return fmt.Errorf("make the lab's folder: %w", err)
		}
	}
	return nil
}

// lock waits until no other command changes the lab in a folder. The folder
// must exist.
func lock(dir string) (unlock func(), err error) {
	path := filepath.Join(dir, "lock")
	for {
		file, err := private.Open(path, os.O_RDWR)
		if err != nil {
			return nil, fmt.Errorf("lock the lab: %w", err)
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock the lab: %w", err)
		}
		// Whoever held it before may have removed the lab and the lock with it.
		held, heldErr := file.Stat()
		current, currentErr := os.Stat(path)
		if heldErr == nil && currentErr == nil && os.SameFile(held, current) {
			return func() { _ = file.Close() }, nil
		}
		_ = file.Close()
		if errors.Is(currentErr, os.ErrNotExist) && !exist(dir) {
			return nil, fmt.Errorf("%w: %s was removed by another command", ErrNone, dir)
		}
	}
}

// empty removes what a lab consists of, the file that marks it as one last, so
// that an interrupted removal can be repeated. What is not the lab's stays.
func (lab Lab) empty() error {
	names := append([]string{"kubeconfig", "kubeconfig.part", "lab.json.part"}, folders...)
	for _, name := range append(names, "lab.json", "lock") {
		if err := os.RemoveAll(lab.Path(name)); err != nil {
			return fmt.Errorf("remove the lab's files: %w", err)
		}
	}
	// Somebody else's file in it keeps the folder, and that is right.
	_ = os.Remove(lab.Dir)
	return nil
}
