package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	gobuild "go/build"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/release/build"
	"github.com/tabard-dev/tabard/hack/sizes/size"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const version1 = "v0.1.0-rc.1"

// complete is the whole release for this machine alone, in a new folder.
func complete(t *testing.T) release {
	t.Helper()
	return release{
		compiler: build.Compiler{Source: "../..", LinkerFlags: "-s -w -X github.com/tabard-dev/tabard/internal/app/program.Version=" + version1},
		version:  version1, revision: "4f1c0de", out: filepath.Join(t.TempDir(), "dist"), created: time.Unix(1750000000, 0),
		platforms: []string{runtime.GOOS + "/" + runtime.GOARCH}, commands: commands, programsOfImages: programsOfImages, compression: gzip.BestCompression,
	}
}

// made are the files of a release.
func made(t *testing.T, r release) map[string][]byte {
	t.Helper()
	var said bytes.Buffer
	r.progress, r.compiler.Progress = &said, &said
	if err := r.run(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return files(t, r.out)
}

// files are those of a folder, by name.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, entry := range must.Get(os.ReadDir(dir))(t) {
		found[entry.Name()] = must.Get(os.ReadFile(filepath.Join(dir, entry.Name())))(t)
	}
	return found
}

func TestLongTwoReleasesOfOneCommitAreTheSameBytes(t *testing.T) {
	first := made(t, complete(t))
	hasItsFilesAndTheProgramRuns(t, first, programsOfImages)
	for name, content := range made(t, complete(t)) {
		if !bytes.Equal(first[name], content) {
			t.Errorf("%s differs between two releases of the same commit", name)
		}
	}
}

// Of the images there is the smallest alone, and the archives are not packed as tightly: a
// release takes most of a minute else.
func TestAReleaseHasItsFilesAndTheProgramRuns(t *testing.T) {
	r := complete(t)
	r.programsOfImages = slices.DeleteFunc(slices.Clone(programsOfImages), func(of programOfImage) bool { return of.name != "tabard-eks-token" })
	r.compression = gzip.BestSpeed
	hasItsFilesAndTheProgramRuns(t, made(t, r), r.programsOfImages)
}

func TestTheProgramsOfAReleaseAreThere(t *testing.T) {
	var programs []string
	for _, of := range commands {
		programs = append(programs, of.program)
	}
	for _, of := range programsOfImages {
		programs = append(programs, of.program)
	}
	for _, program := range programs {
		if found, err := gobuild.ImportDir(filepath.Join("../..", program), 0); err != nil || !found.IsCommand() {
			t.Errorf("%s is no program: %v", program, err)
		}
	}
}

// hasItsFilesAndTheProgramRuns looks at a release with these images.
func hasItsFilesAndTheProgramRuns(t *testing.T, first map[string][]byte, images []programOfImage) {
	t.Helper()
	platform := runtime.GOOS + "_" + runtime.GOARCH
	want := []string{
		"checksums.txt", "krew.yaml", "notes.md", "tabard-0.1.0-rc.1.tgz", "tabard.yaml",
		"tabard_" + version1 + ".intoto.json", "tabard_" + version1 + "_" + platform + ".cdx.json", "tabard_" + version1 + "_" + platform + ".tar.gz",
		"tabard_" + version1 + "_completions.tar.gz", "tabard_" + version1 + "_man.tar.gz",
		"tabard-eks-token_" + version1 + "_" + platform + ".cdx.json", "tabard-eks-token_" + version1 + "_" + platform + ".tar.gz",
	}
	for _, of := range images {
		if name := of.name + "-image_"; runtime.GOOS == "linux" {
			want = append(want, name+version1+".tar", name+version1+"_"+platform+".cdx.json", name+version1+"_"+platform+".intoto.json")
		}
	}
	slices.Sort(want)
	var names []string
	for name := range first {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files of the release (-want +got):\n%s", diff)
	}
	checksumsAreRight(t, first)
	pagesAreThere(t, first)
	krewInstalls(t, first)
	programRuns(t, unpacked(t, first["tabard_"+version1+"_"+platform+".tar.gz"]))
	if runtime.GOOS == "linux" {
		imagesAreAsLargeAsThePageSays(t, first, images)
	}
}

// imagesAreAsLargeAsThePageSays compares the images with the table of docs/install.md.
func imagesAreAsLargeAsThePageSays(t *testing.T, all map[string][]byte, images []programOfImage) {
	t.Helper()
	page := must.Get(size.ReadImages(string(must.Get(os.ReadFile("../../docs/install.md"))(t))))(t)
	var named []string
	for _, of := range programsOfImages {
		named = append(named, of.name)
	}
	slices.Sort(named)
	if diff := cmp.Diff(named, slices.Sorted(maps.Keys(page))); diff != "" {
		t.Errorf("the images that docs/install.md tells of (-want +got):\n%s", diff)
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	for _, of := range images {
		got := must.Get(size.Pulled(bytes.NewReader(all[of.name+"-image_"+version1+".tar"])))(t)[platform]
		if want := page[of.name][platform]; got < want*85/100 || got > want*115/100 {
			t.Errorf("the image %s has %.1f MB for %s, docs/install.md says %.1f: make sizes prints the table",
				of.name, float64(got)/1e6, platform, float64(want)/1e6)
		}
	}
}

// checksumsAreRight compares checksums.txt and the provenance with the files.
func checksumsAreRight(t *testing.T, all map[string][]byte) {
	t.Helper()
	var want strings.Builder
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sum := fmt.Sprintf("%x", sha256.Sum256(all[name]))
		if name == checksums {
			continue
		}
		fmt.Fprintf(&want, "%s  %s\n", sum, name)
		if provenance := "tabard_" + version1 + ".intoto.json"; name != provenance && !bytes.Contains(all[provenance], []byte(sum)) {
			t.Errorf("the provenance does not name %s by its digest %s", name, sum)
		}
	}
	if diff := cmp.Diff(want.String(), string(all[checksums])); diff != "" {
		t.Errorf("checksums (-want +got):\n%s", diff)
	}
}

// pagesAreThere looks for a line of each kind of page.
func pagesAreThere(t *testing.T, all map[string][]byte) {
	t.Helper()
	completions := unpacked(t, all["tabard_"+version1+"_completions.tar.gz"])
	for path, says := range map[string]string{
		"bash/tabard": "__start_tabard", "zsh/_tabard": "#compdef tabard", "fish/tabard.fish": "complete -c tabard", "powershell/tabard.ps1": "Register-ArgumentCompleter",
	} {
		if text := must.Get(os.ReadFile(filepath.Join(completions, path)))(t); !bytes.Contains(text, []byte(says)) {
			t.Errorf("%s does not say %q", path, says)
		}
	}
	man := unpacked(t, all["tabard_"+version1+"_man.tar.gz"])
	page := string(must.Get(os.ReadFile(filepath.Join(man, "man1", "tabard-policy-check.1")))(t))
	for _, says := range []string{`"Jun 2025"`, "Tabard " + version1, "SYNOPSIS"} {
		if !strings.Contains(page, says) {
			t.Errorf("the man page of tabard policy check does not say %q:\n%.400s", says, page)
		}
	}
	chart := unpacked(t, all["tabard-0.1.0-rc.1.tgz"])
	if about := string(must.Get(os.ReadFile(filepath.Join(chart, "tabard", "Chart.yaml")))(t)); !strings.Contains(about, "\nappVersion: "+version1+"\n") {
		t.Errorf("the chart's images are of another version:\n%s", about)
	}
	if strings.Contains(string(all["tabard.yaml"]), ":devel") {
		t.Error("tabard.yaml has an image of another version")
	}
}

// programRuns runs the program that users unpack.
func programRuns(t *testing.T, dir string) {
	t.Helper()
	program := filepath.Join(dir, "tabard")
	if said := must.Get(exec.CommandContext(t.Context(), program, "--version").CombinedOutput())(t); !strings.Contains(string(said), version1) {
		t.Errorf("tabard --version says %q, want %s", said, version1)
	}
	policy := filepath.Join(dir, "policy.json")
	must.Do(t, os.WriteFile(policy, []byte(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::a/*"}]}`), 0o600))
	if said, err := exec.CommandContext(t.Context(), program, "policy", "check", policy).CombinedOutput(); err != nil {
		t.Errorf("tabard policy check: %v\n%s", err, said)
	}
	must.Do(t, os.Symlink("tabard", filepath.Join(dir, "kubectl-tabard")))
	complete := exec.CommandContext(t.Context(), filepath.Join(dir, completer), "policy", "ch")
	complete.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	if said, err := complete.Output(); err != nil || !strings.HasPrefix(string(said), "check\t") {
		t.Errorf("%s policy ch: %v\n%s", completer, err, said)
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		if text := must.Get(os.ReadFile(filepath.Join(dir, name)))(t); len(text) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

// unpacked writes the files of a tar.gz into a new folder.
func unpacked(t *testing.T, archive []byte) string {
	t.Helper()
	dir := t.TempDir()
	for reader := tar.NewReader(must.Get(gzip.NewReader(bytes.NewReader(archive)))(t)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.ModTime.Unix() != 1750000000 {
			t.Errorf("%s belongs to %d:%d and is of %v, want root and the release's time", header.Name, header.Uid, header.Gid, header.ModTime)
		}
		path := filepath.Join(dir, header.Name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, must.Get(io.ReadAll(reader))(t), os.FileMode(header.Mode)))
	}
}

func TestAnArchiveForWindowsHoldsTheFilesWithTheirTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(path, []byte("MZ"), 0o600))
	packed := must.Get(release{}.zipped([]member{{name: "tabard.exe", path: path, mode: 0o755}}))(t)
	reader := must.Get(zip.NewReader(bytes.NewReader(packed), int64(len(packed))))(t)
	file := reader.File[0]
	if got := must.Get(io.ReadAll(must.Get(file.Open())(t)))(t); file.Name != "tabard.exe" || string(got) != "MZ" || file.Modified.UTC().Year() != 1980 {
		t.Errorf("the archive holds %s of %v with %q, want tabard.exe of 1980 with the program", file.Name, file.Modified, got)
	}
}

func TestWhatCannotBeReleasedIsRefusedBeforeAnythingIsBuilt(t *testing.T) {
	foreign := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o600))
	good := release{version: "v0.1.0", revision: "4f1c0de", out: filepath.Join(t.TempDir(), "dist"), platforms: []string{"linux/amd64"}}
	if err := good.check(); err != nil {
		t.Fatalf("a good release is refused: %v", err)
	}
	tests := map[string]struct {
		change func(*release)
		says   string
	}{
		"no version":                     {func(r *release) { r.version = "" }, `VERSION is "", expected v and a semantic version`},
		"a version without v":            {func(r *release) { r.version = "0.1.0" }, `VERSION is "0.1.0"`},
		"a version with build metadata":  {func(r *release) { r.version = "v0.1.0+today" }, `VERSION is "v0.1.0+today"`},
		"changes that are not committed": {func(r *release) { r.revision = "" }, "commit them, or build a version such as v0.1.0-rc.1"},
		"a platform that is none":        {func(r *release) { r.platforms = []string{"plan9/amd64"} }, `platforms are "plan9/amd64", expected some of darwin/amd64`},
		"a platform twice":               {func(r *release) { r.platforms = []string{"linux/amd64", "linux/amd64"} }, "each once"},
		"a folder with files of others":  {func(r *release) { r.out = foreign }, "has files and no checksums.txt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := good
			test.change(&r)
			if err := r.run(t.Context()); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %q", err, test.says)
			}
		})
	}
	if left := must.Get(os.ReadDir(foreign))(t); len(left) != 1 {
		t.Errorf("the folder of others has %v, want it untouched", left)
	}
}
