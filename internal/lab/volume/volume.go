// Package volume writes the files of a pod's volume as a kubelet does: readers
// see all files of one version or all of the next, never a mixture.
//
//	volume/
//	  ..2026_01_02_03_04_05.123456789/token   one version
//	  ..data -> ..2026_01_02_03_04_05.123456789
//	  token  -> ..data/token                  what the container opens
//
// The rename of ..data is the one instant at which all files change.
package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is one file of a volume.
type File struct {
	Data []byte
	// Mode holds the permission bits.
	Mode fs.FileMode
}

// Payload is the content of a volume: files by their slash-separated path.
type Payload map[string]File

const (
	dataLink    = "..data"
	newDataLink = "..data_tmp"
)

// Write makes a folder hold exactly the payload, in the layout that the
// package describes. It says whether anything changed; an unchanged payload is
// not written again. Several writers of one folder must take turns.
func Write(dir string, payload Payload, now time.Time) (bool, error) {
	if err := payload.check(); err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("make the volume's folder: %w", err)
	}
	changed := !holds(filepath.Join(dir, dataLink), payload)
	if changed {
		if err := swap(dir, payload, now); err != nil {
			return false, err
		}
	}
	if err := link(dir, payload); err != nil {
		return false, err
	}
	return changed, sweep(dir, payload)
}

// check refuses paths that would leave the volume or hide its own links.
func (payload Payload) check() error {
	for path := range payload {
		if !filepath.IsLocal(path) || path != filepath.Clean(path) || strings.HasPrefix(path, "..") || path == "." {
			return fmt.Errorf("a volume cannot hold a file at %q: want a relative path that does not start with \"..\"", path)
		}
	}
	return nil
}

// holds says whether the version behind a link is the payload, file by file.
func holds(version string, payload Payload) bool {
	root, err := filepath.EvalSymlinks(version)
	if err != nil {
		return false
	}
	seen := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		want, isWanted := payload[filepath.ToSlash(relative)]
		info, infoErr := entry.Info()
		data, readErr := os.ReadFile(path)
		if !isWanted || infoErr != nil || readErr != nil || info.Mode().Perm() != want.Mode.Perm() || !bytes.Equal(data, want.Data) {
			return errDiffers
		}
		seen++
		return nil
	})
	return err == nil && seen == len(payload)
}

// errDiffers ends a comparison early.
var errDiffers = errors.New("the volume differs")

// swap writes a new version and moves the link to it.
func swap(dir string, payload Payload, now time.Time) error {
	version, err := os.MkdirTemp(dir, now.UTC().Format("..2006_01_02_15_04_05."))
	if err != nil {
		return fmt.Errorf("make a version of the volume: %w", err)
	}
	if err := os.Chmod(version, 0o755); err != nil {
		return fmt.Errorf("make a version of the volume: %w", err)
	}
	for path, file := range payload {
		target := filepath.Join(version, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("write the volume: %w", err)
		}
		if err := os.WriteFile(target, file.Data, 0o600); err != nil {
			return fmt.Errorf("write the volume: %w", err)
		}
		// Not at creation: there the umask would take bits away.
		if err := os.Chmod(target, file.Mode.Perm()); err != nil {
			return fmt.Errorf("write the volume: %w", err)
		}
	}
	next := filepath.Join(dir, newDataLink)
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the volume: %w", err)
	}
	if err := os.Symlink(filepath.Base(version), next); err != nil {
		return fmt.Errorf("write the volume: %w", err)
	}
	if err := os.Rename(next, filepath.Join(dir, dataLink)); err != nil {
		return fmt.Errorf("write the volume: %w", err)
	}
	return nil
}

// names are the entries that a container sees: the first element of each path.
func (payload Payload) names() []string {
	var names []string
	for path := range payload {
		name, _, _ := strings.Cut(path, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func link(dir string, payload Payload) error {
	for _, name := range payload.names() {
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("write the volume: %w", err)
		}
	}
	return nil
}

// sweep removes what no longer belongs: links of files that have gone, and old
// versions, also those of a writer that was interrupted.
func sweep(dir string, payload Payload) error {
	current, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil {
		return fmt.Errorf("read the volume: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the volume: %w", err)
	}
	keep := append(payload.names(), dataLink, current)
	for _, entry := range entries {
		if slices.Contains(keep, entry.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("clean the volume: %w", err)
		}
	}
	return nil
}
