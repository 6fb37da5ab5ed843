package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const labelConfigs = "operators.operatorframework.io.index.configs.v1"

type object = map[string]any

func pkg(name string) string { return fmt.Sprintf("{\"schema\":\"olm.package\",\"name\":%q}\n", name) }

// entry is one of a tar.
type entry struct {
	tar.Header
	text string
}

func file(name, text string) entry { return entry{tar.Header{Name: name}, text} }

func odd(kind byte, name, link string) entry {
	return entry{tar.Header{Name: name, Typeflag: kind, Linkname: link}, ""}
}

// tarOf makes a tar.
func tarOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		if e.Typeflag == 0 {
			e.Typeflag = tar.TypeReg
		}
		e.Mode, e.Size = 0o644, int64(len(e.text))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t testing.TB, text []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(text, nil)
}

// layout is an OCI layout in memory: its files by their names.
type layout map[string][]byte

// blob adds a blob, and returns its descriptor.
func (l layout) blob(kind string, text []byte) object {
	digest := fmt.Sprintf("%x", sha256.Sum256(text))
	l["blobs/sha256/"+digest] = text
	return object{"mediaType": kind, "digest": "sha256:" + digest, "size": len(text)}
}

func raw(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const (
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociConfig   = "application/vnd.oci.image.config.v1+json"
	ociLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// manifest adds an image of these layers, and returns its descriptor.
func (l layout) manifest(t testing.TB, labels map[string]string, layers ...[]byte) object {
	t.Helper()
	var all []object
	for _, layer := range layers {
		all = append(all, l.blob(ociLayer, layer))
	}
	config := l.blob(ociConfig, raw(t, object{"config": object{"Labels": labels}, "rootfs": object{"type": "layers"}}))
	return l.blob(ociManifest, raw(t, object{"schemaVersion": 2, "mediaType": ociManifest, "config": config, "layers": all}))
}

// indexed sets index.json.
func (l layout) indexed(t testing.TB, manifests ...object) layout {
	t.Helper()
	l["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	l["index.json"] = raw(t, object{"schemaVersion": 2, "manifests": manifests})
	return l
}

var labelled = map[string]string{labelConfigs: "/configs"}

// imageOf is a layout with one image of these layers.
func imageOf(t testing.TB, layers ...[]byte) layout {
	t.Helper()
	l := layout{}
	return l.indexed(t, l.manifest(t, labelled, layers...))
}

// write writes a layout into a directory.
func (l layout) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range l {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

// archive is the layout as a tar.
func (l layout) archive(t testing.TB) []byte {
	t.Helper()
	var entries []entry
	for name, text := range l {
		entries = append(entries, file("./"+name, string(text)))
	}
	return tarOf(t, entries...)
}

// docker is a docker-archive of tars that are not compressed.
func docker(t testing.TB, labels map[string]string, layers ...[]byte) []byte {
	t.Helper()
	var entries []entry
	var names, digests []string
	for i, layer := range layers {
		name := fmt.Sprintf("%d/layer.tar", i)
		names, digests = append(names, name), append(digests, fmt.Sprintf("sha256:%x", sha256.Sum256(layer)))
		entries = append(entries, file(name, string(layer)))
	}
	config := object{"config": object{"Labels": labels}, "rootfs": object{"type": "layers", "diff_ids": digests}}
	manifest := []object{{"Config": "config.json", "RepoTags": []string{"catalogue:1"}, "Layers": names}}
	return tarOf(t, append(entries, file("config.json", string(raw(t, config))), file("manifest.json", string(raw(t, manifest))))...)
}

func put(t testing.TB, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// saved is a file with this content.
func saved(t testing.TB, text []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "catalogue.tar")
	put(t, name, text)
	return name
}

// zeros is a gzip of so many MiB of zeros.
func zeros(t testing.TB, mib int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	block := make([]byte, 1<<20)
	for range mib {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func long(size int) string { return strings.Repeat("x", size) }
