package app

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/lab"
)

func labCommand() *cobra.Command {
	return lab.New(lab.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
