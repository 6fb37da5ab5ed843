package operators

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	csvFile     = "manifests/bucket.clusterserviceversion.yaml"
	requestFile = "manifests/request.yaml"
)

// ownBundle is a copy of the hand-made bundle.
func ownBundle(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a bundle")
	must.Do(t, os.CopyFS(dir, os.DirFS("testdata/bundle")))
	return dir
}

func rewrite(t *testing.T, path, old, with string) {
	t.Helper()
	text := string(must.Get(os.ReadFile(path))(t))
	if !strings.Contains(text, old) {
		t.Fatalf("%s has no %q", path, old)
	}
	must.Do(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, old, with)), 0o600))
}

// tree are all files of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			out[strings.TrimPrefix(path, dir+"/")] = string(must.Get(os.ReadFile(path))(t))
		}
		return err
	}))
	return out
}

func lint(t *testing.T, args ...string) outcome {
	t.Helper()
	return onAWS().run(t, "", append([]string{"lint"}, args...)...)
}

// printed are the words of the command that a finding prints as the way to fix it.
func printed(t *testing.T, text string) []string {
	t.Helper()
	found := regexp.MustCompile(`Type: tabard operators (annotate .*)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no command in:\n%s", text)
	}
	var words []string
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(found[1], -1) {
		words = append(words, strings.Trim(word, "'"))
	}
	return words
}

func TestScenario16LintNamesTheFixAndAnnotateMovesTheRequest(t *testing.T) {
	dir := ownBundle(t)
	got := lint(t, dir).exits(t, 1)
	says(t, got.out, "BundleNotInstallable", requestFile, "UnsupportedResource")
	silent(t, got.out, "warning")
	before := tree(t, dir)
	onAWS().run(t, "", printed(t, got.out)...).exits(t, 0)
	says(t, lint(t, dir).exits(t, 0).out, "Nothing is wrong.")
	after := tree(t, dir)
	if after["credentials-requests/request.yaml"] != before[requestFile] || after[requestFile] != "" {
		t.Errorf("the request was not moved: %v", after)
	}
	// All lines of the file stay, and there is one more.
	line := regexp.MustCompile(`(?m)^    operators.tabard.dev/credentials-requests: '.*'\n`)
	if rest := line.ReplaceAllString(after[csvFile], ""); rest != before[csvFile] {
		t.Errorf("the file has become\n%s", after[csvFile])
	}
	silent(t, after[csvFile], "5a1d", "managedFields", "resourceVersion", "provisioned")
	says(t, after[csvFile], `"namespace":"$(NAMESPACE)"`)
	says(t, onAWS().run(t, "", printed(t, got.out)...).exits(t, 0).errOut, "nothing changes")
	if again := tree(t, dir); len(again) != len(after) || again[csvFile] != after[csvFile] {
		t.Errorf("the second time changes the file:\n%s", again[csvFile])
	}
	// What is declared is what "permissions" shows.
	set := permission.ReadAnnotations(permission.Subject{}, "", annotationsOf(t, after[csvFile]))
	if len(set.Findings) > 0 || len(set.Atoms()) != 1 {
		t.Errorf("%+v", set)
	}
}

func annotationsOf(t *testing.T, csv string) map[string]string {
	t.Helper()
	fields := must.Get(fieldsOf([]byte(csv), onAWS().world().JSON))(t)
	out := map[string]string{}
	for key, value := range fields["metadata"].(map[string]any)["annotations"].(map[string]any) {
		out[key] = value.(string)
	}
	return out
}

func TestLintOfFoldersFilesAndTheStandardInput(t *testing.T) {
	dir := ownBundle(t)
	says(t, lint(t, dir+"/manifests").exits(t, 1).out, "annotate --write '"+dir+"'")
	must.Do(t, os.Rename(dir+"/"+requestFile, dir+"/request.yaml"))
	got := lint(t, dir, "-o", "json").exits(t, 0)
	list := decoded[command.List[bundle.Finding]](t, got)
	if len(list.Items) != 1 || list.Items[0].Code != bundle.CodeUndeclared || list.Items[0].Severity != bundle.Warning || list.Kind != "OperatorLint" {
		t.Errorf("%+v", list)
	}
	says(t, lint(t, dir+"/"+csvFile, "--no-headers").exits(t, 0).out, "RequestsNotDeclared", "tabard operators annotate")
	csv := string(must.Get(os.ReadFile(dir + "/" + csvFile))(t))
	says(t, onAWS().run(t, csv, "lint", "-").exits(t, 0).out, "RequestsNotDeclared")
	must.Do(t, os.WriteFile(dir+"/manifests/second.yaml", []byte(csv), 0o600))
	must.Do(t, os.WriteFile(dir+"/manifests/broken.yaml", []byte("a: [\n---\na: 1\na: 2\n"), 0o600))
	says(t, lint(t, dir).exits(t, 1).out, "SeveralClusterServiceVersions", "InvalidYAML", "broken.yaml, document 2", `the key "a" is there twice`)
	says(t, lint(t, "testdata/requests").exits(t, 1).out, "NoClusterServiceVersion", "BundleNotInstallable")
	for _, bad := range []string{t.TempDir(), "testdata/absent", os.DevNull} {
		says(t, lint(t, bad).exits(t, 2).errOut, "expected a bundle directory")
	}
	says(t, onAWS().run(t, "# nothing\n", "lint", "-").exits(t, 2).errOut, "it is empty")
	lint(t).exits(t, 2)
	lint(t, dir, "-o", "nothing").exits(t, 2)
}

// TestLintOfHostileBundles: nothing outside is read, memory is bounded, and nothing controls a
// terminal.
func TestLintOfHostileBundles(t *testing.T) {
	dir := ownBundle(t)
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	must.Do(t, os.WriteFile(outside, []byte("kind: SecretOfSomebody\n"), 0o600))
	must.Do(t, os.Symlink(outside, dir+"/manifests/link.yaml"))
	must.Do(t, os.WriteFile(dir+"/manifests/long.yaml", make([]byte, largestManifest+1), 0o600))
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		name := string(rune('b' + i))
		bomb += name + ": &" + name + " [" + strings.TrimSuffix(strings.Repeat("*"+string(rune('a'+i))+",", 10), ",") + "]\n"
	}
	must.Do(t, os.WriteFile(dir+"/manifests/bomb.yaml", []byte(bomb), 0o600))
	must.Do(t, os.WriteFile(dir+"/manifests/red.yaml", []byte(`{"kind": "\u001b[31mRed\u202e", "apiVersion": "v1"}`), 0o600))
	for _, format := range []string{"table", "json", "yaml"} {
		got := lint(t, dir, "-o", format).exits(t, 1)
		says(t, got.out, "link.yaml", "FileNotRead", "larger than 4 MiB", "with its aliases", "KindNotSupported")
		silent(t, got.out, "SecretOfSomebody")
		if r, is := control(got.out + got.errOut); is {
			t.Errorf("-o %s prints %U", format, r)
		}
	}
	before := tree(t, dir)
	onAWS().run(t, "", "annotate", "--write", dir).exits(t, 2)
	if len(tree(t, dir)) != len(before) {
		t.Error("files were written")
	}
	for _, folder := range []string{"../..", "/etc", "manifests/more", "."} {
		must.Do(t, os.WriteFile(dir+"/metadata/annotations.yaml", []byte("annotations: {"+requestsKey+": "+folder+"}\n"), 0o600))
		says(t, lint(t, dir).exits(t, 2).errOut, requestsKey)
	}
}

// TestLintComparesTheFolder: its requests are errors at their places, and what differs is said.
func TestLintComparesTheFolder(t *testing.T) {
	dir := ownBundle(t)
	onAWS().run(t, "", "annotate", "--write", dir).exits(t, 0)
	must.Do(t, os.Rename(dir+"/credentials-requests", dir+"/asked"))
	must.Do(t, os.WriteFile(dir+"/metadata/annotations.yaml", []byte("annotations: {"+requestsKey+": asked/}\n"), 0o600))
	lint(t, dir).exits(t, 0)
	rewrite(t, dir+"/asked/request.yaml", "s3:GetObject", "s3:PutObject")
	says(t, lint(t, dir).exits(t, 1).out, "SourcesDisagree", "PutObject", "--overwrite")
	rewrite(t, dir+"/asked/request.yaml", "statementEntries:", "stsIAMRoleARN: arn:aws:iam::111122223333:role/r\n    statementEntries:")
	says(t, lint(t, dir).exits(t, 1).out, "MustBeEmpty", "asked/request.yaml", "spec.providerSpec.stsIAMRoleARN")
}
