package main

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

var small = []string{"--packages", "3", "--bundles", "50", "--bytes", "400000"}

func written(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(append(args, small...), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func read(t *testing.T, in io.Reader, name string) model.Catalogue {
	t.Helper()
	got, err := catalogue.Reader{Stdin: in}.Read(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheSameFlagsMakeTheSameBytes(t *testing.T) {
	first := written(t)
	if first != written(t) {
		t.Error("the second catalogue is another")
	}
	if first == written(t, "--seed", "2") {
		t.Error("another seed makes the same catalogue")
	}
	if len(first) < 300_000 || len(first) > 500_000 {
		t.Errorf("the catalogue has %d bytes, want about 400000", len(first))
	}
}

func TestEveryFormatIsTheSameCatalogue(t *testing.T) {
	lines := read(t, bytes.NewBufferString(written(t)), "-")
	if len(lines.Packages) != 3 || lines.Findings != nil {
		t.Errorf("%d packages, findings %v", len(lines.Packages), lines.Findings)
	}
	if diff := cmp.Diff(lines, read(t, bytes.NewBufferString(written(t, "--format", "yaml")), "-")); diff != "" {
		t.Errorf("YAML (-JSON +YAML):\n%s", diff)
	}
	dir := filepath.Join(t.TempDir(), "made")
	written(t, "--format", "tree", "--out", dir)
	if diff := cmp.Diff(lines, read(t, nil, dir)); diff != "" {
		t.Errorf("tree (-JSON +tree):\n%s", diff)
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--packages", "0"}, {"--packages", "10", "--bundles", "9"}, {"--format", "xml"}, {"--format", "tree"}, {"--out", "x"}, {"more"},
	} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%v are fine", args)
		}
	}
}
