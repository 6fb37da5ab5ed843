package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
)

func newStatus(streams command.Streams, flags *folder) *cobra.Command {
	var format string
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the processes of a lab; exit code 1 if one is down",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if format != "" && format != "json" {
				return streams.Unusable(fmt.Errorf("-o %s is not known; the only format is json", format))
			}
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			status, err := loaded.Status()
			if err != nil {
				return err
			}
			if err := writeStatus(streams.Out, status, format); err != nil {
				return err
			}
			if !status.Up() {
				return &command.Exit{Code: command.Found, What: "a process is down"}
			}
			return nil
		},
	}
	command.Flags().StringVarP(&format, "output", "o", "", "\"json\" for programs")
	return command
}

func writeStatus(out io.Writer, status lab.Status, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(status)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSTATE\tPID\tPORT\tMEMORY\tPEAK")
	for _, one := range status.Processes {
		state := one.State
		if one.ExitCode != nil {
			state = fmt.Sprintf("%s (%d)", state, *one.ExitCode)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", one.Name, state, number(int64(one.PID), ""), number(int64(one.Port), ""),
			number(one.ResidentBytes>>20, " MiB"), number(one.PeakBytes>>20, " MiB"))
	}
	return table.Flush()
}

func number(value int64, unit string) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%s", value, unit)
}
