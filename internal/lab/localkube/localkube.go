// Package localkube knows where the localkube program is: which folder caches its
// builds, and which of the places that may hold one is to be used. It
// does not build: that is hack/localkube, which needs the checkout.
package localkube

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Version is the version of Kubernetes that localkube is built from.
const Version = "v1.35.4"

// EnvVar names the variable that points at a localkube program.
const EnvVar = "TABARD_LOCALKUBE"

// ErrMissing says that no localkube program was found anywhere.
var ErrMissing = errors.New("no localkube program found: it was looked for beside this program, on the PATH " +
	"and in the cache; build one with \"make localkube\", or name one with --localkube or " + EnvVar)

// CacheDir is the folder that holds all builds: below XDG_CACHE_HOME, else
// below the home folder's .cache.
func CacheDir(getenv func(string) string) string {
	base := getenv("XDG_CACHE_HOME")
	if base == "" {
		base = filepath.Join(getenv("HOME"), ".cache")
	}
	return filepath.Join(base, "tabard", "localkube")
}

// Find returns the localkube program to use: the one named by flag or by the
// environment, which then must exist, else the one beside the program self,
// else one on the PATH, else the newest in the cache. The error is ErrMissing
// if there is none.
func Find(flag, self string, getenv func(string) string) (string, error) {
	if flag != "" {
		return named("--localkube", flag)
	}
	if path := getenv(EnvVar); path != "" {
		return named(EnvVar, path)
	}
	if beside := filepath.Join(filepath.Dir(self), "localkube"); self != "" && isProgram(beside) {
		return beside, nil
	}
	if path, err := exec.LookPath("localkube"); err == nil {
		return filepath.Abs(path)
	}
	if path := newest(CacheDir(getenv)); path != "" {
		return path, nil
	}
	return "", ErrMissing
}

func named(by, path string) (string, error) {
	if !isProgram(path) {
		return "", fmt.Errorf("%s names %q, which is not a program that can be run; build one with \"make localkube\"", by, path)
	}
	return filepath.Abs(path)
}

// newest returns the program in the cache that was built last, "" if none.
func newest(cache string) string {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return ""
	}
	var (
		found string
		built time.Time
	)
	for _, entry := range entries {
		path := filepath.Join(cache, entry.Name(), "localkube")
		info, err := os.Stat(path)
		if err != nil || !strings.HasPrefix(entry.Name(), "v") || !isProgram(path) {
			continue
		}
		if found == "" || info.ModTime().After(built) {
			found, built = path, info.ModTime()
		}
	}
	return found
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
