package olm

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	files "github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
)

// Installed is a ClusterServiceVersion of the cluster, as a catalogue would have it, and its phase.
// Without a name, and where it does not exist, the bundle has no metadata. So it has where it may not
// be read, and the error says that.
func (c Client) Installed(ctx context.Context, namespace, name string) (catalogue.Bundle, string, error) {
	if name == "" {
		return catalogue.Bundle{}, "", nil
	}
	found, err := c.Objects.Resource(versions).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return catalogue.Bundle{Name: name}, "", nil
	}
	if err != nil {
		return catalogue.Bundle{Name: name}, "", fmt.Errorf("read the ClusterServiceVersion %s/%s: %w", namespace, name, err)
	}
	read, err := as[versionObject](found)
	return read.bundle(name), read.Status.Phase, err
}

// bundle is what a ClusterServiceVersion tells.
func (v versionObject) bundle(name string) catalogue.Bundle {
	out := catalogue.Bundle{Name: name, Version: v.Spec.Version, Metadata: &catalogue.Metadata{Annotations: v.Metadata.Annotations, InstallModes: v.modes()}}
	out.Features, _ = catalogue.FeaturesOf(v.Metadata.Annotations)
	workload := v.workload()
	out.Workload = &workload
	return out
}

// planned are the ClusterServiceVersions of these names that a plan installs.
func (c Client) planned(ctx context.Context, read planObject, names []string) (bundles map[string]catalogue.Bundle, whys map[string]string) {
	bundles, whys = map[string]catalogue.Bundle{}, map[string]string{}
	for _, name := range names {
		bundles[name], whys[name] = catalogue.Bundle{Name: name}, "the InstallPlan does not have its ClusterServiceVersion"
	}
	for _, step := range read.Status.Plan {
		if step.Resource.Kind != string(operator.KindCSV) || whys[step.Resource.Name] == "" {
			continue
		}
		version, err := c.manifest(ctx, step.Resource.Name, step.Resource.Manifest)
		if err != nil {
			whys[step.Resource.Name] = err.Error()
			continue
		}
		bundles[step.Resource.Name] = version.bundle(step.Resource.Name)
		delete(whys, step.Resource.Name)
	}
	return bundles, whys
}

// reference is what a step has in place of a manifest: the ConfigMap into which OLM unpacked the
// bundle. A ConfigMap as a manifest lacks the catalogue.
type reference struct {
	Kind, Namespace, Name, CatalogSourceName, CatalogSourceNamespace string
}

// manifest is the ClusterServiceVersion of a step.
func (c Client) manifest(ctx context.Context, name, text string) (out versionObject, err error) {
	var at reference
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return out, fmt.Errorf("the step of %s in the InstallPlan cannot be read: %w", name, err)
	}
	if at.Kind != "ConfigMap" || at.Namespace == "" || at.Name == "" || at.CatalogSourceName == "" || at.CatalogSourceNamespace == "" {
		return out, json.Unmarshal([]byte(text), &out)
	}
	found, err := c.Objects.Resource(configMaps).Namespace(at.Namespace).Get(ctx, at.Name, metav1.GetOptions{})
	if err != nil {
		return out, fmt.Errorf("the bundle of %s is in the ConfigMap %s/%s, which cannot be read: %w", name, at.Namespace, at.Name, err)
	}
	for _, document := range unpacked(found) {
		text, err := files.JSON(document)
		if err != nil {
			continue // It is another manifest, or none.
		}
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if json.Unmarshal(text, &head) == nil && head.Kind == string(operator.KindCSV) && head.Metadata.Name == name {
			return out, json.Unmarshal(text, &out)
		}
	}
	return out, fmt.Errorf("the ConfigMap %s/%s does not have the ClusterServiceVersion %s", at.Namespace, at.Name, name)
}

// unpacked are the files of a bundle in a ConfigMap. OLM compresses them if its annotation says so
// (operator-registry, pkg/configmap).
func unpacked(object *unstructured.Unstructured) (out [][]byte) {
	plain, _, _ := unstructured.NestedStringMap(object.Object, "data")
	binary, _, _ := unstructured.NestedStringMap(object.Object, "binaryData")
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		out = append(out, []byte(plain[key]))
	}
	for _, key := range slices.Sorted(maps.Keys(binary)) {
		if text, err := inflated(binary[key]); err == nil {
			out = append(out, text)
		}
	}
	return out
}

// mostInflated bounds a file of a bundle. The API server's own bound for an object is smaller.
const mostInflated = 4 << 20

var errTooLarge = errors.New("it is larger than 4 MiB")

// inflated is a file of binaryData: base64 of the API, in it base64 of OLM, in it gzip.
func inflated(text string) ([]byte, error) {
	outer, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	in, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(outer)))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(in, mostInflated+1))
	if err == nil && len(out) > mostInflated {
		err = errTooLarge
	}
	return out, err
}
