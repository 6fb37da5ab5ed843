package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// AddVersion gives a command the flag --version, which prints the version alone. Cobra's
// SetVersionTemplate would too, by text/template: with that the linker keeps every method
// of every AWS client, which was half of the program.
func AddVersion(c *cobra.Command, version string) {
	asked := c.Flags().Bool("version", false, "print the version and end")
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if *asked {
			return Write(c.OutOrStdout(), fmt.Sprintln(version))
		}
		return run(c, args)
	}
}
