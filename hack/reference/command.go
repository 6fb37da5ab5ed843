package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/app"
	"github.com/tabard-dev/tabard/internal/app/local"
	"github.com/tabard-dev/tabard/internal/app/webhook"
)

// commandPages are the pages of the programs, by name: one for each command
// directly below tabard, with all that are below it, and one for each program.
func commandPages() (map[string]string, error) {
	tabard, alone, err := programs()
	if err != nil {
		return nil, err
	}
	pages := map[string]string{tabard.Name(): rootPage(tabard), alone.Name(): commandPage(alone)}
	for _, command := range visible(tabard) {
		pages[command.Name()] = commandPage(command)
	}
	return pages, nil
}

// programs are tabard and tabard-webhook as they are for a user without any variable
// set: some defaults come from the environment.
func programs() (tabard, alone *cobra.Command, err error) {
	before := os.Environ()
	os.Clearenv()
	err = os.Setenv("HOME", "~")
	tabard, alone = app.Root(local.Commands()), webhook.Root()
	tabard.InitDefaultCompletionCmd()
	os.Clearenv()
	for _, variable := range before {
		name, value, _ := strings.Cut(variable, "=")
		if failed := os.Setenv(name, value); failed != nil {
			err = failed
		}
	}
	return tabard, alone, err
}

// visible are the commands below one that its help lists.
func visible(command *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(command.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
}

// rootPage describes a program that is made of commands, and links their pages.
func rootPage(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(description(root, 1))
	for _, group := range append(root.Groups(), &cobra.Group{Title: "Additional commands"}) {
		fmt.Fprintf(&b, "\n## %s\n\n| Command | What it does |\n| --- | --- |\n", strings.TrimSuffix(group.Title, ":"))
		for _, command := range visible(root) {
			if command.GroupID == group.ID {
				fmt.Fprintf(&b, "| [`%s`](%s.md) | %s |\n", command.CommandPath(), command.Name(), cell(command.Short))
			}
		}
	}
	return b.String()
}

// commandPage describes a command and all that are below it.
func commandPage(command *cobra.Command) string {
	var b strings.Builder
	b.WriteString(description(command, 1))
	for _, below := range descendants(command) {
		b.WriteString("\n" + description(below, 2))
	}
	return b.String()
}

// descendants are the commands below one, each before those below it.
func descendants(command *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, below := range visible(command) {
		out = append(append(out, below), descendants(below)...)
	}
	return out
}

// description is what the help of one command says, below a heading of that level.
func description(command *cobra.Command, level int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", strings.Repeat("#", level), command.CommandPath())
	if !strings.HasPrefix(command.Long, command.Short) {
		fmt.Fprintf(&b, "\n%s.\n", prose(command.Short))
	}
	if command.Long != "" {
		b.WriteString("\n" + markdown(command.Long))
	}
	command.InitDefaultHelpFlag() // with it the line of usage is that of --help
	fmt.Fprintf(&b, "\n```\n%s\n", command.UseLine())
	if len(visible(command)) > 0 {
		fmt.Fprintf(&b, "%s [command]\n", command.CommandPath())
	}
	b.WriteString("```\n")
	if command.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n\n%s", fence(strings.Split(command.Example, "\n")))
	}
	b.WriteString(flagTable(command.NonInheritedFlags()))
	if names := inherited(command); len(names) > 0 {
		parent := command.Parent().CommandPath()
		fmt.Fprintf(&b, "\nThe flags of [`%s`](#%s) that hold for its commands: %s.\n", parent, strings.ReplaceAll(parent, " ", "-"), strings.Join(names, ", "))
	}
	return b.String()
}

// inherited are the flags that a command has from those above it.
func inherited(command *cobra.Command) []string {
	var names []string
	command.InheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, "`--"+flag.Name+"`")
		}
	})
	return names
}

// flagTable is nothing for a command without flags. Those that every command has, such as
// --help, are not in it.
func flagTable(flags *pflag.FlagSet) string {
	var rows strings.Builder
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Deprecated != "" || flag.Name == "help" {
			return
		}
		kind, meaning := pflag.UnquoteUsage(flag)
		name := "`" + strings.TrimSpace("--"+flag.Name+" "+kind) + "`"
		if flag.Shorthand != "" {
			name = "`-" + flag.Shorthand + "`, " + name
		}
		fmt.Fprintf(&rows, "| %s | %s | %s |\n", name, preset(flag), cell(meaning))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "\n| Flag | Default | Meaning |\n| --- | --- | --- |\n" + rows.String()
}

// preset is a flag's default, unless that is to have none.
func preset(flag *pflag.Flag) string {
	if slices.Contains([]string{"", "0", "0s", "false", "[]", "<nil>"}, flag.DefValue) {
		return ""
	}
	return "`" + strings.ReplaceAll(flag.DefValue, "|", `\|`) + "`"
}

// markdown makes paragraphs of the text of a help. Indented lines are of block, but for those that go on
// with an item of a list.
func markdown(text string) string {
	var b strings.Builder
	for _, paragraph := range strings.Split(text, "\n\n") {
		lines := strings.Split(strings.Trim(paragraph, "\n"), "\n")
		code := codeOf(lines)
		for begin, end := 0, 0; begin < len(lines); begin = end {
			for end = begin; end < len(lines) && code[end] == code[begin]; end++ {
			}
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			if code[begin] {
				b.WriteString(block(lines[begin:end]))
			} else {
				b.WriteString(prose(strings.Join(lines[begin:end], "\n")) + "\n")
			}
		}
	}
	return b.String()
}

// codeOf says of each line of a paragraph whether it is of block.
func codeOf(lines []string) []bool {
	out, item := make([]bool, len(lines)), false
	for i, line := range lines {
		indented := isCode(line)
		item = strings.HasPrefix(line, "- ") || item && indented
		out[i] = indented && !item
	}
	return out
}

func isCode(line string) bool { return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") }

var (
	flagName = regexp.MustCompile(`(^|[\s(])(--[a-z][a-z-]*)`)
	heading  = regexp.MustCompile(`(?m)^#+ `)
	special  = strings.NewReplacer("*", `\*`, "<", `\<`, "[", `\[`, "`", "\\`")
)

// prose is text that Markdown shows as it is, with flags as code and without headings.
func prose(text string) string {
	return flagName.ReplaceAllString(special.Replace(heading.ReplaceAllString(text, "")), "$1`$2`")
}

// cell is prose for one cell of a table.
func cell(text string) string { return strings.ReplaceAll(prose(oneLine(text)), "|", `\|`) }
