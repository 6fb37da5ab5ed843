// Package image makes container images without a container engine: an image of
// one static Linux program, and an archive of such images that containerd and
// registry clients read. The same program gives the same digest, whoever builds
// the image, where and when.
package image

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// User is the user and group that the program runs as when the pod does not say
// otherwise. It is a number, because a kubelet cannot see of a name that it is
// not root.
const User = "65532:65532"

// Source is where the programs of the images are developed.
const Source = "https://github.com/tabard-dev/tabard"

const license = "Apache-2.0"

// Spec says what is in an image.
type Spec struct {
	// Program is the path of the program: a static Linux executable.
	Program string
	// Name is the program's name in the image's root folder, and the image's title.
	Name string
	// Architecture is amd64 or arm64, and must be the program's.
	Architecture string
	// Version is the version of the program, for the image's label.
	Version string
	// Description is one sentence about the program, for the image's label.
	Description string
	// Revision is the commit that the program was built from, for the image's label;
	// empty if it is not known.
	Revision string
	// Created is the image's creation time. The zero value stands for the
	// beginning of 1970, never for now.
	Created time.Time
	// Plain leaves the layers uncompressed, for whoever unpacks them at once on the
	// same machine.
	Plain bool
}

var nameSyntax = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// Build makes the image in memory. It holds the program, the well-known root
// certificates, a user that is not root and an empty /tmp, and nothing else: no
// shell and no library.
func Build(spec Spec) (v1.Image, error) {
	// The names of the two top folders that the image has cannot be a program's.
	if !nameSyntax.MatchString(spec.Name) || spec.Name == "etc" || spec.Name == "tmp" {
		return nil, fmt.Errorf("%q cannot be the name of a program in the image: "+
			"use small letters, digits, dots and dashes, and neither etc nor tmp", spec.Name)
	}
	program, err := readProgram(spec.Program, spec.Architecture)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: spec.Created.UTC()}
	if spec.Created.IsZero() {
		created.Time = time.Unix(0, 0).UTC()
	}
	// What all programs need comes first: it is stored and pulled once for all
	// of their versions.
	base, err := addendum(baseFiles(), "root certificates, users, /tmp", created, spec.Plain)
	if err != nil {
		return nil, err
	}
	own, err := addendum([]file{{name: spec.Name, mode: 0o755, data: program}}, "the program "+spec.Name, created, spec.Plain)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, configuration(spec, created))
	if err != nil {
		return nil, fmt.Errorf("set the image's configuration: %w", err)
	}
	if image, err = mutate.Append(image, base, own); err != nil {
		return nil, fmt.Errorf("add the image's layers: %w", err)
	}
	return image, nil
}

func configuration(spec Spec, created v1.Time) *v1.ConfigFile {
	return &v1.ConfigFile{
		OS:           "linux",
		Architecture: spec.Architecture,
		Created:      created,
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       User,
			Entrypoint: []string{"/" + spec.Name},
			// So that kubectl exec finds the program by its name.
			Env:        []string{"PATH=/"},
			WorkingDir: "/",
			Labels:     labels(spec, created),
		},
	}
}

// labels are the annotations that the OCI image specification names beforehand. What
// is not known has no label.
func labels(spec Spec, created v1.Time) map[string]string {
	known := map[string]string{
		"title":       spec.Name,
		"description": spec.Description,
		"version":     spec.Version,
		"revision":    spec.Revision,
		"source":      Source,
		"licenses":    license,
		"created":     created.Format(time.RFC3339),
	}
	labels := map[string]string{}
	for name, value := range known {
		if value != "" {
			labels["org.opencontainers.image."+name] = value
		}
	}
	return labels
}

// WithArguments is an image of the same layers whose program gets arguments if the
// pod names none.
func WithArguments(of v1.Image, arguments ...string) (v1.Image, error) {
	file, err := of.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the image's configuration: %w", err)
	}
	config := file.Config
	config.Cmd = arguments
	image, err := mutate.Config(of, config)
	if err != nil {
		return nil, fmt.Errorf("set the image's configuration: %w", err)
	}
	return image, nil
}

// addendum makes one layer of the files.
func addendum(files []file, contents string, created v1.Time, plain bool) (mutate.Addendum, error) {
	packed, err := pack(files)
	if err != nil {
		return mutate.Addendum{}, fmt.Errorf("pack %s: %w", contents, err)
	}
	history := v1.History{Created: created, CreatedBy: contents}
	if plain {
		return mutate.Addendum{Layer: static.NewLayer(packed, types.OCIUncompressedLayer), History: history}, nil
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return mutate.Addendum{}, fmt.Errorf("compress %s: %w", contents, err)
	}
	return mutate.Addendum{Layer: layer, History: history}, nil
}
