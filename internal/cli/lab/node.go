package lab

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/lab"
)

func newLoad(streams command.Streams, flags *folder) *cobra.Command {
	return &cobra.Command{
		Use:   "load ARCHIVE...",
		Short: "Put the images of archives on the node of a lab",
		Long: "Loads archives of images (an OCI layout in a tar, or what \"docker save\" writes), so that pods can name\n" +
			"them. There is no registry: an image that was not loaded cannot be pulled.",
		Example: "  make image && tabard lab load bin/image/tabard.tar",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			for _, archive := range args {
				said, err := loaded.LoadImages(command.Context(), archive)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprint(streams.Out, said); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func newNodeInit(flags *folder) *cobra.Command {
	return &cobra.Command{
		Use: lab.NodeInit, Hidden: true, Args: cobra.NoArgs,
		Short: "Make the namespaces of a lab's node and hold them",
		RunE: func(*cobra.Command, []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			return loaded.InitNode()
		},
	}
}

func newNodeExec(flags *folder) *cobra.Command {
	return &cobra.Command{
		Use: lab.NodeExec + " -- COMMAND...", Hidden: true, Args: cobra.MinimumNArgs(1),
		Short: "Become a program on a lab's node",
		RunE: func(_ *cobra.Command, args []string) error {
			loaded, err := flags.load()
			if err != nil {
				return err
			}
			return loaded.EnterNode(args)
		},
	}
}

func newPause() *cobra.Command {
	return &cobra.Command{
		Use: lab.Pause, Hidden: true, Args: cobra.NoArgs,
		Short: "Hold namespaces until told to end",
		RunE: func(*cobra.Command, []string) error {
			end := make(chan os.Signal, 1)
			signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
			<-end
			return nil
		},
	}
}
