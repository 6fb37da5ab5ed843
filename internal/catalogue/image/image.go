// Package image reads catalogues that are container images: from an OCI image layout, from an
// archive, or from a registry. The layers are applied in order, and what they have in the
// directory of the catalogue is read as a directory is. Nothing of an image is unpacked: the files
// of the catalogue stand one after the other in a temporary file without a name of their own.
// Its functions may be used by several goroutines at once.
package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
)

// Reader reads catalogues that are images.
type Reader struct {
	// Slow is called as that of catalogue.Reader.
	Slow func(file string)
	// bounds are defaults, but in tests.
	bounds *bounds
}

// reading is the reading of one image.
type reading struct {
	ctx    context.Context
	bounds bounds
	disk   disk
	// decompressed are bytes, entries those of all tars, kept the bytes of what is remembered.
	decompressed, entries, kept int64
	findings                    []model.Finding
}

// picture is an image whose config was read.
type picture struct {
	labels map[string]string
	layers []layer
}

// layer is one layer. A digest that is zero is not known.
type layer struct {
	open func() (io.ReadCloser, error)
	size int64
	// digest is that of the bytes as they are, content that of the tar in them.
	digest, content v1.Hash
}

// read reads the catalogue of the image that find finds.
func (r Reader) read(ctx context.Context, what, name string, find func(*reading) (picture, error)) (model.Catalogue, error) {
	work := &reading{ctx: ctx, bounds: defaults}
	if r.bounds != nil {
		work.bounds = *r.bounds
	}
	work.disk.most = work.bounds.disk
	got, err := r.catalogue(work, find)
	if err = errors.Join(err, work.disk.remove()); err != nil {
		return model.Catalogue{}, fmt.Errorf("read the catalogue of the %s %s: %w", what, model.Quoted(name), harmless{err})
	}
	return got, nil
}

func (r Reader) catalogue(work *reading, find func(*reading) (picture, error)) (model.Catalogue, error) {
	image, err := find(work)
	if err != nil {
		return model.Catalogue{}, err
	}
	dir, err := configs(image.labels)
	if err != nil {
		return model.Catalogue{}, err
	}
	if len(image.layers) > work.bounds.layers {
		return model.Catalogue{}, fmt.Errorf("the image has %d layers, expected %d at most", len(image.layers), work.bounds.layers)
	}
	content, err := work.disk.file()
	if err != nil {
		return model.Catalogue{}, err
	}
	tree := newTree(dir)
	for n, layer := range image.layers {
		if err := work.apply(tree, n, layer, content); err != nil {
			return model.Catalogue{}, fmt.Errorf("layer %d of %d: %w", n+1, len(image.layers), err)
		}
	}
	files, err := tree.files(content)
	if err != nil {
		return model.Catalogue{}, err
	}
	return catalogue.Reader{Slow: r.Slow}.ReadTree(work.ctx, catalogue.Tree{Files: files, Name: dir, Findings: work.findings})
}

// apply reads a layer once, and checks its digest.
func (w *reading) apply(tree *tree, n int, layer layer, content *file) error {
	opened, err := layer.open()
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // It was only read.
	raw, err := w.verified(opened, layer.digest, layer.size)
	if err != nil {
		return err
	}
	plain, err := decompressed(raw)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }() // It was only read.
	in := io.Reader(&counted{w: w, in: plain})
	sum := sha256.New()
	if layer.content != (v1.Hash{}) {
		in = io.TeeReader(in, sum)
	}
	err = w.each(in, func(header *tar.Header, entry io.Reader) error {
		if err := w.member(tree, n, header, entry, content); err != nil {
			return fmt.Errorf("entry %s: %w", model.Quoted(header.Name), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	// What follows the tar belongs to the digest, and to the sum of gzip.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	if err := sameContent(sum, layer.content); err != nil {
		return err
	}
	return raw.finish()
}

func sameContent(sum hash.Hash, want v1.Hash) error {
	if want == (v1.Hash{}) {
		return nil
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); want.Algorithm != "sha256" || got != want.Hex {
		return fmt.Errorf("its content has the digest sha256:%s, expected %s as the config of the image says; fetch the image again", got, want)
	}
	return nil
}

// find notes what is wrong with an entry of a layer.
func (w *reading) find(name, message string) error {
	w.findings = append(w.findings, model.Finding{Code: model.FileNotRead, Where: model.Where{File: name}, Message: line.Of(message)})
	return w.keep(len(name) + len(message))
}

// keep counts what is remembered.
func (w *reading) keep(bytes int) error {
	const beside = 256 // what a node takes beside its name
	if w.kept += int64(bytes) + beside; w.kept > w.bounds.kept {
		return fmt.Errorf("the image has more names of files than fit into %d MiB, expected some thousand files in a catalogue", w.bounds.kept>>20)
	}
	return nil
}

// harmless is an error whose text may be of strangers.
type harmless struct{ err error }

func (h harmless) Error() string { return line.Of(h.err.Error()) }

func (h harmless) Unwrap() error { return h.err }
