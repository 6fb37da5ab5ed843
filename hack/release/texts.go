package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/image"
)

// registry is where the manifests expect the images.
const registry = "ghcr.io/tabard-dev"

// texts writes the manifests and the notes.
func (r release) texts(context.Context) error {
	var files [][]byte
	// The order of the documentation's kubectl apply.
	for _, dir := range []string{"config/crd", "config/manifests", "config/rbac"} {
		paths, err := filepath.Glob(filepath.Join(r.compiler.Source, dir, "*.yaml"))
		if err != nil || len(paths) == 0 {
			return fmt.Errorf("no manifests in %s (%w)", dir, err)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("read a manifest: %w", err)
			}
			files = append(files, content)
		}
	}
	all, err := manifests(files, r.version)
	if err != nil {
		return err
	}
	if err := r.write("tabard.yaml", all); err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(r.compiler.Source, "CHANGELOG.md"))
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	said, section, err := notes(string(changelog), r.version)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.progress, "release: notes.md is the section %q of CHANGELOG.md\n", section)
	return r.write("notes.md", []byte(said))
}

var imageLine = regexp.MustCompile(`(?m)^(\s*(?:- )?image: )(` + regexp.QuoteMeta(registry) + `/[a-z-]+):devel$`)

// manifests joins files of manifests, with the images of the version.
func manifests(files [][]byte, version string) ([]byte, error) {
	var all bytes.Buffer
	images := 0
	for i, file := range files {
		images += len(imageLine.FindAll(file, -1))
		if i > 0 {
			all.WriteString("---\n")
		}
		file = imageLine.ReplaceAll(file, []byte("${1}${2}:"+version))
		all.Write(bytes.TrimPrefix(bytes.TrimRight(file, "\n"), []byte("---\n")))
		all.WriteByte('\n')
	}
	if images == 0 {
		return nil, fmt.Errorf("no manifest has an image %s/…:devel", registry)
	}
	if left := regexp.MustCompile(`image: \S*:devel\S*`).Find(all.Bytes()); left != nil {
		return nil, fmt.Errorf("a manifest has %s, expected an image of %s", left, registry)
	}
	return all.Bytes(), nil
}

// notes are the section of the version in the changelog, and if it has none yet, the
// section Unreleased.
func notes(changelog, version string) (text, section string, err error) {
	_, rest, _ := strings.Cut("\n"+changelog, "\n## ")
	sections := map[string]string{}
	for part := range strings.SplitSeq(rest, "\n## ") {
		title, body, _ := strings.Cut(part, "\n")
		name, _, _ := strings.Cut(strings.TrimSpace(title), " ")
		sections[strings.Trim(name, "[]")] = strings.TrimSpace(body)
	}
	for _, section := range []string{version, strings.TrimPrefix(version, "v"), "Unreleased"} {
		if body := sections[section]; body != "" {
			return "# Tabard " + version + "\n\n" + body + "\n", section, nil
		}
	}
	return "", "", fmt.Errorf("CHANGELOG.md has a section neither for %s nor for what is unreleased", version)
}

// offer is an archive from which krew can install.
type offer struct {
	system, architecture, archive, sha256, program string
}

// krew is the manifest of the kubectl plugin tabard
// (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest).
func krew(version, url string, offered []offer) ([]byte, error) {
	var platforms []map[string]any
	for _, o := range offered {
		platforms = append(platforms, map[string]any{
			"selector": map[string]any{"matchLabels": map[string]string{"os": o.system, "arch": o.architecture}},
			"uri":      url + "/" + o.archive,
			"sha256":   o.sha256,
			"files":    []map[string]string{{"from": o.program, "to": "."}, {"from": "LICENSE", "to": "."}},
			"bin":      o.program,
		})
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
		"kind":       "Plugin",
		"metadata":   map[string]string{"name": "tabard"},
		"spec": map[string]any{
			"version":          version,
			"homepage":         image.Source,
			"shortDescription": "Give pods AWS IAM roles without stored keys",
			"description": "Publishes and registers the cluster's token issuer, so that pods on any\n" +
				"Kubernetes cluster become AWS IAM roles without stored keys; explains which role\n" +
				"a workload gets, and finds mistakes in IAM policies.\n",
			"platforms": platforms,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write the manifest for krew: %w", err)
	}
	return text, nil
}
