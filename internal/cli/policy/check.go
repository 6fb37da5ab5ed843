package policy

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

// kinds are the values of --kind.
var kinds = []iampolicy.Kind{
	iampolicy.IdentityPolicy, iampolicy.ResourcePolicy, iampolicy.TrustPolicy,
	iampolicy.BoundaryPolicy, iampolicy.SessionPolicy, iampolicy.ManagedPolicy,
}

// codeTooLarge is the finding of a document beyond AWS's quota.
const codeTooLarge iampolicy.Code = "TooLarge"

// maxDocument bounds what is read of one file: far more than AWS takes.
const maxDocument = 1 << 20

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
	Unusable string    `json:"unusable,omitempty"`
	Findings []finding `json:"findings"`
	// Room is how much of AWS's quota the document uses, of several the largest.
	Room *iampolicy.Room `json:"room,omitempty"`
}

// finding is one mistake.
type finding struct {
	Line     int                `json:"line"`
	Column   int                `json:"column"`
	Code     iampolicy.Code     `json:"code"`
	Severity iampolicy.Severity `json:"severity"`
	Message  string             `json:"message"`
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
	case !slices.Contains(kinds, r.kind):
		return fmt.Errorf("--kind is %q; it must be one of %s", r.kind, kindNames())
	case !slices.Contains(formats, r.format):
		return fmt.Errorf("-o is %q; it must be text, json or sarif", r.format)
	case r.failOn != iampolicy.SeverityError && r.failOn != iampolicy.SeverityWarning:
		return fmt.Errorf("--fail-on is %q; it must be error or warning", r.failOn)
	case r.lint.RoleARN != "" && r.kind != iampolicy.TrustPolicy:
		return errors.New("--role-arn is for trust policies only; add --kind trust")
	case r.lint.RoleARN != "" && !roleARN.MatchString(r.lint.RoleARN):
		return fmt.Errorf("--role-arn is %q; it must be the ARN of a role, such as arn:aws:iam::123456789012:role/NAME", r.lint.RoleARN)
	default:
		return nil
	}
}

// roleARN is the form of a role's ARN, with or without a path (AWS: IAM identifiers).
var roleARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:role/[\x21-\x7e]+$`)

// formats are the values of -o.
var formats = []string{"text", "json", "sarif"}

// kindNames lists the kinds for people.
func kindNames() string {
	names := make([]string, 0, len(kinds))
	for _, kind := range kinds {
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
	one := checked{File: file, Findings: []finding{}}
	content, err := read(streams, file)
	if err != nil {
		one.Unusable = err.Error()
		return one
	}
	for _, document := range documents(asked.kind, newSource(content), maxNesting) {
		if !one.add(asked, document) {
			one.Unusable = file + " is no JSON document"
		}
	}
	slices.SortStableFunc(one.Findings, func(a, b finding) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return one
}

// add finds the mistakes of one policy of the file. false: it is not JSON.
func (c *checked) add(asked *request, document source) bool {
	found, readable := mistakes(asked, document.text)
	if room, err := iampolicy.RoomIn(asked.kind.Quota(), document.text); err == nil && readable {
		if c.Room == nil || room.Left < c.Room.Left {
			c.Room = &room
		}
		if room.Left < 0 {
			found = append(found, tooLarge(room))
		}
	}
	document.locate(found)
	for _, f := range found {
		c.Findings = append(c.Findings, finding{f.Line, f.Column, f.Code, f.Code.Severity(), f.Message})
	}
	return readable
}

// read reads a document.
func read(streams command.Streams, file string) ([]byte, error) {
	in, err := open(streams, file, "a policy document in JSON")
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was only read
	document, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(document) > maxDocument {
		return nil, fmt.Errorf("%s is larger than %d bytes; no policy is", file, maxDocument)
	}
	return document, nil
}

// mistakes returns what is wrong with a document. readable says that it is JSON
// at all, so that the list is complete.
func mistakes(asked *request, document []byte) (found iampolicy.Errors, readable bool) {
	policy, err := iampolicy.Parse(document)
	found, _ = errors.AsType[iampolicy.Errors](err)
	if policy == nil {
		return found, !found.Has(iampolicy.CodeInvalidJSON) && !found.Has(iampolicy.CodeInvalidEncoding) && !found.Has(iampolicy.CodeTooDeep)
	}
	// What cannot be read is missing too, and saying so twice helps nobody.
	type place struct{ line, column int }
	known := map[place]bool{}
	for _, one := range found {
		known[place{one.Line, one.Column}] = true
	}
	invalid, _ := errors.AsType[iampolicy.Errors](policy.Validate(asked.kind))
	found = slices.Clip(found)
	for _, one := range invalid {
		if !known[place{one.Line, one.Column}] {
			found = append(found, one)
		}
	}
	odd, _ := errors.AsType[iampolicy.Errors](policy.Lint(asked.kind, asked.lint))
	return append(found, odd...), true
}

// tooLarge is the finding of a document that a quota does not hold.
func tooLarge(room iampolicy.Room) *iampolicy.Error {
	text := fmt.Sprintf("the document counts %d against the quota of %d for %s policies; shorten it by %d", room.Used, room.Limit, room.Quota, -room.Left)
	if room.Quota == iampolicy.TrustQuota {
		text += ", or have AWS raise the account's quota, to 4096 at most"
	}
	return &iampolicy.Error{Line: 1, Column: 1, Code: codeTooLarge, Message: text}
}
