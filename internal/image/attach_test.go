package image_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const billOfMaterials = "application/vnd.cyclonedx+json"

func TestADocumentInTheArchiveNamesItsImage(t *testing.T) {
	amd, arm := built(t, "amd64"), built(t, "arm64")
	document := must.Get(image.Attach(arm, image.Document{Type: billOfMaterials, Content: []byte(`{"of":"arm64"}`)}))(t)
	var archive bytes.Buffer
	named := image.Named{Reference: reference, Images: []v1.Image{amd, arm}, Documents: []v1.Image{document}}
	digests := must.Get(image.ArchiveAll(&archive, named))(t)
	index := must.Get(layout.ImageIndexFromPath(unpacked(t, archive.Bytes())))(t)
	if err := validate.Index(index); err != nil {
		t.Errorf("the layout does not hold together: %v", err)
	}
	tops := must.Get(index.IndexManifest())(t).Manifests
	if len(tops) != 2 || tops[0].Digest != digests[0] {
		t.Fatalf("the archive holds %v, want the image %s first, then its document", tops, digests[0])
	}
	if tops[1].ArtifactType != billOfMaterials || len(tops[1].Annotations) > 0 {
		t.Errorf("the document is described as %q with annotations %v, want its type and no name", tops[1].ArtifactType, tops[1].Annotations)
	}
	read := must.Get(index.Image(tops[1].Digest))(t)
	manifest := must.Get(read.Manifest())(t)
	if want := must.Get(arm.Digest())(t); manifest.Subject == nil || manifest.Subject.Digest != want {
		t.Errorf("the document's subject is %v, want the image %s", manifest.Subject, want)
	}
	layer := must.Get(must.Get(read.Layers())(t)[0].Compressed())(t)
	if diff := cmp.Diff(`{"of":"arm64"}`, string(must.Get(io.ReadAll(layer))(t))); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
}

func TestADocumentThatIsNotJSONIsRefused(t *testing.T) {
	_, err := image.Attach(built(t, "amd64"), image.Document{Type: billOfMaterials, Content: []byte("{")})
	if err == nil || !strings.Contains(err.Error(), billOfMaterials+" about an image is not JSON") {
		t.Errorf("got error %v, want one that names the type", err)
	}
}

func TestADocumentAboutAnotherImageIsRefused(t *testing.T) {
	amd := built(t, "amd64")
	for name, document := range map[string]v1.Image{
		"of another platform": must.Get(image.Attach(built(t, "arm64"), image.Document{Type: billOfMaterials, Content: []byte(`{}`)}))(t),
		"without a subject":   amd,
	} {
		named := image.Named{Reference: reference, Images: []v1.Image{amd}, Documents: []v1.Image{document}}
		if _, err := image.ArchiveAll(io.Discard, named); err == nil || !strings.Contains(err.Error(), "about none of its images") {
			t.Errorf("%s: got error %v, want a refusal of the document", name, err)
		}
	}
}
