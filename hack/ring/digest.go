package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what "go list" says of a package.
type listed struct {
	Dir        string
	ImportPath string
	Module     *struct{ GoMod string }

	GoFiles, CgoFiles, SFiles, HFiles, EmbedFiles []string
}

// sources are the files of this repository that packages of a module and their tests
// are built of, and the go.mod and go.sum of each module among them: they fix what is of others. Packages
// below the folders apart are left out.
func sources(ctx context.Context, root, module string, packages, apart []string) ([]string, error) {
	if len(packages) == 0 {
		return nil, nil // without a pattern "go list" takes the folder itself
	}
	// A package that is built for a test ("p [p.test]") is listed with its test files.
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-test", "-json=Dir,ImportPath,Module,GoFiles,CgoFiles,SFiles,HFiles,EmbedFiles"}, packages...)...)
	command.Dir = module
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaints.String())
	}
	var files []string
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		var each listed
		if err := decoder.Decode(&each); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if !slices.ContainsFunc(apart, each.isBelow) {
			files = append(files, each.within(root)...)
		}
	}
}

// isBelow says that a package, or what a test makes of it, is in a folder of the root module or below.
func (p listed) isBelow(folder string) bool {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	return strings.HasPrefix(path+"/", rootModule+folder+"/")
}

// rootModule begins the paths of the root module's packages.
const rootModule = "github.com/tabard-dev/tabard/"

// within are a package's files relative to the root, if it is below the root.
func (p listed) within(root string) []string {
	if p.Module == nil {
		return nil
	}
	var files []string
	for _, names := range [][]string{p.GoFiles, p.CgoFiles, p.SFiles, p.HFiles, p.EmbedFiles} {
		for _, name := range names {
			if !filepath.IsAbs(name) { // the main program of a test is in the go command's cache
				files = append(files, filepath.Join(p.Dir, name))
			}
		}
	}
	files = append(files, p.Module.GoMod, filepath.Join(filepath.Dir(p.Module.GoMod), "go.sum"))
	var out []string
	for _, file := range files {
		if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
			out = append(out, relative)
		}
	}
	return out
}

// digest is one hash over the names and contents of files, and a version. A file that
// is not there (a module without a go.sum) counts as empty.
func digest(tree fs.FS, files []string, version string) (string, error) {
	all := sha256.New()
	fmt.Fprintln(all, version)
	for _, file := range files {
		content, err := fs.ReadFile(tree, filepath.ToSlash(file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		one := sha256.Sum256(content)
		fmt.Fprintln(all, strings.ReplaceAll(file, "\n", " "), hex.EncodeToString(one[:]))
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
