package operators

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/platform/tokenfacts"
)

const clusterLong = `Show whether the cluster gives operators short-lived tokens in place of stored keys, which is
called token mode. It is in token mode if three facts hold:

  - the platform is AWS, Azure or GCP (Infrastructure "cluster");
  - the credentials mode is Manual (CloudCredential "cluster", and the legacy ConfigMap);
  - the issuer is a URL with https (Authentication "cluster").

The command only reads the cluster. It needs this ClusterRole. An object that you may not read
makes its fact unknown, and the command names the right that is missing:

` + tokenfacts.Rights + `
Exit codes: 0 it is known whether the cluster is in token mode; 1 it is unknown, or the cluster
cannot be read; 2 the input cannot be used.`

func newCluster(streams command.Streams, world World) *cobra.Command {
	var kubeconfig command.Kubeconfig
	var output command.Output
	out := &cobra.Command{
		Use:   "cluster",
		Short: "Show whether the cluster gives operators short-lived tokens",
		Long:  clusterLong,
		Example: `  tabard operators cluster
  tabard operators cluster -o jsonpath='{.tokenMode}'`,
		Args: command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			return showCluster(c.Context(), streams, world, &kubeconfig, output)
		}),
	}
	kubeconfig.AddFlags(out.Flags())
	output.AddFlags(out)
	return out
}

// clusterDocument is the mode as it is printed.
type clusterDocument struct {
	command.Meta    `json:",inline"`
	tokenfacts.Mode `json:",inline"`
}

func showCluster(ctx context.Context, streams command.Streams, world World, kubeconfig *command.Kubeconfig, output command.Output) error {
	client, err := world.Connect(kubeconfig)
	if err != nil {
		return err
	}
	seen, err := tokenfacts.Observe(ctx, client)
	if err != nil {
		return err
	}
	mode := clusterDocument{command.MetaOf("OperatorsCluster"), seen.Decide()}
	if err := streams.PrintAs(output, command.Printed{Document: escaped{mode}, Text: mode.text}); err != nil {
		return err
	}
	if mode.TokenMode == listing.Unknown {
		return &command.Exit{Code: command.Found, What: mode.Sentence()}
	}
	return nil
}

// text is the mode for people.
func (m clusterDocument) text() string {
	var out lines
	out.say("%s.", upper(m.Sentence()))
	for _, f := range m.Facts {
		out.say("  %-17s %-8s %s", f.Name+":", f.Holds, factText(f))
	}
	out.WriteString(m.follows())
	return out.String()
}

// factText is what was seen of a fact, and what is expected where it does not hold.
func factText(f tokenfacts.Fact) string {
	text := fmt.Sprintf("%s is %q", f.Field, f.Value)
	switch {
	case f.Value == "" && f.Holds == listing.Unknown:
		text = f.Why
	case f.Value == "":
		text = f.Field + " is not set"
		if f.Why != "" {
			text += ": " + f.Why
		}
	case f.Why != "":
		text += ": " + f.Why
	}
	return text
}

// follows says what a person does with the answer.
func (m clusterDocument) follows() string {
	var out lines
	out.say("What follows: %s", m.Follows())
	switch m.TokenMode {
	case listing.Yes:
		out.say("  tabard operators list --cloud this --token-auth yes   # shows them")
	case listing.No:
		out.say("  tabard operators list   # shows what they support elsewhere")
	case listing.Unknown:
	}
	return out.String()
}

func upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
