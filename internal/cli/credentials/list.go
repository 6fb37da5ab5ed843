package credentials

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const listLong = `List CredentialsRequests: what each asks for, who fulfils it, how far it is, and its role.

The command reads requests, Tabard's records of them (CredentialsGrants) and the platform of
the cluster. It works without the controller, and marks requests that no controller has read.

If you may read the requests of a namespace and no CredentialsGrants, the command shows the
requests' own status, and says on the standard error what it leaves out.

Exit codes: 0 none waits; 1 at least one waits for something, or the cluster cannot be read;
2 the input cannot be used.`

func newList(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place(), own: true}
	var output command.Output
	out := &cobra.Command{
		Use:   "list",
		Short: "List requests: who fulfils each, and what it waits for",
		Long:  listLong,
		Example: `  tabard credentials list -A

  # the names of those that wait, with the reason
  tabard credentials list -A -o json | jq -r '.items[] | select(.state == "Waiting") | "\(.namespace)/\(.name) \(.reason)"'`,
		Args: command.NoArgs(streams),
		RunE: failed(streams, func(c *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			return list(c.Context(), streams, w, output)
		}),
	}
	w.add(out.Flags(), true)
	output.AddFlags(out, command.Wide, command.Name)
	output.AddHeaderFlag(out)
	return out
}

func list(ctx context.Context, streams command.Streams, w *where, output command.Output) error {
	s, err := w.read(ctx)
	if err != nil {
		return err
	}
	s.leftOut(streams)
	printed := command.Printed{
		Header: []string{"NAMESPACE", "NAME", "TARGET", "FULFILLED BY", "STATE", "ROLE", "AGE", "WHY", "WAITS FOR"}, Wide: 2,
		None: "There are no CredentialsRequests.\n",
	}
	if s.Namespace != "" {
		printed.None = "There are no CredentialsRequests in namespace " + s.Namespace + ": -A lists all namespaces.\n"
	}
	var rows []core.Row
	waits := 0
	for i := range s.Requests {
		r := s.Row(s.World(&s.Requests[i]))
		if r.State == core.RowWaiting {
			waits++
		}
		rows = append(rows, r)
		printed.Rows, printed.Names = append(printed.Rows, cellsOf(r, s.Now())), append(printed.Names, nameOf(r))
	}
	printed.Document = command.ListOf("CredentialsList", rows)
	err = streams.PrintAs(output, printed)
	if err == nil && waits > 0 {
		err = &command.Exit{Code: command.Found, What: fmt.Sprintf("%d requests wait", waits)}
	}
	return err
}
