// Package sandbox runs a program with a pod's volumes at the pod's own paths,
// where the system lets an ordinary user make namespaces. The program sees this
// machine's file system with the mounts added; the machine sees nothing of
// them.
package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Mount puts a folder or file of the machine at a path.
type Mount struct {
	// Source is an absolute path on the machine.
	Source string `json:"source"`
	// Target is the absolute path that the program sees it at.
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

// action is what one step of a plan does.
type action string

const (
	makeDir action = "dir"  // make a folder, with a mode
	keep    action = "keep" // show the machine's own folder or file here
	link    action = "link" // make a symbolic link
	place   action = "place"
)

// step is one step to build the program's file system. Paths are absolute, as
// the program will see them.
type step struct {
	do   action
	path string
	// source is what a keep or place shows, or where a link leads.
	source   string
	mode     fs.FileMode
	isDir    bool
	readOnly bool
}

// plan returns the steps that build a file system: the machine's own, with the
// mounts added. Where a mount's path does not exist, it cannot be made on the
// machine; so the folders on the way to it are made anew, and what the machine
// has in them is shown one by one. All other folders are shown as they are.
//
// machine is the machine's file system; kindOf tells of a source if it is a
// folder.
func plan(machine fs.FS, mounts []Mount, kindOf func(string) (isDir bool, err error)) ([]step, error) {
	anew := map[string]bool{"/": true}
	var places []step
	for _, mount := range mounts {
		isDir, err := kindOf(mount.Source)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", mount.Target, err)
		}
		target, existing, err := resolve(machine, mount.Target)
		if err != nil {
			return nil, fmt.Errorf("mount %s: %w", mount.Target, err)
		}
		if target == "/" {
			return nil, fmt.Errorf("mount %s: a volume cannot take the place of the whole file system", mount.Target)
		}
		if existing != target {
			for dir := existing; dir != "/"; dir = path.Dir(dir) {
				anew[dir] = true
			}
		}
		places = append(places, step{do: place, path: target, source: mount.Source, isDir: isDir, readOnly: mount.ReadOnly})
	}
	// A mount may lie in another: the outer one comes first.
	slices.SortStableFunc(places, func(a, b step) int { return strings.Compare(a.path, b.path) })
	steps, err := rebuild(machine, "/", anew)
	return append(steps, places...), err
}

// rebuild returns the steps that make a folder anew.
func rebuild(machine fs.FS, dir string, anew map[string]bool) ([]step, error) {
	entries, err := fs.ReadDir(machine, relative(dir))
	if err != nil {
		return nil, fmt.Errorf("read %s, which a mount's path leads through: %w", dir, err)
	}
	var steps []step
	for _, entry := range entries {
		at := path.Join(dir, entry.Name())
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			to, err := fs.ReadLink(machine, relative(at))
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", at, err)
			}
			steps = append(steps, step{do: link, path: at, source: to})
		case anew[at]:
			info, err := entry.Info()
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", at, err)
			}
			below, err := rebuild(machine, at, anew)
			if err != nil {
				return nil, err
			}
			steps = append(append(steps, step{do: makeDir, path: at, mode: info.Mode() & (fs.ModePerm | fs.ModeSticky)}), below...)
		default:
			steps = append(steps, step{do: keep, path: at, source: at, isDir: entry.IsDir()})
		}
	}
	return steps, nil
}

// maxLinks bounds the symbolic links on the way to a path, as the system does.
const maxLinks = 40

// resolve follows the symbolic links of a path. It returns the path without
// links, and the part of it that exists.
func resolve(machine fs.FS, target string) (resolved, existing string, err error) {
	if !path.IsAbs(target) {
		return "", "", errors.New("its path is not absolute")
	}
	resolved, existing = "/", "/"
	rest := strings.Split(path.Clean(target), "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		next := path.Join(resolved, name)
		if name == "" || next == resolved {
			continue
		}
		if existing != resolved { // below something that is not there
			resolved = next
			continue
		}
		info, err := fs.Lstat(machine, relative(next))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			resolved = next
			continue
		case err != nil:
			return "", "", err
		case info.Mode()&fs.ModeSymlink == 0:
			if !info.IsDir() && len(rest) > 0 {
				return "", "", fmt.Errorf("%s is a file, and the path leads through it", next)
			}
			resolved, existing = next, next
			continue
		}
		if links++; links > maxLinks {
			return "", "", fmt.Errorf("%s: more than %d symbolic links", target, maxLinks)
		}
		to, err := fs.ReadLink(machine, relative(next))
		if err != nil {
			return "", "", err
		}
		if path.IsAbs(to) {
			resolved, existing = "/", "/"
		}
		rest = append(strings.Split(path.Clean(to), "/"), rest...)
		if !path.IsAbs(to) && strings.HasPrefix(path.Clean(to), "..") {
			// Leave the elements: path.Join goes up, and existing goes along.
			resolved, existing, rest = climb(resolved, rest)
		}
	}
	return resolved, existing, nil
}

// climb goes up as often as a path starts with "..".
func climb(from string, rest []string) (resolved, existing string, left []string) {
	for len(rest) > 0 && rest[0] == ".." {
		from, rest = path.Dir(from), rest[1:]
	}
	return from, from, rest
}

// relative is a path as io/fs wants it.
func relative(absolute string) string {
	if absolute == "/" {
		return "."
	}
	return strings.TrimPrefix(absolute, "/")
}
