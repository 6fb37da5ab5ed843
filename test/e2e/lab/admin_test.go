package lab_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// checkAdminAPI runs what docs/lab.md tells a person to type at a shell who has the
// lab's environment, and the same without its secret.
func (bench *bench) checkAdminAPI() {
	bench.t.Helper()
	page := must.Get(os.ReadFile(filepath.Join(testkit.Root(), "docs", "lab.md")))(bench.t)
	blocks := testkit.Blocks(string(page), "bash")
	if len(blocks) != 1 || !strings.Contains(blocks[0], "/_awslocal/clock") {
		bench.t.Fatalf("docs/lab.md has %d commands that ask the admin API, want one", len(blocks))
	}
	environment := bench.must("env")
	for _, test := range []struct {
		before, want string
		fails        bool
	}{
		{"", `"tokenOffset":"2h0m0s"`, false},
		{"AWSLOCAL_ADMIN_TOKEN=guessed", "tabard lab env", true},
		{"AWSLOCAL_ADMIN_TOKEN=", "tabard lab env", true},
	} {
		command := exec.CommandContext(bench.t.Context(), "bash", "-euo", "pipefail", "-c", environment+test.before+"\n"+blocks[0]+"\n"+blocks[0])
		said, err := command.CombinedOutput()
		if (err != nil) != test.fails || !strings.Contains(string(said), test.want) {
			bench.t.Errorf("after %q the page's command says %s, %v; want %q", test.before, said, err, test.want)
		}
	}
}
