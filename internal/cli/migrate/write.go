package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/roleselector/carm"
)

// document is what plan -o json prints.
type document struct {
	APIVersion  string         `json:"apiVersion"`
	Kind        string         `json:"kind"`
	Equal       bool           `json:"equal"`
	Controllers []description  `json:"controllers"`
	Findings    []carm.Finding `json:"findings"`
	// Selectors and namespaces are there only if they may be applied.
	Selectors  []map[string]any `json:"selectors"`
	Namespaces []map[string]any `json:"namespaces"`
	// Compared is how many things were, NotEqual those to look at.
	Compared int         `json:"compared"`
	NotEqual []carm.Line `json:"notEqual"`
	Plan     string      `json:"plan,omitempty"`
}

func (p *planned) document(folder string) document {
	d := document{
		APIVersion: "tabard.dev/v1alpha1", Kind: "CARMMigration", Equal: p.equal(),
		Controllers: p.described, Findings: p.migration.Findings, Selectors: []map[string]any{}, Namespaces: []map[string]any{},
		Compared: len(p.proof.lines), NotEqual: p.proof.notEqual(),
	}
	if p.equal() {
		d.Selectors, d.Namespaces = p.manifests(), p.namespaces()
		d.Plan = p.plan(folder)
	}
	return d
}

func (p *planned) manifests() []map[string]any {
	all := []map[string]any{}
	for _, s := range p.migration.Selectors {
		all = append(all, carm.Manifest(s))
	}
	return all
}

// namespaces are the labels to apply, for a server-side apply that touches
// nothing else.
func (p *planned) namespaces() []map[string]any {
	all := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(p.migration.NamespaceLabels)) {
		all = append(all, map[string]any{
			"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": name, "labels": p.migration.NamespaceLabels[name]},
		})
	}
	return all
}

// write writes everything to where it belongs: data to the output or the folder,
// words for people to the other stream.
func (p *planned) write(streams command.Streams, folder, format string) error {
	if folder != "" {
		files, err := p.files(folder)
		if err != nil {
			return err
		}
		if err := outFolder(folder).WriteFolder(files); err != nil {
			return err
		}
	}
	if format == "json" {
		return streams.PrintJSON(p.document(folder))
	}
	if folder != "" {
		return streams.Print(p.text())
	}
	if err := command.Write(streams.Err, p.text()); err != nil || !p.equal() {
		return err
	}
	text, err := documents(append(p.namespaces(), p.manifests()...))
	if err != nil {
		return err
	}
	return streams.Print(string(text))
}

// text is the report for people.
func (p *planned) text() string {
	var out strings.Builder
	for _, f := range p.migration.Findings {
		fmt.Fprintf(&out, "%s %s: %s\n  Why: %s\n  Do:  %s\n", f.Case, f.Severity, f.Seen, f.Why, f.Do)
		if len(f.Objects) > 0 {
			fmt.Fprintf(&out, "  In:  %s\n", listed(f.Objects))
		}
	}
	if p.migration.Refused() {
		out.WriteString("Refused: see above what a person must do first. No selectors are written.\n")
		return out.String()
	}
	out.WriteString(p.proof.text())
	if p.proof.failed() > 0 {
		out.WriteString("The selectors would change what resources get. No selectors are written.\n")
		return out.String()
	}
	fmt.Fprintf(&out, "%d selectors give %d controllers what CARM gives.\n", len(p.migration.Selectors), len(p.controllers))
	return out.String()
}

// files are those that plan writes into a folder, by their names in it.
func (p *planned) files(folder string) (map[string][]byte, error) {
	contents := map[string]any{"controllers.yaml": descriptions{p.described}}
	raw := map[string][]byte{}
	findings, err := json.MarshalIndent(p.migration.Findings, "", "  ")
	if err != nil {
		return nil, err
	}
	raw["findings.json"] = append(findings, '\n')
	if !p.migration.Refused() {
		var lines bytes.Buffer
		if err := p.proof.writeLines(&lines); err != nil {
			return nil, err
		}
		raw["proof.jsonl"] = lines.Bytes()
	}
	if p.equal() {
		raw["plan.md"] = []byte(p.plan(folder))
		for _, s := range p.migration.Selectors {
			contents[filepath.Join("selectors", s.Name+".yaml")] = carm.Manifest(s)
		}
		if labels := p.namespaces(); len(labels) > 0 {
			if raw["namespace-labels.yaml"], err = documents(labels); err != nil {
				return nil, err
			}
		}
		for i := range p.described {
			d := &p.described[i]
			contents[filepath.Join("values", fileName(d.Name))] = values(true, false)
			contents[filepath.Join("rollback", fileName(d.Name))] = values(false, d.EnableCARM == nil || *d.EnableCARM)
		}
	}
	for name, content := range contents {
		if raw[name], err = yaml.Marshal(content); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// documents are objects as YAML, one behind the other.
func documents(objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// outFolder is the folder of --out.
func outFolder(folder string) command.File {
	return command.File{By: "--out", Path: folder, Expected: "a folder that is new or empty, or has just what this run writes"}
}
