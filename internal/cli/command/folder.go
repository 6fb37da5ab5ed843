package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// WriteFolder writes all files into a folder that is new or empty, or that holds just these
// already. Names are paths below the folder. Errors are those of Refuse.
func (f File) WriteFolder(files map[string][]byte) error {
	if isWritten, err := f.holds(files); isWritten || err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(f.Path, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return f.Refuse(err)
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return f.Refuse(err)
		}
	}
	return nil
}

// holds says whether a folder holds just these files, with this content. It refuses a
// folder with anything else in it: files of an earlier run would be taken for some of
// the new ones.
func (f File) holds(files map[string][]byte) (bool, error) {
	same := 0
	err := filepath.WalkDir(f.Path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(f.Path, path)
		if want, isOurs := files[name]; !isOurs || !bytes.Equal(text, want) {
			return fmt.Errorf("the folder is not empty, and %s is not what this run writes", name)
		}
		same++
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, f.Refuse(err)
	case same > 0 && same < len(files):
		return false, f.Refuse(fmt.Errorf("the folder is not empty, and holds %d of the %d files that this run writes", same, len(files)))
	default:
		return same > 0, nil
	}
}
