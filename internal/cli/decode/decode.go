// Package decode is the command "tabard decode": it says which link of the chain a pasted text is about,
// without a cluster and without a network.
package decode

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/decode"
)

const about = `Reads a text that somebody has pasted, and says which link of the chain between a pod and its
role it is about, the likely causes, and what to type next. It knows errors of AWS and of its SDKs,
lines of API servers and of kubelets, events of CloudTrail, errors of Azure and Google Cloud about
tokens, and tokens themselves.

It asks no cluster and no cloud. A token is never printed, nor its signature: only its issuer,
subject, audience, key ID and times are.

Exit codes: 0 the text is known; 1 it is not; 2 the file cannot be read.`

// New returns the command. now is the time by which a token has expired.
func New(streams command.Streams, now func() time.Time) *cobra.Command {
	var output command.Output
	c := &cobra.Command{
		Use: "decode [FILE]", Short: "Say which link an error, a token or an event of CloudTrail is about, and what to type next", Long: about,
		Example: `  tabard decode error.txt
  tabard decode < error.txt
  tabard decode error.txt -o json`,
		SilenceUsage: true, SilenceErrors: true,
		Args: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s takes one FILE, or none for the standard input, and got %d; see %s --help", c.CommandPath(), len(args), c.CommandPath())
			}
			return nil
		}),
		RunE: command.Spoken(streams, func(_ *cobra.Command, args []string) error {
			return run(streams, output, append(args, "-")[0], now())
		}),
	}
	output.AddFlags(c)
	return c
}

func run(streams command.Streams, output command.Output, path string, now time.Time) error {
	if err := output.Check(); err != nil {
		return err
	}
	file := command.File{By: "FILE", Path: path, Expected: "an error, a token or an event of CloudTrail"}
	text, err := file.Read(io.LimitReader(streams.In, core.Longest))
	if err != nil {
		return err
	}
	found := core.Decode(string(text), now)
	printed := command.Printed{Document: document{command.MetaOf("Decoded"), found}, Text: func() string { return shown(found) }}
	if err := streams.PrintAs(output, printed); err != nil {
		return err
	}
	if found.Kind == core.Unknown {
		return &command.Exit{Code: command.Found, What: "the text is not known"}
	}
	return nil
}

// document is the answer for programs.
type document struct {
	command.Meta `json:",inline"`
	core.Result  `json:",inline"`
}

// shown is the answer for people.
func shown(r core.Result) string {
	if r.Kind == core.Unknown {
		return "The text is not known. docs/explain.md lists what is; tabard explain pod POD -n NAMESPACE looks at the pod itself.\n"
	}
	var out strings.Builder
	if r.Link != "" {
		fmt.Fprintf(&out, "%s %s: ", r.Link, r.Link.Name())
	}
	out.WriteString(r.Means + "\n")
	if r.Seen != "" {
		fmt.Fprintf(&out, "\nseen:    %s\n", r.Seen)
	}
	for _, fact := range r.Facts {
		fmt.Fprintf(&out, "%-8s %s\n", fact.Name+":", fact.Value)
	}
	if len(r.Causes) > 0 {
		out.WriteString("\nlikely, in this order:\n")
		for i, cause := range r.Causes {
			fmt.Fprintf(&out, "  %d. %s\n", i+1, cause)
		}
	}
	if len(r.Next) > 0 {
		out.WriteString("\nnext:\n")
		for _, command := range r.Next {
			fmt.Fprintf(&out, "  %s\n", command)
		}
	}
	if r.Unverified {
		out.WriteString("\nThis text is known from reports; no test has provoked it.\n")
	}
	return out.String()
}
