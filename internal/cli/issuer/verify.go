package issuer

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Verification is what a verification of an issuer has found.
type Verification struct {
	command.Meta `json:",inline"`

	URL string `json:"url"`
	// Verified says that every check is OK.
	Verified bool         `json:"verified"`
	Checks   []core.Check `json:"checks"`
}

// Verify prints what anybody sees at an issuer's URL, and what that means for fresh tokens of the
// cluster (nil: it was not asked). The error has exit code 1 if a check
// failed or could not be done.
func Verify(streams command.Streams, url string, public core.Public, cluster *core.Cluster, output command.Output) error {
	out := Verification{Meta: command.MetaOf("IssuerVerification"), URL: url, Verified: true, Checks: core.Examine(url, public, cluster)}
	rows := [][]string{}
	bad := 0
	for _, c := range out.Checks {
		if c.Result != core.CheckOK {
			bad++
		}
		rows = append(rows, []string{string(c.Result), c.What, c.Detail})
	}
	out.Verified = bad == 0
	err := streams.PrintAs(output, command.Printed{Document: out, Header: []string{"RESULT", "CHECKED", "SEEN"}, Rows: rows})
	if err == nil && !out.Verified {
		err = &command.Exit{Code: command.Found, What: fmt.Sprintf("%d of %d checks of %s are not OK", bad, len(out.Checks), url)}
	}
	return err
}
