package image_test

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// unpacked writes an archive's files into a folder.
func unpacked(t *testing.T, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		data := must.Get(io.ReadAll(reader))(t)
		path := filepath.Join(dir, header.Name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is twice in the archive", header.Name)
		}
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
}

// archived is the archive of the images, its digest, and its index as another
// program reads it.
func archived(t *testing.T, images ...v1.Image) ([]byte, v1.Hash, v1.ImageIndex) {
	t.Helper()
	var archive bytes.Buffer
	digest := must.Get(image.Archive(&archive, reference, images...))(t)
	index := must.Get(layout.ImageIndexFromPath(unpacked(t, archive.Bytes())))(t)
	if err := validate.Index(index); err != nil {
		t.Errorf("the layout does not hold together: %v", err)
	}
	return archive.Bytes(), digest, index
}

// named is the one thing in the archive, which has the reference for a name.
func named(t *testing.T, index v1.ImageIndex) v1.Descriptor {
	t.Helper()
	manifest := must.Get(index.IndexManifest())(t)
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the archive holds %d things, want one with a name", len(manifest.Manifests))
	}
	want := map[string]string{"org.opencontainers.image.ref.name": "devel", "io.containerd.image.name": reference}
	if diff := cmp.Diff(want, manifest.Manifests[0].Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	return manifest.Manifests[0]
}

func TestAnArchiveOfTwoPlatformsHoldsAnIndexOfThem(t *testing.T) {
	amd, arm := built(t, "amd64"), built(t, "arm64")
	first, digest, index := archived(t, amd, arm)
	top := named(t, index)
	if top.Digest != digest {
		t.Errorf("the name stands for %s, want the digest that was returned, %s", top.Digest, digest)
	}
	inner := must.Get(index.ImageIndex(digest))(t)
	manifest := must.Get(inner.IndexManifest())(t)
	var platforms []string
	for i, made := range []v1.Image{amd, arm} {
		platforms = append(platforms, manifest.Manifests[i].Platform.String())
		want := must.Get(made.Digest())(t)
		if got := manifest.Manifests[i].Digest; got != want {
			t.Errorf("image %d is %s, want %s", i, got, want)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
	if second, _, _ := archived(t, built(t, "amd64"), built(t, "arm64")); !bytes.Equal(first, second) {
		t.Error("two archives of the same programs differ")
	}
}

func TestAnArchiveOfOneImageNamesTheImageItself(t *testing.T) {
	amd := built(t, "amd64")
	_, digest, index := archived(t, amd)
	want := must.Get(amd.Digest())(t)
	if top := named(t, index); top.Digest != want || digest != want {
		t.Errorf("the name stands for %s and %s was returned, want the image, %s", top.Digest, digest, want)
	}
}

func TestAnArchiveOfTwoReferencesStoresWhatTheyShareOnce(t *testing.T) {
	for name, plain := range map[string]bool{"compressed": false, "plain": true} {
		t.Run(name, func(t *testing.T) { testTwoReferences(t, plain) })
	}
}

func testTwoReferences(t *testing.T, plain bool) {
	first := must.Get(image.Build(image.Spec{
		Program: save(t, executable(t, elf.EM_X86_64, nil)), Name: "tabard", Architecture: "amd64", Plain: plain,
	}))(t)
	pausing := must.Get(image.WithArguments(first, "lab", "pause"))(t)
	var archive bytes.Buffer
	all := []image.Named{{Reference: reference, Images: []v1.Image{first}}, {Reference: "localhost/pause:1", Images: []v1.Image{pausing}}}
	digests := must.Get(image.ArchiveAll(&archive, all...))(t)
	index, err := layout.ImageIndexFromPath(unpacked(t, archive.Bytes())) // which refuses what is there twice
	if err != nil {
		t.Fatal(err)
	}
	manifest := must.Get(index.IndexManifest())(t)
	names := map[string]v1.Hash{}
	for _, each := range manifest.Manifests {
		names[each.Annotations["io.containerd.image.name"]] = each.Digest
	}
	if diff := cmp.Diff(map[string]v1.Hash{reference: digests[0], "localhost/pause:1": digests[1]}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	second := must.Get(index.Image(digests[1]))(t)
	config := must.Get(second.ConfigFile())(t)
	if diff := cmp.Diff([]string{"lab", "pause"}, config.Config.Cmd); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(contents(t, first), contents(t, second)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	layers := must.Get(second.Layers())(t)
	for _, layer := range layers {
		digest := must.Get(layer.Digest())(t)
		content := must.Get(layer.DiffID())(t)
		if (digest == content) != plain {
			t.Errorf("a layer is %s, what is in it %s", digest, content)
		}
	}
	if err := validate.Index(index); err != nil && !plain { // it takes all layers to be compressed
		t.Errorf("the layout does not hold together: %v", err)
	}
}

func TestAnArchiveThatWouldBeAmbiguousIsRefused(t *testing.T) {
	amd := built(t, "amd64")
	tests := map[string]struct {
		reference string
		images    []v1.Image
		says      string
	}{
		"no image":          {reference, nil, "needs an image"},
		"a platform twice":  {reference, []v1.Image{amd, amd}, "two images are for linux/amd64"},
		"no tag":            {"ghcr.io/tabard-dev/tabard", []v1.Image{amd}, "a registry, a repository and a tag"},
		"a tag that is not": {"ghcr.io/tabard-dev/tabard:a b", []v1.Image{amd}, "a registry, a repository and a tag"},
		"no registry":       {"tabard:devel", []v1.Image{amd}, "a registry, a repository and a tag"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := image.Archive(io.Discard, test.reference, test.images...); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %q", err, test.says)
			}
		})
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnArchiveThatCannotBeWrittenIsAnError(t *testing.T) {
	if _, err := image.Archive(full{}, reference, built(t, "amd64")); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got error %v, want the writer's", err)
	}
}
