// Package credentials is the commands "tabard credentials …": what CredentialsRequests
// ask for, who fulfils them and what they wait for; and what an administrator decides
// about them. They run the same decisions as the controller, and work without it.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/credentials"
)

// Cluster is what the commands need of a cluster.
type Cluster struct {
	client.Client
	// Namespace is that of the kubeconfig's context.
	Namespace string
	// Facts says what the cluster is.
	Facts func(context.Context) (platform.Facts, error)
	// Now is the time.
	Now func() time.Time
}

// Place finds a cluster by flags.
type Place interface {
	AddFlags(*pflag.FlagSet)
	// Override is what the flags say of the cluster, without asking it.
	Override() (platform.Override, error)
	Cluster() (Cluster, error)
}

// World is what the commands need of the world; the program's wiring fills it.
type World struct {
	// Place makes a Place for one command.
	Place func() Place
	// AWS is a person's own session, made when it is needed.
	AWS func() (AWS, error)
	// ReadFile reads the file of an OIDCIssuer that -f names.
	ReadFile func(string) ([]byte, error)
}

const long = `Show what CredentialsRequests ask for, who fulfils them and what they wait for. Some commands
are for administrators only. They give a request an identity, take requests over from a
Cloud Credential Operator, and make what the controller needs in AWS.

Exit codes: 0 all is well; 1 something waits, or is refused; 2 the input cannot be used.`

// New returns the command "credentials" with its sub-commands. Every error of theirs but
// those about flags is a *command.Exit, which has been said already.
func New(streams command.Streams, world World) *cobra.Command {
	out := &cobra.Command{
		Use:          "credentials",
		Short:        "Show what CredentialsRequests wait for, and manage them",
		Long:         long,
		SilenceUsage: true, SilenceErrors: true,
	}
	out.AddCommand(newList(streams, world), newDescribe(streams, world), newBootstrap(streams, world), newRender(streams, world),
		newResync(streams, world), newAdopt(streams, world), newBind(streams, world), newUnbind(streams, world))
	return out
}

// where are the flags by which requests are found.
type where struct {
	place     Place
	namespace string
	all       bool
	// own lets a person who may not read grants go on with the requests' own status.
	own bool
}

func (w *where) add(f *pflag.FlagSet, everywhere bool) {
	f.StringVarP(&w.namespace, "namespace", "n", "", "the requests' `namespace` (default: that of the kubeconfig)")
	if everywhere {
		f.BoolVarP(&w.all, "all-namespaces", "A", false, "requests of all namespaces")
	}
	w.place.AddFlags(f)
}

// seen is what was read of a cluster, and the cluster to write to.
type seen struct {
	client.Client
	*credentials.Seen
}

// read reads requests and grants, of one namespace or of all.
func (w *where) read(ctx context.Context) (*seen, error) {
	if w.all && w.namespace != "" {
		return nil, fmt.Errorf("-A and -n say different things: leave one out")
	}
	cluster, err := w.place.Cluster()
	if err != nil {
		return nil, err
	}
	namespace := w.namespace
	if namespace == "" && !w.all {
		namespace = cluster.Namespace
	}
	read, err := credentials.Cluster{Reader: cluster, Facts: cluster.Facts, Now: cluster.Now}.Read(ctx, namespace, w.own)
	unlisted, is := errors.AsType[*credentials.Unlisted](err)
	switch {
	case is && w.own && w.all && unlisted.Kind == credentials.Requests && apierrors.IsForbidden(err):
		return nil, fmt.Errorf("you may not read the CredentialsRequests of all namespaces: type -n NAMESPACE for those of one, without -A: %w", unlisted.Err)
	case err != nil:
		return nil, err
	}
	return &seen{Client: cluster, Seen: read}, nil
}

// one reads a request of a name.
func (w *where) one(ctx context.Context, name string) (*seen, *cloudv1.CredentialsRequest, error) {
	out, err := w.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range out.Requests {
		if out.Requests[i].Name == name {
			return out, &out.Requests[i], nil
		}
	}
	return nil, nil, out.noRequest(name)
}

func (s *seen) noRequest(name string) error {
	if s.Unread {
		return fmt.Errorf("there is no CredentialsRequest %s/%s: tabard credentials list -n %[1]s names those of the namespace", s.Namespace, name)
	}
	return fmt.Errorf("there is no CredentialsRequest %s/%s: tabard credentials list -A names all", s.Namespace, name)
}

// refusal is why something that could be asked for is not done.
type refusal struct{ error }

// failed ends a command that does not do what it could be asked for; what a person is to
// write differently is unusable input.
func failed(streams command.Streams, run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return command.Spoken(streams, func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if _, is := errors.AsType[refusal](err); is {
			return streams.Refuse(command.Found, err)
		}
		return err
	})
}
