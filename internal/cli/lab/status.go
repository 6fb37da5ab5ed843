package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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

func newEnv(streams command.Streams, flags *folder) *cobra.Command {
	var account string
	command := &cobra.Command{
		Use:   "env",
		Short: "Print what a shell needs to use a lab: eval \"$(tabard lab env)\"",
		Long: "Prints the variables of the cluster's administrator and of an administrator of the local AWS account,\n" +
			"access key included, for a POSIX shell.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			variables, err := loaded.Env(account)
			if _, unknown := errors.AsType[*lab.AccountError](err); unknown {
				return streams.Unusable(err)
			}
			if err != nil {
				return err
			}
			return writeEnv(streams.Out, variables, loaded.Path("bin"))
		},
	}
	command.Flags().StringVar(&account, "account", lab.AccountID, "the `account` of the local AWS whose administrator's key is printed")
	return command
}

func writeEnv(out io.Writer, variables []lab.Variable, bin string) error {
	var script strings.Builder
	for _, variable := range variables {
		fmt.Fprintf(&script, "export %s=%s\n", variable.Name, quote(variable.Value))
	}
	// A second eval must not make the PATH longer.
	fmt.Fprintf(&script, "case \":$PATH:\" in *:%s:*) ;; *) export PATH=%s:\"$PATH\" ;; esac\n", quote(bin), quote(bin))
	_, err := io.WriteString(out, script.String())
	return err
}

// quote makes a value one word of a POSIX shell.
func quote(value string) string {
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}
