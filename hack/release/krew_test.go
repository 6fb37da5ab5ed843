package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// plugin is what krew reads of a manifest.
type plugin struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Spec             struct {
		Version, Homepage, ShortDescription, Description string
		Platforms                                        []struct {
			Selector         struct{ MatchLabels map[string]string }
			URI, SHA256, Bin string
			Files            []struct{ From, To string }
		}
	}
}

var (
	krewName    = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	krewVersion = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	krewSum     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// krewProblems are the rules that a manifest breaks: those of krew's plugin manifest and
// naming guides (https://krew.sigs.k8s.io/docs/developer-guide/). Unknown fields are refused, too.
func krewProblems(manifest []byte) (problems []string) {
	var p plugin
	if err := yaml.UnmarshalStrict(manifest, &p); err != nil {
		return []string{err.Error()}
	}
	wrong := func(is bool, format string, args ...any) {
		if is {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	wrong(p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin", "apiVersion and kind")
	wrong(!krewName.MatchString(p.Metadata.Name) || strings.HasPrefix(p.Metadata.Name, "kubectl"), "metadata.name")
	wrong(!krewVersion.MatchString(p.Spec.Version), "spec.version")
	wrong(!strings.HasPrefix(p.Spec.Homepage, "https://"), "spec.homepage")
	short := p.Spec.ShortDescription
	wrong(short == "" || len(short) > 50 || strings.ContainsAny(short, "\r\n") || strings.HasSuffix(short, "."), "spec.shortDescription")
	wrong(p.Spec.Description == "", "spec.description")
	wrong(len(p.Spec.Platforms) == 0, "spec.platforms")
	seen := map[string]bool{}
	for i, each := range p.Spec.Platforms {
		labels := each.Selector.MatchLabels
		platform := labels["os"] + "/" + labels["arch"]
		wrong(len(labels) != 2 || labels["arch"] == "" || !slices.Contains([]string{"linux", "darwin", "windows"}, labels["os"]) || seen[platform], "spec.platforms[%d].selector", i)
		seen[platform] = true
		wrong(!strings.HasPrefix(each.URI, "https://") || !strings.HasSuffix(each.URI, ".tar.gz") && !strings.HasSuffix(each.URI, ".zip"), "spec.platforms[%d].uri", i)
		wrong(!krewSum.MatchString(each.SHA256), "spec.platforms[%d].sha256", i)
		var from []string
		for _, file := range each.Files {
			from = append(from, file.From)
			wrong(!filepath.IsLocal(file.From) || !filepath.IsLocal(file.To), "spec.platforms[%d].files", i)
		}
		wrong(!slices.Contains(from, each.Bin), "spec.platforms[%d].bin", i)
		wrong((labels["os"] == "windows") != strings.HasSuffix(each.Bin, ".exe"), "spec.platforms[%d].bin", i)
	}
	return problems
}

// krewInstalls checks the manifest of a release, and that each archive has what it names.
func krewInstalls(t *testing.T, all map[string][]byte) {
	t.Helper()
	if problems := krewProblems(all["krew.yaml"]); len(problems) > 0 {
		t.Errorf("krew refuses %q of\n%s", problems, all["krew.yaml"])
	}
	var p plugin
	must.Do(t, yaml.Unmarshal(all["krew.yaml"], &p))
	for _, each := range p.Spec.Platforms {
		archive := filepath.Base(each.URI)
		if !strings.Contains(string(all[checksums]), each.SHA256+"  "+archive+"\n") {
			t.Errorf("checksums.txt does not have %s of %s", each.SHA256, archive)
		}
		dir := unpacked(t, all[archive])
		for _, file := range each.Files {
			if _, err := os.Stat(filepath.Join(dir, file.From)); err != nil {
				t.Errorf("the archive %s lacks %s: %v", archive, file.From, err)
			}
		}
	}
}

func TestKrewRefusesABrokenManifest(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	good := string(must.Get(krew("v1.2.3", "https://example.com/v1.2.3", []offer{
		{"linux", "arm64", "tabard_linux_arm64.tar.gz", sum, "tabard"}, {"windows", "amd64", "tabard_windows_amd64.zip", sum, "tabard.exe"},
	}))(t))
	tests := map[string]struct {
		old, broken string
		want        []string
	}{
		"the manifest as it is":        {"", "", nil},
		"a name with kubectl":          {"name: tabard\n", "name: kubectl-tabard\n", []string{"metadata.name"}},
		"a version without v":          {"version: v1.2.3\n", "version: 1.2.3\n", []string{"spec.version"}},
		"a short description too long": {"Give pods", "Give all pods on any cluster", []string{"spec.shortDescription"}},
		"an unknown system":            {"os: linux", "os: solaris", []string{"spec.platforms[0].selector"}},
		"an archive over http":         {"uri: https://example.com/v1.2.3/tabard_linux", "uri: http://example.com/tabard_linux", []string{"spec.platforms[0].uri"}},
		"a checksum that is none":      {"sha256: " + sum, "sha256: 0a", []string{"spec.platforms[0].sha256"}},
		"a program that is not listed": {"bin: tabard\n", "bin: bin/tabard\n", []string{"spec.platforms[0].bin"}},
		"a file outside the archive":   {"from: LICENSE", "from: ../LICENSE", []string{"spec.platforms[0].files"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, test.old, test.broken, 1)
			if test.old != "" && text == good {
				t.Fatalf("the manifest does not have %q:\n%s", test.old, good)
			}
			if diff := cmp.Diff(test.want, krewProblems([]byte(text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
