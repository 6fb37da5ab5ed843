package credentials

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
)

const listLong = `List CredentialsRequests: what each asks for, who fulfils it, how far it is, and its role.

It reads requests, Tabard's records of them (CredentialsGrants) and what the cluster is.
It works without the controller: what no controller has looked at is listed so.

Exit codes: 0 none waits; 1 at least one waits for something; 2 the input cannot be used,
or the cluster cannot be read.`

func newList(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place()}
	var output string
	out := &cobra.Command{
		Use:   "list",
		Short: "List requests: who fulfils each, and what it waits for",
		Long:  listLong,
		Example: `  tabard credentials list -A

  # the names of those that wait, with the reason
  tabard credentials list -A -o json | jq -r '.[] | select(.state == "Waiting") | "\(.namespace)/\(.name) \(.reason)"'`,
		Args: command.NoArgs(streams),
		RunE: failed(streams, func(c *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return list(c.Context(), streams, w, output)
		}),
	}
	w.add(out.Flags(), true)
	addOutput(out, &output)
	return out
}

func addOutput(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", "table", "the output's `format`: table, or json for programs")
}

func checkOutput(output string) error {
	if output != "table" && output != "json" {
		return fmt.Errorf("-o is %q, expected table or json", output)
	}
	return nil
}

func list(ctx context.Context, streams command.Streams, w *where, output string) error {
	s, err := w.read(ctx)
	if err != nil {
		return err
	}
	rows, waits := []row{}, 0
	for i := range s.requests {
		rows = append(rows, rowOf(s.world(&s.requests[i])))
		if rows[i].State == waiting {
			waits++
		}
	}
	switch {
	case output == "json":
		err = streams.PrintJSON(rows)
	case len(rows) == 0 && s.namespace == "":
		err = streams.Print("There are no CredentialsRequests.\n")
	case len(rows) == 0:
		err = streams.Print("There are no CredentialsRequests in namespace " + s.namespace + ": -A lists all namespaces.\n")
	default:
		cells := [][]string{{"NAMESPACE", "NAME", "TARGET", "FULFILLED BY", "STATE", "ROLE", "AGE"}}
		for _, r := range rows {
			cells = append(cells, r.cells(s.Now()))
		}
		err = streams.Print(command.Table(cells))
	}
	if err == nil && waits > 0 {
		err = &command.Exit{Code: command.Found, What: fmt.Sprintf("%d requests wait", waits)}
	}
	return err
}
