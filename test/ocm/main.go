// Command ocm is Open Cluster Management in one file: its registration, its work,
// its operators and its add-on manager as one multi-call program. The first argument
// names the component, the rest are that component's own commands and flags:
//
//	ocm registration controller …
//	ocm registration agent …
//	ocm registration webhook-server …
//	ocm work agent …
//	ocm registration-operator klusterlet …
//	ocm addon manager …
//
// Called through a link with a component's name, it is that component, as its
// container images have it: a link named registration is registration.
//
// The components share nine tenths of their code, and each process is one of them.
// What a component sets up before its commands is what its own main does.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/runtime"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	"open-cluster-management.io/api/feature"
	"open-cluster-management.io/ocm/pkg/cmd/hub"
	"open-cluster-management.io/ocm/pkg/cmd/spoke"
	"open-cluster-management.io/ocm/pkg/cmd/webhook"
	"open-cluster-management.io/ocm/pkg/features"
	"open-cluster-management.io/ocm/pkg/version"
)

// component is one of the programs.
type component struct {
	// commands makes them when the component is asked for: making one registers flags
	// that another must not find.
	commands func() []*cobra.Command
	// gates are the hub's feature gates that it knows.
	gates map[featuregate.Feature]featuregate.FeatureSpec
}

var components = map[string]component{
	"registration": {
		commands: func() []*cobra.Command {
			return []*cobra.Command{hub.NewRegistrationController(), spoke.NewRegistrationAgent(), webhook.NewRegistrationWebhook()}
		},
		gates: feature.DefaultHubRegistrationFeatureGates,
	},
	"work": {
		commands: func() []*cobra.Command { return []*cobra.Command{hub.NewWorkController(), spoke.NewWorkAgent()} },
		gates:    feature.DefaultHubWorkFeatureGates,
	},
	"registration-operator": {
		commands: func() []*cobra.Command {
			return []*cobra.Command{hub.NewHubOperatorCmd(), spoke.NewKlusterletOperatorCmd(), spoke.NewKlusterletAgentCmd()}
		},
	},
	"addon": {commands: func() []*cobra.Command { return []*cobra.Command{hub.NewAddonManager()} }},
}

func main() {
	name, args := choose(os.Args)
	chosen, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "usage: ocm COMPONENT [COMMAND] [FLAGS]\ncomponents: %s\n", strings.Join(names(), ", "))
		os.Exit(2)
	}
	os.Exit(chosen.run(name, args))
}

// run returns the exit code.
func (c component) run(name string, args []string) int {
	pflag.CommandLine.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	logs.AddFlags(pflag.CommandLine)
	logs.InitLogs()
	defer logs.FlushLogs()
	if c.gates != nil {
		runtime.Must(features.HubMutableFeatureGate.Add(c.gates))
		features.HubMutableFeatureGate.AddFlag(pflag.CommandLine)
	}
	command := &cobra.Command{Use: name, Version: version.Get().String()}
	command.AddCommand(c.commands()...)
	command.SetArgs(args)
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// choose returns the component that a command line asks for, by the name it was called
// with or by its first argument, and the arguments of that component.
func choose(args []string) (name string, rest []string) {
	if len(args) == 0 {
		return "", nil
	}
	if name := filepath.Base(args[0]); components[name].commands != nil {
		return name, args[1:]
	}
	if len(args) < 2 {
		return "", nil
	}
	return args[1], args[2:]
}

func names() []string {
	out := make([]string, 0, len(components))
	for name := range components {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
