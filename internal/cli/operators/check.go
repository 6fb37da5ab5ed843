package operators

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	core "github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/roledocuments"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/handoff/operator"
)

const checkLong = `Say whether a role is enough for what an operator asks for, before anything is installed: whether it
trusts each ServiceAccount for each audience, and whether its policies and its permissions boundary
allow each permission. The answer is Satisfied, Missing or Unknown, and Satisfied only where no doubt
is left. What the role allows beyond the request is listed. It is no failure.

The policies are read from AWS with your AWS session, which needs iam:GetRole,
iam:ListRolePolicies, iam:GetRolePolicy, iam:ListAttachedRolePolicies, iam:GetPolicy and
iam:GetPolicyVersion on the role. Or --role-documents names a directory with the outputs of these
calls by the AWS command line, one a file that ends in .json, or with that of "aws iam
get-account-authorization-details". The file of a get-policy-version is named after its policy.

Service control policies, resource control policies and session policies decide, too. They are not
seen from here.

Exit codes: 0 Satisfied; 1 Missing or Unknown; 2 the input cannot be used.`

type checkFlags struct {
	request, arn, reply, documents string
	output                         command.Output
}

func newCheck(streams command.Streams, world World) *cobra.Command {
	f := &checkFlags{}
	out := &cobra.Command{
		Use:   "check --request DIR (--role-arn ARN | --reply FILE)",
		Short: "Say whether a role is enough for what an operator asks for",
		Long:  checkLong,
		Example: `  tabard operators check --request out --role-arn arn:aws:iam::123456789012:role/my-operator
  tabard operators check --request out --role-arn arn:aws:iam::123456789012:role/my-operator --role-documents role/`,
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs(streams),
		RunE: command.Spoken(streams, func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(c.Context(), streams, world)
		}),
	}
	flags := out.Flags()
	flags.StringVar(&f.request, "request", "", "the `PATH` of the hand-off: its directory, or its request.json")
	flags.StringVar(&f.arn, "role-arn", "", "the `ARN` of the role")
	flags.StringVar(&f.reply, "reply", "", "the `FILE` with the reply to the request, a RoleReply, in place of --role-arn")
	flags.StringVar(&f.documents, "role-documents", "", "a `directory` with what the AWS command line printed of the role (default: read from AWS)")
	f.output.AddFlags(out)
	f.output.AddHeaderFlag(out)
	return out
}

func (f *checkFlags) check() error {
	switch {
	case f.request == "":
		return errors.New("--request is not set: it is the directory that tabard operators handoff wrote")
	case (f.arn == "") == (f.reply == ""):
		return errors.New("expected one of --role-arn and --reply, which say the role")
	}
	return f.output.Check()
}

func (f *checkFlags) run(ctx context.Context, streams command.Streams, world World) error {
	request, err := f.read(streams)
	if err != nil {
		return err
	}
	if cloud := request.Cloud(); cloud != permission.AWS {
		return streams.Refuse(command.Found, fmt.Errorf("it is unknown whether an identity of %s is enough: Tabard evaluates roles of AWS only. Compare it with what %s says", cloud, operator.ReadmeFile))
	}
	arn := f.arn
	if f.reply != "" {
		file := command.File{By: "--reply", Path: f.reply, Expected: "a RoleReply in JSON"}
		text, err := file.Read(streams.In)
		if err != nil {
			return err
		}
		reply, err := rolerequest.ReadReply(text, request)
		if err != nil {
			return file.Refuse(err)
		}
		arn = reply.RoleARN
	}
	if err := checkARN(arn, request); err != nil {
		return usage.Wrong(err)
	}
	documents, err := f.ofRole(ctx, streams, world, arn)
	if err != nil {
		return err
	}
	report := sufficiency.Check(sufficiency.Question{
		Issuer: request.Issuer, ProviderARN: request.ProviderARN(), Subjects: request.Subjects(), Audiences: request.Audiences(), Atoms: request.Permissions.Atoms(),
	}, documents)
	checked := roleCheck{Meta: command.MetaOf("RoleCheck"), RoleARN: arn, Digest: request.Digest(), Package: request.Permissions.Package, Version: request.Permissions.Version, Report: report}
	if err := f.print(streams, checked); err != nil {
		return err
	}
	if report.Verdict != sufficiency.Satisfied {
		return &command.Exit{Code: command.Found, What: checked.sentence()}
	}
	return nil
}

// read reads the request of a hand-off.
func (f *checkFlags) read(streams command.Streams) (rolerequest.Request, error) {
	file := command.File{By: "--request", Path: f.request, Expected: "the directory of a hand-off, or its " + operator.RequestFile}
	if about, err := os.Stat(f.request); err == nil && about.IsDir() {
		file.Path = filepath.Join(f.request, operator.RequestFile)
	}
	text, err := file.Read(streams.In)
	if err != nil {
		return rolerequest.Request{}, err
	}
	request, err := rolerequest.Read(text)
	if err != nil {
		return request, file.Refuse(err)
	}
	return request, nil
}

// checkARN refuses what is not the ARN of a role of the request's account.
func checkARN(arn string, request rolerequest.Request) error {
	provider, _ := identity.ParseARN(request.ProviderARN())
	_, err := core.ForAWS(arn, provider.Partition, request.Account)
	if errors.Is(err, core.ErrOtherAccount) {
		role, _ := identity.ParseRoleARN(arn)
		return fmt.Errorf("%w; if the role is the right one, write the hand-off anew with --account %s", err, role.Account)
	}
	return err
}

// ofRole reads the documents of the role.
func (f *checkFlags) ofRole(ctx context.Context, streams command.Streams, world World, arn string) (sufficiency.Documents, error) {
	if f.documents == "" {
		documents, err := world.RoleDocuments(ctx, arn)
		if err != nil {
			return documents, streams.Refuse(command.Found, fmt.Errorf("the role cannot be read: %w; --role-documents DIR takes what somebody else printed of it", err))
		}
		return documents, nil
	}
	return documentsIn(streams, f.documents, arn)
}

// documentsIn are the documents of a role by what the AWS command line printed of it.
func documentsIn(streams command.Streams, path, arn string) (sufficiency.Documents, error) {
	folder := command.File{By: "--role-documents", Path: path, Expected: "a directory with outputs of aws iam in JSON"}
	files, err := requestFolder(path)
	if err != nil {
		return sufficiency.Documents{}, folder.Refuse(err)
	}
	var outputs []roledocuments.File
	for _, file := range files {
		outputs = append(outputs, roledocuments.File{Name: file.Name, Text: file.Text})
	}
	documents, notes, err := roledocuments.Read(arn, outputs)
	for _, note := range notes {
		sayOn(streams.Err, "tabard: %s", note)
	}
	if err != nil {
		return documents, folder.Refuse(err)
	}
	return documents, nil
}

// roleCheck is the answer for programs.
type roleCheck struct {
	command.Meta `json:",inline"`
	Package      string `json:"package"`
	Version      string `json:"version,omitempty"`
	RoleARN      string `json:"roleARN"`
	// Digest is that of the request.
	Digest             string `json:"digest"`
	sufficiency.Report `json:",inline"`
}

func (c roleCheck) sentence() string {
	what := strings.TrimSpace(c.Package + " " + c.Version)
	switch c.Verdict {
	case sufficiency.Satisfied:
		return "the role is enough for " + what
	case sufficiency.Missing:
		return "the role is not enough for " + what
	}
	return "it is unknown whether the role is enough for " + what
}

func (f *checkFlags) print(streams command.Streams, c roleCheck) error {
	printed := command.Printed{Document: escaped{c}}
	if f.output.IsForPeople() {
		printed.Text = func() string { return f.text(c) }
	}
	return streams.PrintAs(f.output, printed)
}

// text is the answer for people.
func (f *checkFlags) text(c roleCheck) string {
	var out lines
	out.say("%s: %s.", c.Verdict, c.sentence())
	out.say("Role: %s", c.RoleARN)
	out.WriteString("\n")
	rows := [][]string{{"RESULT", "WHAT", "WHY"}}
	if f.output.NoHeaders {
		rows = nil
	}
	for _, t := range c.Trust {
		rows = append(rows, []string{string(t.Result), t.Subject + " for " + t.Audience, orDash(t.Why)})
	}
	for _, p := range c.Permissions {
		rows = append(rows, []string{string(p.Result), p.Sentence(), orDash(p.Why)})
	}
	out.WriteString(command.Table(rows))
	for _, part := range []struct {
		what string
		all  []string
	}{{"Warnings", c.Warnings}, {"Broader than asked", c.Broader}} {
		if len(part.all) > 0 {
			out.WriteString("\n")
			out.say("%s:", part.what)
		}
		for _, one := range part.all {
			out.say("  - %s", one)
		}
	}
	out.WriteString("\n")
	out.say("Not seen: %s.", strings.Join(c.NotSeen, ", "))
	return out.String()
}
