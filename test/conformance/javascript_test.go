package conformance_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestJavaScriptAgrees asks with the AWS SDK for JavaScript.
func TestJavaScriptAgrees(t *testing.T) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal("the SDK for JavaScript needs " + program + " on the PATH, of Node.js 20 or later")
		}
	}
	packages := installPackages(t, "javascript")
	overBoth(t, func(t *testing.T, w *world) {
		// Node.js looks for packages in the folders above a script's own.
		scripts := w.Path("javascript")
		if err := os.CopyFS(scripts, os.DirFS("javascript")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(packages, filepath.Join(scripts, "node_modules")); err != nil {
			t.Fatal(err)
		}
		version, reported := runScript(t, w, "node", filepath.Join(scripts, "run.mjs"))
		demand(t, javascript, false, version, reported)
	})
}

// installPackages installs what the lock file in a folder names, once per lock
// file, into the user's cache, and returns the folder node_modules.
func installPackages(t *testing.T, source string) string {
	t.Helper()
	hash := sha256.New()
	files := []string{"package.json", "package-lock.json", ".npmrc"}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(content)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	above := filepath.Join(cache, "tabard", "javascript")
	folder := filepath.Join(above, hex.EncodeToString(hash.Sum(nil))[:12])
	packages := filepath.Join(folder, "node_modules")
	if _, err := os.Stat(packages); err == nil {
		return packages
	}
	if err := os.MkdirAll(above, 0o755); err != nil {
		t.Fatal(err)
	}
	part, err := os.MkdirTemp(above, "part-")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(part) }()
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(part, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci")
	npm.Dir = part
	var output bytes.Buffer
	npm.Stdout, npm.Stderr = &output, &output
	if err := npm.Run(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, &output)
	}
	// The rename is the only way packages appear in the cache: an installation
	// that was interrupted leaves nothing that looks finished.
	if err := os.Rename(part, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return packages
}
