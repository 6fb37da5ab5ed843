package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// pause is between two looks.
const pause = 2 * time.Second

// Until looks until nothing is missing, or until timeout leaves no time for another look: what is
// missing then is returned. While it waits it says what is, each time that it changes. An error of
// a look ends it, and so does the end of ctx.
func Until(ctx context.Context, to io.Writer, timeout time.Duration, look func(context.Context) (missing []string, err error)) ([]string, error) {
	end, said := time.Now().Add(timeout), ""
	for {
		missing, err := look(ctx)
		if err != nil {
			return nil, err
		}
		if len(missing) == 0 || time.Now().Add(pause).After(end) {
			return missing, nil
		}
		if text := Indented(missing); text != said {
			// With the stream gone there is nobody to tell.
			_, _ = fmt.Fprintf(to, "waiting:\n%s\n", text)
			said = text
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Indented is a list below a line that says what it is, one a line.
func Indented(list []string) string { return "  " + strings.Join(list, "\n  ") }
