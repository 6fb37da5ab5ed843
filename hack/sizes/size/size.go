// Package size tells how large Tabard's images are, and what the chart's components ask for, as the
// tables of docs/install.md.
package size

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"sigs.k8s.io/yaml"
)

// Pulled reads an OCI archive, and returns the bytes of the compressed layers by platform. Documents
// about images are not pulled with them, and not counted.
func Pulled(archive io.Reader) (map[string]int64, error) {
	blobs := map[string][]byte{}
	for files := tar.NewReader(archive); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the image's archive: %w", err)
		}
		if header.Size > 1<<20 { // a layer; manifests are small
			continue
		}
		if blobs[path.Base(header.Name)], err = io.ReadAll(files); err != nil {
			return nil, fmt.Errorf("read the image's archive: %w", err)
		}
	}
	pulled := map[string]int64{}
	return pulled, add(pulled, blobs, blobs["index.json"])
}

// add counts the images of an index, and of the indexes in it.
func add(pulled map[string]int64, blobs map[string][]byte, content []byte) error {
	var index v1.IndexManifest
	if err := json.Unmarshal(content, &index); err != nil {
		return fmt.Errorf("read an index of images: %w", err)
	}
	for _, of := range index.Manifests {
		blob, is := blobs[of.Digest.Hex]
		if !is {
			return fmt.Errorf("the archive lacks the manifest %s", of.Digest)
		}
		if of.MediaType.IsIndex() {
			if err := add(pulled, blobs, blob); err != nil {
				return err
			}
			continue
		}
		if err := addImage(pulled, blobs, blob); err != nil {
			return err
		}
	}
	return nil
}

// addImage counts an image whose program runs somewhere: the manifest of a document has no platform.
func addImage(pulled map[string]int64, blobs map[string][]byte, content []byte) error {
	var manifest v1.Manifest
	if err := json.Unmarshal(content, &manifest); err != nil {
		return fmt.Errorf("read an image's manifest: %w", err)
	}
	if manifest.Subject != nil {
		return nil
	}
	var config v1.ConfigFile
	if err := json.Unmarshal(blobs[manifest.Config.Digest.Hex], &config); err != nil {
		return fmt.Errorf("read an image's configuration: %w", err)
	}
	for _, layer := range manifest.Layers {
		pulled[config.Platform().String()] += layer.Size
	}
	return nil
}

// Images writes the table of images: what is pulled, in MB of a million bytes.
func Images(images map[string]map[string]int64) string {
	seen := map[string]bool{}
	for _, of := range images {
		for platform := range of {
			seen[platform] = true
		}
	}
	platforms := slices.Sorted(maps.Keys(seen))
	out := "| image | " + strings.Join(platforms, " | ") + " |\n| ---" + strings.Repeat(" | ---", len(platforms)) + " |\n"
	for _, name := range slices.Sorted(maps.Keys(images)) {
		out += "| `" + name + "` |"
		for _, platform := range platforms {
			out += fmt.Sprintf(" %.1f MB |", float64(images[name][platform])/1e6)
		}
		out += "\n"
	}
	return out
}

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|((?: [0-9.]+ MB \\|)+)$")

// ReadImages reads the table that Images wrote from a page.
func ReadImages(page string) (map[string]map[string]int64, error) {
	_, rest, found := strings.Cut(page, "\n| image | ")
	if !found {
		return nil, errors.New("the page has no table of images, which begins with | image |")
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	first, _, _ := strings.Cut(table, " |\n")
	platforms := strings.Split(first, " | ")
	images := map[string]map[string]int64{}
	for _, each := range row.FindAllStringSubmatch(table, -1) {
		cells := strings.Split(strings.TrimSuffix(each[2], " |"), " |")
		if len(cells) != len(platforms) {
			return nil, fmt.Errorf("the page tells of %d sizes of the image %s, and of %d platforms", len(cells), each[1], len(platforms))
		}
		images[each[1]] = map[string]int64{}
		for i, cell := range cells {
			megabytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(cell), " MB"), 64)
			if err != nil {
				return nil, fmt.Errorf("read the size of the image %s: %w", each[1], err)
			}
			images[each[1]][platforms[i]] = int64(megabytes * 1e6)
		}
	}
	return images, nil
}

// component is what the chart's values say of one component.
type component struct {
	Enabled   bool
	Replicas  int
	Resources *struct {
		Requests, Limits struct{ CPU, Memory string }
	}
}

// Requests writes the table of what the chart's components ask for, from its values: those that are
// on by default first.
func Requests(values []byte) (string, error) {
	var all map[string]any
	if err := yaml.Unmarshal(values, &all); err != nil {
		return "", fmt.Errorf("read the chart's values: %w", err)
	}
	found := map[string]component{}
	if err := collect(found, "", all); err != nil {
		return "", err
	}
	out := "| component | on by default | replicas | memory requested | memory limit | CPU requested |\n| --- | --- | --- | --- | --- | --- |\n"
	for _, on := range []bool{true, false} {
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if of := found[name]; of.Enabled == on {
				out += fmt.Sprintf("| `%s` | %s | %d | %s | %s | %s |\n", name, map[bool]string{true: "yes", false: "no"}[on], of.Replicas,
					of.Resources.Requests.Memory, of.Resources.Limits.Memory, of.Resources.Requests.CPU)
			}
		}
	}
	return out, nil
}

// collect finds the values that have resources, at any depth.
func collect(found map[string]component, prefix string, values map[string]any) error {
	for key, value := range values {
		of, is := value.(map[string]any)
		if !is {
			continue
		}
		if of["resources"] != nil {
			var read component
			text, err := yaml.Marshal(of)
			if err == nil {
				err = yaml.Unmarshal(text, &read)
			}
			if err != nil {
				return fmt.Errorf("read the chart's values of %s: %w", prefix+key, err)
			}
			found[prefix+key] = read
		}
		if err := collect(found, prefix+key+".", of); err != nil {
			return err
		}
	}
	return nil
}
