package operators

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/bundle"
)

// untouched is the output for a file that another program takes: only on a terminal its
// characters are made harmless.
func untouched(streams command.Streams) io.Writer {
	raw := command.Raw(streams.Out)
	if g, ok := raw.(guard); ok && !isTerminal(streams.Out) {
		return g.to
	}
	return raw
}

// write changes files, each as a whole or not at all.
func (a *authored) write(streams command.Streams, all []bundle.Write) error {
	root, err := os.OpenRoot(a.root)
	if err != nil {
		return fmt.Errorf("open the folder of the files: %s", command.Cause(err))
	}
	defer func() { _ = root.Close() }() // its files are closed
	if err := a.unchanged(root, all); err != nil {
		return err
	}
	changed := 0
	for _, w := range all {
		if old, err := root.ReadFile(w.Name); !w.Remove && err == nil && bytes.Equal(old, w.Text) {
			continue
		}
		if w.Remove {
			err = root.Remove(w.Name)
		} else {
			err = replace(root, w.Name, w.Text)
		}
		if err != nil {
			return fmt.Errorf("write %s: %s; nothing is lost, type the same command again", w.Name, command.Cause(err))
		}
		changed++
		sayOn(streams.Err, "tabard: %s %s", map[bool]string{true: "removed", false: "wrote"}[w.Remove], w.Name)
	}
	if changed == 0 {
		sayOn(streams.Err, "tabard: nothing changes: the annotation is there already")
	}
	return nil
}

// unchanged refuses what must not be written over: a link, and a file that changed since it was
// read.
func (a *authored) unchanged(root *os.Root, all []bundle.Write) error {
	read := map[string][]byte{}
	for _, files := range [][]bundle.File{a.Manifests, a.Requests} {
		for _, f := range files {
			read[f.Name] = f.Text
		}
	}
	for _, w := range all {
		info, err := root.Lstat(w.Name)
		was, known := read[w.Name]
		switch {
		case errors.Is(err, fs.ErrNotExist) && !known:
		case err != nil:
			return fmt.Errorf("write %s: %s", w.Name, command.Cause(err))
		case !info.Mode().IsRegular():
			return fmt.Errorf("write %s: it is a link or no regular file; give the path of the file itself", w.Name)
		default:
			if now, err := root.ReadFile(w.Name); err != nil || !known || !bytes.Equal(now, was) {
				return fmt.Errorf("write %s: it has changed since it was read; type the same command again", w.Name)
			}
		}
	}
	return nil
}

// replace puts a file with a text in the place of another, with its permissions.
func replace(root *os.Root, name string, text []byte) (err error) {
	mode := fs.FileMode(0o644)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	} else if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), fmt.Sprintf(".%s.tabard-%d", path.Base(name), os.Getpid()))
	to, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Remove(part))
		}
	}()
	_, err = to.Write(text)
	if err = errors.Join(err, to.Chmod(mode), to.Sync(), to.Close()); err != nil {
		return err
	}
	return root.Rename(part, name)
}
