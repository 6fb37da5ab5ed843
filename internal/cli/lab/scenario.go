package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
)

// Scene is a scenario as it is listed.
type Scene struct {
	Name, Title string
	// Explain are the flags that "tabard explain pod" needs to find what is wrong; often empty.
	Explain string
}

// Seen is what a scenario's workload sees.
type Seen struct {
	// Namespace and Pod are where it runs.
	Namespace, Pod string
	// Text is the answer of AWS, or the error of the SDK.
	Text string
	// Well says that the workload came as its own role, and that AWS answered.
	Well bool
}

// Scenes play scenarios in a lab.
type Scenes interface {
	List() []Scene
	// Play sets the stage anew and plants a scenario. say tells what is done.
	Play(ctx context.Context, in lab.Lab, name string, say func(string, ...any)) (Scene, Seen, error)
	// Call is what the workload sees now.
	Call(ctx context.Context, in lab.Lab) (Seen, error)
	// End takes away what scenarios made.
	End(ctx context.Context, in lab.Lab) error
}

const aboutScenarios = `Breaks the cloud identity of a workload in a lab, in a way in which people break it, and shows what the
workload sees of it. Find what is wrong with "tabard explain", mend it, and see with "tabard lab scenario
call" whether the workload becomes its role.

It needs a lab with an issuer and a webhook: the steps 1 to 5 of docs/quickstart.md. The workload is the
Deployment shop in the namespace scenario. Its pod runs on a node that has a role of its own, as on EC2.
Each scenario begins with a workload of which all is well.

Without a name the scenarios are listed.

Exit codes: 0 planted; 1 it cannot be; 2 there is no such scenario, or no lab.`

func newScenario(streams command.Streams, folder *folder, scenes Scenes) *cobra.Command {
	out := &cobra.Command{
		Use: "scenario [NAME]", Short: "Break the cloud identity of a workload in the lab, to practise finding out why", Long: aboutScenarios,
		Example: "  tabard lab scenario\n  tabard lab scenario p07",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, each := range scenes.List() {
				names = append(names, each.Name+"\t"+each.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listScenes(streams, scenes)
			}
			return play(c.Context(), streams, folder, scenes, strings.ToLower(args[0]))
		},
	}
	out.AddCommand(newScenarioCall(streams, folder, scenes), newScenarioEnd(streams, folder, scenes))
	return out
}

func listScenes(streams command.Streams, scenes Scenes) error {
	for _, each := range scenes.List() {
		if _, err := fmt.Fprintf(streams.Out, "%-13s %s\n", each.Name, each.Title); err != nil {
			return err
		}
	}
	return nil
}

func play(ctx context.Context, streams command.Streams, folder *folder, scenes Scenes, name string) error {
	known := false
	var names []string
	for _, each := range scenes.List() {
		known, names = known || each.Name == name, append(names, each.Name)
	}
	if !known {
		return streams.Unusable(fmt.Errorf("there is no scenario %.40q; there are %s", name, strings.Join(names, ", ")))
	}
	loaded, err := folder.load()
	if err != nil {
		return err
	}
	say := func(format string, args ...any) {
		_, _ = fmt.Fprintf(streams.Err, format+"\n", args...) // with the stream gone there is nobody to tell
	}
	scene, seen, err := scenes.Play(ctx, loaded, name, say)
	if err != nil {
		return err
	}
	flags := ""
	if scene.Explain != "" {
		flags = " " + scene.Explain
	}
	_, err = fmt.Fprintf(streams.Out, "%s  %s\n\npod %s/%s sees:\n%s\n\nFind out why:  tabard explain pod %s -n %s%s\nCall again:    tabard lab scenario call\nTake it away:  tabard lab scenario end\n",
		scene.Name, scene.Title, seen.Namespace, seen.Pod, indented(seen.Text), seen.Pod, seen.Namespace, flags)
	return err
}

func indented(text string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		lines = append(lines, command.Plain(strings.TrimSuffix(line, "\n")))
	}
	return command.Indented(lines)
}

func newScenarioCall(streams command.Streams, folder *folder, scenes Scenes) *cobra.Command {
	return &cobra.Command{
		Use: "call", Short: "Let the scenario's workload call AWS again; exit code 1 if it does not come as its own role", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := folder.load()
			if err != nil {
				return err
			}
			seen, err := scenes.Call(c.Context(), loaded)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(streams.Out, "pod %s/%s sees:\n%s\n", seen.Namespace, seen.Pod, indented(seen.Text)); err != nil || seen.Well {
				return err
			}
			return &command.Exit{Code: 1, What: "the workload does not come as its own role"}
		},
	}
}

func newScenarioEnd(streams command.Streams, folder *folder, scenes Scenes) *cobra.Command {
	return &cobra.Command{
		Use: "end", Short: "Take away what scenarios made, and put back what they changed", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := folder.load()
			if err != nil {
				return err
			}
			if err := scenes.End(c.Context(), loaded); err != nil {
				return err
			}
			_, err = fmt.Fprintln(streams.Out, "the scenario is taken away")
			return err
		},
	}
}
