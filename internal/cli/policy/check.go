package policy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/iampolicy"
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

// newCheck returns the command "policy check".
func newCheck(s streams) *cobra.Command {
	var kind string
	command := &cobra.Command{
		Use:   "check FILE...",
		Short: "Report every mistake in policy documents",
		Long: "Prints FILE:LINE:COLUMN: CODE: SENTENCE for each mistake. \"-\" is the standard input.\n" +
			"Exit code 0: no mistakes. 1: findings. 2: a file that cannot be read or is not JSON.",
		Example: "  tabard policy check --kind trust trust.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(kinds, iampolicy.Kind(kind)) {
				return s.unusable("--kind is %q; it must be one of %s", kind, kindNames())
			}
			return s.check(iampolicy.Kind(kind), args)
		},
	}
	command.Flags().StringVar(&kind, "kind", string(iampolicy.IdentityPolicy), "the documents' `kind`: "+kindNames())
	return command
}

// kindNames lists the kinds for people.
func kindNames() string {
	names := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// check goes through all files, whatever is wrong with one of them.
func (s streams) check(kind iampolicy.Kind, files []string) error {
	count := 0
	var unusable error
	for _, file := range files {
		document, err := s.read(file)
		if err != nil {
			unusable = s.unusable("%v", err)
			continue
		}
		findings, readable := inspect(kind, document)
		if !readable {
			unusable = &exit{code: exitUnusable, what: file + " is no policy document"}
		}
		count += len(findings)
		for _, f := range findings {
			if _, err := fmt.Fprintf(s.out, "%s:%d:%d: %s: %s\n", file, f.Line, f.Column, f.Code, f.Message); err != nil {
				return fmt.Errorf("write the findings: %w", err)
			}
		}
	}
	switch {
	case unusable != nil:
		return unusable
	case count > 0:
		return &exit{code: exitFindings, what: fmt.Sprintf("findings: %d", count)}
	default:
		return nil
	}
}

// read reads a document.
func (s streams) read(file string) ([]byte, error) {
	in, err := s.open(file)
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

// inspect returns all mistakes by place. readable says that the document is
// JSON at all, so that the list is complete.
func inspect(kind iampolicy.Kind, document []byte) (findings iampolicy.Errors, readable bool) {
	policy, err := iampolicy.Parse(document)
	parsed, _ := errors.AsType[iampolicy.Errors](err)
	if policy == nil && (parsed.Has(iampolicy.CodeInvalidJSON) || parsed.Has(iampolicy.CodeInvalidEncoding) || parsed.Has(iampolicy.CodeTooDeep)) {
		return parsed, false
	}
	findings = slices.Clone(parsed)
	if policy != nil {
		invalid, _ := errors.AsType[iampolicy.Errors](policy.Validate(kind))
		for _, one := range invalid {
			if !isKnown(parsed, one) {
				findings = append(findings, one)
			}
		}
	}
	if tooLarge := measure(kind, document); tooLarge != nil {
		findings = append(findings, tooLarge)
	}
	slices.SortStableFunc(findings, func(a, b *iampolicy.Error) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return findings, true
}

// isKnown says that something at the same place was found already: what cannot
// be read is missing too, and saying so twice helps nobody.
func isKnown(parsed iampolicy.Errors, one *iampolicy.Error) bool {
	return slices.ContainsFunc(parsed, func(known *iampolicy.Error) bool {
		return known.Line == one.Line && known.Column == one.Column
	})
}

// measure compares a document's size with AWS's quota.
func measure(kind iampolicy.Kind, document []byte) *iampolicy.Error {
	room, err := iampolicy.RoomIn(kind.Quota(), document)
	if err != nil || room.Left >= 0 {
		return nil
	}
	return &iampolicy.Error{Line: 1, Column: 1, Code: codeTooLarge,
		Message: fmt.Sprintf("the document counts %d against the quota of %d for %s policies; shorten it by %d", room.Used, room.Limit, room.Quota, -room.Left)}
}
