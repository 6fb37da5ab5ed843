package volume

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// seen is a folder as a container sees it: content and mode by path.
func seen(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries := must.Get(os.ReadDir(dir))(t)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "..") {
			continue
		}
		root := must.Get(filepath.EvalSymlinks(filepath.Join(dir, entry.Name())))(t)
		must.Do(t, filepath.WalkDir(root, func(path string, sub fs.DirEntry, err error) error {
			if err != nil || sub.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			info, err := sub.Info()
			if err != nil {
				return err
			}
			out[entry.Name()+strings.TrimPrefix(path, root)] = info.Mode().Perm().String() + " " + string(data)
			return nil
		}))
	}
	return out
}

func TestWriteInTurn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	steps := []struct {
		name    string
		payload Payload
		changed bool
		want    map[string]string
	}{
		{"a new folder is filled", Payload{"token": {[]byte("one"), 0o600}, "deep/er/ca.crt": {[]byte("ca"), 0o644}}, true,
			map[string]string{"token": "-rw------- one", "deep/er/ca.crt": "-rw-r--r-- ca"}},
		{"the same again changes nothing", Payload{"token": {[]byte("one"), 0o600}, "deep/er/ca.crt": {[]byte("ca"), 0o644}}, false,
			map[string]string{"token": "-rw------- one", "deep/er/ca.crt": "-rw-r--r-- ca"}},
		{"new content replaces the old", Payload{"token": {[]byte("two"), 0o600}, "deep/er/ca.crt": {[]byte("ca"), 0o644}}, true,
			map[string]string{"token": "-rw------- two", "deep/er/ca.crt": "-rw-r--r-- ca"}},
		{"a new mode is a change", Payload{"token": {[]byte("two"), 0o666}}, true, map[string]string{"token": "-rw-rw-rw- two"}},
		{"a file that is not wanted goes", Payload{"other": {[]byte("x"), 0o400}}, true, map[string]string{"other": "-r-------- x"}},
		{"an empty payload empties the folder", Payload{}, true, map[string]string{}},
	}
	for _, step := range steps {
		changed, err := Write(dir, step.payload, now)
		if err != nil || changed != step.changed {
			t.Fatalf("%s: changed %v, %v; want %v", step.name, changed, err, step.changed)
		}
		if diff := cmp.Diff(step.want, seen(t, dir)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", step.name, diff)
		}
		versions, err := filepath.Glob(filepath.Join(dir, "..2*"))
		if err != nil || len(versions) != 1 {
			t.Fatalf("%s: versions %v, %v; want one", step.name, versions, err)
		}
	}
}

func TestLayoutIsTheKubelets(t *testing.T) {
	dir := t.TempDir()
	must.Get(Write(dir, Payload{"token": {[]byte("x"), 0o600}}, now))(t)
	data, err := os.Readlink(filepath.Join(dir, "..data"))
	if err != nil || !strings.HasPrefix(data, "..2026_01_02_03_04_05.") {
		t.Errorf("..data leads to %q, %v", data, err)
	}
	if token, err := os.Readlink(filepath.Join(dir, "token")); token != "..data/token" {
		t.Errorf("token leads to %q, %v", token, err)
	}
}

func TestAnInterruptedWriterIsCleanedUpAfter(t *testing.T) {
	dir := t.TempDir()
	for _, half := range []string{"..2020_01_01_00_00_00.1/token", "..data_tmp/x"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(half)), 0o755))
	}
	must.Get(Write(dir, Payload{"token": {[]byte("x"), 0o600}}, now))(t)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("left are %v, %v; want a version, ..data and token", entries, err)
	}
}

func TestPathsThatLeaveTheVolumeAreRefused(t *testing.T) {
	for _, path := range []string{"", ".", "..", "../x", "/x", "a/../../x", "..data", "..x", "a//b", "a/."} {
		if _, err := Write(t.TempDir(), Payload{path: {}}, now); err == nil {
			t.Errorf("%q was accepted", path)
		}
	}
}

// A reader that opens two files through ..data's one target sees one version.
func TestReadersNeverSeeAMixture(t *testing.T) {
	dir := t.TempDir()
	write := func(version string) {
		if _, err := Write(dir, Payload{"a": {[]byte(version), 0o644}, "b": {[]byte(version), 0o644}}, now); err != nil {
			t.Error(err)
		}
	}
	write("0")
	var readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			root, err := os.OpenRoot(filepath.Join(dir, "..data"))
			if err != nil {
				continue // the version went between reading the link and opening it
			}
			a, errA := root.ReadFile("a")
			b, errB := root.ReadFile("b")
			_ = root.Close()
			if errA == nil && errB == nil && string(a) != string(b) {
				t.Errorf("read %q and %q together", a, b)
			}
		}
	})
	for number := range 200 {
		write(string(rune('a' + number%26)))
	}
	close(done)
	readers.Wait()
}
