package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// WriteFolder writes all files into a folder that is new or empty, or that holds just these
// already. Names are paths below the folder. No link in the folder is followed, and nothing outside
// of it is written. Errors are those of Refuse.
func (f File) WriteFolder(files map[string][]byte) error {
	if err := os.MkdirAll(f.Path, 0o755); err != nil {
		return f.Refuse(err)
	}
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return f.Refuse(err)
	}
	defer func() { _ = root.Close() }() // its files are closed
	if isWritten, err := f.holds(root, files); isWritten || err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeNew(root, filepath.ToSlash(name), files[name]); err != nil {
			return f.Refuse(err)
		}
	}
	return nil
}

// writeNew writes a file that is not there yet, not even as a link.
func writeNew(root *os.Root, name string, text []byte) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	return errors.Join(err, to.Close())
}

// holds says whether a folder holds just these files, with this content. It refuses a
// folder with anything else in it: files of an earlier run would be taken for some of
// the new ones.
func (f File) holds(root *os.Root, files map[string][]byte) (bool, error) {
	same := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name = filepath.FromSlash(name)
		if !entry.Type().IsRegular() {
			return fmt.Errorf("the folder is not empty, and %s is a link or no regular file, which is not what this run writes", name)
		}
		text, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		if want, isOurs := files[name]; !isOurs || !bytes.Equal(text, want) {
			return fmt.Errorf("the folder is not empty, and %s is not what this run writes", name)
		}
		same++
		return nil
	})
	switch {
	case err != nil:
		return false, f.Refuse(err)
	case same > 0 && same < len(files):
		return false, f.Refuse(fmt.Errorf("the folder is not empty, and holds %d of the %d files that this run writes", same, len(files)))
	default:
		return same > 0, nil
	}
}
