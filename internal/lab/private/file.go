package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Write writes a file that only its user may read, whole or not at all. It follows no
// link, neither in the file's place nor beside it.
func Write(path string, data []byte) error {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: %w", path, err)
	}
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Open opens a file that is written to in place, such as a log, and makes it for its
// user only. In the place of a link it is an error.
func Open(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}
