// Package pages writes the shell completions and the man pages of tabard.
package pages

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/tabard-dev/tabard/internal/app"
	"github.com/tabard-dev/tabard/internal/app/local"
)

// commands are those of tabard.
func commands() *cobra.Command {
	root := app.Root(local.Commands())
	root.InitDefaultCompletionCmd()
	return root
}

// Completions writes a file for each shell, named as the shell looks for it.
func Completions(dir string) error {
	root := commands()
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

// Man writes a man page for each command, of a version and a time.
func Man(dir, version string, created time.Time) error {
	if err := os.MkdirAll(filepath.Join(dir, "man1"), 0o755); err != nil {
		return err
	}
	root := commands()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &created, Source: "Tabard " + version, Manual: "Tabard"}
	return doc.GenManTree(root, header, filepath.Join(dir, "man1"))
}
