package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
	"github.com/tabard-dev/tabard/internal/lab/process"
	"github.com/tabard-dev/tabard/internal/lab/sandbox"
	"github.com/tabard-dev/tabard/internal/lab/workload"
)

// runInit is the hidden command that is the sandboxed half of "run".
const runInit = "run-init"

// runFlags are the flags of "run".
type runFlags struct {
	namespace, container string
	detach, record       string
	noNamespaces         bool
	quiet, verbose       bool
}

func newRun(streams command.Streams, folder *folder) *cobra.Command {
	flags := &runFlags{}
	command := &cobra.Command{
		Use:   "run pod/NAME|deployment/NAME [-- COMMAND...]",
		Short: "Run a command as a pod's kubelet would: its environment, volumes and tokens",
		Long: "Reads the pod as the API server stores it, makes its volumes on this machine, asks for its tokens and\n" +
			"keeps them fresh while the command runs. The command is a program of this machine, not of the image.\n\n" +
			"Where this system lets you make namespaces, the volumes are at the pod's own paths. Elsewhere variables\n" +
			"that point into a mount are rewritten. -v prints everything added or rewritten to the standard error.\n\n" +
			"AWS SDKs in the command do not ask the metadata service of this machine, unless the pod's own variables\n" +
			"name an AWS_EC2_METADATA_SERVICE_ENDPOINT.\n\n" +
			"Without a command the container's own is run. The exit code is the command's.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); dash != 1 && len(args) > 1 {
				return streams.Unusable(fmt.Errorf("put -- between the workload and its command: lab run %s -- %s …", args[0], args[1]))
			}
			loaded, err := folder.load()
			if err != nil {
				return err
			}
			if flags.detach != "" {
				return detach(command.Context(), streams, loaded, *flags, args)
			}
			return run(command.Context(), streams, loaded, *flags, args)
		},
	}
	command.Flags().StringVarP(&flags.namespace, "namespace", "n", "default", "the workload's `namespace`")
	command.Flags().StringVarP(&flags.container, "container", "c", "", "the `container` (default: the pod's default, else its first)")
	command.Flags().StringVar(&flags.detach, "detach", "", "run in the background under this `name`, until it ends, \"lab stop\" or \"lab down\"")
	command.Flags().BoolVarP(&flags.verbose, "verbose", "v", false, "print every variable that is added, kept or rewritten")
	command.Flags().BoolVarP(&flags.quiet, "quiet", "q", false, "print nothing but what the command prints, and errors")
	command.Flags().BoolVar(&flags.noNamespaces, "no-namespaces", false, "rewrite variables even where volumes could be mounted")
	command.Flags().StringVar(&flags.record, "record", "", "the record of a run in the background")
	if err := command.Flags().MarkHidden("record"); err != nil {
		panic(err) // the flag was defined one line above
	}
	return command
}

func optionsOf(streams command.Streams, flags runFlags, self string, args []string) workload.Options {
	return workload.Options{
		Namespace: flags.namespace, Target: args[0], Container: flags.container, Command: args[1:],
		NoNamespaces: flags.noNamespaces, Verbose: flags.verbose, Quiet: flags.quiet, Record: flags.record,
		Self: self, InitArguments: []string{"lab", runInit},
		In: streams.In, Out: command.Raw(streams.Out), Err: command.Raw(streams.Err), Getenv: os.Getenv,
	}
}

func run(ctx context.Context, streams command.Streams, loaded lab.Lab, flags runFlags, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	code, err := workload.Run(ctx, loaded, optionsOf(streams, flags, self, args))
	if err != nil {
		return err
	}
	if code != 0 {
		return &command.Exit{Code: code, What: fmt.Sprintf("the command ended with the exit code %d", code)}
	}
	return nil
}

// backgroundName is what a run in the background may be called: it becomes a
// file's name.
var backgroundName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$`) })

// checkName refuses names that are no file names, or that mean something else.
func checkName(loaded lab.Lab, name string) error {
	if !backgroundName().MatchString(name) {
		return fmt.Errorf("--detach %q is no name; want up to 42 lower-case letters, digits and dashes", name)
	}
	if slices.Contains(loaded.Components(), name) {
		return fmt.Errorf("--detach %s is the name of a part of the lab; choose another", name)
	}
	record, found, err := loaded.Processes().Get(name)
	if err == nil && found && record.Alive() {
		return fmt.Errorf("%s runs already (process %d); end it with \"tabard lab stop %s\" or choose another name", name, record.PID, name)
	}
	return err
}

// detach starts this program again, in the background, without the flag, and
// returns when the command itself runs.
func detach(ctx context.Context, streams command.Streams, loaded lab.Lab, flags runFlags, args []string) error {
	if err := checkName(loaded, flags.detach); err != nil {
		return streams.Unusable(err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own file: %w", err)
	}
	if err := workload.Check(ctx, loaded, optionsOf(streams, flags, self, args)); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	command := []string{self, "lab", "run", "--dir", loaded.Dir, "--record", flags.detach, "--namespace", flags.namespace}
	if flags.container != "" {
		command = append(command, "--container", flags.container)
	}
	if flags.noNamespaces {
		command = append(command, "--no-namespaces")
	}
	if flags.verbose {
		command = append(command, "--verbose")
	}
	if flags.quiet {
		command = append(command, "--quiet")
	}
	command = append(append(command, args[0], "--"), args[1:]...)
	// A command that ended before must not be taken for this one.
	if err := loaded.Processes().Remove(flags.detach + lab.CommandSuffix); err != nil {
		return err
	}
	record, ended, err := loaded.Processes().Start(process.Spec{
		Name: flags.detach, Command: command, Dir: dir, Log: loaded.Path("logs", flags.detach+".log"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")},
	})
	if err != nil {
		return err
	}
	if err := awaitCommand(ctx, loaded, flags.detach, ended); err != nil {
		return fmt.Errorf("%w; its log is %s", err, record.Log)
	}
	_, err = fmt.Fprintf(streams.Out, "%s runs in the background (process %d), log %s\n", flags.detach, record.PID, record.Log)
	return err
}

// awaitCommand waits until the background run has started its command, or has
// ended.
func awaitCommand(ctx context.Context, loaded lab.Lab, name string, ended <-chan error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, found, err := loaded.Processes().Get(name + lab.CommandSuffix); err != nil || found {
			return err
		}
		select {
		case err := <-ended:
			if err == nil { // a short command
				return nil
			}
			return fmt.Errorf("%s ended at once: %w", name, err)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", name, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func newRunInit(streams command.Streams) *cobra.Command {
	return &cobra.Command{
		Use: runInit, Hidden: true, Args: cobra.NoArgs,
		Short: "The sandboxed half of \"lab run\"",
		RunE: func(*cobra.Command, []string) error {
			err := sandbox.Init()
			if err == nil {
				return nil
			}
			code := 1
			if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
				code = sandbox.NotFound
			}
			return streams.Refuse(code, err)
		},
	}
}
