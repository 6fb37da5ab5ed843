package catalogue_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	pkgP     = `{"schema":"olm.package","name":"p","defaultChannel":"stable"}`
	channelP = `{"schema":"olm.channel","package":"p","name":"stable","entries":[{"name":"p.v1.0.0"},{"name":"p.v1.1.0","replaces":"p.v1.0.0","skips":["p.v1.0.1"],"skipRange":">=1.0.0 <1.1.0"}]}`
	oldP     = `{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}`
	newP     = `{"schema":"olm.bundle","package":"p","name":"p.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.1.0"}},` +
		`{"type":"olm.csv.metadata","value":` + metadataP + `}]}`
	metadataP = `{"displayName":"P","provider":{"name":"Example"},"installModes":[{"type":"OwnNamespace","supported":true},{"type":"AllNamespaces","supported":false}],` +
		`"annotations":{"features.operators.openshift.io/token-auth-aws":"true","features.operators.openshift.io/token-auth-azure":"false","alm-examples":"[]"}}`
	allP = pkgP + "\n" + channelP + "\n" + oldP + "\n" + newP + "\n"
)

func simple(name string) string { return fmt.Sprintf(`{"schema":"olm.package","name":%q}`, name) }

func readText(t *testing.T, text string) model.Catalogue {
	t.Helper()
	got, err := catalogue.Reader{Stdin: strings.NewReader(text)}.Read(t.Context(), "-")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func names(c model.Catalogue) []string {
	var all []string
	for _, p := range c.Packages {
		all = append(all, p.Name)
	}
	return all
}

// places are the findings, but those that only say that a package of a test has no channel.
func places(c model.Catalogue) []string {
	var all []string
	for _, f := range c.Findings {
		if f.Code != model.DefaultChannelMissing && f.Code != model.PackageNotDefined && f.Code != model.BundleMissing {
			all = append(all, fmt.Sprintf("%s %s %d", f.Code, filepath.Base(f.Where.File), f.Where.Document))
		}
	}
	return all
}

var wantP = model.Package{
	Name: "p", DefaultChannel: "stable",
	Channels: []model.Channel{{Name: "stable", EdgesKnown: true, Head: "p.v1.1.0", Entries: []model.Entry{
		{Name: "p.v1.0.0"}, {Name: "p.v1.1.0", Replaces: "p.v1.0.0", Skips: []string{"p.v1.0.1"}, SkipRange: ">=1.0.0 <1.1.0"},
	}}},
	Bundles: []model.Bundle{
		{Name: "p.v1.0.0", Version: "1.0.0", Image: "i"},
		{
			Name: "p.v1.1.0", Version: "1.1.0", Image: "i",
			Metadata: &model.Metadata{DisplayName: "P", Provider: "Example", InstallModes: []string{"OwnNamespace"}, Annotations: map[string]string{
				"features.operators.openshift.io/token-auth-aws": "true", "features.operators.openshift.io/token-auth-azure": "false",
			}, Platforms: &model.Platforms{Architectures: []string{"amd64"}, Systems: []string{"linux"}}},
			Features: model.Features{
				Tokens: [3]model.Support{model.Yes, model.No, model.NotStated},
				Others: [8]model.Support{model.NotStated, model.NotStated, model.NotStated, model.NotStated, model.NotStated, model.NotStated, model.NotStated, model.NotStated},
			},
		},
	},
}

const yamlP = `# A comment before all.
%YAML 1.2
---
schema: olm.package
name: p
defaultChannel: stable
...
# Nothing in here.
---
schema: olm.channel
package: p
name: stable
entries:
- name: p.v1.0.0
- {name: p.v1.1.0, replaces: p.v1.0.0, skips: [p.v1.0.1], skipRange: ">=1.0.0 <1.1.0"}
--- {schema: olm.bundle, package: p, name: p.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: p, version: 1.0.0}}]}
---
common: &common {packageName: p, version: 0.0.0}
schema: olm.bundle
package: p
name: p.v1.1.0
image: i
properties:
- type: olm.package
  value: {<<: *common, version: 1.1.0}
- type: olm.csv.metadata
  value:
    displayName: P
    provider: {name: Example}
    installModes: [{type: OwnNamespace, supported: true}]
    annotations:
      features.operators.openshift.io/token-auth-azure: "false"
      features.operators.openshift.io/token-auth-aws: "true"
`

// Scenario 3, through a file: the same model of each way to write it.
func TestFormats(t *testing.T) {
	var indented bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(allP), "\n") {
		indented.WriteString(indent(t, line) + "\n")
	}
	for name, text := range map[string]string{
		"JSON lines":                    allP,
		"JSON without a line end":       strings.TrimSpace(allP),
		"JSON with CRLF":                strings.ReplaceAll(allP, "\n", "\r\n"),
		"JSON without lines":            strings.ReplaceAll(allP, "\n", ""),
		"JSON, indented":                indented.String(),
		"JSON after a byte order mark":  "\xef\xbb\xbf" + allP,
		"JSON between YAML's marks":     "---\n" + strings.ReplaceAll(allP, "\n", "\n---\n"),
		"JSON with marks between":       strings.ReplaceAll(strings.TrimSpace(allP), "\n", "\n---\n"),
		"YAML":                          yamlP,
		"YAML with CRLF":                strings.ReplaceAll(yamlP, "\n", "\r\n"),
		"names of fields in other case": strings.NewReplacer(`"schema"`, `"Schema"`, `"package"`, `"PACKAGE"`, `"name":"p`, `"Name":"p`).Replace(allP),
		"documents of others":           `{"schema":"example.com/other","x":1}` + "\n" + allP,
	} {
		t.Run(name, func(t *testing.T) {
			got := readText(t, text)
			if diff := cmp.Diff(model.Catalogue{Packages: []model.Package{wantP}}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func encoded(manifest string) string {
	return fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}}`, base64.StdEncoding.EncodeToString([]byte(manifest)))
}

func bundleWith(name string, properties ...string) string {
	properties = append([]string{`{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}`}, properties...)
	return fmt.Sprintf(`{"schema":"olm.bundle","package":"p","name":%q,"properties":[%s]}`, name, strings.Join(properties, ","))
}

const csv = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"p.v1.0.0","annotations":{
"features.operators.openshift.io/token-auth-aws":"true","features.operators.openshift.io/token-auth-azure":"false"}},
"spec":{"displayName":"P","provider":{"name":"Example"},"installModes":[{"type":"OwnNamespace","supported":true}],
"install":{"spec":{"deployments":[{"spec":{"template":{"spec":{"serviceAccountName":"p-sa","volumes":[
{"projected":{"sources":[{"serviceAccountToken":{"audience":"openshift"}},{"configMap":{"name":"c"}}]}},{"emptyDir":{}}]}}}},{"spec":{}}]}}}}`

const csvYAML = `kind: ClusterServiceVersion
metadata:
  annotations: {features.operators.openshift.io/token-auth-aws: "true", features.operators.openshift.io/token-auth-azure: "false"}
spec:
  displayName: P
  provider: {name: Example}
  installModes: [{type: OwnNamespace, supported: true}]
  install: {spec: {deployments: [{spec: {template: {spec: {serviceAccountName: p-sa, volumes: [{projected: {sources: [{serviceAccountToken: {audience: openshift}}]}}]}}}}, {}]}}
`

// Scenario 8: the same features of a whole ClusterServiceVersion and of its metadata; unknown
// without both.
func TestObjectsAndMetadataShowTheSameFeatures(t *testing.T) {
	property := `{"type":"olm.csv.metadata","value":` + metadataP + `}`
	other := encoded(`{"kind":"ConfigMap","data":{"a":"ClusterServiceVersion"}}`)
	old := encoded(strings.ReplaceAll(csv, `aws":"true"`, `aws":"false"`))
	got := readText(t, strings.Join([]string{
		bundleWith("object", other, encoded(csv)), bundleWith("yaml", encoded(csvYAML)), bundleWith("metadata", property),
		bundleWith("both", old, property), bundleWith("neither", other), bundleWith("none"),
	}, "\n"))
	if found := places(got); found != nil {
		t.Errorf("findings are %v", got.Findings)
	}
	want := wantP.Bundles[1]
	work := &model.Workload{ServiceAccounts: []string{"default", "p-sa"}, Audiences: []string{"openshift"}}
	workloads := map[string]*model.Workload{"object": work, "yaml": work, "both": work}
	for _, name := range []string{"object", "yaml", "metadata", "both"} {
		b, _ := got.Packages[0].Bundle(name)
		if diff := cmp.Diff([]any{want.Metadata, want.Features, workloads[name]}, []any{b.Metadata, b.Features, b.Workload}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"neither", "none"} {
		b, ok := got.Packages[0].Bundle(name)
		if !ok || b.Metadata != nil || b.Workload != nil || b.Features != (model.Features{}) || b.Demand() != model.DemandUnknown {
			t.Errorf("%s is %+v, want everything unknown", name, b)
		}
	}
}

// write makes a file below dir.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Scenario 7: a directory.
func TestADirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "configs/p/catalog.json", allP)
	write(t, dir, "configs/q/anything", "---\nschema: olm.package\nname: q\n---\nschema: olm.package\nname: q2\n")
	write(t, dir, "configs/broken/catalog.yaml", "schema: olm.package\nname: r\n---\nname: [\n---\nschema: olm.package\nname: s\n")
	write(t, dir, "configs/pruned/catalog.json", simple("pruned"))
	write(t, dir, "configs/empty", "")
	write(t, dir, ".indexignore", "# one package\n/configs/pruned\n*.md\n!/configs/kept.md\n[\n")
	write(t, dir, "configs/p/README.md", "# not a catalogue")
	write(t, dir, "configs/kept.md", simple("kept"))
	write(t, dir, "configs/deep/.indexignore", "!x.md\n")
	write(t, dir, "configs/deep/x.md", simple("deep"))
	got, err := catalogue.Reader{}.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"deep", "kept", "p", "q", "q2", "r", "s"}, names(got)); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"FileNotRead .indexignore 0", "DocumentBroken catalog.yaml 2"}, places(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	one, err := catalogue.Reader{}.Read(t.Context(), filepath.Join(dir, "configs/p/catalog.json"))
	if diff := cmp.Diff(model.Catalogue{Packages: []model.Package{wantP}}, one); err != nil || diff != "" {
		t.Errorf("one file: %v (-want +got):\n%s", err, diff)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret.json", simple("secret"))
	write(t, dir, "in/catalog.json", simple("p"))
	for name, target := range map[string]string{
		"file": filepath.Join(outside, "secret.json"), "dir": outside, "up": "../../..", "nowhere": "absent", "again.json": "in/catalog.json", "loop": ".",
		"in/.indexignore": filepath.Join(outside, "secret.json"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := catalogue.Reader{}.Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p"}, names(got)); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	want := []string{"FileNotRead dir 0", "FileNotRead file 0", "FileNotRead .indexignore 0", "FileNotRead nowhere 0", "FileNotRead up 0"}
	if diff := cmp.Diff(want, places(got)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestWhatWasNamedIsNotThere(t *testing.T) {
	if _, err := (catalogue.Reader{}).Read(t.Context(), filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (catalogue.Reader{Stdin: strings.NewReader(allP)}).Read(ctx, "-"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	fault := errors.New("the disk is gone")
	in := io.MultiReader(strings.NewReader(allP), failing{fault})
	if _, err := (catalogue.Reader{Stdin: in}).Read(t.Context(), "-"); !errors.Is(err, fault) {
		t.Errorf("the error is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// What an operator runs on is told by the labels, wherever the metadata is.
func TestPlatforms(t *testing.T) {
	const labels = `"labels":{"operatorframework.io/arch.arm64":"supported","operatorframework.io/arch.amd64":"supported","operatorframework.io/os.linux":"no","other":"x"}`
	want := &model.Platforms{Architectures: []string{"amd64", "arm64"}}
	for name, property := range map[string]string{
		"metadata": `{"type":"olm.csv.metadata","value":{` + labels + `}}`,
		"object":   encoded(`{"kind":"ClusterServiceVersion","metadata":{` + labels + `},"spec":{}}`),
	} {
		if diff := cmp.Diff(want, readText(t, bundleWith("p.v1.0.0", property)).Packages[0].Bundles[0].Metadata.Platforms); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Scenario 14: the code blocks of the long description are kept where nothing declares what the
// operator asks for, of files and of PackageManifests.
func TestScenario14TheInstructionsOfTheDescriptionAreKept(t *testing.T) {
	described := `"description":"Type:\n` + "```" + `\naws iam create-role\n` + "```" + `\n"`
	for annotations, want := range map[string][]string{
		`{}`: {"aws iam create-role"},
		`{"operators.tabard.dev/credentials-requests":"[]"}`: nil,
	} {
		fields := described + `,"annotations":` + annotations
		file := readText(t, bundleWith("p.v1.0.0", `{"type":"olm.csv.metadata","value":{`+fields+`}}`))
		manifest := must.Get(catalogue.Manifests{}.Read(t.Context(), strings.NewReader(`{"items":[{"status":{"packageName":"p","catalogSource":"a",`+
			`"catalogSourceNamespace":"b","defaultChannel":"c","channels":[{"name":"c","currentCSV":"p.v1.0.0","entries":[{"name":"p.v1.0.0","version":"1.0.0"}],`+
			`"currentCSVDesc":{"version":"1.0.0",`+fields+`}}]}}]}`)))(t)
		for source, read := range map[string]model.Catalogue{"file": file, "cluster": manifest} {
			if diff := cmp.Diff(want, read.Packages[0].Bundles[0].Metadata.Instructions.Lines); diff != "" {
				t.Errorf("%s with %s (-want +got):\n%s", source, annotations, diff)
			}
		}
	}
}
