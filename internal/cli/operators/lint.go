package operators

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/bundle"
	"github.com/tabard-dev/tabard/internal/core/line"
)

const lintLong = `Check what the author of an operator publishes, before a catalogue has it: whether OLM installs
the bundle, whether administrators see what the operator will ask the cloud for, and whether its
annotations and rules fit that.

It takes a bundle directory in the form registry+v1 (manifests/, metadata/annotations.yaml, and
credentials-requests/ where it has one), a directory of manifests, a ClusterServiceVersion in YAML
or JSON, or - for the standard input. Nothing is changed: "tabard operators annotate" mends what
can be mended.

Exit codes: 0 nothing is wrong, or there are warnings only; 1 there is an error; 2 the input cannot
be used.`

func newLint(streams command.Streams, world World) *cobra.Command {
	var output command.Output
	out := &cobra.Command{
		Use:   "lint BUNDLE|CSV",
		Short: "Check the bundle of an operator that asks for cloud roles",
		Long:  lintLong,
		Example: `  tabard operators lint bundle/
  tabard operators lint my-operator.clusterserviceversion.yaml
  tabard operators lint bundle/ -o json`,
		Args: oneBundle(streams),
		RunE: command.Spoken(streams, func(_ *cobra.Command, args []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			read, err := readAuthored(streams.In, args[0], world.JSON)
			if err != nil {
				return err
			}
			return printLint(streams, output, bundle.Lint(read.Bundle))
		}),
	}
	output.AddFlags(out)
	output.AddHeaderFlag(out)
	return out
}

// oneBundle wants one path.
func oneBundle(streams command.Streams) cobra.PositionalArgs {
	return command.Spoken(streams, func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one path, of a bundle directory or a ClusterServiceVersion, and got %d arguments; see %s --help", c.CommandPath(), len(args), c.CommandPath())
		}
		return nil
	})
}

func printLint(streams command.Streams, output command.Output, findings []bundle.Finding) error {
	var rows [][]string
	errors := 0
	for _, f := range findings {
		if f.Severity == bundle.Error {
			errors++
		}
		file := orDash(f.File)
		if f.Document > 1 {
			file = fmt.Sprintf("%s, document %d", file, f.Document)
		}
		rows = append(rows, []string{string(f.Severity), string(f.Code), file, orDash(f.Path), f.Message})
	}
	err := streams.PrintAs(output, command.Printed{
		Document: escaped{command.ListOf("OperatorLint", findings)},
		Header:   []string{"SEVERITY", "CODE", "FILE", "PATH", "MESSAGE"}, Rows: rows,
		None: "Nothing is wrong.\n",
	})
	if err == nil && errors > 0 {
		err = &command.Exit{Code: command.Found, What: line.Count(errors, "error in the bundle", "errors in the bundle")}
	}
	return err
}
