package image

import (
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Document is what is known of an image and kept beside it, such as its bill of
// materials.
type Document struct {
	// Type is the media type of the content, by which readers ask for it.
	Type string
	// Content is the document itself, and JSON: all documents about images are.
	Content []byte
}

// Attach makes a manifest of a document about an image. The manifest names the
// image as its subject, so that a registry lists it as one of the image's referrers
// (OCI Distribution 1.1). Its configuration has the document's type, which is how
// registries older than OCI Image 1.1 know an artifact.
func Attach(subject v1.Image, document Document) (v1.Image, error) {
	if !json.Valid(document.Content) {
		return nil, fmt.Errorf("a document of type %s about an image is not JSON", document.Type)
	}
	of, err := partial.Descriptor(subject)
	if err != nil {
		return nil, fmt.Errorf("describe the image that a document is about: %w", err)
	}
	manifest := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.MediaType(document.Type))
	manifest, err = mutate.AppendLayers(manifest, static.NewLayer(document.Content, types.MediaType(document.Type)))
	if err != nil {
		return nil, fmt.Errorf("add the document of type %s: %w", document.Type, err)
	}
	attached, ok := mutate.Subject(manifest, v1.Descriptor{MediaType: of.MediaType, Size: of.Size, Digest: of.Digest}).(v1.Image)
	if !ok {
		return nil, errors.New("the manifest of a document became something else")
	}
	return attached, nil
}

// attached writes the documents about a reference's images and describes them. A
// document about another image is refused.
func (a archive) attached(named Named, described []mutate.IndexAddendum) ([]v1.Descriptor, error) {
	var all []v1.Descriptor
	for _, document := range named.Documents {
		manifest, err := document.Manifest()
		if err != nil {
			return nil, fmt.Errorf("read the manifest of a document: %w", err)
		}
		if !isAbout(manifest, described) {
			return nil, fmt.Errorf("a document in the archive of %s is about none of its images", named.Reference)
		}
		descriptor, err := partial.Descriptor(document)
		if err != nil {
			return nil, fmt.Errorf("describe a document: %w", err)
		}
		if err := a.image(document); err != nil {
			return nil, fmt.Errorf("write a document into the archive: %w", err)
		}
		all = append(all, *descriptor)
	}
	return all, nil
}

func isAbout(manifest *v1.Manifest, described []mutate.IndexAddendum) bool {
	for _, image := range described {
		if manifest.Subject != nil && manifest.Subject.Digest == image.Digest {
			return true
		}
	}
	return false
}
