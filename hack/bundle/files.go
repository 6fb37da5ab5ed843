package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const written = "# Written by make generate from charts/tabard by hack/bundle; do not edit.\n"

// labels are those of a bundle's image and of its metadata.
var labels = map[string]string{
	"operators.operatorframework.io.bundle.mediatype.v1":       "registry+v1",
	"operators.operatorframework.io.bundle.manifests.v1":       "manifests/",
	"operators.operatorframework.io.bundle.metadata.v1":        "metadata/",
	"operators.operatorframework.io.bundle.package.v1":         "tabard",
	"operators.operatorframework.io.bundle.channels.v1":        "candidate",
	"operators.operatorframework.io.bundle.channel.default.v1": "candidate",
}

// bundle are the files by name.
func bundle(s source, o options) (map[string][]byte, error) {
	is, err := sortOut(s.objects)
	if err != nil {
		return nil, err
	}
	if err := is.setImage(o); err != nil {
		return nil, err
	}
	version := s.chart.Version
	if o.version != "" {
		version = strings.TrimPrefix(o.version, "v")
	}
	csv, err := clusterServiceVersion(s, is, version)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, each := range slices.Concat([]*unstructured.Unstructured{csv}, is.crds, is.manifests) {
		name := "manifests/" + fileOf(each)
		if out[name] != nil {
			return nil, fmt.Errorf("two manifests are %s", name)
		}
		if out[name], err = text(each.Object); err != nil {
			return nil, err
		}
	}
	if out["prerequisites.yaml"], err = prerequisites(is); err != nil {
		return nil, err
	}
	out["metadata/annotations.yaml"], err = text(object{"annotations": labels})
	out["Dockerfile"] = dockerfile()
	return out, err
}

// fileOf names the file of a manifest, which has one object.
func fileOf(o *unstructured.Unstructured) string {
	name := o.GetName()
	switch o.GetKind() {
	case "ClusterServiceVersion":
		name = "tabard"
	case "CustomResourceDefinition":
		name = strings.Replace(name, ".", "_", 1)
	}
	return strings.ToLower(o.GetKind()) + "_" + name + ".yaml"
}

func text(o any) ([]byte, error) {
	said, err := yaml.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write a file of the bundle: %w", err)
	}
	return append([]byte(written), said...), nil
}

func prerequisites(is sorted) ([]byte, error) {
	out := bytes.NewBufferString(written + "#\n# What OLM does not create, to be applied before: the namespace, and Roles in others.\n")
	for i, o := range is.prerequisites {
		if i > 0 {
			out.WriteString("---\n")
		}
		said, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fmt.Errorf("write a file of the bundle: %w", err)
		}
		out.Write(said)
	}
	return out.Bytes(), nil
}

// dockerfile makes the image of the bundle. An image of a bundle has no program.
func dockerfile() []byte {
	out := bytes.NewBufferString(written + "FROM scratch\n")
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(out, "LABEL %s=%s\n", key, labels[key])
	}
	out.WriteString("COPY manifests /manifests/\nCOPY metadata /metadata/\n")
	return out.Bytes()
}

var devel = regexp.MustCompile(`^(\S+/tabard):devel$`)

// setImage sets the image of all containers, as a release does in the plain manifests.
func (s *sorted) setImage(o options) error {
	if o.version == "" && o.image == "" {
		return nil
	}
	for _, d := range s.deployments {
		containers, _, err := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
		if err != nil {
			return fmt.Errorf("the Deployment %s: %w", d.GetName(), err)
		}
		for _, c := range containers {
			container, _ := c.(object)
			was := fmt.Sprint(container["image"])
			if !devel.MatchString(was) {
				return fmt.Errorf("the Deployment %s has the image %s, expected …/tabard:devel", d.GetName(), was)
			}
			container["image"] = o.image
			if o.image == "" {
				container["image"] = devel.ReplaceAllString(was, "${1}:"+o.version)
			}
		}
		if err := unstructured.SetNestedSlice(d.Object, containers, "spec", "template", "spec", "containers"); err != nil {
			return fmt.Errorf("the Deployment %s: %w", d.GetName(), err)
		}
	}
	return nil
}
