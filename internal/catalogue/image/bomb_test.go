package image_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/catalogue/image"
)

// Bombs end at the bounds, with little memory, and nothing is left of them.
func TestBombs(t *testing.T) {
	bomb := zeros(t, 100)
	outside, inside := tarWith(t, "usr/x", 100), tarWith(t, "configs/x", 100)
	for name, row := range map[string]struct {
		reader image.Reader
		image  layout
		file   []byte
		want   string
		// most is how many MiB are allocated in all; 0 is 16.
		most uint64
	}{
		"gzip that is no tar":         {image.Small(50, 50, 100), imageOf(t, bomb), nil, "more than 50 MiB when decompressed", 0},
		"large file outside":          {image.Small(50, 50, 100), imageOf(t, outside), nil, "more than 50 MiB when decompressed", 0},
		"large file of the catalogue": {image.Small(500, 50, 100), imageOf(t, inside), nil, "more than 50 MiB would have to stand in temporary files", 0},
		"the same layer often":        {image.Small(150, 50, 100), imageOf(t, outside, outside), nil, "more than 150 MiB when decompressed", 0},
		"zstd":                        {image.Small(50, 50, 100), imageOf(t, zstandard(t, append(slices.Clone(tarHeader(t, "usr/x", 100)), make([]byte, 60<<20)...))), nil, "more than 50 MiB when decompressed", 256},
		"archive in gzip":             {image.Small(500, 50, 100), nil, bomb, "more than 50 MiB would have to stand in temporary files", 0},
		"many entries":                {image.Small(50, 50, 100), imageOf(t, tarOf(t, many(101, "usr/x")...)), nil, "more than 100 entries", 0},
		// Headers of 250,000 entries come and go.
		"many names":                 {image.Reader{}, imageOf(t, manyNames(t)), nil, "more names of files than fit into 64 MiB", 1024},
		"many members of an archive": {image.Small(50, 50, 100), nil, tarOf(t, many(101, "x")...), "more than 100 entries", 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir, archive := "", ""
			if row.image != nil {
				dir = row.image.write(t)
			} else {
				archive = saved(t, row.file)
			}
			tidy(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var err error
			if row.image != nil {
				_, err = row.reader.Layout(t.Context(), dir)
			} else {
				_, err = row.reader.Archive(t.Context(), archive)
			}
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("the error is %v, want %q", err, row.want)
			}
			most := uint64(16)
			if row.most != 0 {
				most = row.most
			}
			if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > most {
				t.Errorf("%d MiB were allocated in all, want %d at most", taken, most)
			}
		})
	}
}

// tarHeader is the header of a file of so many MiB.
func tarHeader(t testing.TB, name string, mib int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(mib) << 20}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// tarWith is a gzip of a tar with a file of so many MiB of zeros, in two members of gzip.
func tarWith(t testing.TB, name string, mib int) []byte {
	t.Helper()
	return append(gzipped(t, tarHeader(t, name, mib)), zeros(t, mib)...)
}

// manyNames is a tar with more names than are kept.
func manyNames(t testing.TB) []byte {
	t.Helper()
	var all []entry
	for i := range 250_000 {
		all = append(all, file(fmt.Sprintf("configs/%d", i), ""))
	}
	return gzipped(t, tarOf(t, all...))
}

// A registry that answers without end, with something else, or sends elsewhere for a blob.
func TestHostileRegistries(t *testing.T) {
	l := layout{}
	of := l.manifest(t, labelled, tarOf(t, file(good, pkg("good")), file("configs/README", "schema: x\ntext: "+long(5<<20))))
	blob := func(digest any) []byte {
		return l["blobs/sha256/"+strings.TrimPrefix(fmt.Sprint(digest), "sha256:")]
	}
	for name, row := range map[string]struct {
		answer func(w http.ResponseWriter, path string) bool
		want   string
	}{
		"honest": {func(http.ResponseWriter, string) bool { return false }, ""},
		"sends elsewhere for blobs": {func(w http.ResponseWriter, path string) bool {
			if digest, ok := strings.CutPrefix(path, "/v2/c/blobs/"); ok {
				w.Header().Set("Location", "/elsewhere/"+digest)
				w.WriteHeader(http.StatusTemporaryRedirect)
				return true
			}
			return false
		}, ""},
		"manifest without end": {func(w http.ResponseWriter, path string) bool {
			for strings.Contains(path, "/manifests/") {
				if _, err := io.WriteString(w, long(1<<16)); err != nil {
					return true
				}
			}
			return false
		}, "expected a manifest of fewer"},
		"other blobs": {func(w http.ResponseWriter, path string) bool {
			if strings.Contains(path, "/blobs/") {
				_, _ = io.WriteString(w, "{}") // It may have gone.
				return true
			}
			return false
		}, "sha256:"},
		"message with escapes": {func(w http.ResponseWriter, path string) bool {
			if strings.Contains(path, "/manifests/") {
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, `{"errors":[{"code":"DENIED","message":"\u001b[31m no"}]}`) // It may have gone.
				return true
			}
			return false
		}, "DENIED"},
	} {
		t.Run(name, func(t *testing.T) {
			tidy(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if row.answer(w, r.URL.Path) {
					return
				}
				at := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
				if strings.Contains(r.URL.Path, "/manifests/") {
					w.Header().Set("Content-Type", ociManifest)
					at = fmt.Sprint(of["digest"])
				}
				_, _ = w.Write(blob(at)) // It may have gone.
			}))
			defer server.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := image.Reader{}.Remote(t.Context(), strings.TrimPrefix(server.URL, "http://")+"/c:1")
			runtime.ReadMemStats(&after)
			if row.want == "" && (err != nil || names(got) != "good") || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("packages %s and the error %v, want %q", names(got), err, row.want)
			}
			if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 100 {
				t.Errorf("%d MiB were allocated in all, want 100 at most", taken)
			}
		})
	}
}

func TestWhatWasNamedIsNotThere(t *testing.T) {
	tidy(t)
	absent := filepath.Join(t.TempDir(), "absent")
	if _, err := (image.Reader{}).Layout(t.Context(), absent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a layout: %v", err)
	}
	if _, err := (image.Reader{}).Archive(t.Context(), absent); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an archive: %v", err)
	}
	if _, err := (image.Reader{}).Archive(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "oci:DIR") {
		t.Errorf("a directory as an archive: %v", err)
	}
	for _, ref := range []string{"--help", "", "UPPER/case", "a b"} {
		if _, err := (image.Reader{}).Remote(t.Context(), ref); err == nil || !strings.Contains(err.Error(), "expected REGISTRY/NAME:TAG") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (image.Reader{}).Layout(ctx, imageOf(t, beside(t)...).write(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}
