// Command pages writes the shell completions and the man pages of tabard. The times in them
// come from SOURCE_DATE_EPOCH.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/tabard-dev/tabard/hack/release/build"
	"github.com/tabard-dev/tabard/internal/app"
	"github.com/tabard-dev/tabard/internal/app/local"
)

func main() {
	completions := flag.String("completions", "", "folder for the completions; empty: none")
	man := flag.String("man", "", "folder for the man pages; empty: none")
	version := flag.String("version", "devel", "version of tabard")
	flag.Parse()
	root := app.Root(local.Commands())
	root.InitDefaultCompletionCmd()
	if err := errors.Join(complete(root, *completions), explain(root, *man, *version)); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// complete writes a file for each shell, named as the shell looks for it.
func complete(root *cobra.Command, dir string) error {
	if dir == "" {
		return nil
	}
	var failed error
	for path, write := range map[string]func(string) error{
		"bash/tabard":           func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"zsh/_tabard":           root.GenZshCompletionFile,
		"fish/tabard.fish":      func(path string) error { return root.GenFishCompletionFile(path, true) },
		"powershell/tabard.ps1": root.GenPowerShellCompletionFileWithDesc,
	} {
		path = filepath.Join(dir, path)
		failed = errors.Join(failed, os.MkdirAll(filepath.Dir(path), 0o755), write(path))
	}
	return failed
}

// explain writes a man page for each command.
func explain(root *cobra.Command, dir, version string) error {
	if dir == "" {
		return nil
	}
	created, err := build.Creation(os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "man1"), 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &created, Source: "Tabard " + version, Manual: "Tabard"}
	return doc.GenManTree(root, header, filepath.Join(dir, "man1"))
}
