package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Labels of a catalogue's image, as OLM's opm sets them.
const (
	labelConfigs  = "operators.operatorframework.io.index.configs.v1"
	labelDatabase = "operators.operatorframework.io.index.database.v1"
)

const (
	// refName is the annotation of an OCI layout that names an image.
	refName = "org.opencontainers.image.ref.name"
	// reference is the annotation of a manifest that is about another one, such as an attestation.
	reference = "vnd.docker.reference.type"
	// deepest is how often an index may be in an index.
	deepest = 4
)

// configs is the directory of the catalogue, without a slash at either end.
func configs(labels map[string]string) (string, error) {
	dir, ok := labels[labelConfigs]
	if !ok {
		if _, sqlite := labels[labelDatabase]; sqlite {
			return "", fmt.Errorf("the image is an SQLite catalogue (label %s), which is not read any more, expected a file-based one; "+
				"`opm migrate IMAGE DIRECTORY` makes one, and so does `opm render IMAGE`", labelDatabase)
		}
		return "", fmt.Errorf("the image has no label %s, expected one that names the directory of a file-based catalogue, usually /configs; "+
			"is it the image of a catalogue, and not that of an operator or of a bundle?", labelConfigs)
	}
	clean := strings.TrimSuffix(dir, "/")
	if !path.IsAbs(clean) || path.Clean(clean) != clean || len(clean) < 2 || len(clean) > longestName || strings.ContainsRune(clean, 0) {
		return "", fmt.Errorf("the label %s of the image is %s, expected a path from the root of the image such as /configs", labelConfigs, model.Quoted(dir))
	}
	return clean[1:], nil
}

// store is where the manifests and blobs of an image are.
type store interface {
	manifest(v1.Descriptor) (io.ReadCloser, error)
	blob(v1.Descriptor) (io.ReadCloser, error)
}

// resolve finds the image of a descriptor, through indexes of platforms.
func (w *reading) resolve(from store, of v1.Descriptor) (picture, error) {
	for range deepest {
		if of.MediaType.IsImage() {
			return w.image(from, of)
		}
		if !of.MediaType.IsIndex() {
			return picture{}, fmt.Errorf("the manifest %s has the media type %s, expected %s", of.Digest, model.Quoted(string(of.MediaType)), types.OCIManifestSchema1)
		}
		text, err := w.blob(from.manifest, "index", of)
		if err != nil {
			return picture{}, err
		}
		var index v1.IndexManifest
		if err := json.Unmarshal(text, &index); err != nil {
			return picture{}, fmt.Errorf("the index %s cannot be read: %w", of.Digest, err)
		}
		if of, err = platform(images(index.Manifests)); err != nil {
			return picture{}, fmt.Errorf("the index %s: %w", of.Digest, err)
		}
	}
	return picture{}, fmt.Errorf("more than %d indexes are in each other, expected an image", deepest)
}

// images are the manifests without those that are about others.
func images(all []v1.Descriptor) []v1.Descriptor {
	var found []v1.Descriptor
	for _, of := range all {
		about := of.Annotations[reference] != ""
		if p := of.Platform; p != nil && p.OS == "unknown" && p.Architecture == "unknown" {
			about = true
		}
		if !about && (of.MediaType.IsImage() || of.MediaType.IsIndex()) {
			found = append(found, of)
		}
	}
	return found
}

// platform chooses one of the platforms of an image. A catalogue is the same on each.
func platform(all []v1.Descriptor) (v1.Descriptor, error) {
	if len(all) == 0 {
		return v1.Descriptor{}, errors.New("it has no image, expected one at least")
	}
	for _, of := range all {
		if of.Platform != nil && of.Platform.OS == "linux" && of.Platform.Architecture == "amd64" {
			return of, nil
		}
	}
	return all[0], nil
}

// single is the image of a layout, which names one, or platforms of one.
func single(index v1.IndexManifest) (v1.Descriptor, error) {
	all := images(index.Manifests)
	if len(all) < 2 {
		return platform(all)
	}
	platforms, refs := map[string]bool{}, map[string]bool{}
	for _, of := range all {
		refs[of.Annotations[refName]] = true
		if of.Platform != nil {
			platforms[of.Platform.String()] = true
		}
	}
	if len(platforms) == len(all) && len(refs) == 1 {
		return platform(all)
	}
	names := make([]string, 0, len(all))
	for _, of := range all {
		name := of.Annotations[refName]
		if name == "" {
			name = of.Digest.String()
		}
		names = append(names, name)
	}
	return v1.Descriptor{}, several(names)
}

// several is the error for more than one image.
func several(names []string) error {
	const most = 10
	quoted := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		quoted = append(quoted, model.Quoted(name))
	}
	more := ""
	if rest := len(names) - len(quoted); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Errorf("there are %d images in it, expected one: %s%s; copy the one that is wanted by itself", len(names), strings.Join(quoted, ", "), more)
}

// image reads manifest and config.
func (w *reading) image(from store, of v1.Descriptor) (picture, error) {
	text, err := w.blob(from.manifest, "manifest", of)
	if err != nil {
		return picture{}, err
	}
	var manifest v1.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return picture{}, fmt.Errorf("the manifest %s cannot be read: %w", of.Digest, err)
	}
	text, err = w.blob(from.blob, "config", manifest.Config)
	if err != nil {
		return picture{}, err
	}
	labels, _, err := config(text)
	if err != nil {
		return picture{}, err
	}
	made := picture{labels: labels}
	for _, of := range manifest.Layers {
		made.layers = append(made.layers, layer{
			open: func() (io.ReadCloser, error) { return from.blob(of) }, size: of.Size, digest: of.Digest,
		})
	}
	return made, nil
}

// config are the labels of an image, and the digests of what its layers contain.
func config(text []byte) (map[string]string, []v1.Hash, error) {
	var config struct {
		Config struct {
			Labels map[string]string `json:"Labels"`
		} `json:"config"`
		RootFS struct {
			DiffIDs []v1.Hash `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, nil, fmt.Errorf("the config of the image cannot be read: %w", err)
	}
	return config.Config.Labels, config.RootFS.DiffIDs, nil
}
