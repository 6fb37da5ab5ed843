package image_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/catalogue/image"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// attack is an image that means no good. What is wrong with it is a finding, beside which the
// good package is there, or an error.
type attack struct {
	// layers are those of an image in a layout; dir or archive is instead of them.
	layers  [][]byte
	dir     func(*testing.T) string
	archive []byte
	// finding and at are part of its message and its file.
	finding, at string
	error       string
}

const good = "configs/a-good/catalog.json"

// beside is a layer with a good package and these entries after it.
func beside(t *testing.T, entries ...entry) [][]byte {
	t.Helper()
	return [][]byte{tarOf(t, append([]entry{file(good, pkg("good"))}, entries...)...)}
}

// changed is the layout of a good image, changed by a function.
func changed(change func(l layout)) func(*testing.T) string {
	return func(t *testing.T) string {
		l := imageOf(t, beside(t)...)
		change(l)
		return l.write(t)
	}
}

// named is the layout of a good image whose index.json has another descriptor.
func named(field string, value any) func(*testing.T) string {
	return func(t *testing.T) string {
		l := layout{}
		of := l.manifest(t, labelled, beside(t)...)
		of[field] = value
		return l.indexed(t, of).write(t)
	}
}

// blobWith is the name of the only blob that has this text.
func blobWith(l layout, text string) string {
	for name, blob := range l {
		if strings.HasPrefix(name, "blobs/") && bytes.Contains(blob, []byte(text)) {
			return name
		}
	}
	return ""
}

// sparseTar is the header of an old GNU sparse file that is said to have a TiB.
func sparseTar(t *testing.T) []byte {
	t.Helper()
	text := tarOf(t, file(good, pkg("good")), entry{tar.Header{Name: "configs/sparse", Format: tar.FormatGNU}, ""})
	header := text[1024:1536]
	header[156] = tar.TypeGNUSparse
	copy(header[386:], fmt.Sprintf("%011o\x00%011o\x00", 1<<33-1, 0)) // one region without bytes, at the end
	copy(header[483:], fmt.Sprintf("%011o\x00", 1<<33-1))
	resum(header)
	return text
}

// resum makes the checksum of a header right again.
func resum(header []byte) {
	copy(header[148:156], "        ")
	sum := 0
	for _, c := range header {
		sum += int(c)
	}
	copy(header[148:156], fmt.Sprintf("%06o\x00 ", sum))
}

// hugeExtended is a tar with a PAX header of 2 MiB.
func hugeExtended(t *testing.T) []byte {
	t.Helper()
	header := tarHeader(t, "x", 2)
	header[156] = tar.TypeXHeader
	resum(header)
	return append(header, tarOf(t, file("x", long(2<<20)))[512:]...)
}

func deviceAttacks(t *testing.T) map[string]attack {
	const noFile = "it is no regular file"
	return map[string]attack{
		"path that climbs":              {layers: beside(t, file("../../etc/x", pkg("x"))), finding: "climbs", at: "../../etc/x"},
		"path that climbs from configs": {layers: beside(t, file("configs/../../x", pkg("x"))), finding: "climbs", at: "configs/../../x"},
		"absolute path that climbs":     {layers: beside(t, file("/configs/../../../tmp/x", pkg("x"))), finding: "climbs", at: "/configs/../../../tmp/x"},
		"whiteout that climbs":          {layers: beside(t, file("configs/.wh...", "")), finding: "it removes nothing", at: "configs/.wh..."},
		"whiteout without a name":       {layers: beside(t, file("configs/.wh.", "")), finding: "it removes nothing", at: "configs/.wh."},
		"path of a MiB":                 {layers: beside(t, file("configs/"+strings.Repeat("a/", 400_000)+"x", "x")), finding: "its name has"},
		"link to the outside":           {layers: beside(t, odd(tar.TypeSymlink, "configs/x", "../etc/passwd")), finding: "leads out of the directory", at: "configs/x"},
		"absolute link":                 {layers: beside(t, odd(tar.TypeSymlink, "configs/x", "/etc/passwd")), finding: "leads out of the directory", at: "configs/x"},
		"absolute link by luck":         {layers: beside(t, odd(tar.TypeSymlink, "configs/x", "/a-good")), finding: "leads out of the directory", at: "configs/x"},
		"link to itself":                {layers: beside(t, odd(tar.TypeSymlink, "configs/x", "x")), finding: "leads out of the directory", at: "configs/x"},
		"file through a link":           {layers: beside(t, odd(tar.TypeSymlink, "configs/x", "/etc"), file("configs/x/passwd", pkg("x"))), finding: "what is above it in the image is no directory", at: "configs/x/passwd"},
		"ignoring by a link":            {layers: beside(t, odd(tar.TypeSymlink, "configs/.indexignore", "/etc/passwd")), finding: "it prunes nothing", at: "configs/.indexignore"},
		"ignoring by 2 MiB":             {layers: beside(t, file("configs/.indexignore", long(2<<20))), finding: "expected 1048576 at most", at: "configs/.indexignore"},
		"hard link to the outside":      {layers: beside(t, odd(tar.TypeLink, "configs/x", "etc/passwd")), finding: "hard link to something outside", at: "configs/x"},
		"hard link that climbs":         {layers: beside(t, odd(tar.TypeLink, "configs/x", "../../etc/passwd")), finding: "hard link to something outside", at: "configs/x"},
		"hard link to nothing":          {layers: beside(t, odd(tar.TypeLink, "configs/x", "configs/absent")), finding: "hard link to what is no file", at: "configs/x"},
		"hard link to itself":           {layers: beside(t, odd(tar.TypeLink, "configs/x", "configs/x")), finding: "hard link to what is no file", at: "configs/x"},
		"character device":              {layers: beside(t, odd(tar.TypeChar, "configs/zero", "")), finding: noFile, at: "configs/zero"},
		"block device":                  {layers: beside(t, odd(tar.TypeBlock, "configs/disk", "")), finding: noFile, at: "configs/disk"},
		"named pipe":                    {layers: beside(t, odd(tar.TypeFifo, "configs/pipe", "")), finding: noFile, at: "configs/pipe"},
		"kind of entry that is unknown": {layers: beside(t, odd('Z', "configs/x", "")), finding: noFile, at: "configs/x"},
		"sparse file of 8 GiB":          {layers: [][]byte{sparseTar(t)}, finding: "it is a sparse file", at: "configs/sparse"},
		"names that are flags":          {layers: beside(t, file("configs/--help", "schema: [")), finding: "", at: "configs/--help"},
		"names that control a terminal": {layers: beside(t, file("configs/\x1b[31m", "schema: [")), finding: "", at: "configs/\x1b[31m"},
		"name that is no UTF-8":         {layers: beside(t, file("configs/\xff", pkg("x"))), finding: "invalid argument", at: "configs/\xff"},
		"document of 20 MB":             {layers: beside(t, file("configs/x.json", `{"schema":"olm.package","name":"x","icon":{"base64data":"`+long(20<<20)+`"}}`)), finding: "the document is larger than 16 MiB", at: "configs/x.json"},
		"configs that is a link":        {layers: [][]byte{tarOf(t, odd(tar.TypeSymlink, "configs", "/etc"))}, error: "is no directory of its own"},
		"configs that is removed":       {layers: append(beside(t), tarOf(t, file(".wh.configs", ""))), error: "the image has no directory"},
		"30,000 findings":               {layers: beside(t, many(30_000, "../x")...), finding: "more findings are not listed"},
		"huge PAX header":               {layers: beside(t, entry{tar.Header{Name: "configs/x", PAXRecords: map[string]string{"TABARD.x": long(900 << 10)}}, ""}), finding: ""},
	}
}

func many(count int, name string) []entry {
	var all []entry
	for range count {
		all = append(all, file(name, ""))
	}
	return all
}

func blobAttacks(t *testing.T) map[string]attack {
	whole := tarOf(t, file(good, pkg("good")), file("configs/x", long(5000)))
	packed := gzipped(t, whole)
	flipped := slices.Clone(packed)
	flipped[len(flipped)-12] ^= 1
	l := imageOf(t, beside(t)...)
	archived := l.archive(t)
	wrong := docker(t, labelled, whole)
	wrong = bytes.Replace(wrong, []byte(`"name":"good"`), []byte(`"name":"evil"`), 1)
	deep := docker(t, labelled, whole)
	return map[string]attack{
		"tar that ends in its middle":   {layers: [][]byte{whole[:3000]}, error: "unexpected EOF"},
		"gzip that ends in its middle":  {layers: [][]byte{packed[:len(packed)-20]}, error: "unexpected EOF"},
		"gzip that is broken":           {layers: [][]byte{flipped}, error: "layer 1 of 1"},
		"layer that is no tar":          {layers: [][]byte{[]byte(long(2000))}, error: "it is no whole tar"},
		"zstd with a window of 512 MiB": {layers: [][]byte{[]byte("\x28\xb5\x2f\xfd\x00\x98\x01\x00\x00")}, error: "window"},
		"layer with another digest":     {dir: changed(func(l layout) { name := blobWith(l, "olm.package"); l[name][600] ^= 1 }), error: "it has the digest sha256:"},
		"layer with more bytes":         {dir: changed(func(l layout) { name := blobWith(l, "olm.package"); l[name] = append(l[name], 0) }), error: "as the manifest says"},
		"manifest with another digest": {dir: changed(func(l layout) {
			name := blobWith(l, `"layers":[`)
			l[name] = bytes.Replace(l[name], []byte("2"), []byte("3"), 1)
		}), error: "it has the digest sha256:"},
		"config with another digest": {dir: changed(func(l layout) {
			name := blobWith(l, `"Labels"`)
			l[name] = bytes.Replace(l[name], []byte("/configs"), []byte("/confits"), 1)
		}), error: "it has the digest sha256:"},
		"layer that is absent":                   {dir: changed(func(l layout) { delete(l, blobWith(l, "olm.package")) }), error: "was the image copied in part only?"},
		"blob name that climbs":                  {dir: named("digest", "sha256:../../../../etc/passwd"), error: "index.json cannot be read"},
		"algorithm that climbs":                  {dir: named("digest", "../../etc:"+strings.Repeat("0", 64)), error: "index.json cannot be read"},
		"size below zero":                        {dir: named("size", -1), error: "expected 0 to"},
		"size beyond all bounds":                 {dir: named("size", int64(1)<<62), error: "expected 0 to 4194304"},
		"manifest of 100 MB":                     {dir: bigManifest, error: "expected 0 to 4194304"},
		"index.json of 100 MB":                   {dir: bigIndex, error: "expected 0 to 4194304"},
		"index.json that is no JSON":             {dir: changed(func(l layout) { l["index.json"] = []byte("{") }), error: "index.json cannot be read"},
		"index.json that is absent":              {dir: changed(func(l layout) { delete(l, "index.json") }), error: "it has no index.json"},
		"media type that is unknown":             {dir: named("mediaType", "text/x-shellscript"), error: "it has no image"},
		"PAX header of 2 MiB":                    {layers: [][]byte{hugeExtended(t)}, error: "it is no whole tar"},
		"600 layers":                             {layers: slices.Repeat([][]byte{tarOf(t)}, 600), error: "expected 500 at most"},
		"blob that is a link":                    {dir: linkedBlob, error: "is no regular file"},
		"archive that ends in its middle":        {archive: archived[:2*len(archived)/3/512*512-100], error: "EOF"},
		"archive that climbs":                    {archive: tarOf(t, file("../index.json", "{}")), error: "climbs"},
		"archive of something else":              {archive: tarOf(t, file("x", "y")), error: "it has neither index.json nor manifest.json"},
		"archive that is no tar":                 {archive: []byte(long(3000)), error: "it is no whole tar"},
		"archive with a link to itself":          {archive: tarOf(t, odd(tar.TypeSymlink, "index.json", "index.json")), error: "leads to itself"},
		"archive with a sparse file":             {archive: sparseTar(t), error: "is a sparse file"},
		"docker-archive with another content":    {archive: wrong, error: "as the config of the image says"},
		"docker-archive with a layer from above": {archive: bytes.ReplaceAll(deep, []byte("0/layer.tar\"]"), []byte("../../etc/x\"]")), error: "file does not exist"},
	}
}

func bigManifest(t *testing.T) string {
	l := layout{}
	dir := l.indexed(t, l.blob(ociManifest, bytes.Repeat([]byte(" "), 100<<20))).write(t)
	return dir
}

func bigIndex(t *testing.T) string {
	return changed(func(l layout) { l["index.json"] = bytes.Repeat([]byte(" "), 100<<20) })(t)
}

func linkedBlob(t *testing.T) string {
	l := imageOf(t, beside(t)...)
	dir := l.write(t)
	name := filepath.Join(dir, blobWith(l, "olm.package"))
	if err := errors.Join(os.Rename(name, name+"x"), os.Symlink(name+"x", name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each attack is a finding that hides no other package, or an error that says what to do; nothing
// is left on the disk, and no terminal is controlled.
func TestHostileImages(t *testing.T) {
	for _, table := range []map[string]attack{deviceAttacks(t), blobAttacks(t)} {
		for name, attack := range table {
			t.Run(name, func(t *testing.T) {
				read := attack.reading(t)
				tidy(t)
				const most = 128 // What a document of the largest size takes while it grows.
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got, err := read(t.Context())
				runtime.ReadMemStats(&after)
				if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > most {
					t.Errorf("%d MiB were allocated in all, want %d at most", taken, most)
				}
				attack.check(t, got, err)
			})
		}
	}
}

func (a attack) reading(t *testing.T) func(context.Context) (model.Catalogue, error) {
	r := image.Reader{}
	if a.archive != nil {
		name := saved(t, a.archive)
		return func(ctx context.Context) (model.Catalogue, error) { return r.Archive(ctx, name) }
	}
	if a.dir == nil {
		a.dir = func(t *testing.T) string { return imageOf(t, a.layers...).write(t) }
	}
	dir := a.dir(t)
	return func(ctx context.Context) (model.Catalogue, error) { return r.Layout(ctx, dir) }
}

func (a attack) check(t *testing.T, got model.Catalogue, err error) {
	t.Helper()
	if a.error != "" {
		if err == nil || !strings.Contains(err.Error(), a.error) || got.Packages != nil {
			t.Errorf("%s and the error %v, want %q", names(got), err, a.error)
		}
		return
	}
	if err != nil || names(got) != "good" {
		t.Fatalf("packages %s and the error %v", names(got), err)
	}
	has := func(f model.Finding) bool {
		return strings.Contains(f.Message, a.finding) && (a.at == "" || f.Where.File == a.at)
	}
	if (a.finding != "" || a.at != "") && !slices.ContainsFunc(got.Findings, has) {
		t.Errorf("the findings are %.500v, want %q of %q", got.Findings, a.finding, a.at)
	}
	for _, f := range got.Findings {
		if strings.ContainsAny(f.String(), "\x1b\n") {
			t.Errorf("it says %q", f)
		}
	}
}
