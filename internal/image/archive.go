package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations by which a reader of an archive knows the name of what is in it.
const (
	tagAnnotation = "org.opencontainers.image.ref.name" // OCI image layout: the tag
	// containerd's own, the whole reference; it has precedence there.
	nameAnnotation = "io.containerd.image.name"
)

// Named is what a reference names in an archive: an image, or with several an index
// of them, each for another platform.
type Named struct {
	Reference string
	Images    []v1.Image
	// Documents are manifests that Attach made of documents about the images.
	Documents []v1.Image
}

// Archive writes a tar of an OCI image layout with the images of one reference, and
// returns the digest of what it names.
func Archive(w io.Writer, reference string, images ...v1.Image) (v1.Hash, error) {
	digests, err := ArchiveAll(w, Named{Reference: reference, Images: images})
	if err != nil {
		return v1.Hash{}, err
	}
	return digests[0], nil
}

// ArchiveAll writes a tar of an OCI image layout, which ctr images import, skopeo
// and crane read, and returns the digests of what the references name in it. What
// images share is stored once.
func ArchiveAll(w io.Writer, all ...Named) ([]v1.Hash, error) {
	a := archive{tar: tar.NewWriter(w), written: map[v1.Hash]bool{}}
	var tops []v1.Descriptor
	var digests []v1.Hash
	for _, named := range all {
		found, err := a.named(named)
		if err != nil {
			return nil, err
		}
		tops, digests = append(tops, found...), append(digests, found[0].Digest)
	}
	if err := a.close(tops); err != nil {
		return nil, fmt.Errorf("write the image's archive: %w", err)
	}
	return digests, nil
}

// named writes what a reference names and the documents about it, and describes them
// in this order.
func (a archive) named(named Named) ([]v1.Descriptor, error) {
	tag, err := name.NewTag(named.Reference, name.StrictValidation)
	if err != nil {
		return nil, fmt.Errorf("the reference of an image is a registry, a repository and a tag: %w", err)
	}
	described, err := descriptors(named.Images)
	if err != nil {
		return nil, err
	}
	for _, image := range named.Images {
		if err := a.image(image); err != nil {
			return nil, fmt.Errorf("write the image's archive: %w", err)
		}
	}
	documents, err := a.attached(named, described)
	if err != nil {
		return nil, err
	}
	top := described[0].Descriptor
	if len(described) > 1 {
		index := mutate.IndexMediaType(mutate.AppendManifests(empty.Index, described...), types.OCIImageIndex)
		descriptor, err := partial.Descriptor(index)
		if err != nil {
			return nil, fmt.Errorf("describe the index of images: %w", err)
		}
		top = *descriptor
		if err := a.manifest(index); err != nil {
			return nil, fmt.Errorf("write the image's archive: %w", err)
		}
	}
	top.Annotations = map[string]string{tagAnnotation: tag.TagStr(), nameAnnotation: named.Reference}
	return append([]v1.Descriptor{top}, documents...), nil
}

// descriptors describes each image with its platform. No two may have the same.
func descriptors(images []v1.Image) ([]mutate.IndexAddendum, error) {
	if len(images) == 0 {
		return nil, errors.New("an archive needs an image")
	}
	var described []mutate.IndexAddendum
	seen := map[string]bool{}
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("read the image's configuration: %w", err)
		}
		descriptor, err := partial.Descriptor(image)
		if err != nil {
			return nil, fmt.Errorf("describe the image: %w", err)
		}
		descriptor.Platform = config.Platform()
		platform := descriptor.Platform.String()
		if seen[platform] {
			return nil, fmt.Errorf("two images are for %s: an archive holds one for each platform", platform)
		}
		seen[platform] = true
		described = append(described, mutate.IndexAddendum{Add: image, Descriptor: *descriptor})
	}
	return described, nil
}

// archive is an image layout that is being written.
type archive struct {
	tar     *tar.Writer
	written map[v1.Hash]bool
}

// manifest writes the manifest of an image or of an index.
func (a archive) manifest(of interface {
	Digest() (v1.Hash, error)
	RawManifest() ([]byte, error)
},
) error {
	digest, err := of.Digest()
	if err != nil {
		return err
	}
	manifest, err := of.RawManifest()
	if err != nil {
		return err
	}
	return a.blob(digest, int64(len(manifest)), bytes.NewReader(manifest))
}

// image writes an image's layers, its configuration and its manifest.
func (a archive) image(image v1.Image) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		if err := a.layer(layer); err != nil {
			return err
		}
	}
	digest, err := image.ConfigName()
	if err != nil {
		return err
	}
	config, err := image.RawConfigFile()
	if err != nil {
		return err
	}
	if err := a.blob(digest, int64(len(config)), bytes.NewReader(config)); err != nil {
		return err
	}
	return a.manifest(image)
}

func (a archive) layer(layer v1.Layer) error {
	digest, err := layer.Digest()
	if err != nil {
		return err
	}
	size, err := layer.Size()
	if err != nil {
		return err
	}
	content, err := layer.Compressed()
	if err != nil {
		return err
	}
	return errors.Join(a.blob(digest, size, content), content.Close())
}

// blob writes a content once, however many images share it.
func (a archive) blob(digest v1.Hash, size int64, content io.Reader) error {
	if a.written[digest] {
		return nil
	}
	a.written[digest] = true
	return a.file(path.Join("blobs", digest.Algorithm, digest.Hex), size, content)
}

func (a archive) file(name string, size int64, content io.Reader) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if err := a.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(a.tar, content)
	return err
}

// close writes the files by which a reader finds the rest.
func (a archive) close(tops []v1.Descriptor) error {
	index, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: tops,
	})
	if err != nil {
		return err
	}
	layout := []byte(`{"imageLayoutVersion":"1.0.0"}`)
	if err := a.file("index.json", int64(len(index)), bytes.NewReader(index)); err != nil {
		return err
	}
	if err := a.file("oci-layout", int64(len(layout)), bytes.NewReader(layout)); err != nil {
		return err
	}
	return a.tar.Close()
}
