// Package lab is the commands "tabard lab …": a Kubernetes control plane and a
// local AWS on one machine, and pods' commands run in them.
package lab

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/localkube"
)

// New returns the command "lab" with its sub-commands. An error that is an
// *command.Exit has been said already and names the program's exit code (2 for unusable
// input); any other is for the caller to say, with code 1.
func New(streams command.Streams, scenes Scenes) *cobra.Command {
	command := &cobra.Command{
		Use:   "lab",
		Short: "Run a Kubernetes cluster and a local AWS on this machine",
		Long: "A lab is a real Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager; no nodes)\n" +
			"and a local AWS, all on 127.0.0.1, in one folder. \"lab run\" runs the command of a pod as its kubelet would.\n" +
			"With --node (Linux, root, containerd) it has a real node too, and pods run in containers.",
		SilenceUsage: true, SilenceErrors: true,
	}
	flags := &folder{streams: streams}
	command.PersistentPreRunE = func(running *cobra.Command, _ []string) error {
		if flag := running.Flag("dir"); flag.Changed && flag.Value.String() == "" {
			return streams.Unusable(errors.New("--dir is empty, expected a folder: is a variable of the command line not set?"))
		}
		return nil
	}
	command.PersistentFlags().StringVar(&flags.dir, "dir", "", "the lab's `folder` (default $TABARD_LAB_DIR, else "+lab.DefaultDir(os.Getenv)+")")
	command.AddCommand(
		newUp(streams, flags), newStatus(streams, flags), newEnv(streams, flags), newJournal(streams, flags),
		newRun(streams, flags), newRunInit(streams), newStop(streams, flags), newDown(streams, flags),
		newLoad(streams, flags), newScenario(streams, flags, scenes), newNodeInit(flags), newNodeExec(flags), newPause(),
	)
	return command
}

// folder is the flag that all sub-commands share.
type folder struct {
	dir     string
	streams command.Streams
}

func (flags *folder) path() string {
	if flags.dir != "" {
		return flags.dir
	}
	if dir := os.Getenv("TABARD_LAB_DIR"); dir != "" {
		return dir
	}
	return lab.DefaultDir(os.Getenv)
}

// load reads the lab; that there is none is unusable input.
func (flags *folder) load() (lab.Lab, error) {
	loaded, err := lab.Load(flags.path())
	if err != nil {
		return lab.Lab{}, flags.streams.Unusable(err)
	}
	return loaded, nil
}

func newUp(streams command.Streams, flags *folder) *cobra.Command {
	var program string
	var accounts []string
	var withNode, allowPrivileged bool
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a lab, or repair one",
		Long: "Starts everything and waits until it is usable; the processes stay in the background.\n" +
			"A lab that is up is left alone. One that lost a process gets it back, with its ports and data.\n\n" +
			"With --node it has a scheduler, a kubelet and a container runtime of its own, in namespaces of their own:\n" +
			"pods run in containers. That needs Linux, root, and Debian's packages containerd, runc,\n" +
			"containernetworking-plugins and nftables, or the same from elsewhere.\n" +
			"Its API server refuses privileged pods, unless --allow-privileged is there when the lab is made.",
		Example: "  tabard lab up\n  sudo tabard lab up --node --dir /srv/lab",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program's own file: %w", err)
			}
			if at := slices.IndexFunc(accounts, func(id string) bool { return !identity.IsAccountID(id) }); at >= 0 {
				return streams.Unusable(fmt.Errorf("--account %q is no account ID; want 12 digits", accounts[at]))
			}
			path, err := localkube.Find(program, self, os.Getenv)
			if err != nil {
				return streams.Unusable(err)
			}
			_, err = lab.Up(command.Context(), lab.UpOptions{
				Dir: flags.path(), Localkube: path, Tabard: self, Accounts: accounts,
				Node: withNode, AllowPrivileged: allowPrivileged, Out: streams.Out,
			})
			return unusableDir(streams, err)
		},
	}
	command.Flags().BoolVar(&withNode, "node", false, "run pods in containers on a node of the lab's own; a lab keeps what it was made with")
	command.Flags().BoolVar(&allowPrivileged, "allow-privileged", false, "let the node of a new lab run privileged pods, which are root on this machine; a lab without a node takes them in any case")
	command.Flags().StringVar(&program, "localkube", "", "the localkube `program` (default $"+localkube.EnvVar+
		", else beside this program, on the PATH, in the cache)")
	command.Flags().StringSliceVar(&accounts, "account", nil, "further `account` of the local AWS, for a new lab; repeat for several (it always has "+lab.AccountID+")")
	return command
}

// unusableDir says that a folder cannot hold a lab, which is unusable input. Other
// errors stay as they are.
func unusableDir(streams command.Streams, err error) error {
	if _, unusable := errors.AsType[*lab.DirError](err); unusable {
		return streams.Unusable(err)
	}
	return err
}

func newDown(streams command.Streams, flags *folder) *cobra.Command {
	var keep bool
	command := &cobra.Command{
		Use:   "down",
		Short: "End a lab: no process, no port, and no file of it stays",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			err := lab.Down(command.Context(), lab.DownOptions{Dir: flags.path(), Keep: keep, Out: streams.Out})
			return unusableDir(streams, err)
		},
	}
	command.Flags().BoolVar(&keep, "keep", false, "keep the folder, so that \"lab up\" can go on with its data")
	return command
}

func newStop(streams command.Streams, flags *folder) *cobra.Command {
	return &cobra.Command{
		Use:   "stop NAME",
		Short: "End one process of a lab, by the name that \"lab status\" shows",
		Args:  cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			err := lab.Stop(command.Context(), flags.path(), args[0])
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, lab.ErrNone) {
				return streams.Unusable(err)
			}
			if err != nil {
				return unusableDir(streams, err)
			}
			_, err = fmt.Fprintf(streams.Out, "%s is stopped\n", args[0])
			return err
		},
	}
}
