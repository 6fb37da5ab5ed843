package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

const (
	// whiteout begins the name of an entry that removes what lower layers have.
	whiteout = ".wh."
	// opaque removes all that lower layers have in its directory.
	opaque = ".wh..wh..opq"
	// longestName is that of a path in Linux.
	longestName = 4096
)

// each calls do with each entry of a tar and its content. Content that do does not read is passed over.
func (w *reading) each(in io.Reader, do func(*tar.Header, io.Reader) error) error {
	for entries := tar.NewReader(in); ; {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		header, err := entries.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		// A path that climbs is judged here, whatever the program was told by its environment.
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return fmt.Errorf("it is no whole tar: %w; fetch the image again", err)
		}
		if w.entries++; w.entries > w.bounds.entries {
			return fmt.Errorf("there are more than %d entries in its tars, expected 100000 at most", w.bounds.entries)
		}
		if err := do(header, entries); err != nil {
			return err
		}
	}
}

// inside is a name of a tar as a path below the root of the image.
func inside(name string) (string, error) {
	if len(name) > longestName {
		return "", fmt.Errorf("its name has %d bytes, expected %d at most; it was not read", len(name), longestName)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", errors.New("its name climbs out of a directory; it was not read")
		}
	}
	return strings.TrimPrefix(path.Clean("/"+name), "/"), nil
}

// member applies one entry. Entries outside of the catalogue are passed over.
func (w *reading) member(tree *tree, n int, header *tar.Header, in io.Reader, content *file) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name, err := inside(header.Name)
	if err != nil {
		return w.find(header.Name[:min(len(header.Name), longestName)], err.Error())
	}
	dir, base := path.Dir(name), path.Base(name)
	if strings.HasPrefix(base, whiteout) {
		return w.whiteout(tree, n, name, dir, base)
	}
	if !tree.concerns(name) {
		return nil
	}
	made, err := w.node(tree, header, in, content, name)
	if err != nil {
		return err
	}
	if err := w.keep(len(name)); err != nil {
		return err
	}
	added, ok := tree.put(n, name, made)
	if !ok {
		return w.find(name, "what is above it in the image is no directory; it was not read")
	}
	for range added {
		// Directories without an entry of their own.
		if err := w.keep(0); err != nil {
			return err
		}
	}
	return nil
}

func (w *reading) whiteout(tree *tree, n int, name, dir, base string) error {
	switch removed := strings.TrimPrefix(base, whiteout); {
	case base == opaque:
		tree.empty(n, dir)
	case removed == "" || removed == "." || removed == "..":
		return w.find(name, "it removes nothing that has a name; it was passed over")
	case strings.HasPrefix(removed, whiteout):
		// Others are of a file system's own housekeeping.
	default:
		tree.remove(n, path.Join(dir, removed))
	}
	return nil
}

// node makes what an entry stands for.
func (w *reading) node(tree *tree, header *tar.Header, in io.Reader, content *file, name string) (*node, error) {
	switch header.Typeflag {
	case tar.TypeDir:
		return &node{mode: fs.ModeDir}, nil
	case tar.TypeSymlink:
		if err := w.keep(len(header.Linkname)); err != nil {
			return nil, err
		}
		return &node{mode: fs.ModeSymlink, link: header.Linkname}, nil
	case tar.TypeLink:
		return tree.hardLink(header.Linkname), nil
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return w.regular(tree, header, in, content, name)
	case tar.TypeFifo:
		return &node{mode: fs.ModeNamedPipe}, nil
	case tar.TypeChar, tar.TypeBlock:
		return &node{mode: fs.ModeDevice}, nil
	}
	return &node{mode: fs.ModeIrregular}, nil
}

// regular keeps the content of a file for later: files are read in the order of their names, and
// layers have them in any.
func (w *reading) regular(tree *tree, header *tar.Header, in io.Reader, content *file, name string) (*node, error) {
	if sparse(header) {
		return unread("it is a sparse file, expected a plain one"), nil
	}
	if !tree.below(name) {
		return unread("it is no directory"), nil
	}
	part, err := content.add(in)
	if err != nil {
		return nil, fmt.Errorf("it could be read in part only: %w", err)
	}
	return &node{part: part}, nil
}

// sparse says whether an entry has holes: a few bytes can then stand for any number.
func sparse(header *tar.Header) bool {
	if header.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
