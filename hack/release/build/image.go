package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/tabard-dev/tabard/hack/release/evidence"
	"github.com/tabard-dev/tabard/internal/image"
)

// Images are those of one program, one for each platform, in one archive.
type Images struct {
	Compiler Compiler
	// Program is the package of the program.
	Program string
	// Repository is the images' name without its tag; its last part names the program.
	Repository string
	// Description is one sentence about the program.
	Description string
	// Version is that of the program, and the tag.
	Version string
	// Revision is the commit, or empty if what is built is no commit.
	Revision string
	// Created is the creation time of the images; zero stands for 1970.
	Created   time.Time
	Platforms []string
	// Programs is a folder for the programs, and Archive the path of what is made.
	Programs, Archive string
	// Progress is told what is done and how much is pulled.
	Progress io.Writer
}

// Packed is an image with the documents about it.
type Packed struct {
	Platform  string
	Image     v1.Image
	Documents []image.Document
}

// Run builds the program and its image for each platform, and writes the archive, with a
// bill of materials and the provenance of each image. It returns the images.
func (i Images) Run(ctx context.Context) ([]Packed, error) {
	started := time.Now()
	var all []Packed
	for _, platform := range i.Platforms {
		architecture, isLinux := strings.CutPrefix(platform, "linux/")
		if !isLinux {
			return nil, fmt.Errorf("no images are made for %q: a platform is linux/amd64 or linux/arm64", platform)
		}
		program, err := filepath.Abs(filepath.Join(i.Programs, "linux-"+architecture, filepath.Base(i.Repository)))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(i.Progress, "image: compiling %s for %s (the first time takes minutes; packages are listed as they are compiled)\n", i.Program, platform)
		if err := i.Compiler.Compile(ctx, i.Program, platform, program); err != nil {
			return nil, err
		}
		fmt.Fprintf(i.Progress, "image: compiled after %.0f s; packing it\n", time.Since(started).Seconds())
		packed, err := i.pack(program, platform, architecture)
		if err != nil {
			return nil, err
		}
		all = append(all, packed)
	}
	return all, i.write(all, started)
}

// pack makes the image of a program and the documents about it.
func (i Images) pack(program, platform, architecture string) (Packed, error) {
	title := filepath.Base(i.Repository)
	built, err := image.Build(image.Spec{
		Program: program, Name: title, Architecture: architecture,
		Description: i.Description, Version: i.Version, Revision: i.Revision, Created: i.Created,
	})
	if err != nil {
		return Packed{}, err
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return Packed{}, fmt.Errorf("read the program: %w", err)
	}
	sum := sha256.Sum256(content)
	materials, err := evidence.Materials(program, evidence.Subject{
		Name: title, Version: i.Version, SHA256: hex.EncodeToString(sum[:]), Created: i.Created,
	})
	if err != nil {
		return Packed{}, err
	}
	digest, err := built.Digest()
	if err != nil {
		return Packed{}, fmt.Errorf("describe the image: %w", err)
	}
	of := evidence.Build{Version: i.Version, Revision: i.Revision, Go: runtime.Version(), Platforms: []string{platform}}
	provenance, err := evidence.Provenance(of, evidence.Artifact{Name: i.Repository, SHA256: digest.Hex})
	if err != nil {
		return Packed{}, err
	}
	return Packed{Platform: platform, Image: built, Documents: []image.Document{
		{Type: evidence.MaterialsType, Content: materials}, {Type: evidence.ProvenanceType, Content: provenance},
	}}, nil
}

// write puts the archive at its place when it is complete, and tells of it.
func (i Images) write(all []Packed, started time.Time) error {
	named := image.Named{Reference: i.Repository + ":" + i.Version}
	for _, packed := range all {
		named.Images = append(named.Images, packed.Image)
		for _, document := range packed.Documents {
			attached, err := image.Attach(packed.Image, document)
			if err != nil {
				return err
			}
			named.Documents = append(named.Documents, attached)
		}
	}
	part, err := os.Create(i.Archive + ".part")
	if err != nil {
		return fmt.Errorf("make the archive: %w", err)
	}
	// The rename is the only way an archive appears at its place.
	defer func() {
		_ = part.Close()
		_ = os.Remove(part.Name())
	}()
	digests, err := image.ArchiveAll(part, named)
	if err != nil {
		return err
	}
	info, err := part.Stat()
	if err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err := os.Rename(part.Name(), i.Archive); err != nil {
		return fmt.Errorf("put the archive at its place: %w", err)
	}
	for _, packed := range all {
		if err := i.tell(packed); err != nil {
			return err
		}
	}
	fmt.Fprintf(i.Progress, "image: %s@%s\nimage: %s, %.1f MB, after %.0f s\n",
		named.Reference, digests[0], i.Archive, megabytes(info.Size()), time.Since(started).Seconds())
	return nil
}

// tell writes the digest of one platform's image, and how much is pulled of it.
func (i Images) tell(packed Packed) error {
	digest, err := packed.Image.Digest()
	if err != nil {
		return err
	}
	layers, err := packed.Image.Layers()
	if err != nil {
		return err
	}
	var pulled int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return err
		}
		pulled += size
	}
	fmt.Fprintf(i.Progress, "image: %s %s, %.1f MB to pull\n", packed.Platform, digest, megabytes(pulled))
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }
