package image_test

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/tabard-dev/tabard/internal/image"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const reference = "ghcr.io/tabard-dev/tabard:devel"

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// built is an image for an architecture, of a program in a folder of its own.
func built(t *testing.T, architecture string) v1.Image {
	t.Helper()
	made := must.Get(image.Build(image.Spec{
		Program: save(t, executable(t, machines[architecture], nil)), Name: "tabard", Architecture: architecture, Version: "devel",
		Description: "A program", Revision: "4f1c0de",
	}))(t)
	return made
}

// entry is what the tests look at of a file in an image.
type entry struct {
	Mode     int64
	UID, GID int
	Modified int64
	Content  string
}

// contents reads the file system that a container of the image would see.
func contents(t *testing.T, made v1.Image) map[string]entry {
	t.Helper()
	stream := mutate.Extract(made)
	defer stream.Close() //nolint:errcheck // in memory
	files := map[string]entry{}
	for reader := tar.NewReader(stream); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data := must.Get(io.ReadAll(reader))(t)
		files[header.Name] = entry{Mode: header.Mode, UID: header.Uid, GID: header.Gid, Modified: header.ModTime.Unix(), Content: string(data)}
	}
}

func TestAnImageHoldsTheProgramRootsUsersAndNothingElse(t *testing.T) {
	program := executable(t, elf.EM_X86_64, nil)
	files := contents(t, built(t, "amd64"))
	const rootsFile = "etc/ssl/certs/ca-certificates.crt"
	if got := len(files[rootsFile].Content); got < 100_000 {
		t.Errorf("%s has %d bytes, want the roots of the web", rootsFile, got)
	}
	// The roots have a test of their own.
	if roots, found := files[rootsFile]; found {
		roots.Content = ""
		files[rootsFile] = roots
	}
	want := map[string]entry{
		"etc": {Mode: 0o755}, "etc/ssl": {Mode: 0o755}, "etc/ssl/certs": {Mode: 0o755}, "tmp": {Mode: 0o1777},
		rootsFile: {Mode: 0o644},
		"etc/passwd": {Mode: 0o644, Content: "root:x:0:0:root:/root:/sbin/nologin\n" +
			"nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin\n"},
		"etc/group": {Mode: 0o644, Content: "root:x:0:\nnonroot:x:65532:\n"},
		"tabard":    {Mode: 0o755, Content: string(program)},
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

func TestTheRootsAreCertificatesOfAuthorities(t *testing.T) {
	rest := []byte(contents(t, built(t, "amd64"))["etc/ssl/certs/ca-certificates.crt"].Content)
	names := map[string]bool{}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatalf("certificate %d: %v", len(names)+1, err)
		}
		if !certificate.IsCA {
			t.Errorf("%s is no authority", certificate.Subject)
		}
		names[certificate.Subject.CommonName] = true
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		t.Errorf("%d bytes are no certificates", len(rest))
	}
	if len(names) < 80 {
		t.Errorf("%d roots, want at least 80", len(names))
	}
	for _, name := range []string{"Amazon Root CA 1", "Amazon Root CA 3", "DigiCert Global Root G2", "ISRG Root X1"} {
		if !names[name] {
			t.Errorf("the root %s is missing", name)
		}
	}
}

func TestTheProgramRunsAsNobodySpecial(t *testing.T) {
	config := must.Get(built(t, "arm64").ConfigFile())(t)
	want := v1.Config{
		User: "65532:65532", Entrypoint: []string{"/tabard"}, Env: []string{"PATH=/"}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":       "tabard",
			"org.opencontainers.image.description": "A program",
			"org.opencontainers.image.version":     "devel",
			"org.opencontainers.image.revision":    "4f1c0de",
			"org.opencontainers.image.source":      "https://github.com/tabard-dev/tabard",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.created":     "1970-01-01T00:00:00Z",
		},
	}
	if diff := cmp.Diff(want, config.Config); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if got := config.Platform().String(); got != "linux/arm64" {
		t.Errorf("the image is for %s, want linux/arm64", got)
	}
	if got := config.Created.Unix(); got != 0 {
		t.Errorf("the image was created at second %d, want 0: nobody gave a time", got)
	}
}

func TestTheSameProgramGivesTheSameDigestFromAnyFolderAtAnyTime(t *testing.T) {
	program := executable(t, elf.EM_X86_64, nil)
	digest := func(age time.Duration, change func(*image.Spec)) v1.Hash {
		t.Helper()
		path := save(t, program)
		modified := time.Now().Add(-age)
		must.Do(t, os.Chtimes(path, modified, modified))
		spec := image.Spec{Program: path, Name: "tabard", Architecture: "amd64", Version: "devel"}
		if change != nil {
			change(&spec)
		}
		made := must.Get(image.Build(spec))(t)
		got := must.Get(made.Digest())(t)
		return got
	}
	first := digest(0, nil)
	if second := digest(9*time.Hour, nil); first != second {
		t.Errorf("digests %s and %s of the same program", first, second)
	}
	for name, change := range map[string]func(*image.Spec){
		"version": func(s *image.Spec) { s.Version = "v1" },
		"time":    func(s *image.Spec) { s.Created = time.Unix(1, 0) },
		"name":    func(s *image.Spec) { s.Name = "other" },
		"program": func(s *image.Spec) { s.Program = save(t, append(program, 0)) },
	} {
		if other := digest(0, change); other == first {
			t.Errorf("with another %s the digest is the same", name)
		}
	}
}
