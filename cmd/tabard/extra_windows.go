package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/program"
)

// extra are the names of the lab's commands. The lab keeps its keys in files that only
// their owner can read, by means that Windows does not have.
func extra() program.Extra {
	return program.Extra{Use: []*cobra.Command{absent("lab")}, Processes: []*cobra.Command{absent("awslocal")}}
}

// absent is a command that says where it can be used.
func absent(name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Not on Windows: run it in the Windows Subsystem for Linux",
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return program.Unusable(fmt.Errorf("tabard %s runs on Linux and macOS; on Windows, run Tabard for Linux in the Windows Subsystem for Linux", name))
		},
	}
}
