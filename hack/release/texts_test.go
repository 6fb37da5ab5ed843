package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestTheManifestsAreJoinedWithTheVersionsImages(t *testing.T) {
	files := [][]byte{
		[]byte("kind: First\n"),
		[]byte("---\nkind: Second\nimage: ghcr.io/tabard-dev/tabard:devel\n---\nkind: Third\nspec:\n- image: ghcr.io/tabard-dev/tabard-webhook:devel\n\n"),
	}
	want := "kind: First\n---\nkind: Second\nimage: ghcr.io/tabard-dev/tabard:v1.2.3\n---\nkind: Third\nspec:\n- image: ghcr.io/tabard-dev/tabard-webhook:v1.2.3\n"
	if diff := cmp.Diff(want, string(must.Get(manifests(files, "v1.2.3"))(t))); diff != "" {
		t.Errorf("manifests (-want +got):\n%s", diff)
	}
}

func TestManifestsWhoseImageWouldNotBeTheReleasesAreRefused(t *testing.T) {
	tests := map[string]struct{ file, says string }{
		"no image":                {"kind: First\n", "no manifest has an image ghcr.io/tabard-dev/"},
		"an image from elsewhere": {"image: ghcr.io/tabard-dev/tabard:devel\n---\nimage: example.com/tabard:devel\n", "a manifest has image: example.com/tabard:devel"},
	}
	for name, test := range tests {
		if _, err := manifests([][]byte{[]byte(test.file)}, "v1.2.3"); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got error %v, want one that says %q", name, err, test.says)
		}
	}
}

func TestTheNotesAreTheSectionOfTheVersion(t *testing.T) {
	const released = "# Changelog\n\n## Unreleased\n\n- Next.\n\n## v0.2.0 (2026-11-23)\n\n### Added\n\n- This.\n\n## [0.1.0]\n\n- Before.\n"
	tests := map[string]struct{ changelog, version, text, section string }{
		"the section of the version":                   {released, "v0.2.0", "# Tabard v0.2.0\n\n### Added\n\n- This.\n", "v0.2.0"},
		"a section without v, in brackets":             {released, "v0.1.0", "# Tabard v0.1.0\n\n- Before.\n", "0.1.0"},
		"a version without a section has Unreleased":   {released, "v0.3.0-rc.1", "# Tabard v0.3.0-rc.1\n\n- Next.\n", "Unreleased"},
		"a version whose name another one begins with": {released, "v0.2", "# Tabard v0.2\n\n- Next.\n", "Unreleased"},
	}
	for name, test := range tests {
		text, section, err := notes(test.changelog, test.version)
		if err != nil || text != test.text || section != test.section {
			t.Errorf("%s: got section %q, error %v (-want +got):\n%s", name, section, err, cmp.Diff(test.text, text))
		}
	}
	if _, _, err := notes("# Changelog\n\n## Unreleased\n\n## v0.1.0\n\n- Old.\n", "v0.2.0"); err == nil || !strings.Contains(err.Error(), "v0.2.0") {
		t.Errorf("a changelog that says nothing of the version: got error %v, want one that names it", err)
	}
}

func TestKrewInstallsTheProgramOfEachPlatform(t *testing.T) {
	offered := []offer{
		{"linux", "arm64", "tabard_v1.2.3_linux_arm64.tar.gz", "01", "tabard"},
		{"windows", "amd64", "tabard_v1.2.3_windows_amd64.zip", "02", "tabard.exe"},
	}
	var got struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
		Spec             struct {
			Version, ShortDescription string
			Platforms                 []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
				Files            []struct{ From, To string }
			}
		}
	}
	must.Do(t, yaml.Unmarshal(must.Get(krew("v1.2.3", "https://example.com/v1.2.3", offered))(t), &got))
	if got.Kind != "Plugin" || got.Metadata.Name != "tabard" || got.Spec.Version != "v1.2.3" || len(got.Spec.Platforms) != 2 {
		t.Fatalf("the manifest is %+v, want that of tabard v1.2.3 for two platforms", got)
	}
	windows := got.Spec.Platforms[1]
	if diff := cmp.Diff(map[string]string{"os": "windows", "arch": "amd64"}, windows.Selector.MatchLabels); diff != "" {
		t.Errorf("platform (-want +got):\n%s", diff)
	}
	if windows.URI != "https://example.com/v1.2.3/tabard_v1.2.3_windows_amd64.zip" || windows.SHA256 != "02" || windows.Bin != "tabard.exe" || windows.Files[0].From != "tabard.exe" {
		t.Errorf("the platform is %+v, want the archive and its program", windows)
	}
}

func TestTheChartHasTheVersionOfTheRelease(t *testing.T) {
	const about = "name: tabard\n# A release sets both: see docs/releasing.md.\nversion: 0.0.0-devel\nappVersion: devel\nkubeVersion: \">=1\"\n"
	want := "name: tabard\nversion: 1.2.3\nappVersion: v1.2.3\nkubeVersion: \">=1\"\n"
	if diff := cmp.Diff(want, string(must.Get(chartOf([]byte(about), "v1.2.3"))(t))); diff != "" {
		t.Errorf("Chart.yaml (-want +got):\n%s", diff)
	}
	if _, err := chartOf([]byte("version: 1\n"), "v1.2.3"); err == nil || !strings.Contains(err.Error(), "appVersion on 0 lines") {
		t.Errorf("got error %v of a chart without appVersion, want one that says so", err)
	}
}
