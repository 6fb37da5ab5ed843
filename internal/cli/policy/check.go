package policy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/policycheck"
)

// report is what -o json prints.
type report struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	PolicyKind iampolicy.Kind `json:"policyKind"`
	Files      []checked      `json:"files"`
}

// checked is what became of one file.
type checked struct {
	File string `json:"file"`
	// Unusable says why there is no document to look at; empty if there is.
	Unusable string `json:"unusable,omitempty"`
	policycheck.Checked
}

// request is what the flags say.
type request struct {
	kind   iampolicy.Kind
	format string
	// failOn is the least severity that makes the exit code 1.
	failOn iampolicy.Severity
	lint   iampolicy.LintOptions
}

// newCheck returns the command "policy check".
func newCheck(streams command.Streams) *cobra.Command {
	var asked request
	var kind, failOn string
	var asSARIF bool
	check := &cobra.Command{
		Use:   "check FILE...",
		Short: "Report every mistake in policy documents",
		Long: `Prints FILE:LINE:COLUMN: CODE: SENTENCE for each mistake: JSON that is no policy,
a policy of the kind that AWS refuses, and a document over AWS's quota.
It warns of ForAllValues in an Allow, which also holds for a request without the key.
With --kind trust it also finds what AWS accepts and the author did not mean, such as an
OIDC provider without a condition on :sub, a star under StringEquals, or a condition key
that no token has. Some of these findings are warnings.

A file may also be a list of policies, a URL-encoded policy as the API of IAM returns it,
or the answer to get-role, list-roles or get-policy-version. "-" is the standard input.
Where nothing is found, a line on the standard error says so.

Exit code 0: no errors. 1: errors, or with --fail-on warning also warnings. 2: a file
that cannot be read or is not JSON.`,
		Example: `  tabard policy check policies/*.json
  tabard policy check --kind trust -o json trust.json
  tabard policy check --kind trust --sarif trust.json > tabard.sarif
  aws iam get-role --role-name app --query Role.AssumeRolePolicyDocument | tabard policy check --kind trust -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			asked.kind, asked.failOn = iampolicy.Kind(kind), iampolicy.Severity(failOn)
			if asSARIF {
				asked.format = "sarif"
			}
			if err := asked.check(); err != nil {
				return streams.Unusable(err)
			}
			return checkAll(streams, asked, args)
		},
	}
	flags := check.Flags()
	flags.StringVar(&kind, "kind", string(iampolicy.IdentityPolicy), "the documents' `kind`: "+kindNames())
	flags.StringVarP(&asked.format, "output", "o", "text", "the output's `format`: text, json for programs, or sarif for code hosts")
	flags.BoolVar(&asSARIF, "sarif", false, "the same as -o sarif")
	flags.StringVar(&failOn, "fail-on", string(iampolicy.SeverityError), "the least `severity` that makes the exit code 1: error or warning")
	flags.StringVar(&asked.lint.RoleARN, "role-arn", "", "the `ARN` of the role that has the trust policy; the OIDC providers must be in its account and partition")
	return check
}

// check refuses values that no flag has.
func (r *request) check() error {
	switch {
	case !slices.Contains(policycheck.Kinds(), r.kind):
		return fmt.Errorf("--kind is %q; it must be one of %s", r.kind, kindNames())
	case !slices.Contains(formats, r.format):
		return fmt.Errorf("-o is %q; it must be text, json or sarif", r.format)
	case r.failOn != iampolicy.SeverityError && r.failOn != iampolicy.SeverityWarning:
		return fmt.Errorf("--fail-on is %q; it must be error or warning", r.failOn)
	case r.lint.RoleARN != "" && r.kind != iampolicy.TrustPolicy:
		return errors.New("--role-arn is for trust policies only; add --kind trust")
	case r.lint.RoleARN != "" && !policycheck.IsRoleARN(r.lint.RoleARN):
		return fmt.Errorf("--role-arn is %q; it must be the ARN of a role, such as arn:aws:iam::123456789012:role/NAME", r.lint.RoleARN)
	default:
		return nil
	}
}

// formats are the values of -o.
var formats = []string{"text", "json", "sarif"}

// kindNames lists the kinds for people.
func kindNames() string {
	var names []string
	for _, kind := range policycheck.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// checkAll goes through all files, whatever is wrong with one of them.
func checkAll(streams command.Streams, asked request, files []string) error {
	r := report{APIVersion: "tabard.dev/v1alpha1", Kind: "PolicyCheck", PolicyKind: asked.kind, Files: []checked{}}
	count := 0
	var unusable error
	for _, file := range files {
		one := inspect(streams, &asked, file)
		if one.Unusable != "" {
			unusable = streams.Unusable(errors.New(one.Unusable))
		}
		for _, f := range one.Findings {
			if f.Severity == iampolicy.SeverityError || asked.failOn == iampolicy.SeverityWarning {
				count++
			}
		}
		r.Files = append(r.Files, one)
	}
	if err := r.write(streams, asked.format); err != nil {
		return err
	}
	switch {
	case unusable != nil:
		return unusable
	case count > 0:
		return &command.Exit{Code: command.Found, What: fmt.Sprintf("findings: %d", count)}
	case asked.format == "text" && r.isClean():
		return command.Write(streams.Err, r.nothing())
	default:
		return nil
	}
}

// isClean says that there is no finding, warnings neither.
func (r *report) isClean() bool {
	return !slices.ContainsFunc(r.Files, func(one checked) bool { return len(one.Findings) > 0 })
}

// nothing is what a person is told of files without a finding. Programs read the findings from the
// standard output, which stays empty.
func (r *report) nothing() string {
	if len(r.Files) == 1 {
		return fmt.Sprintf("%s: nothing found (kind %s)\n", r.Files[0].File, r.PolicyKind)
	}
	return fmt.Sprintf("%d files: nothing found (kind %s)\n", len(r.Files), r.PolicyKind)
}

// write prints the report: a line for each finding, or all of it as JSON.
func (r *report) write(streams command.Streams, format string) error {
	switch format {
	case "json":
		return streams.PrintJSON(r)
	case "sarif":
		return streams.PrintJSON(r.sarif())
	}
	var lines strings.Builder
	for _, one := range r.Files {
		for _, f := range one.Findings {
			code := string(f.Code)
			if f.Severity == iampolicy.SeverityWarning {
				code = "warning: " + code
			}
			fmt.Fprintf(&lines, "%s:%d:%d: %s: %s\n", one.File, f.Line, f.Column, code, f.Message)
		}
	}
	return streams.Print(lines.String())
}

// inspect reads a file and finds its mistakes.
func inspect(streams command.Streams, asked *request, file string) checked {
	one := checked{File: file, Checked: policycheck.Checked{Findings: []policycheck.Finding{}}}
	content, err := read(streams, file)
	if err != nil {
		one.Unusable = err.Error()
		return one
	}
	isJSON := false
	if one.Checked, isJSON = policycheck.Check(asked.kind, asked.lint, content); !isJSON {
		one.Unusable = file + " is no JSON document"
	}
	return one
}

// read reads a document.
func read(streams command.Streams, file string) ([]byte, error) {
	in, err := open(streams, file, "a policy document in JSON")
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was only read
	document, err := io.ReadAll(io.LimitReader(in, policycheck.Longest+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(document) > policycheck.Longest {
		return nil, fmt.Errorf("%s is larger than %d bytes; no policy is", file, policycheck.Longest)
	}
	return document, nil
}
