// Package credentials is the commands "tabard credentials …": what CredentialsRequests
// ask for, who fulfils them and what they wait for; and what an administrator decides
// about them. They run the same decisions as the controller, and work without it.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/platform"
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

// seen is what was read of a cluster.
type seen struct {
	Cluster
	facts     platform.Facts
	namespace string
	requests  []cloudv1.CredentialsRequest
	grants    map[string]*v1alpha1.CredentialsGrant
	// unread says that the person may not read the grants.
	unread bool
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
	out := &seen{Cluster: cluster, namespace: w.namespace, grants: map[string]*v1alpha1.CredentialsGrant{}}
	if out.namespace == "" && !w.all {
		out.namespace = cluster.Namespace
	}
	if out.facts, err = cluster.Facts(ctx); err != nil {
		return nil, err
	}
	var requests cloudv1.CredentialsRequestList
	if err := cluster.List(ctx, &requests, client.InNamespace(out.namespace)); err != nil {
		if w.own && w.all && apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("you may not read the CredentialsRequests of all namespaces: type -n NAMESPACE for those of one, without -A: %w", err)
		}
		return nil, explained(err, "CredentialsRequests")
	}
	out.requests = requests.Items
	var grants v1alpha1.CredentialsGrantList
	switch err := cluster.List(ctx, &grants); {
	case w.own && apierrors.IsForbidden(err):
		out.unread = true
	case err != nil && !meta.IsNoMatchError(err):
		return nil, explained(err, "CredentialsGrants")
	}
	for i := range grants.Items {
		out.grants[grants.Items[i].Name] = &grants.Items[i]
	}
	slices.SortFunc(out.requests, func(a, b cloudv1.CredentialsRequest) int {
		return strings.Compare(a.Namespace+"\x00"+a.Name, b.Namespace+"\x00"+b.Name)
	})
	return out, nil
}

// explained says what to do about an error of the cluster.
func explained(err error, kind string) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("this cluster serves no %s: apply Tabard's CRDs, config/crd, first: %w", kind, err)
	}
	return fmt.Errorf("read the %s: %w", kind, err)
}

// one reads a request of a name.
func (w *where) one(ctx context.Context, name string) (*seen, *cloudv1.CredentialsRequest, error) {
	out, err := w.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range out.requests {
		if out.requests[i].Name == name {
			return out, &out.requests[i], nil
		}
	}
	return nil, nil, out.noRequest(name)
}

func (s *seen) noRequest(name string) error {
	if s.unread {
		return fmt.Errorf("there is no CredentialsRequest %s/%s: tabard credentials list -n %[1]s names those of the namespace", s.namespace, name)
	}
	return fmt.Errorf("there is no CredentialsRequest %s/%s: tabard credentials list -A names all", s.namespace, name)
}

// world is a request's as far as these commands see it: enough to say who acts.
func (s *seen) world(request *cloudv1.CredentialsRequest) core.World {
	return core.World{
		Request: request, Grant: s.grants[core.GrantName(request.Namespace, request.Name)],
		Provider: core.DecodeProvider(request), Platform: s.facts, Now: s.Now(),
	}
}

// grantOf is the grant of exactly this request, nil for none.
func grantOf(w core.World) *v1alpha1.CredentialsGrant {
	if w.Grant == nil || w.Grant.Spec.Request.UID != w.Request.UID {
		return nil
	}
	return w.Grant
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
