package evidence

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var subject = Subject{Name: "cloak", Version: "v1.2.3", SHA256: strings.Repeat("ab", 32), Created: time.Unix(1750000000, 0)}

func read(t *testing.T, text []byte) *cyclonedx.BOM {
	t.Helper()
	bom := &cyclonedx.BOM{}
	must.Do(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(bom))
	return bom
}

func TestTheBillListsWhatIsLinked(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8 X:none",
		Main:      debug.Module{Path: "example.com/cloak", Version: "(devel)"},
		Deps: []*debug.Module{
			{Path: "example.com/wool", Version: "v0.2.0"},
			{Path: "example.com/cloak/hem", Version: "v0.0.0", Replace: &debug.Module{Path: "./hem"}},
			{Path: "example.com/dye", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/paint", Version: "v1.0.1"}},
		},
	}
	text := must.Get(materials(info, subject))(t)
	bom := read(t, text)
	var urls []string
	for _, component := range *bom.Components {
		urls = append(urls, component.PackageURL)
	}
	want := []string{
		"pkg:golang/example.com/cloak/hem@v1.2.3", "pkg:golang/example.com/paint@v1.0.1",
		"pkg:golang/example.com/wool@v0.2.0", "pkg:golang/std@1.26.8",
	}
	if diff := cmp.Diff(want, urls); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if got := bom.Metadata.Component; got.Name != "cloak" || got.Version != "v1.2.3" || (*got.Hashes)[0].Value != subject.SHA256 {
		t.Errorf("the bill is of %+v, want cloak v1.2.3 with its digest", got)
	}
	if got := bom.Metadata.Timestamp; got != "2025-06-15T15:06:40Z" {
		t.Errorf("the bill's time is %s, want the one given", got)
	}
	slices.Reverse(info.Deps)
	if again := must.Get(materials(info, subject))(t); !bytes.Equal(text, again) {
		t.Errorf("the same modules in another order give another bill:\n%s", cmp.Diff(string(text), string(again)))
	}
	other := subject
	other.SHA256 = strings.Repeat("cd", 32)
	if second := read(t, must.Get(materials(info, other))(t)); second.SerialNumber == bom.SerialNumber {
		t.Errorf("two programs have bills with the same number %s", bom.SerialNumber)
	}
}

func TestTheBillOfARealProgramIsReadFromTheFile(t *testing.T) {
	program := filepath.Join(t.TempDir(), "image")
	if said, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/tabard-dev/tabard/hack/image").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	bom := read(t, must.Get(Materials(program, subject))(t))
	for name, want := range map[string]bool{"std": true, "github.com/google/go-containerregistry": true, "k8s.io/client-go": false} {
		found := slices.ContainsFunc(*bom.Components, func(c cyclonedx.Component) bool { return c.Name == name })
		if found != want {
			t.Errorf("the bill has %s: %v, want %v", name, found, want)
		}
	}
	script := filepath.Join(t.TempDir(), "script")
	must.Do(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
	if _, err := Materials(script, subject); err == nil || !strings.Contains(err.Error(), script) {
		t.Errorf("got error %v of a script, want one that names it", err)
	}
}

func TestTheProvenanceNamesTheCommitAndEveryArtifact(t *testing.T) {
	build := Build{Version: "v1.2.3", Revision: "4f1c0de", Go: "go1.26.8", Platforms: []string{"linux/amd64"}}
	text := must.Get(Provenance(build, Artifact{"b.tar", "02"}, Artifact{"a.tar", "01"}))(t)
	var got map[string]any
	must.Do(t, json.Unmarshal(text, &got))
	want := map[string]any{
		"_type": "https://in-toto.io/Statement/v1",
		"subject": []any{
			map[string]any{"name": "a.tar", "digest": map[string]any{"sha256": "01"}},
			map[string]any{"name": "b.tar", "digest": map[string]any{"sha256": "02"}},
		},
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":          buildType,
				"externalParameters": map[string]any{"version": "v1.2.3", "platforms": []any{"linux/amd64"}},
				"resolvedDependencies": []any{
					map[string]any{"uri": "git+https://github.com/tabard-dev/tabard@4f1c0de", "digest": map[string]any{"gitCommit": "4f1c0de"}},
					map[string]any{"name": "go", "uri": "pkg:golang/std@1.26.8"},
				},
			},
			"runDetails": map[string]any{"builder": map[string]any{"id": "https://github.com/tabard-dev/tabard/blob/main/hack/release"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statement (-want +got):\n%s", diff)
	}
}

func TestTheProvenanceOfWhatIsNoCommitNamesNone(t *testing.T) {
	text := string(must.Get(Provenance(Build{Version: "v1.2.3-dev"}, Artifact{"a.tar", "01"}))(t))
	if strings.Contains(text, "gitCommit") || strings.Contains(text, "tabard@") {
		t.Errorf("the statement names a commit:\n%s", text)
	}
}
