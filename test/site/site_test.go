// Package site_test builds the documentation's site and opens it in Chromium, and builds and opens
// sites with faults.
package site_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// root is that of the repository.
const root = "../.."

func TestJavaScriptTheSiteHasNoFaults(t *testing.T) {
	needPrograms(t)
	if out, err := run(t, root, "make", "site-check"); err != nil {
		t.Errorf("make site-check: %v\n%s", err, out)
	}
}

func TestJavaScriptTheCheckOfTheSiteFindsFaults(t *testing.T) {
	install(t)
	folder := t.TempDir()
	for name, body := range map[string]string{
		"index":   `<h2 id="here">Here</h2><a href="good.html">good</a>`,
		"good":    `<a href="index.html#here">here</a><a href="./">index</a><a href="https://elsewhere.example/">elsewhere</a>`,
		"nowhere": `<a href="missing.html">missing</a>`,
		"anchor":  `<a href="index.html#missing">missing</a>`,
		"wide":    `<div style="width: 900px">wide</div>`,
		"foreign": `<img alt="" src="https://fonts.example/a.png">`,
		"lost":    `<img alt="" src="a.png">`,
		"throws":  `<script>throw new Error("thrown")</script>`,
		"bright":  `<p>The same by night.</p>`,
		"grey":    `<p style="color: #888; background: #aaa">grey</p>`,
	} {
		dark := "@media (prefers-color-scheme: dark) { body, a { background: #222; color: #eee } }"
		if name == "bright" {
			dark = ""
		}
		page := `<!DOCTYPE html><html lang="en"><title>t</title><style>` + dark + `</style><main id="app">` + body + `</main><script>document.querySelector("#app").__vue_app__ = {}</script>`
		must.Do(t, os.WriteFile(filepath.Join(folder, name+".html"), []byte(page), 0o600))
	}
	out, err := run(t, root, "node", "site/check.mjs", folder)
	if exit, failed := errors.AsType[*exec.ExitError](err); !failed || exit.ExitCode() != 1 {
		t.Errorf("the check ended with %v, expected exit code 1", err)
	}
	found := strings.Split(strings.TrimSpace(out), "\n")[1:]
	for _, want := range []string{
		"nowhere.html: the link /missing.html leads nowhere",
		"anchor.html: the link /index.html#missing leads to no heading",
		"wide.html: scrolls sideways at 320 px",
		"wide.html: scrolls sideways at 768 px",
		"foreign.html: asks another host, https://fonts.example",
		"foreign.html: says in the console: Failed to load resource",
		"lost.html: asks for /a.png, which answers 404",
		"lost.html: says in the console: Failed to load resource",
		"throws.html: throws thrown",
		"bright.html: is as light for readers who prefer a dark page",
		"grey.html: light: color-contrast",
		"grey.html: dark: color-contrast",
		"the search for AccessDenied leads to no page",
	} {
		i := slices.IndexFunc(found, func(line string) bool { return strings.HasPrefix(line, want) })
		if i < 0 {
			t.Errorf("not found: %s", want)
			continue
		}
		found = slices.Delete(found, i, i+1)
	}
	if len(found) > 0 {
		t.Errorf("found, and there is no such fault:\n%s", strings.Join(found, "\n"))
	}
}

func TestJavaScriptPagesAreShownAsTheyAreInTheRepository(t *testing.T) {
	install(t)
	folder := smallSite(t, "# Docs\n\n## All\n\n- [Page](page.md#whats-key-doc)\n", `# Page

## What's `+"`key`"+`, doc?

A <NAME>, {{ braces }} and `+"`{{resolve:x}}`"+`, README.md, :key: and [the licence](../LICENSE), [all](../docs).
`)
	if out, err := run(t, folder, "site/node_modules/.bin/vitepress", "build", "site"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page := string(must.Get(os.ReadFile(filepath.Join(folder, "bin/site/page.html")))(t))
	for _, want := range []string{
		`<h2 id="whats-key-doc"`,
		"A &lt;NAME&gt;, {{ braces }} and <code>{{resolve:<wbr>x}}</code>, README.md, :key: and",
		`href="https://github.com/tabard-dev/tabard/blob/main/LICENSE"`,
		`href="https://github.com/tabard-dev/tabard/tree/main/docs"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	front := string(must.Get(os.ReadFile(filepath.Join(folder, "bin/site/index.html")))(t))
	if want := "<p>What it is.</p>"; !strings.Contains(front, want) {
		t.Errorf("the front page has no %s:\n%s", want, front)
	}
}

func TestJavaScriptFaultyPagesAreNoSite(t *testing.T) {
	install(t)
	const index = "# Docs\n\n## All\n\n- [Page](page.md)\n"
	for name, test := range map[string]struct{ index, page, want string }{
		"a page that the index does not link":    {"# Docs\n\n## All\n", "# Page\n", "docs/index.md has no link to page.md"},
		"a link before the first section":        {"# Docs\n\n[Page](page.md)\n", "# Page\n", "the link to page.md is before the first section"},
		"a link to a file that is not there":     {index, "# Page\n\n[x](../missing.go)\n", "docs/page.md: the link ../missing.go leads to missing.go, which is not there"},
		"a link to a file above the repository":  {index, "# Page\n\n[x](../../x)\n", "docs/page.md: the link ../../x leads to ../x, which is not there"},
		"a link to a page that is not there":     {index, "# Page\n\n[x](missing.md)\n", "Found dead link ./missing in file page.md"},
		"a link within docs to what is no page":  {index, "# Page\n\n[x](missing.txt)\n", "leads to docs/missing.txt, which is not there"},
		"a README that begins with another form": {index, "# Page\n", "README.md: expected a title, one line about Tabard, and a picture"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := smallSite(t, test.index, test.page)
			if strings.HasPrefix(test.want, "README.md") {
				must.Do(t, os.WriteFile(filepath.Join(folder, "README.md"), []byte("# Tabard\n"), 0o600))
			}
			out, err := run(t, folder, "site/node_modules/.bin/vitepress", "build", "site")
			if err == nil || !strings.Contains(out, test.want) {
				t.Errorf("the build ended with %v, and said:\n%s\nexpected: %s", err, out, test.want)
			}
		})
	}
}

// smallSite is a repository with one page beside the index.
func smallSite(t *testing.T, index, page string) string {
	t.Helper()
	folder := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	packages := must.Get(filepath.Abs(root + "/site/node_modules"))(t)
	must.Do(t, os.MkdirAll(filepath.Join(folder, "docs/images"), 0o700))
	must.Do(t, os.CopyFS(filepath.Join(folder, "site/.vitepress/theme"), os.DirFS(root+"/site/.vitepress/theme")))
	must.Do(t, os.Symlink(packages, filepath.Join(folder, "site/node_modules")))
	files := map[string]string{
		"LICENSE": "", "docs/index.md": index, "docs/page.md": page,
		"README.md":         "# Tabard\n\nWhat it is.\n\n![a picture](docs/images/a.svg)\n",
		"docs/images/a.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"site/package.json": string(must.Get(os.ReadFile(root + "/site/package.json"))(t)),
	}
	for _, path := range must.Get(filepath.Glob(root + "/site/.vitepress/*.mjs"))(t) {
		files["site/.vitepress/"+filepath.Base(path)] = string(must.Get(os.ReadFile(path))(t))
	}
	for name, content := range files {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	return folder
}

// install has the packages installed, once for each version of the lock file.
func install(t *testing.T) {
	t.Helper()
	needPrograms(t)
	if out, err := run(t, root, "make", "site/node_modules/.package-lock.json"); err != nil {
		t.Fatalf("installing the packages: %v\n%s", err, out)
	}
}

func needPrograms(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal("the site needs " + program + " on the PATH, of Node.js 20 or later")
		}
	}
}

// run runs a program in a folder, and returns all that it says.
func run(t *testing.T, folder, program string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	// The options of a make around the tests are not for this one.
	command.Env = append(os.Environ(), "MAKEFLAGS=", "NO_COLOR=1")
	out, err := command.CombinedOutput()
	return string(out), err
}
