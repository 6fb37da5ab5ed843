package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const inventoryFile = "testdata/inventory.txt"

// inventory is what the file of that name says: how often each piece is there, how many
// blocks of a mark the test of a whole page types, and the tests that type something.
type inventory struct {
	pieces map[string]int
	whole  map[string]int
	tests  []string
	typed  map[string][]string // by test
}

var (
	wholePage = regexp.MustCompile(`^(\S+): all (\d+) blocks of (\w+)$`)
	onePiece  = regexp.MustCompile(`^(\S.*?(?:\.md| --help)): \S`)
)

// readInventory refuses pieces that come before a heading, and lines that it does not know.
func readInventory(text string) (inventory, error) {
	read := inventory{pieces: map[string]int{}, whole: map[string]int{}, typed: map[string][]string{}}
	headed, test := false, ""
	for line := range strings.SplitSeq(text, "\n") {
		entry, isEntry := strings.CutPrefix(line, "  ")
		by, isTest := strings.CutPrefix(strings.Replace(line, "typed once by ", "typed twice by ", 1), "typed twice by ")
		reason, isReason := strings.CutPrefix(line, "not typed: ")
		whole := wholePage.FindStringSubmatch(entry)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isEntry && !headed:
			return read, fmt.Errorf("%q has no heading above it", entry)
		case isEntry && whole != nil:
			count := 0
			if _, err := fmt.Sscan(whole[2], &count); err != nil {
				return read, fmt.Errorf("%q: %w", entry, err)
			}
			read.whole[whole[1]+" "+whole[3]] = count
		case isEntry && onePiece.MatchString(entry):
			read.pieces[entry]++
			read.typed[test] = append(read.typed[test], entry)
		case isTest:
			read.tests, headed, test = append(read.tests, by), true, by
		case isReason && reason != "":
			headed, test = true, ""
		default:
			return read, fmt.Errorf("%q is not %q, %q, %q, or an indented %q", line, "typed twice by FOLDER TEST", "typed once by FOLDER TEST", "not typed: REASON", "SOURCE: FIRST LINE")
		}
	}
	return read, nil
}

// missing compares the inventory with what there is: pieces that are in one and not in the
// other, and pages with another number of blocks.
func (i inventory) missing(found []piece) string {
	pieces, whole := map[string]int{}, map[string]int{}
	for _, p := range found {
		if _, is := i.whole[p.source+" "+p.mark]; is {
			whole[p.source+" "+p.mark]++
		} else {
			pieces[p.String()]++
		}
	}
	return cmp.Diff(i.pieces, pieces) + cmp.Diff(i.whole, whole)
}

// TestEachCommandIsTypedOrHasAReason finds each block of the pages and each line of the
// help texts in the inventory, and nothing else there.
func TestEachCommandIsTypedOrHasAReason(t *testing.T) {
	tabard := testkit.Tabard(t)
	found := append(pages(t), helps(t, tabard)...)
	found = append(found, helps(t, filepath.Join(filepath.Dir(tabard), "tabard-webhook"))...)
	read := must.Get(readInventory(string(must.Get(os.ReadFile(inventoryFile))(t))))(t)
	if diff := read.missing(found); diff != "" {
		t.Errorf("test/docs/%s (-) is not what the pages and help texts have (+). Name the test that types a new command, or the reason why none does.\n%s", inventoryFile, diff)
	}
}

// TestTheInventorysTestsExist finds each test that the inventory names in its folder.
func TestTheInventorysTestsExist(t *testing.T) {
	read := must.Get(readInventory(string(must.Get(os.ReadFile(inventoryFile))(t))))(t)
	if len(read.tests) == 0 {
		t.Error("the inventory names no test")
	}
	for _, test := range read.tests {
		folder, name, _ := strings.Cut(test, " ")
		name, _, _ = strings.Cut(name, "/")
		files := must.Get(filepath.Glob(filepath.Join(testkit.Root(), folder, "*_test.go")))(t)
		there := false
		for _, file := range files {
			there = there || strings.Contains(string(must.Get(os.ReadFile(file))(t)), "\nfunc "+name+"(t *testing.T)")
		}
		if !there {
			t.Errorf("%s has no test %q", folder, name)
		}
	}
}

func TestTheInventoryIsComparedWithWhatThereIs(t *testing.T) {
	const text = "# comment\n\ntyped twice by test/a TestA\n  docs/a.md: all 2 blocks of sh\nnot typed: it costs money\n  docs/a.md: aws s3 ls\n  tabard --help: tabard lab up\n"
	const page = "```sh\nmake\n```\n- step:\n  ```sh\n\n  true\n  more\n  ```\n```\naws s3 ls\n```\n```yaml\nkind: X\n```\n"
	const help = "Tabard.\n\n  tabard lab up\n\nUsage:\n  tabard\n\nFlags:\n  -h\n"
	for name, test := range map[string]struct {
		page, help string
		want       []string // nothing is missing without them
	}{
		"what is there is listed":          {page, help, nil},
		"a new block of a whole page":      {page + "```sh\nmore\n```\n", help, []string{`"docs/a.md sh"`, "3"}},
		"a new block without a mark":       {page + "```\nkubectl get pods\n```\n", help, []string{"docs/a.md: kubectl get pods"}},
		"a new block for another shell":    {page + "```bash\nls\n```\n", help, []string{"docs/a.md: ls"}},
		"a second block that begins as it": {page + "```\naws s3 ls\n```\n", help, []string{"docs/a.md: aws s3 ls"}},
		"a block that is gone":             {strings.Replace(page, "aws s3 ls", "", 1), help, []string{"docs/a.md: aws s3 ls"}},
		"a new line of the help": {page, strings.Replace(help, "up\n", "up\n  tabard lab env\n", 1),
			[]string{"tabard --help: tabard lab env"}},
		"a new example": {page, strings.Replace(help, "\nFlags", "\nExamples:\n  # it ends\n  tabard lab down \\\n    --keep\n\nFlags", 1),
			[]string{"tabard --help: tabard lab down"}},
	} {
		t.Run(name, func(t *testing.T) {
			read := must.Get(readInventory(text))(t)
			got := read.missing(append(blocksOf("docs/a.md", test.page), linesOf("tabard --help", test.help, true)...))
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s is not reported as missing:\n%s", want, got)
				}
			}
			if test.want == nil && got != "" {
				t.Errorf("reported as missing:\n%s", got)
			}
		})
	}
}

func TestAnInventoryThatIsNotUnderstoodIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an entry without a heading":    "  docs/a.md: make\n",
		"a reason that says nothing":    "not typed: \n  docs/a.md: make\n",
		"a heading of another form":     "skipped\n",
		"an entry without its source":   "not typed: it costs money\n  make\n",
		"an entry without a first line": "not typed: it costs money\n  docs/a.md:\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readInventory(text); err == nil {
				t.Error("it is taken")
			}
		})
	}
}

func TestTheCommandsThatAHelpListsAreFound(t *testing.T) {
	const help = "Usage:\n  tabard\n\nCommands:\n  lab   Run a lab\n  issuer  Publish\n\nAdditional Commands:\n  help  Help\n  completion  Shells\n\nFlags:\n  -h  help\n"
	if diff := cmp.Diff([]string{"lab", "issuer"}, below(help)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
