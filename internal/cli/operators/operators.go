// Package operators is the commands "tabard operators …": which operators of a catalogue take
// roles by short-lived tokens, what they ask the cloud for, what changes with an upgrade, and
// whether this cluster gives such tokens. They write the hand-off of a role, and check one. For authors of operators they look at a bundle, and
// write what it asks for into it. A cluster and a cloud are only read.
//
// Most texts here are those of strangers. Nothing that the commands print has characters that
// control a terminal: see harmless.
package operators

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
)

// World is what the commands need of the world; the program's wiring fills it.
type World struct {
	// Read reads a catalogue; in is what the path "-" stands for. slow may be nil; it is called
	// once where the catalogue is of a kind that takes long, with the file's name. An error is for
	// a person as it is, and harmless in a terminal; for a file it is that of the file system.
	Read func(ctx context.Context, from Origin, in io.Reader, slow func(file string)) (catalogue.Catalogue, error)
	// Connect makes a client of a cluster by a kubeconfig. The cluster is never written.
	Connect func(*command.Kubeconfig) (dynamic.Interface, error)
	// JSON makes JSON of one document in YAML or JSON, within bounds: internal/catalogue.JSON.
	JSON func([]byte) ([]byte, error)
	// RoleDocuments reads the policies of a role in AWS. What may not be read is said in the
	// documents.
	RoleDocuments func(ctx context.Context, arn string) (sufficiency.Documents, error)
	// OLM makes a client of a cluster's OLM v0 by a kubeconfig. Commands that install write by it.
	OLM func(*command.Kubeconfig) (olm.Client, error)
}

const long = `Show which operators of a catalogue take roles by short-lived tokens, what they ask the cloud
for, and what changes with an upgrade. "tabard operators cluster" tells whether this cluster
gives operators such tokens. handoff writes what the owner of the AWS account needs to make the
role, and check says whether a role is enough. For authors, lint looks at a bundle, and annotate writes into it
what the operator asks for.

The catalogues are those that the cluster serves, or with --catalogue a file, a directory or an
image, for which no cluster is needed. OLM tells of the newest version of a channel only, so what other
versions ask for is in files. What a catalogue does not tell is shown as unknown.

`

// New returns the command "operators" with its sub-commands. Every error of theirs but those
// about flags is a *command.Exit, which has been said already.
func New(streams command.Streams, world World) *cobra.Command {
	streams = harmless(streams)
	out := &cobra.Command{
		Use:          "operators",
		Short:        "Show which operators take cloud roles by tokens, and what they ask for",
		Long:         long + "Exit codes: 0 done; 1 something is unknown or has changed, or the cluster cannot be read; 2 the\ninput cannot be used.",
		SilenceUsage: true, SilenceErrors: true,
	}
	out.AddCommand(newCluster(streams, world), newList(streams, world), newShow(streams, world),
		newPermissions(streams, world), newDiff(streams, world), newHandoff(streams, world), newCheck(streams, world), newInstall(streams, world), newStatus(streams, world), newSetRole(streams, world), newApprove(streams, world), newLint(streams, world), newAnnotate(streams, world))
	return out
}
