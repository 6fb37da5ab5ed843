package image

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// files are the files of a catalogue, as a file system.
type files struct {
	root    *node
	content io.ReaderAt
}

var (
	_ fs.ReadDirFS  = &files{}
	_ fs.StatFS     = &files{}
	_ fs.ReadLinkFS = &files{}
)

// mostLinks is how many symbolic links a path may go over, as in Linux.
const mostLinks = 40

// walk is the node of a path, and its name. Links of directories above it are followed, its own
// only if it should be. A link that leads out of the catalogue names nothing.
func (f *files) walk(op, name string, follow bool) (*node, error) {
	wrong := func(err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return nil, wrong(fs.ErrInvalid)
	}
	above := []*node{f.root}
	rest := strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		at := above[len(above)-1]
		switch {
		case part == "" || part == ".":
			continue
		case !at.mode.IsDir():
			return nil, wrong(fs.ErrNotExist)
		case part == "..":
			if above = above[:len(above)-1]; len(above) == 0 {
				return nil, wrong(fs.ErrPermission)
			}
			continue
		}
		next := at.children[part]
		if next == nil {
			return nil, wrong(fs.ErrNotExist)
		}
		if next.mode != fs.ModeSymlink || len(rest) == 0 && !follow {
			above = append(above, next)
			continue
		}
		if links++; links > mostLinks || path.IsAbs(next.link) || len(next.link) > longestName {
			return nil, wrong(fs.ErrPermission)
		}
		rest = append(strings.Split(next.link, "/"), rest...)
	}
	return above[len(above)-1], nil
}

func (f *files) info(op, name string, follow bool) (fs.FileInfo, error) {
	at, err := f.walk(op, name, follow)
	if err != nil {
		return nil, err
	}
	return info{at, path.Base(name)}, nil
}

// Stat follows links within the catalogue.
func (f *files) Stat(name string) (fs.FileInfo, error) { return f.info("stat", name, true) }

// Lstat does not follow the last one.
func (f *files) Lstat(name string) (fs.FileInfo, error) { return f.info("lstat", name, false) }

// ReadLink is what a symbolic link has.
func (f *files) ReadLink(name string) (string, error) {
	at, err := f.walk("readlink", name, false)
	if err == nil && at.mode != fs.ModeSymlink {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return at.link, nil
}

// ReadDir is sorted by name.
func (f *files) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := f.walk("readdir", name, false)
	if err == nil && !at.mode.IsDir() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, 0, len(at.children))
	for name, child := range at.children {
		entries = append(entries, fs.FileInfoToDirEntry(info{child, name}))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Open opens a file.
func (f *files) Open(name string) (fs.File, error) {
	at, err := f.walk("open", name, false)
	if err == nil && at.why != nil {
		return nil, at.why
	}
	if err == nil && at.mode != 0 {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return &opened{io.NewSectionReader(f.content, at.part.offset, at.part.size), info{at, path.Base(name)}}, nil
}

// opened is a file that is read.
type opened struct {
	*io.SectionReader
	info info
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *opened) Close() error               { return nil }

// info is what is known of a node.
type info struct {
	*node
	name string
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.part.size }
func (i info) Mode() fs.FileMode  { return i.mode | 0o444 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
