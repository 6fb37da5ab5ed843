package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/sizes/size"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var update = flag.Bool("update", false, "write the table of components in docs/install.md anew")

const values = "../../charts/tabard/values.yaml"

// TestThePageHasWhatTheChartAsksFor: the table of docs/install.md is made of the chart's values.
func TestThePageHasWhatTheChartAsksFor(t *testing.T) {
	const path, begin, end = "../../docs/install.md", "<!-- requests: go test ./hack/sizes -update -->\n", "<!-- end of requests -->\n"
	text := must.Get(os.ReadFile(path))(t)
	before, rest, found := strings.Cut(string(text), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for what the components ask for", path)
	}
	want := must.Get(size.Requests(must.Get(os.ReadFile(values))(t)))(t)
	if *update {
		must.Do(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o644))
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chart asks for other things (-chart +page); go test ./hack/sizes -update writes them:\n%s", diff)
	}
}

// TestThePageHasThePeaksThatWereMeasured: the figures of docs/install.md are those of the pages that
// say how they were measured.
func TestThePageHasThePeaksThatWereMeasured(t *testing.T) {
	section := whatItTakes(t)
	for figure, page := range map[string]string{"24 MiB": "webhook.md", "103 MiB": "credentials.md", "85 MB": "role-selectors.md"} {
		if !strings.Contains(section, figure) || !strings.Contains(section, "]("+page) {
			t.Errorf("docs/install.md does not tell of %s with a link to docs/%s", figure, page)
		}
		if text := must.Get(os.ReadFile(filepath.Join("../../docs", page)))(t); !bytes.Contains(text, []byte(figure)) {
			t.Errorf("docs/%s does not say %s any more: measure and write both pages anew", page, figure)
		}
	}
}

// whatItTakes is the page's section.
func whatItTakes(t *testing.T) string {
	t.Helper()
	_, rest, found := strings.Cut(string(must.Get(os.ReadFile("../../docs/install.md"))(t)), "\n## What it takes\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatal("docs/install.md has no section \"What it takes\"")
	}
	return section
}

func TestTheTablesOfArchivesAndValuesArePrinted(t *testing.T) {
	var out bytes.Buffer
	if err := tables([]string{"no.tar"}, values, &out); err == nil || !strings.Contains(err.Error(), "no.tar") {
		t.Errorf("got error %v, want one that names the archive", err)
	}
	must.Do(t, tables(nil, values, &out))
	if !strings.Contains(out.String(), "| image |") || !strings.Contains(out.String(), "| `webhook` | yes | 2 |") {
		t.Errorf("the tables lack the images or the webhook:\n%s", out.String())
	}
}

// TestAColdBuildIsMeasuredByWhatItAdds: a make in place of the real one writes into the caches.
func TestAColdBuildIsMeasuredByWhatItAdds(t *testing.T) {
	bin := t.TempDir()
	const script = `#!/bin/sh
set -e
echo "making $1"
mkdir -p "$GOMODCACHE/cache/download" "$GOCACHE"
head -c 3000000 /dev/zero > "$GOMODCACHE/cache/download/$1.zip"
head -c 5000000 /dev/zero > "$GOMODCACHE/$1"
head -c 7000000 /dev/zero > "$GOCACHE/$1"
test "$1" != broken
echo "$GOCACHE" > "$0.caches"
`
	program := filepath.Join(bin, "make")
	must.Do(t, os.WriteFile(program, []byte(script), 0o755)) //nolint:gosec // a program
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	var out, progress bytes.Buffer
	must.Do(t, cold(t.Context(), []string{"build", "image"}, &out, &progress))
	want := "| command | downloads | modules unpacked | build cache | processor time |\n| --- | --- | --- | --- | --- |\n" +
		"| `make build` | 3 MB | 5 MB | 7 MB | 0 min |\n| `make image` | 3 MB | 5 MB | 7 MB | 0 min |\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	if said := progress.String(); said != "making build\nmaking image\n" {
		t.Errorf("the progress is %q", said)
	}
	caches := strings.TrimSpace(string(must.Get(os.ReadFile(program + ".caches"))(t)))
	if _, err := os.Stat(filepath.Dir(caches)); err == nil {
		t.Errorf("%s was left behind", filepath.Dir(caches))
	}
	if err := cold(t.Context(), []string{"broken"}, &out, &progress); err == nil || !strings.Contains(err.Error(), "make broken") {
		t.Errorf("got error %v, want one that names the target", err)
	}
}
