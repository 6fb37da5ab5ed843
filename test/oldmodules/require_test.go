package oldmodules_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages tell authors what to require.
var pages = []string{"operator-authors.md", "role-selectors-for-authors.md"}

// named are the modules that the pages call by shorter names.
var named = map[string]string{
	"SDK": "github.com/aws/aws-sdk-go-v2", "apimachinery": "k8s.io/apimachinery", "client-go": "k8s.io/client-go",
	"controller-runtime": "sigs.k8s.io/controller-runtime",
}

// TestOneRequireIsEnough types each line that the pages give into a go.mod of Go 1.25, builds
// a program that imports the module, and finds the versions there that the line names.
func TestOneRequireIsEnough(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `(github.com/tabard-dev/tabard/\\S+)` [^|]*\\|[^|]+\\| Go 1.25, ([^|]+) \\|$")
	var modules []string
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range row.FindAllStringSubmatch(string(text), -1) {
			modules = append(modules, found[1])
			t.Run(found[1], func(t *testing.T) {
				built := author(t, found[1])
				for each := range strings.SplitSeq(found[2], ", ") {
					name, version, _ := strings.Cut(each, " ")
					if got := built[named[name]]; named[name] == "" || !strings.HasPrefix(got, "v"+version+".") {
						t.Errorf("%s: the page says %q, and the program is built with %q", page, each, got)
					}
				}
			})
		}
	}
	if len(modules) != 5 {
		t.Errorf("the pages name %q; the test knows of five", modules)
	}
}

// author builds a program that requires one module and nothing else, and returns the versions
// of the modules that it is made of.
func author(t *testing.T, module string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	imported := module
	if strings.HasSuffix(module, "/api") { // its packages are the versions of its groups
		imported += "/services/v1alpha1"
	}
	write("main.go", "package main\n\nimport _ \""+imported+"\"\n\nfunc main() {}\n")
	write("go.mod", "module example.com/author\n\ngo 1.25.0\n\nrequire "+module+" v0.0.0\n"+replacements(t))
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	goIn(t, dir, "-mod=mod", "build", "-o", os.DevNull, ".")
	if got := strings.TrimSpace(goIn(t, dir, "-mod=readonly", "list", "-m", "-f", "{{.GoVersion}}")); got != "1.25.0" {
		t.Errorf("the program has become one of Go %s", got)
	}
	built := map[string]string{}
	for line := range strings.Lines(goIn(t, dir, "-mod=readonly", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}", ".")) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		built[path] = version
	}
	if _, has := built["github.com/tabard-dev/tabard"]; has {
		t.Error("the product came along, and with it all that it requires")
	}
	if _, has := built[named["SDK"]]; has != strings.Contains(module, "/awsauth") {
		t.Errorf("the AWS SDK came along: %v, of %q", has, slices.Sorted(maps.Keys(built)))
	}
	return built
}

// replacements are this module's, for what has not been published yet.
func replacements(t *testing.T) string {
	t.Helper()
	var mod struct {
		Replace []struct{ Old, New struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(run(t, "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, each := range mod.Replace {
		folder, err := filepath.Abs(each.New.Path)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("replace " + each.Old.Path + " => " + folder + "\n")
	}
	return text.String()
}
