package operators

import (
	"context"
	_ "embed"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	reader "github.com/tabard-dev/tabard/internal/catalogue"
	policies "github.com/tabard-dev/tabard/internal/cli/policy"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

//go:embed testdata/installed.json
var installedJSON []byte

// TestMain lets the tests be the program on a cluster that is a fake one: it is in token mode,
// serves two PackageManifests, and has an operator.
func TestMain(m *testing.M) {
	os.Exit(testkit.RunAsProgram(m, func(args []string) error {
		streams := command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
		// The issuer is that of the hand-off of the page.
		cluster := openshift4{objects: []runtime.Object{
			infrastructure("AWS", "status", "platformStatus", "type"), cloudCredential("Manual"), authentication("https://issuer.example.com"),
		}}
		cluster.objects = append(cluster.objects, installedOperator()...)
		cluster.catalogue = func(ctx context.Context, _ Origin) (catalogue.Catalogue, error) {
			return reader.Manifests{}.Read(ctx, strings.NewReader(`{"items":[`+strings.Replace(manifest("vendor", "my-operator"), `"annotations":{`, `"annotations":{"`+catalogue.SuggestedNamespace+`":"my-operator",`, 1)+`,`+manifest("vendor", "p")+`]}`))
		}
		run := New(streams, cluster.world())
		if args[0] == "policy" {
			run = policies.New(streams)
		}
		run.SetArgs(args[1:])
		return run.Execute()
	}))
}

// TestThePagesSayWhatTheCommandsDo types the pages twice; the block behind one is what it prints.
func TestThePagesSayWhatTheCommandsDo(t *testing.T) {
	outputs := map[string]int{"operators.md": 8, "operator-bundle.md": 4}
	for page, want := range outputs {
		t.Run(page, func(t *testing.T) {
			folder := testkit.LinkSelf(t, "tabard")
			must.Do(t, os.Symlink(filepath.Join(testkit.Root(), "examples"), filepath.Join(folder, "examples")))
			text := string(must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", page)))(t))
			for range 2 {
				if compared := typePage(t, folder, text); compared != want {
					t.Errorf("%d outputs of the page were compared, want %d", compared, want)
				}
			}
		})
	}
}

// typePage types a page's commands in a folder, and says how many outputs it compared.
func typePage(t *testing.T, folder, page string) (compared int) {
	t.Helper()
	printed := ""
	for _, part := range strings.Split(page, "\n```")[1:] {
		kind, text, _ := strings.Cut(part, "\n")
		switch kind {
		case "sh":
			typed := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", text)
			typed.Dir, typed.Stderr = folder, t.Output()
			printed = string(must.Get(typed.Output())(t))
			if strings.Contains(text, "--token-auth yes") && !strings.Contains(printed, "p of vendor") {
				t.Errorf("the cluster's operator is not listed:\n%s", printed)
			}
		case "text":
			compared++
			if strings.TrimRight(printed, "\n") != text {
				t.Errorf("printed:\n%s\nthe page says:\n%s", printed, text)
			}
		}
	}
	return compared
}

// TestTheHelpsExamples types each example of the help texts twice, with the files that they name.
func TestTheHelpsExamples(t *testing.T) {
	examples := filepath.Join(testkit.Root(), "examples/operators")
	folder := testkit.LinkSelf(t, "tabard")
	read := func(name string) string { return string(must.Get(os.ReadFile(filepath.Join(examples, name)))(t)) }
	for name, text := range map[string]string{
		"catalog.json":                           strings.ReplaceAll(read("catalog.json"), "object-keeper", "my-operator"),
		"configs/catalog.json":                   read("catalog.json"),
		"my-operator.clusterserviceversion.yaml": read("bundle/manifests/bucket.clusterserviceversion.yaml"),
		"csv.yaml":                               read("bundle/manifests/bucket.clusterserviceversion.yaml"),
		"credentials-requests/request.yaml":      read("bundle/manifests/request.yaml"),
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	must.Do(t, os.CopyFS(filepath.Join(folder, "bundle"), os.DirFS(filepath.Join(examples, "bundle"))))
	// check reads what handoff writes, and the documents of a role.
	role := os.DirFS(filepath.Join(examples, "role"))
	must.Do(t, fs.WalkDir(role, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text := must.Get(fs.ReadFile(role, name))(t)
		must.Do(t, os.MkdirAll(filepath.Join(folder, "role"), 0o700))
		return os.WriteFile(filepath.Join(folder, "role", name), []byte(strings.NewReplacer("111122223333", "123456789012", "prod-keeper-object-keeper", "my-operator").Replace(string(text))), 0o600)
	}))
	first := exec.CommandContext(t.Context(), "bash", "-c", New(command.Streams{}, World{}).Commands()[slices.IndexFunc(New(command.Streams{}, World{}).Commands(), func(c *cobra.Command) bool { return c.Name() == "handoff" })].Example)
	first.Dir = folder
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	finds := map[string]bool{"lint": true, "upgrade-diff": true, "check": true, "install": true} // by the exit code 1
	typed := 0
	for _, c := range slices.Repeat(New(command.Streams{}, World{}).Commands(), 2) {
		for line := range strings.Lines(c.Example) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			typed++
			run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", line)
			run.Dir = folder
			out, err := run.CombinedOutput()
			if code := run.ProcessState.ExitCode(); code > 1 || code == 1 && !finds[c.Name()] {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}
	if typed < 30 {
		t.Errorf("%d examples were typed", typed)
	}
}
