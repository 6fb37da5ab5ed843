package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/tabard-dev/tabard/hack/release/build"
	"github.com/tabard-dev/tabard/hack/release/evidence"
	"github.com/tabard-dev/tabard/internal/image"
)

// everywhere are the platforms of a release.
var everywhere = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64"}

const checksums = "checksums.txt"

// release is what is to be written.
type release struct {
	compiler                    build.Compiler
	version, revision, out, url string
	created                     time.Time
	platforms                   []string
	// commands and programsOfImages are what is built for each platform.
	commands         []command
	programsOfImages []programOfImage
	// compression is the level of gzip.
	compression int
	progress    io.Writer
	// work is a folder for what is made on the way, and part the folder that becomes out.
	work, part string
}

// run writes the release's folder, in place of the one of an earlier run. After an error
// the earlier one stands.
func (r release) run(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if r.url == "" {
		r.url = image.Source + "/releases/download/" + r.version
	}
	r.part = filepath.Clean(r.out) + ".part"
	r.work = filepath.Clean(r.out) + ".work"
	defer func() {
		_ = os.RemoveAll(r.part)
		_ = os.RemoveAll(r.work)
	}()
	for _, dir := range []string{r.part, r.work} {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
			return fmt.Errorf("make a folder for the release: %w", err)
		}
	}
	for _, step := range []func(context.Context) error{r.programs, r.images, r.pages, r.chart, r.texts, r.evidence} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(r.out), os.Rename(r.part, r.out)); err != nil {
		return fmt.Errorf("put the release at its place: %w", err)
	}
	fmt.Fprintf(r.progress, "release: %s is complete\n", r.out)
	return nil
}

// check looks at what was asked for before anything is built.
func (r release) check() error {
	parsed, err := version.ParseSemantic(r.version)
	if err != nil || !strings.HasPrefix(r.version, "v") || parsed.BuildMetadata() != "" {
		return fmt.Errorf("VERSION is %q, expected v and a semantic version without build metadata, such as v0.1.0 or v0.2.0-rc.1", r.version)
	}
	if r.revision == "" && parsed.PreRelease() == "" {
		return fmt.Errorf("the checkout has changes that are not committed: commit them, or build a version such as %s-rc.1", r.version)
	}
	for i, platform := range r.platforms {
		if !slices.Contains(everywhere, platform) || slices.Contains(r.platforms[:i], platform) {
			return fmt.Errorf("platforms are %q, expected some of %s, each once", strings.Join(r.platforms, ","), strings.Join(everywhere, ","))
		}
	}
	entries, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the folder for the release: %w", err)
	}
	ours := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == checksums })
	if len(entries) > 0 && !ours {
		return fmt.Errorf("the folder %s has files and no %s, so it is no earlier release: name another folder", r.out, checksums)
	}
	return nil
}

// file is the name of a file of the release: of what it is, and where needed for which
// platform.
func (r release) file(what, platform, ending string) string {
	parts := []string{what, r.version}
	if platform != "" {
		parts = append(parts, strings.ReplaceAll(platform, "/", "_"))
	}
	return strings.Join(parts, "_") + ending
}

func (r release) write(name string, content []byte) error {
	if err := os.WriteFile(filepath.Join(r.part, name), content, 0o644); err != nil {
		return fmt.Errorf("write a file of the release: %w", err)
	}
	return nil
}

// evidence writes the provenance of all files, and the checksums of these and of the
// provenance.
func (r release) evidence(context.Context) error {
	files, err := r.digests()
	if err != nil {
		return err
	}
	made := evidence.Build{Version: r.version, Revision: r.revision, Go: runtime.Version(), Platforms: r.platforms}
	provenance, err := evidence.Provenance(made, files...)
	if err != nil {
		return err
	}
	if err := r.write(r.file("tabard", "", ".intoto.json"), provenance); err != nil {
		return err
	}
	if files, err = r.digests(); err != nil {
		return err
	}
	var text strings.Builder
	for _, file := range files {
		fmt.Fprintf(&text, "%s  %s\n", file.SHA256, file.Name)
	}
	return r.write(checksums, []byte(text.String()))
}

// digests are those of all files that are there, by name.
func (r release) digests() ([]evidence.Artifact, error) {
	entries, err := os.ReadDir(r.part)
	if err != nil {
		return nil, fmt.Errorf("list the release's files: %w", err)
	}
	var files []evidence.Artifact
	for _, entry := range entries {
		digest, err := digest(filepath.Join(r.part, entry.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, evidence.Artifact{Name: entry.Name(), SHA256: digest})
	}
	return files, nil
}

// digest is the SHA-256 of a file, in hexadecimal.
func digest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read a file of the release: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read a file of the release: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
