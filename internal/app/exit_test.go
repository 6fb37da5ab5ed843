package app

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/lab"
)

func TestExitCode(t *testing.T) {
	cases := map[string]struct {
		err  error
		want int
		says string
	}{
		"success says nothing":                       {},
		"a refusal is 1":                             {err: errors.New("no"), want: 1, says: "tabard: no\n"},
		"unusable input is 2":                        {err: fmt.Errorf("so: %w", usageError{errors.New("no")}), want: 2, says: "tabard: so: no\n"},
		"a command's own code is passed on silently": {err: &lab.Exit{Code: 7}, want: 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			if got := exitCode(&stderr, tc.err); got != tc.want || stderr.String() != tc.says {
				t.Errorf("exit code %d, said %q; want %d and %q", got, stderr.String(), tc.want, tc.says)
			}
		})
	}
}
