package main

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const reference = "ghcr.io/tabard-dev/cloak:v1.2.3"

// serve is a registry, with its address.
func serve(t *testing.T, options ...registry.Option) string {
	t.Helper()
	server := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// platform is an image of nothing for an architecture.
func platform(t *testing.T, architecture string, arguments ...string) v1.Image {
	t.Helper()
	file := must.Get(empty.Image.ConfigFile())(t).DeepCopy()
	file.OS, file.Architecture, file.Config.Cmd = "linux", architecture, arguments
	return must.Get(mutate.ConfigFile(empty.Image, file))(t)
}

// archived is the path of an archive, and the digest of what it names.
func archived(t *testing.T, named image.Named) (string, v1.Hash) {
	t.Helper()
	var archive bytes.Buffer
	digests := must.Get(image.ArchiveAll(&archive, named))(t)
	path := filepath.Join(t.TempDir(), "cloak.tar")
	must.Do(t, os.WriteFile(path, archive.Bytes(), 0o600))
	return path, digests[0]
}

func TestAPushedImageIsFoundWithItsDocuments(t *testing.T) {
	for name, options := range map[string][]registry.Option{
		"a registry that lists referrers": {registry.WithReferrersSupport(true)},
		"an older registry":               nil,
	} {
		t.Run(name, func(t *testing.T) { testPushed(t, serve(t, options...)+"/team") })
	}
}

func testPushed(t *testing.T, to string) {
	arm := platform(t, "arm64")
	document := must.Get(image.Attach(arm, image.Document{Type: "application/vnd.cyclonedx+json", Content: []byte(`{}`)}))(t)
	archive, digest := archived(t, image.Named{Reference: reference, Images: []v1.Image{platform(t, "amd64"), arm}, Documents: []v1.Image{document}})
	var said strings.Builder
	for range 2 { // what is there already is no error
		said.Reset()
		must.Do(t, pushAll(target{registry: to}, []string{archive}, &said))
	}
	if diff := cmp.Diff(to+"/cloak:v1.2.3@"+digest.String()+"\n", said.String()); diff != "" {
		t.Errorf("it says (-want +got):\n%s", diff)
	}
	index := must.Get(remote.Index(must.Get(name.ParseReference(to + "/cloak:v1.2.3"))(t)))(t)
	if err := validate.Index(index); err != nil {
		t.Errorf("what is in the registry does not hold together: %v", err)
	}
	if got := must.Get(index.Digest())(t); got != digest {
		t.Errorf("the tag names %s, want the archive's %s", got, digest)
	}
	subject := must.Get(name.NewDigest(to + "/cloak@" + must.Get(arm.Digest())(t).String()))(t)
	referrers := must.Get(must.Get(remote.Referrers(subject))(t).IndexManifest())(t).Manifests
	if len(referrers) != 1 || referrers[0].Digest != must.Get(document.Digest())(t) || referrers[0].ArtifactType != "application/vnd.cyclonedx+json" {
		t.Errorf("the image's referrers are %+v, want its document", referrers)
	}
}

func TestATagThatNamesAnotherImageIsMovedOnlyIfToldTo(t *testing.T) {
	to := target{registry: serve(t)}
	first, kept := archived(t, image.Named{Reference: reference, Images: []v1.Image{platform(t, "amd64")}})
	second, moved := archived(t, image.Named{Reference: reference, Images: []v1.Image{platform(t, "amd64", "--another")}})
	must.Do(t, pushAll(to, []string{first}, io.Discard))
	err := pushAll(to, []string{second}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), kept.String()) || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("got error %v, want one with the image that is there and what to do", err)
	}
	tag := must.Get(name.ParseReference(to.registry + "/cloak:v1.2.3"))(t)
	if got := must.Get(remote.Head(tag))(t).Digest; got != kept {
		t.Errorf("the tag names %s, want still %s", got, kept)
	}
	to.replace = true
	must.Do(t, pushAll(to, []string{second}, io.Discard))
	if got := must.Get(remote.Head(tag))(t).Digest; got != moved {
		t.Errorf("the tag names %s, want %s, because it was to be moved", got, moved)
	}
}

func TestWhatCannotBePushedIsSaid(t *testing.T) {
	address := serve(t)
	good, _ := archived(t, image.Named{Reference: reference, Images: []v1.Image{platform(t, "amd64")}})
	text := filepath.Join(t.TempDir(), "notes.md")
	must.Do(t, os.WriteFile(text, []byte(strings.Repeat("no tar ", 200)), 0o600))
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	must.Do(t, writer.WriteHeader(&tar.Header{Name: "../outside", Typeflag: tar.TypeReg, Mode: 0o600}))
	must.Do(t, writer.Close())
	escaping := filepath.Join(t.TempDir(), "escaping.tar")
	must.Do(t, os.WriteFile(escaping, packed.Bytes(), 0o600))
	tests := map[string]struct {
		registry string
		archives []string
		says     string
	}{
		"no registry":                    {"", []string{good}, "REGISTRY=registry.example.com/team"},
		"a registry that is no host":     {"a b", []string{good}, `the registry is "a b", expected a host`},
		"no archive":                     {address, nil, "make image"},
		"an archive that is not there":   {address, []string{"none.tar"}, "none.tar: open the archive"},
		"a file that is no archive":      {address, []string{text}, "expected a tar"},
		"an archive that leaves its own": {address, []string{escaping}, `unpack "../outside"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := pushAll(target{registry: test.registry}, test.archives, io.Discard); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %q", err, test.says)
			}
		})
	}
}
