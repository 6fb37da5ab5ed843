package operators

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const permissionsLong = `Show what an operator will ask the cloud for, what is sensitive first, and who becomes the role.

The source is the annotation ` + permission.Annotation + ` of the version, or files
with CredentialsRequests (--requests). With both, the files count, and each difference is a
finding. Without a source the answer is unknown, and the code blocks of the author's
description are shown. Findings are told on the standard error, with -o json in the document.

With -o policy it prints one IAM policy that "tabard policy check" accepts, or a list of
policies where one would be too long for a role.

Exit codes: 0 all that the operator asks for is shown, which may be nothing; 1 it is unknown, or
a part of it is, or there is no policy of AWS to print; 2 the input cannot be used.`

// The formats of "permissions" beside those of command.Output.
const (
	sentences = "sentences"
	policy    = "policy"
)

type permissionsFlags struct {
	demand
	output command.Output
}

func newPermissions(streams command.Streams, world World) *cobra.Command {
	f := &permissionsFlags{}
	out := &cobra.Command{
		Use:   "permissions PACKAGE",
		Short: "Show what an operator will ask the cloud for",
		Long:  permissionsLong,
		Example: `  tabard operators permissions my-operator --catalogue catalog.json
  tabard operators permissions my-operator --catalogue catalog.json --version 1.1.0 -o policy > policy.json
  tabard operators permissions my-operator --requests credentials-requests/ -o table`,
		Args: onePackage(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world, args[0])
		}),
	}
	flags := out.Flags()
	f.demand.add(flags)
	f.output.AddFlags(out, sentences, policy)
	f.output.AddHeaderFlag(out)
	return out
}

// onePackage wants the name of a package.
func onePackage(streams command.Streams) cobra.PositionalArgs {
	return oneName(streams, "the name of one package")
}

// oneName takes exactly one argument.
func oneName(streams command.Streams, what string) cobra.PositionalArgs {
	return command.Spoken(streams, func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, and got %d arguments; see %s --help", c.CommandPath(), what, len(args), c.CommandPath())
		}
		return nil
	})
}

// atMostOne takes one argument, or none.
func atMostOne(streams command.Streams, what string) cobra.PositionalArgs {
	return command.Spoken(streams, func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes %s, and got %d arguments; see %s --help", c.CommandPath(), what, len(args), c.CommandPath())
		}
		return nil
	})
}

func (f *permissionsFlags) check() error {
	if err := f.output.Check(); err != nil {
		return err
	}
	return f.demand.check()
}

func (f *permissionsFlags) run(ctx context.Context, streams command.Streams, world World, name string) error {
	_, bundle, set, err := f.demand.set(ctx, streams, world, name)
	if err != nil {
		return err
	}
	if !isData(f.output) {
		tellSet(streams, set.Findings)
	}
	return f.print(streams, set, bundle)
}

// print prints a set, and says by its error that not all of it is known.
func (f *permissionsFlags) print(streams command.Streams, set permission.Set, bundle catalogue.Bundle) error {
	requests, known := set.Requests()
	var err error
	switch {
	case f.output.Format == policy:
		return printPolicy(streams, set, bundle)
	case f.output.Format == sentences, !known && f.output.IsForPeople():
		err = streams.Print(f.text(set, bundle))
	default:
		printed := command.Printed{Document: escaped{set}, Header: []string{"REQUEST", "CLOUD", "EFFECT", "ACTION", "RESOURCE", "CONDITION", "SENSITIVE"}, Rows: atomRows(set)}
		if len(requests) == 0 {
			printed.None = set.Sentences()[0].Text + "\n"
		}
		err = streams.PrintAs(f.output, printed)
	}
	if err == nil && (!known || set.Incomplete) {
		err = &command.Exit{Code: command.Found, What: set.Sentences()[0].Text}
	}
	return err
}

// printPolicy prints the policy of a role, of which nothing may be missing.
func printPolicy(streams command.Streams, set permission.Set, bundle catalogue.Bundle) error {
	requests, known := set.Requests()
	made := set.Policy()
	switch {
	case !known:
		return streams.Refuse(command.Found, fmt.Errorf("there is no policy to print: it is unknown what the operator asks the cloud for: %s", listing.WhyUnknown(set, bundle)))
	case len(requests) == 0 && !set.Incomplete:
		sayOn(streams.Err, "tabard: there is no policy to print: %s", set.Sentences()[0].Text)
		return nil
	case len(made.Documents) == 0:
		return streams.Refuse(command.Found, fmt.Errorf("there is no policy to print: nothing that can be read is asked of AWS"))
	}
	text := strings.TrimRight(made.Documents[0], "\n") + "\n"
	if len(made.Documents) > 1 {
		var all []json.RawMessage
		for _, one := range made.Documents {
			all = append(all, json.RawMessage(one))
		}
		list, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		text = string(list) + "\n"
		sayOn(streams.Err, "tabard: %s", made.Note)
	}
	if err := command.Write(command.Raw(streams.Out), text); err != nil {
		return err
	}
	if set.Incomplete {
		return streams.Refuse(command.Found, fmt.Errorf("the operator asks for more than this policy: parts of the source could not be read"))
	}
	return nil
}

// text is a set for people.
func (f *permissionsFlags) text(set permission.Set, bundle catalogue.Bundle) string {
	var out lines
	what := orDash(set.Package)
	if set.Version != "" {
		what += " " + set.Version
	}
	if set.CSV != "" {
		what += " (" + set.CSV + ")"
	}
	out.say("%s", what)
	out.sayPermissions(set, bundle, "")
	if _, known := set.Requests(); !known && f.requests == "" {
		out.say("If the author has CredentialsRequests elsewhere, get them and type:")
		out.say("  tabard operators permissions%s --requests PATH %s", f.flags(), line.Argument(set.Package))
	}
	return out.String()
}

// sayPermissions says what is asked for, and where that was read.
func (l *lines) sayPermissions(set permission.Set, bundle catalogue.Bundle, indent string) {
	requests, known := set.Requests()
	if known {
		l.say("%sSource: %s, %s", indent, set.Source, set.Certainty)
	}
	request := ""
	for _, s := range set.Sentences() {
		text := s.Text
		if len(s.Marks) > 0 {
			text += "   [sensitive: " + strings.Join(s.Marks, "; ") + "]"
		}
		if len(requests) > 1 && s.Request != "" && s.Request != request {
			request = s.Request
			l.say("%srequest %s", indent, request)
		}
		l.say("%s  - %s", indent, text)
	}
	if why := listing.WhyUnknown(set, bundle); why != "" {
		l.say("%s    %s.", indent, upper(why))
		l.sayInstructions(bundle)
	}
}

// atomRows are the atoms of a set for a table, those that are sensitive first.
func atomRows(set permission.Set) [][]string {
	atoms := set.Atoms()
	slices.SortStableFunc(atoms, func(a, b permission.Atom) int {
		return cmp.Compare(min(1, len(b.Marks())), min(1, len(a.Marks())))
	})
	var rows [][]string
	for _, a := range atoms {
		what := a.Action
		if a.Cloud != permission.AWS {
			what = string(a.Kind) + " " + a.Value
		}
		rows = append(rows, []string{a.Request, string(a.Cloud), orDash(a.Effect), what, orDash(a.Resource), orDash(string(a.Condition)), marks(a.Marks())})
	}
	return rows
}
