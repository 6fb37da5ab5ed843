package app

import (
	"debug/elf"
	"os"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheProgramKeepsOnlyWhatItCalls: where methods are called by their names, as
// text/template does, the linker keeps all of them, and the program is twice as large.
func TestTheProgramKeepsOnlyWhatItCalls(t *testing.T) {
	t.Parallel()
	program := must.Get(elf.Open(os.Getenv("TABARD_BIN")))(t)
	defer program.Close() //nolint:errcheck // nothing was written
	calls := map[string]bool{}
	for _, symbol := range must.Get(program.Symbols())(t) {
		if name, is := strings.CutPrefix(symbol.Name, "github.com/aws/aws-sdk-go-v2/service/ec2.(*Client)."); is {
			calls[name] = true
		}
	}
	if !calls["DescribeInstanceTypes"] || calls["CreateVpc"] {
		t.Errorf("the program has %d methods of EC2's client, want DescribeInstanceTypes and few more: see internal/cli/command.AddVersion", len(calls))
	}
}
