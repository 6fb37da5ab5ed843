package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// The components of the bundle, as the chart renders them by default.
var components = []string{
	"config/manifests/00-namespace.yaml",
	"config/manifests/issuer.yaml",
	"config/manifests/openshift/issuer.yaml",
	"config/manifests/operator.yaml",
	"config/rbac/injection.yaml",
	"config/rbac/issuer.yaml",
	"config/crd/identity.tabard.dev_oidcissuers.yaml",
}

// examples is the page with an object of each owned kind.
const examples = "docs/oidc-issuer.md"

// chart is what a Chart.yaml says.
type chart struct {
	Description string   `json:"description"`
	Version     string   `json:"version"`
	KubeVersion string   `json:"kubeVersion"`
	Home        string   `json:"home"`
	Keywords    []string `json:"keywords"`
}

// source is what a bundle is made from.
type source struct {
	chart   chart
	objects []*unstructured.Unstructured
	// page is a page of the documentation.
	page string
}

func read(root string) (source, error) {
	var s source
	about, err := os.ReadFile(filepath.Join(root, "charts/tabard/Chart.yaml"))
	if err != nil {
		return s, fmt.Errorf("read the chart: %w", err)
	}
	if err := yaml.Unmarshal(about, &s.chart); err != nil {
		return s, fmt.Errorf("read Chart.yaml: %w", err)
	}
	for _, name := range components {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return s, fmt.Errorf("read a manifest: %w", err)
		}
		objects, err := parse(text)
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		s.objects = append(s.objects, objects...)
	}
	page, err := os.ReadFile(filepath.Join(root, examples))
	if err != nil {
		return s, fmt.Errorf("read the page with the examples: %w", err)
	}
	s.page = string(page)
	return s, nil
}

// parse reads the documents of a file.
func parse(text []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			out = append(out, object)
		}
	}
}

// exampleOf is the first block of YAML in the page that is an object of the kind alone.
func exampleOf(page, kind string) (*unstructured.Unstructured, error) {
	for block := range strings.SplitSeq(page, "```yaml\n") {
		text, _, found := strings.Cut(block, "\n```")
		if !found {
			continue
		}
		objects, err := parse([]byte(text))
		if err == nil && len(objects) == 1 && objects[0].GetKind() == kind && objects[0].GetName() != "" {
			return objects[0], nil
		}
	}
	return nil, fmt.Errorf("%s has no block of YAML with one %s: add an example", examples, kind)
}
