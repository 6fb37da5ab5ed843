package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// TestTheCommandsThatFindingsPrintAreKnown: each is one of the program's, and takes the arguments and
// flags that are printed. A word in upper case is what a person fills in.
func TestTheCommandsThatFindingsPrintAreKnown(t *testing.T) {
	command := regexp.MustCompile("\"(tabard [a-z][^\"`]*)\"")
	checked := 0
	for _, pattern := range []string{"internal/core/chain/*.go", "internal/core/decode/*.go"} {
		for _, path := range must.Get(filepath.Glob(filepath.Join(testkit.Root(), pattern)))(t) {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, found := range command.FindAllSubmatch(must.Get(os.ReadFile(path))(t), -1) {
				words := strings.Fields(string(found[1]))[1:]
				if strings.HasSuffix(string(found[1]), " ") {
					words = append(words, "NAME") // the rest is put together
				}
				root := rootCommand("tabard", local.Commands())
				c, rest, err := root.Find(words)
				if err != nil || c == root {
					t.Errorf("%s: there is no %q (%v)", filepath.Base(path), found[1], err)
					continue
				}
				checked++
				err = c.ParseFlags(rest)
				if err == nil && c.Args != nil && !c.Flags().Changed("help") {
					c.SilenceErrors = true
					err = c.Args(c, c.Flags().Args())
				}
				if err != nil && !strings.Contains(err.Error(), "help requested") {
					t.Errorf("%s: %q: %v", filepath.Base(path), found[1], err)
				}
			}
		}
	}
	if checked < 8 {
		t.Errorf("%d commands were found, want those of both packages", checked)
	}
}
