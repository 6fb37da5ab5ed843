// Package local is what runs on one machine: the lab, and the local AWS. Programs that run
// in clusters do not have it.
package local

import (
	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/lab"
)

const hint = `

Try it on this machine, without a cloud account:

  tabard lab up
  eval "$(tabard lab env)"
  tabard lab status

That is a Kubernetes control plane and a local AWS. docs/quickstart.md goes on from there.`

// Commands are those of the lab.
func Commands() program.Extra {
	command := lab.New(program.StandardStreams(), scenes{})
	command.AddCommand(scenarioCall())
	return program.Extra{
		Use:       []*cobra.Command{command},
		Processes: []*cobra.Command{awslocalCommand()},
		Hint:      hint,
	}
}
