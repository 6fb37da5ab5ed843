// Command consoletypes writes the types of the console's API as TypeScript, so that the front end and
// the server cannot differ:
//
//	go run ./hack/consoletypes internal/console/web/src/api/types.ts
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tkrajina/typescriptify-golang-structs/typescriptify"

	"github.com/tabard-dev/tabard/internal/console/api"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "consoletypes:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("expected the file to write")
	}
	types := typescriptify.New().Silent().WithInterface(true).WithBackupDir("").WithIndent("  ").
		ManageType(time.Time{}, typescriptify.TypeOptions{TSType: "string"})
	for _, document := range api.Documents() {
		types.Add(document)
	}
	text, err := types.Convert(nil)
	if err != nil {
		return err
	}
	if name := twice(text); name != "" {
		return fmt.Errorf("two types are called %s, and TypeScript would make one of them: rename one", name)
	}
	return os.WriteFile(args[0], []byte("// Written by \"go run ./hack/consoletypes\". The types of internal/console/api, as the API has them.\n"+text+"\n"), 0o644)
}

// twice is the name of two types of different packages; empty for none.
func twice(text string) string {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		name, is := strings.CutPrefix(line, "export interface ")
		if is && known[name] {
			return strings.TrimSuffix(name, " {\n")
		}
		known[name] = is
	}
	return ""
}
