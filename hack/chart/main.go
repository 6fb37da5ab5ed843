// Command chart writes from charts/tabard, the one source of what users apply, the plain
// manifests in config/manifests and the chart's own README. It puts the generated rights,
// kinds and alerts of config into the chart. It is run in this folder:
//
//	cd hack/chart && go run . ../..
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("expected one argument, the root folder of the checkout (../..)")
	}
	root := args[0]
	for _, folder := range []string{"rbac", "crd", "alerts", "dashboards"} {
		if err := mirror(filepath.Join(root, "config", folder), filepath.Join(root, chartFolder, "files", folder)); err != nil {
			return err
		}
	}
	files, err := plainManifests(filepath.Join(root, chartFolder))
	if err != nil {
		return err
	}
	if files[filepath.Join(chartFolder, "README.md")], err = readme(filepath.Join(root, chartFolder)); err != nil {
		return err
	}
	for name, text := range files {
		if err := write(filepath.Join(root, name), text); err != nil {
			return err
		}
	}
	return nil
}

// mirror makes a folder hold the files of another and no others.
func mirror(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

func write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // a folder of the checkout
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644) //nolint:gosec // a file of the checkout
}
