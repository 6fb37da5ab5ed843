package app

import (
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/lab"
)

func labCommand() *cobra.Command {
	return lab.New(standardStreams())
}
