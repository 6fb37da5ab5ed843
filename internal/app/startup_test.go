package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// limits are of what is allocated before main, in bytes. Most of it is that of
// others' packages, which a program cannot do without once they are in it; ours
// do nothing until they are asked.
type limits struct{ all, own int }

// initLine is what the runtime tells of one package with GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes, \d+ allocs$`)

// TestAProcessDoesNotPayForTheOthers: starting the webhook initialises nothing
// of what the other commands need, and its own program has little else.
func TestAProcessDoesNotPayForTheOthers(t *testing.T) {
	tabard := os.Getenv("TABARD_BIN")
	if tabard == "" {
		t.Fatal("TABARD_BIN is not set: run make test, or make build and set it to bin/tabard")
	}
	for program, most := range map[string]limits{tabard: {5 << 20, 160 << 10}, tabard + "-webhook": {1 << 20, 64 << 10}} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			command := exec.CommandContext(t.Context(), program, "webhook", "--help")
			command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
			var trace strings.Builder
			command.Stderr = &trace
			if err := command.Run(); err != nil {
				t.Fatalf("%v: %s", err, trace.String())
			}
			lines := initLine.FindAllStringSubmatch(trace.String(), -1)
			if len(lines) < 50 {
				t.Fatalf("%d packages told of, expected hundreds: %s", len(lines), trace.String())
			}
			total, own := 0, 0
			for _, line := range lines {
				size := must.Get(strconv.Atoi(line[2]))(t)
				total += size
				if strings.HasPrefix(line[1], "github.com/tabard-dev/") {
					own += size
					t.Logf("%7d %s", size, line[1])
				}
			}
			if total > most.all || own > most.own {
				t.Errorf("before main %d bytes are allocated, %d of them by packages of ours (listed above); want at most %d and %d: compile and build on first use (sync.OnceValue)",
					total, own, most.all, most.own)
			}
		})
	}
}
