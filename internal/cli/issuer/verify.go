package issuer

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
)

// Verification is what a verification of an issuer has found.
type Verification struct {
	URL string `json:"url"`
	// Verified says that every check is OK.
	Verified bool         `json:"verified"`
	Checks   []core.Check `json:"checks"`
}

// Verify prints what anybody sees at an issuer's URL, and what that means for fresh tokens of the
// cluster (nil: it was not asked), as "table" or "json". The error has exit code 1 if a check
// failed or could not be done.
func Verify(streams command.Streams, url string, public core.Public, cluster *core.Cluster, output string) error {
	out := Verification{URL: url, Verified: true, Checks: core.Examine(url, public, cluster)}
	rows := [][]string{{"RESULT", "CHECKED", "SEEN"}}
	bad := 0
	for _, c := range out.Checks {
		if c.Result != core.CheckOK {
			bad++
		}
		rows = append(rows, []string{string(c.Result), c.What, c.Detail})
	}
	out.Verified = bad == 0
	var err error
	if output == "json" {
		err = streams.PrintJSON(out)
	} else {
		err = streams.Print(command.Table(rows))
	}
	if err == nil && !out.Verified {
		err = &command.Exit{Code: command.Found, What: fmt.Sprintf("%d of %d checks of %s are not OK", bad, len(out.Checks), url)}
	}
	return err
}
