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
	// Room is how much of AWS's quota the document uses.
	Room *iampolicy.Room `json:"room,omitempty"`
}

// finding is one mistake.
type finding struct {
	Line    int            `json:"line"`
	Column  int            `json:"column"`
	Code    iampolicy.Code `json:"code"`
	Message string         `json:"message"`
}

// newCheck returns the command "policy check".
func newCheck(streams command.Streams) *cobra.Command {
	var kind, format string
	var asSARIF bool
	check := &cobra.Command{
		Use:   "check FILE...",
		Short: "Report every mistake in policy documents",
		Long: `Prints FILE:LINE:COLUMN: CODE: SENTENCE for each mistake: what is no policy, what
AWS refuses when a policy of the kind is written, and a document over AWS's quota.
With --kind trust also what AWS takes, but lets in more than it looks, or nobody: an
OIDC provider without a condition on :sub or :aud, a star that is compared letter by
letter, a condition key that no token has. "-" is the standard input.

Exit code 0: no mistakes. 1: findings. 2: a file that cannot be read or is not JSON.`,
		Example: `  tabard policy check policies/*.json
  tabard policy check --kind trust -o json trust.json
  tabard policy check --kind trust --sarif trust.json > tabard.sarif
  aws iam get-role --role-name app --query Role.AssumeRolePolicyDocument | tabard policy check --kind trust -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(kinds, iampolicy.Kind(kind)) {
				return streams.Unusable(fmt.Errorf("--kind is %q; it must be one of %s", kind, kindNames()))
			}
			if asSARIF {
				format = "sarif"
			}
			if !slices.Contains(formats, format) {
				return streams.Unusable(fmt.Errorf("-o is %q; it must be text, json or sarif", format))
			}
			return checkAll(streams, iampolicy.Kind(kind), format, args)
		},
	}
	check.Flags().StringVar(&kind, "kind", string(iampolicy.IdentityPolicy), "the documents' `kind`: "+kindNames())
	check.Flags().StringVarP(&format, "output", "o", "text", "the output's `format`: text, json for programs, or sarif for code hosts")
	check.Flags().BoolVar(&asSARIF, "sarif", false, "the same as -o sarif")
	return check
}

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
func checkAll(streams command.Streams, kind iampolicy.Kind, format string, files []string) error {
	r := report{APIVersion: "tabard.dev/v1alpha1", Kind: "PolicyCheck", PolicyKind: kind, Files: []checked{}}
	count := 0
	var unusable error
	for _, file := range files {
		one := inspect(streams, kind, file)
		if one.Unusable != "" {
			unusable = streams.Unusable(errors.New(one.Unusable))
		}
		count += len(one.Findings)
		r.Files = append(r.Files, one)
	}
	if err := r.write(streams, format); err != nil {
		return err
	}
	switch {
	case unusable != nil:
		return unusable
	case count > 0:
		return &command.Exit{Code: command.Found, What: fmt.Sprintf("findings: %d", count)}
	default:
		return nil
	}
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
			fmt.Fprintf(&lines, "%s:%d:%d: %s: %s\n", one.File, f.Line, f.Column, f.Code, f.Message)
		}
	}
	return streams.Print(lines.String())
}

// inspect reads a file and finds its mistakes.
func inspect(streams command.Streams, kind iampolicy.Kind, file string) checked {
	one := checked{File: file, Findings: []finding{}}
	document, err := read(streams, file)
	if err != nil {
		one.Unusable = err.Error()
		return one
	}
	found, readable := mistakes(kind, document)
	if !readable {
		one.Unusable = file + " is no JSON document"
	}
	if room, err := iampolicy.RoomIn(kind.Quota(), document); err == nil && readable {
		one.Room = &room
		if room.Left < 0 {
			found = append(found, tooLarge(room))
		}
	}
	slices.SortStableFunc(found, func(a, b *iampolicy.Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	for _, f := range found {
		one.Findings = append(one.Findings, finding{f.Line, f.Column, f.Code, f.Message})
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
func mistakes(kind iampolicy.Kind, document []byte) (found iampolicy.Errors, readable bool) {
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
	invalid, _ := errors.AsType[iampolicy.Errors](policy.Validate(kind))
	found = slices.Clip(found)
	for _, one := range invalid {
		if !known[place{one.Line, one.Column}] {
			found = append(found, one)
		}
	}
	odd, _ := errors.AsType[iampolicy.Errors](policy.Lint(kind))
	return append(found, odd...), true
}

// tooLarge is the finding of a document that a quota does not hold.
func tooLarge(room iampolicy.Room) *iampolicy.Error {
	return &iampolicy.Error{Line: 1, Column: 1, Code: codeTooLarge,
		Message: fmt.Sprintf("the document counts %d against the quota of %d for %s policies; shorten it by %d", room.Used, room.Limit, room.Quota, -room.Left)}
}
