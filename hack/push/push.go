package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// nameAnnotation is where internal/image writes the whole reference of an image.
const nameAnnotation = "io.containerd.image.name"

// target is where images go.
type target struct {
	registry string
	// replace moves a tag that names another image. Without it such a tag is an error: a
	// version that somebody runs does not become another one.
	replace bool
	options []remote.Option
}

// push pushes what an archive names, then the documents about it, and returns the
// reference by digest.
func (t target) push(archive string) (string, error) {
	dir, err := os.MkdirTemp("", "push-")
	if err != nil {
		return "", fmt.Errorf("make a folder for the archive's files: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left of it is the system's to remove
	if err := unpack(archive, dir); err != nil {
		return "", err
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return "", fmt.Errorf("expected an archive of an OCI image layout: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return "", fmt.Errorf("read the archive's index: %w", err)
	}
	var named, documents []v1.Descriptor
	for _, each := range manifest.Manifests {
		if each.Annotations[nameAnnotation] == "" {
			documents = append(documents, each)
		} else {
			named = append(named, each)
		}
	}
	if len(named) != 1 {
		return "", fmt.Errorf("the archive names %d images, expected one: make it with make release or make image", len(named))
	}
	tag, err := t.tag(named[0].Annotations[nameAnnotation])
	if err != nil {
		return "", err
	}
	if err := t.mayTag(tag, named[0].Digest); err != nil {
		return "", err
	}
	// Documents first: who finds the tag finds them too.
	for _, each := range documents {
		if err := t.put(index, each, tag.Digest(each.Digest.String())); err != nil {
			return "", err
		}
	}
	return tag.Name() + "@" + named[0].Digest.String(), t.put(index, named[0], tag)
}

// tag is the place of an image in the registry: under the last part of its own name.
func (t target) tag(reference string) (name.Tag, error) {
	own, err := name.NewTag(reference, name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("the name in the archive: %w", err)
	}
	tag, err := name.NewTag(t.registry+"/"+path.Base(own.RepositoryStr())+":"+own.TagStr(), name.StrictValidation)
	if err != nil {
		return name.Tag{}, fmt.Errorf("the registry is %q, expected a host, and the path in it if there is one, such as registry.example.com/team: %w", t.registry, err)
	}
	return tag, nil
}

// mayTag looks whether the tag is free, or names this image already.
func (t target) mayTag(tag name.Tag, digest v1.Hash) error {
	there, err := remote.Head(tag, t.options...)
	if refused, ok := errors.AsType[*transport.Error](err); ok && refused.StatusCode == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask for %s: %w", tag, err)
	}
	if there.Digest != digest && !t.replace {
		return fmt.Errorf("%s is there already and is %s, not %s: give the images a version of their own, or move the tag with --replace", tag, there.Digest, digest)
	}
	return nil
}

// put pushes an image, or an index of images, from the archive.
func (t target) put(from v1.ImageIndex, what v1.Descriptor, to name.Reference) error {
	if what.MediaType.IsIndex() {
		index, err := from.ImageIndex(what.Digest)
		if err != nil {
			return fmt.Errorf("read %s from the archive: %w", what.Digest, err)
		}
		if err := remote.WriteIndex(to, index, t.options...); err != nil {
			return fmt.Errorf("push %s: %w", to, err)
		}
		return nil
	}
	image, err := from.Image(what.Digest)
	if err != nil {
		return fmt.Errorf("read %s from the archive: %w", what.Digest, err)
	}
	if err := remote.Write(to, image, t.options...); err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	return nil
}

// unpack writes the files of an archive below a folder, and none beside it.
func unpack(archive, dir string) error {
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open the archive: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder for the archive's files: %w", err)
	}
	defer root.Close() //nolint:errcheck // it holds no writes
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("expected a tar: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := save(root, header.Name, reader); err != nil {
			return fmt.Errorf("unpack %q: %w", header.Name, err)
		}
	}
}

func save(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
