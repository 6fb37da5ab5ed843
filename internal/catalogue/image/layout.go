package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

const indexName = "index.json"

// Layout reads an OCI image layout, which is a directory. All digests are checked. The error is
// that of the layout or of its image; anything wrong in the catalogue is a finding.
func (r Reader) Layout(ctx context.Context, dir string) (model.Catalogue, error) {
	return r.read(ctx, "OCI layout", dir, func(w *reading) (picture, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return picture{}, err
		}
		w.disk.closers = append(w.disk.closers, root)
		image, err := w.layout(directory{root})
		if errors.Is(err, errNoIndex) {
			err = fmt.Errorf("%w; a directory of file-based catalogues is read with --catalogue %s", err, model.Quoted(dir))
		}
		return image, err
	})
}

var errNoIndex = errors.New("it has no index.json, expected that of an OCI image layout")

// layout finds the image of a layout.
func (w *reading) layout(in container) (picture, error) {
	text, err := w.whole(in, indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return picture{}, errNoIndex
	}
	if err != nil {
		return picture{}, err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(text, &index); err != nil {
		return picture{}, fmt.Errorf("%s cannot be read: %w", indexName, err)
	}
	of, err := single(index)
	if err != nil {
		return picture{}, fmt.Errorf("%s: %w", indexName, err)
	}
	return w.resolve(blobs{in}, of)
}

// container is a directory or an archive with files. An absent file is fs.ErrNotExist.
type container interface {
	open(name string) (io.ReadCloser, int64, error)
}

// whole is all of a small file.
func (w *reading) whole(in container, name string) ([]byte, error) {
	opened, size, err := in.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	if err := w.small(size); err != nil {
		return nil, fmt.Errorf("%s: %w", model.Quoted(name), err)
	}
	return io.ReadAll(io.LimitReader(opened, size))
}

// blobs are those of a layout.
type blobs struct{ in container }

func (b blobs) manifest(of v1.Descriptor) (io.ReadCloser, error) { return b.blob(of) }

func (b blobs) blob(of v1.Descriptor) (io.ReadCloser, error) {
	// A digest has letters and digits only: v1.Hash takes no other from JSON.
	name := path.Join("blobs", of.Digest.Algorithm, of.Digest.Hex)
	opened, size, err := b.in.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no %s, which a manifest names; was the image copied in part only?", name)
	}
	if err != nil {
		return nil, err
	}
	if size != of.Size {
		_ = opened.Close() // It was not read.
		return nil, fmt.Errorf("%s has %d bytes, expected %d as the manifest says; fetch the image again", name, size, of.Size)
	}
	return opened, nil
}

// directory is the layout on a disk.
type directory struct{ root *os.Root }

func (d directory) open(name string) (io.ReadCloser, int64, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	// To open a named pipe would wait for ever.
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file, which is all that is read of a layout", name)
	}
	opened, err := d.root.Open(name)
	return opened, info.Size(), err
}
