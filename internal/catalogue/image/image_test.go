package image_test

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	ocilayout "github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/catalogue/image"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// serve puts the image of a layout into a registry on this machine.
func serve(t *testing.T, l layout) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/catalogue:1")
	if err != nil {
		t.Fatal(err)
	}
	index, err := ocilayout.ImageIndexFromPath(l.write(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, index, remote.WithContext(t.Context())); err != nil {
		t.Fatal(err)
	}
	return ref.String()
}

// layers is a tree as layers: a base system, all files in an order that is not that of their
// names, and one file again, which covers the first.
func layers(t testing.TB, dir string) [][]byte {
	t.Helper()
	var entries []entry
	for at := range allFiles(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, at))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, file(at, string(text)))
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(b.Name, a.Name) })
	covered := file(entries[0].Name, pkg("covered"))
	return [][]byte{
		tarOf(t, odd(tar.TypeDir, "etc/", ""), file("etc/hostname", "x"), covered, file("configs/gone/catalog.json", pkg("gone"))),
		tarOf(t, append(entries, file("configs/.wh.gone", ""))...),
	}
}

func allFiles(t testing.TB, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	if err := filepath.WalkDir(dir, func(at string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			within, _ := filepath.Rel(dir, at) // It is below the directory.
			all[within] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// Scenario 9: the same catalogue is the same model through a directory, a layout, archives and a
// registry, whatever the order of its files in the layers.
func TestScenario9TheSameModelFromADirectoryAndEveryImage(t *testing.T) {
	dir := t.TempDir()
	if err := (generate.Plan{Seed: 1, Packages: 12, Bundles: 120, Bytes: 600_000}).Tree(dir); err != nil {
		t.Fatal(err)
	}
	// What counts is the order of files: the first definition, and that of findings.
	for name, text := range map[string]string{
		"a-first.json": `{"schema":"olm.package","name":"twice","description":"a","defaultChannel":"a"}`, "z-last.json": `{"schema":"olm.package","name":"twice","defaultChannel":"z"}`,
		"broken/catalog.yaml": "schema: [\n", "pruned/x.json": pkg("pruned"), ".indexignore": "pruned/\n[\n", "README.md": "no catalogue",
	} {
		put(t, filepath.Join(dir, "configs", name), []byte(text))
	}
	want, err := catalogue.Reader{}.Read(t.Context(), filepath.Join(dir, "configs"))
	if err != nil || len(want.Packages) != 13 || len(want.Findings) < 4 {
		t.Fatalf("%d packages, %v, %v", len(want.Packages), want.Findings, err)
	}
	for i, found := range want.Findings {
		if found.Where.File != "" {
			within, _ := filepath.Rel(dir, found.Where.File) // It is below the directory.
			want.Findings[i].Where.File = within
		}
	}
	plain := layers(t, dir)
	var packed [][]byte
	for _, layer := range plain {
		packed = append(packed, gzipped(t, layer))
	}
	l := imageOf(t, packed...)
	ref, r := serve(t, l), image.Reader{}
	for name, read := range map[string]func() (model.Catalogue, error){
		"layout": func() (model.Catalogue, error) { return r.Layout(t.Context(), l.write(t)) },
		"layout with zstd": func() (model.Catalogue, error) {
			return r.Layout(t.Context(), imageOf(t, zstandard(t, plain[0]), zstandard(t, plain[1])).write(t))
		},
		"layout with plain tars": func() (model.Catalogue, error) { return r.Layout(t.Context(), imageOf(t, plain...).write(t)) },
		"archive":                func() (model.Catalogue, error) { return r.Archive(t.Context(), saved(t, l.archive(t))) },
		"archive with gzip":      func() (model.Catalogue, error) { return r.Archive(t.Context(), saved(t, gzipped(t, l.archive(t)))) },
		"docker-archive": func() (model.Catalogue, error) {
			return r.Archive(t.Context(), saved(t, docker(t, labelled, plain...)))
		},
		"docker-archive with gzip": func() (model.Catalogue, error) {
			return r.Archive(t.Context(), saved(t, gzipped(t, docker(t, labelled, plain...))))
		},
		"registry": func() (model.Catalogue, error) { return r.Remote(t.Context(), ref) },
	} {
		got, err := read()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-directory +image):\n%s", name, err, diff)
		}
	}
}

// tidy fails if a reading leaves something in the temporary directory.
func tidy(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v is left in the temporary directory, %v", left, err)
		}
	})
}

func names(c model.Catalogue) string {
	var all []string
	for _, p := range c.Packages {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

// Later layers cover earlier ones, and whiteouts remove what those have and nothing else.
func TestLayersAreAppliedInOrder(t *testing.T) {
	const a, b = "configs/a/catalog.json", "configs/b/catalog.json"
	base := tarOf(t, file(a, pkg("a")), file(b, pkg("b")), file("configs/a/more", pkg("more")))
	dir := odd(tar.TypeDir, "configs/a", "")
	for name, row := range map[string]struct {
		layer []entry
		want  string
	}{
		"nothing":                        {nil, "a b more"},
		"a file again":                   {[]entry{file(a, pkg("new"))}, "b more new"},
		"twice in a layer":               {[]entry{file(a, pkg("old")), file(a, pkg("new"))}, "b more new"},
		"whiteout of a file":             {[]entry{file("configs/a/.wh.more", "")}, "a b"},
		"whiteout of a directory":        {[]entry{file("configs/.wh.a", "")}, "b"},
		"whiteout, then new":             {[]entry{file("configs/.wh.a", ""), file(a, pkg("new"))}, "b new"},
		"new, then whiteout":             {[]entry{dir, file(a, pkg("new")), file("configs/.wh.a", "")}, "b new"},
		"opaque":                         {[]entry{file("configs/a/.wh..wh..opq", ""), file("configs/a/x", pkg("new"))}, "b new"},
		"opaque at the end":              {[]entry{file("configs/a/x", pkg("new")), file("configs/a/.wh..wh..opq", "")}, "b new"},
		"opaque root":                    {[]entry{file(".wh..wh..opq", ""), file(a, pkg("new"))}, "new"},
		"whiteout of all, then new":      {[]entry{file(".wh.configs", ""), file(a, pkg("new"))}, "new"},
		"a file instead of a directory":  {[]entry{file("configs/a", pkg("new"))}, "b new"},
		"a directory again":              {[]entry{dir}, "a b more"},
		"whiteouts of others":            {[]entry{file(".wh.etc", ""), file("x/.wh..wh..opq", ""), file("configs/.wh..wh.plnk", "")}, "a b more"},
		"from the root, with ./":         {[]entry{file("/configs/a/more", pkg("new")), file("./configs//b/./catalog.json", pkg("c"))}, "a c new"},
		"a hard link to a file":          {[]entry{odd(tar.TypeLink, "configs/b/catalog.json", "configs/a/more")}, "a more"},
		"a hard link, then a new target": {[]entry{odd(tar.TypeLink, "configs/b/catalog.json", "configs/a/more"), file("configs/a/more", pkg("new"))}, "a more new"},
		"a link within":                  {[]entry{odd(tar.TypeSymlink, "configs/again", "a/../b"), odd(tar.TypeSymlink, "configs/more", "again/catalog.json")}, "a b more"},
	} {
		got, err := image.Reader{}.Layout(t.Context(), imageOf(t, base, tarOf(t, row.layer...)).write(t))
		// "more" is a second definition of the hard link's package.
		found := slices.DeleteFunc(got.Findings, func(f model.Finding) bool { return f.Code != model.FileNotRead })
		if names(got) != row.want || err != nil || len(found) > 0 {
			t.Errorf("%s: packages %s, want %s; %v, %v", name, names(got), row.want, found, err)
		}
	}
}

// An index with platforms, wherever it is; attestations are passed over.
func TestPlatforms(t *testing.T) {
	l := layout{}
	make := func(pkgName string, platform object) object {
		of := l.manifest(t, labelled, tarOf(t, file("configs/catalog.json", pkg(pkgName))))
		of["platform"] = platform
		return of
	}
	arm, amd := make("arm", object{"os": "linux", "architecture": "arm64"}), make("amd", object{"os": "linux", "architecture": "amd64"})
	unknown := make("attestation", object{"os": "unknown", "architecture": "unknown"})
	about := make("about", object{"os": "linux", "architecture": "amd64"})
	about["annotations"] = object{"vnd.docker.reference.type": "attestation-manifest"}
	index := func(of ...object) object {
		return l.blob(ociIndex, raw(t, object{"schemaVersion": 2, "manifests": of}))
	}
	nested := index(arm)
	for range 5 {
		nested = index(nested)
	}
	for name, row := range map[string]struct {
		index []object
		want  string
	}{
		"one in an index":           {[]object{index(unknown, about, arm, amd)}, "amd"},
		"none of the wanted":        {[]object{index(unknown, arm)}, "arm"},
		"an index in an index":      {[]object{index(index(amd))}, "amd"},
		"platforms in index.json":   {[]object{unknown, arm, amd}, "amd"},
		"one image":                 {[]object{unknown, arm}, "arm"},
		"two images":                {[]object{arm, arm}, `there are 2 images in it, expected one: "sha256:`},
		"no image":                  {[]object{unknown}, "it has no image"},
		"indexes within each other": {[]object{nested}, "more than 4 indexes are in each other"},
	} {
		dir := l.indexed(t, row.index...).write(t)
		got, err := image.Reader{}.Layout(t.Context(), dir)
		if err != nil && strings.Contains(err.Error(), row.want) {
			continue
		}
		if names(got) != row.want || err != nil {
			t.Errorf("%s: packages %s and the error %v, want %s", name, names(got), err, row.want)
		}
	}
}

func TestLabels(t *testing.T) {
	const database = "operators.operatorframework.io.index.database.v1"
	layer := tarOf(t, file("configs/catalog.json", pkg("p")), file("deep/er/catalog.json", pkg("q")), odd(tar.TypeSymlink, "linked", "configs"), file("plain", "x"))
	for _, row := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{labelConfigs: "/configs"}, "p"}, {map[string]string{labelConfigs: "/configs/"}, "p"}, {map[string]string{labelConfigs: "/deep/er"}, "q"},
		{map[string]string{labelConfigs: "/configs", database: "/database/index.db"}, "p"},
		{nil, "the image has no label " + labelConfigs},
		{map[string]string{database: "/database/index.db"}, "SQLite catalogue"},
		{map[string]string{labelConfigs: "/absent"}, `no directory "/absent"`},
		{map[string]string{labelConfigs: "/linked"}, "is no directory of its own"},
		{map[string]string{labelConfigs: "/plain"}, "is no directory of its own"},
		{map[string]string{labelConfigs: "configs"}, "expected a path from the root"},
		{map[string]string{labelConfigs: "/"}, "expected a path from the root"},
		{map[string]string{labelConfigs: ""}, "expected a path from the root"},
		{map[string]string{labelConfigs: "/configs/../../etc"}, "expected a path from the root"},
		{map[string]string{labelConfigs: "/configs//x"}, "expected a path from the root"},
		{map[string]string{labelConfigs: "/\x1b[31m/../x"}, `\x1b[31m`},
		{map[string]string{labelConfigs: "/" + long(1<<20)}, "expected a path from the root"},
	} {
		l := layout{}
		dir := l.indexed(t, l.manifest(t, row.labels, layer)).write(t)
		got, err := image.Reader{}.Layout(t.Context(), dir)
		if err != nil && strings.Contains(err.Error(), row.want) && len(err.Error()) < 2000 && !strings.Contains(err.Error(), "\x1b") {
			continue
		}
		if names(got) != row.want || err != nil {
			t.Errorf("%.100v: packages %s and the error %.300v, want %s", row.labels, names(got), err, row.want)
		}
	}
}

// The callback of a catalogue in YAML names the file in the image.
func TestSlow(t *testing.T) {
	said := ""
	yaml := "schema: olm.package\nname: p\ndescription: |\n" + strings.Repeat("  "+long(100)+"\n", 20_000)
	_, err := image.Reader{Slow: func(name string) { said = name }}.Layout(t.Context(), imageOf(t, tarOf(t, file("configs/p/catalog.yaml", yaml))).write(t))
	if err != nil || said != path.Join("configs", "p", "catalog.yaml") {
		t.Errorf("%q is said to be slow, %v", said, err)
	}
}

// BenchmarkLayout reads what a large vendor has, and BenchmarkDirectory the same files.
func BenchmarkLayout(b *testing.B) {
	dir := b.TempDir()
	if err := (generate.Plan{Seed: 1, Packages: 300, Bundles: 5000, Bytes: 60_000_000}).Tree(dir); err != nil {
		b.Fatal(err)
	}
	l := imageOf(b, gzipped(b, bytes.Join(layers(b, dir)[1:], nil))).write(b)
	b.Run("image", func(b *testing.B) {
		for b.Loop() {
			if got, err := (image.Reader{}).Layout(b.Context(), l); err != nil || len(got.Packages) != 300 {
				b.Fatal(err)
			}
		}
	})
	b.Run("directory", func(b *testing.B) {
		for b.Loop() {
			if got, err := (catalogue.Reader{}).Read(b.Context(), filepath.Join(dir, "configs")); err != nil || len(got.Packages) != 300 {
				b.Fatal(err)
			}
		}
	})
}
