// Command cp copies a file: cp -Rv FILE TO. The Job by which the Operator Lifecycle Manager unpacks a
// bundle calls it so.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cp:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 || args[0] != "-Rv" {
		return fmt.Errorf("the arguments are %q, expected -Rv FILE TO", args)
	}
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	return os.WriteFile(args[2], text, 0o755) //nolint:gosec // it is a program
}
