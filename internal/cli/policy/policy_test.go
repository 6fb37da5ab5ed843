package policy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// result is what a command did.
type result struct {
	code        int
	out, errOut string
}

// run runs "policy" with arguments.
func run(t *testing.T, in string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	policy := New(command.Streams{In: strings.NewReader(in), Out: &out, Err: &errOut})
	policy.SetArgs(args)
	policy.SetOut(&out)
	policy.SetErr(&errOut)
	err := policy.ExecuteContext(t.Context())
	r := result{out: out.String(), errOut: errOut.String()}
	if said, ok := errors.AsType[*command.Exit](err); ok {
		r.code = said.ExitCode()
	} else if err != nil {
		t.Fatalf("policy %v: %v, which has no exit code of its own", args, err)
	}
	return r
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestHelpTeaches(t *testing.T) {
	for command, wants := range map[string][]string{
		"check": {"FILE:LINE:COLUMN", "--kind", "Exit code 0", "Examples:"},
		"eval":  {`"identityPolicies": [{`, "roleArn", "--ndjson", "Exit code 0", "Examples:"},
	} {
		got := run(t, "", command, "--help")
		for _, want := range wants {
			if !strings.Contains(got.out, want) {
				t.Errorf("%s --help does not say %q:\n%s", command, want, got.out)
			}
		}
	}
}
