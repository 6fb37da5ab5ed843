package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/testkit"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// piece is what a reader may copy to a shell: a block of a page, of which first is the
// first line, or a command of a help text.
type piece struct{ source, mark, first, text string }

func (p piece) String() string { return p.source + ": " + p.first }

// marks are those of fenced blocks that may hold commands; a block without a mark may.
var marks = []string{"", "sh", "bash", "shell", "console"}

// helpLine is in the place of the mark for a line of a help text.
const helpLine = "help"

// blocksOf are the blocks of a page that may hold commands, without their lines' indentation.
func blocksOf(source, page string) (found []piece) {
	inside, awaited, begun, mark := false, false, false, ""
	for line := range strings.SplitSeq(page, "\n") {
		line = strings.TrimSpace(line)
		after, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !inside:
			inside, awaited, mark = true, slices.Contains(marks, after), after
		case isFence:
			inside, awaited, begun = false, false, false
		case awaited && line != "":
			found, awaited, begun = append(found, piece{source, mark, line, line}), false, true
		case begun:
			found[len(found)-1].text += "\n" + line
		}
	}
	return found
}

// pages are those that newcomers and administrators read. Records of decisions hold no
// commands to type, and the reference is generated from the help texts.
func pages(t *testing.T) (found []piece) {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(testkit.Root(), "docs", "*.md")))(t)
	for _, file := range append(files, filepath.Join(testkit.Root(), "README.md")) {
		text := must.Get(os.ReadFile(file))(t)
		source := must.Get(filepath.Rel(testkit.Root(), file))(t)
		found = append(found, blocksOf(filepath.ToSlash(source), string(text))...)
	}
	return found
}

var (
	listHeading = regexp.MustCompile(`^(Commands|Processes|.* Commands):$`)
	listed      = regexp.MustCompile(`^  ([a-z][a-z-]*) `)
)

// linesOf are the commands among a help text's examples. Of the program's own help the
// indented lines before the usage are commands, too.
func linesOf(source, help string, isProgram bool) (found []piece) {
	var commands []string
	before, _, _ := strings.Cut(help, "\nUsage:\n")
	for line := range strings.SplitSeq(before, "\n") {
		if isProgram && strings.HasPrefix(line, "  ") {
			commands = testkit.AddCommand(commands, line)
		}
	}
	for _, command := range append(commands, testkit.Examples(help)...) {
		first, _, _ := strings.Cut(command, "\n")
		found = append(found, piece{source, helpLine, first, command})
	}
	return found
}

// below are the commands that a help text lists.
func below(help string) (names []string) {
	inList := false
	for line := range strings.SplitSeq(help, "\n") {
		name := listed.FindStringSubmatch(line)
		switch {
		case listHeading.MatchString(line):
			inList = true
		case inList && name != nil:
			names = append(names, name[1])
		default:
			inList = false
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "help" || name == "completion" })
}

// helps asks a program for its help text, and for those of all commands below it.
func helps(t *testing.T, program string, command ...string) (found []piece) {
	t.Helper()
	run := exec.CommandContext(t.Context(), program, append(command, "--help")...)
	text, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", run, err, text)
	}
	name := strings.Join(append([]string{filepath.Base(program)}, command...), " ")
	found = linesOf(name+" --help", string(text), len(command) == 0)
	for _, child := range below(string(text)) {
		found = append(found, helps(t, program, append(slices.Clone(command), child)...)...)
	}
	return found
}
