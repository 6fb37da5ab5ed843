package app

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
)

// asPlugin makes help texts and messages name the commands as they are typed where the
// program is a plugin of kubectl.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: command.Plugin}
	streams := program.StandardStreams()
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
}

// completes is the script that kubectl looks for on the PATH to complete the plugin.
//
//go:embed kubectl_complete-tabard
var completes string

const completionLong = `Print the script kubectl_complete-tabard, by which kubectl completes "kubectl tabard". It has to
be in a folder of your PATH, and kubectl-tabard too. kubectl's own completion has to be on:
see kubectl completion --help.`

// addCompletion adds the commands that print scripts for completion. Shells complete a plugin
// by kubectl, so that it has no scripts for them.
func addCompletion(root *cobra.Command, plugin bool) {
	root.InitDefaultCompletionCmd()
	for _, completion := range root.Commands() {
		if completion.Name() != "completion" {
			continue
		}
		completion.Args = nil // usage.Prepare then refuses a word that names no shell
		if plugin {
			completion.RemoveCommand(completion.Commands()...)
		}
		completion.AddCommand(&cobra.Command{
			Use:   "kubectl",
			Short: "Generate the script by which kubectl completes the plugin kubectl tabard",
			Long:  completionLong,
			Example: `  tabard completion kubectl > ~/.local/bin/kubectl_complete-tabard
  chmod +x ~/.local/bin/kubectl_complete-tabard`,
			Args:              cobra.NoArgs,
			ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, _ []string) error {
				return command.Write(c.OutOrStdout(), completes)
			},
		})
	}
}
