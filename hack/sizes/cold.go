package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cold builds make targets with empty caches, and prints a row for each: what it adds.
func cold(ctx context.Context, targets []string, out, progress io.Writer) (err error) {
	caches, err := os.MkdirTemp("", "tabard-sizes-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(caches)) }()
	fmt.Fprint(out, "| command | downloads | modules unpacked | build cache | processor time |\n| --- | --- | --- | --- | --- |\n")
	var before [3]int64
	for _, target := range targets {
		made := exec.CommandContext(ctx, "make", target, "GOFLAGS=-buildvcs=false -modcacherw")
		made.Env = append(os.Environ(), "GOCACHE="+filepath.Join(caches, "build"), "GOMODCACHE="+filepath.Join(caches, "mod"), "XDG_CACHE_HOME="+caches)
		made.Stdout, made.Stderr = progress, progress
		if err := made.Run(); err != nil {
			return fmt.Errorf("make %s: %w", target, err)
		}
		now, err := folders(filepath.Join(caches, "mod", "cache", "download"), filepath.Join(caches, "mod"), filepath.Join(caches, "build"))
		if err != nil {
			return err
		}
		now[1] -= now[0] // the downloads lie below the modules
		cells := []string{"`make " + target + "`"}
		for i := range now {
			cells = append(cells, fmt.Sprintf("%d MB", (now[i]-before[i])/1e6))
		}
		// Not the time of the clock: it depends on what else the machine does.
		used := made.ProcessState.UserTime() + made.ProcessState.SystemTime()
		if _, err := fmt.Fprintf(out, "| %s | %.0f min |\n", strings.Join(cells, " | "), used.Minutes()); err != nil {
			return err
		}
		before = now
	}
	return nil
}

// folders are the sizes of files in three folders, in bytes. A folder that is not there is empty.
func folders(paths ...string) (sizes [3]int64, err error) {
	for i, path := range paths {
		err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			sizes[i] += info.Size()
			return nil
		})
		if err != nil {
			return sizes, err
		}
	}
	return sizes, nil
}
