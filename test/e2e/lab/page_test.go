package lab_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// ciPage is docs/lab-in-ci.md.
func ciPage(t *testing.T) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "lab-in-ci.md")))(t))
}

// fenced are the blocks of a page with a mark.
func fenced(page, mark string) (found []string) {
	for _, match := range regexp.MustCompile("(?ms)^```"+mark+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		found = append(found, match[1])
	}
	return found
}

// TestLongThePageForCIIsTyped types the page's commands in one shell.
func TestLongThePageForCIIsTyped(t *testing.T) {
	t.Parallel()
	lab := filepath.Join(t.TempDir(), "lab")
	// Whatever the page does, no process of it outlives the test. The commands are not
	// shown as they run, because they have keys in them.
	script := `trap 'kill $(jobs -p) 2>/dev/null || true; "$TABARD/bin/tabard" lab down --dir "$LAB" || true' EXIT` + "\n" + strings.Repeat(strings.Join(fenced(ciPage(t), "sh"), ""), 2)
	shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	shell.Dir = t.TempDir()
	shell.Env = append(os.Environ(), "LAB="+lab, "TABARD="+testkit.Root())
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !strings.Contains(string(output), "kube-system") {
		t.Errorf("kubectl shows no namespaces:\n%s", output)
	}
	if _, err := os.Stat(lab); !os.IsNotExist(err) {
		t.Errorf("the lab's folder is still there: %v", err)
	}
}

// TestTheJobsOfThePageForCITypeWhatIsTyped reads both services' files, and holds their
// lines to those of the page's commands.
func TestTheJobsOfThePageForCITypeWhatIsTyped(t *testing.T) {
	t.Parallel()
	page := ciPage(t)
	typed := append(strings.Split(strings.Join(fenced(page, "sh"), ""), "\n"), `make -C "$TABARD" build localkube`)
	files := fenced(page, "yaml")
	if len(files) != 2 {
		t.Fatalf("the page has %d blocks of YAML, want one of GitHub and one of GitLab", len(files))
	}
	var github struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	var gitlab map[string]struct{ Script []string }
	must.Do(t, yaml.Unmarshal([]byte(files[0]), &github))
	must.Do(t, yaml.Unmarshal([]byte(files[1]), &gitlab))
	var hub []string
	for _, step := range github.Jobs["lab"].Steps {
		if step.Run != "" {
			hub = append(hub, strings.Split(strings.TrimSpace(step.Run), "\n")...)
		}
	}
	for service, lines := range map[string][]string{"GitHub": hub, "GitLab": gitlab["lab"].Script} {
		if len(lines) < 4 {
			t.Errorf("the job of %s has only the lines %q", service, lines)
		}
		for _, line := range lines {
			if !slices.Contains(typed, line) {
				t.Errorf("the job of %s types %q, which is not among the page's commands", service, line)
			}
		}
	}
}
