package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/explain"
	"github.com/tabard-dev/tabard/internal/cli/selector"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/fault"
	core "github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/evidence"
)

func explainCommand() *cobra.Command {
	c := selector.NewExplain(program.StandardStreams(), connectSelectors)
	explain.AddTo(c, explain.World{Streams: program.StandardStreams(), Connect: connectExplain})
	return c
}

// connectExplain makes the clients by which pods and ServiceAccounts are explained, and says which
// namespace the kubeconfig names.
func connectExplain(kubeconfig *command.Kubeconfig) (out evidence.Sources, namespace string, err error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return out, "", err
	}
	if namespace, err = kubeconfig.Namespace(); err != nil {
		return out, "", err
	}
	config.WarningHandler = rest.NoWarnings{} // they are about a pod that will never be
	kube, err := kubernetes.NewForConfig(config)
	return evidence.Sources{Kube: kube, AWS: &explainAWS{}, Public: fetchIssuer}, namespace, err
}

// fetchIssuer fetches the documents of an issuer as tabard issuer verify does.
func fetchIssuer(ctx context.Context, url string) (core.Public, error) {
	public, err := issuer.NewPublic(os.Getenv(envLabCA))
	if err != nil {
		return core.Public{}, fmt.Errorf("%s: %w", envLabCA, err)
	}
	return (&issuer.Observer{Public: public}).ObserveForeign(ctx, url), nil
}

// explainAWS reads by the session of whoever runs the program. It is made when it is first asked: most
// ways to fail need no AWS. A session that could not be made is tried anew, since the console runs for hours.
type explainAWS struct {
	mu   sync.Mutex
	auth *awsauth.Auth
}

// as is the session, in a region of a partition.
func (a *explainAWS) as(partition string) (identity.Identity, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.auth == nil {
		auth, err := newAuth()
		if err != nil {
			return identity.Identity{}, err
		}
		a.auth = auth
	}
	return session(cmp.Or(a.auth.Region(), homeRegion[partition], "us-east-1")), nil
}

// Account implements evidence.AWS.
func (a *explainAWS) Account(ctx context.Context, partition string) (string, error) {
	defer waitingForAWS()()
	as, err := a.as(partition)
	if err != nil {
		return "", err
	}
	account, _, err := caller.New(a.auth).Caller(ctx, as)
	return account, err
}

// Role implements evidence.AWS.
func (a *explainAWS) Role(ctx context.Context, partition, name string) (*chain.Role, error) {
	as, err := a.as(partition)
	if err != nil {
		return nil, err
	}
	role, err := iamrole.New(a.auth).GetBare(ctx, as, name)
	if err != nil || !role.Exists {
		return nil, denied(err)
	}
	return &chain.Role{ARN: role.ARN, Trust: role.Trust, Boundary: role.Boundary}, nil
}

// Provider implements evidence.AWS.
func (a *explainAWS) Provider(ctx context.Context, arn string) (*chain.OIDCProvider, error) {
	as, err := a.as(identity.PartitionOfARN(arn))
	if err != nil {
		return nil, err
	}
	provider, err := oidcprovider.New(a.auth).Get(ctx, as, arn)
	if err != nil || !provider.Exists {
		return nil, denied(err)
	}
	return &chain.OIDCProvider{ARN: arn, Audiences: provider.Audiences}, nil
}

// InlineNames implements evidence.AWS.
func (a *explainAWS) InlineNames(ctx context.Context, partition, role string) ([]string, error) {
	as, err := a.as(partition)
	if err != nil {
		return nil, err
	}
	names, err := iamrole.New(a.auth).InlineNames(ctx, as, role)
	return names, denied(err)
}

// Attached implements evidence.AWS.
func (a *explainAWS) Attached(ctx context.Context, partition, role string) ([]string, error) {
	as, err := a.as(partition)
	if err != nil {
		return nil, err
	}
	arns, err := iamrole.New(a.auth).Attached(ctx, as, role)
	return arns, denied(err)
}

// InlinePolicy implements evidence.AWS.
func (a *explainAWS) InlinePolicy(ctx context.Context, partition, role, name string) (string, error) {
	as, err := a.as(partition)
	if err != nil {
		return "", err
	}
	return document(iamrole.New(a.auth).InlinePolicy(ctx, as, role, name))
}

// ManagedPolicy implements evidence.AWS.
func (a *explainAWS) ManagedPolicy(ctx context.Context, partition, arn string) (string, error) {
	as, err := a.as(partition)
	if err != nil {
		return "", err
	}
	return document(iamrole.New(a.auth).Policy(ctx, as, arn))
}

// document is a policy that was read. One that went after it was listed is an error.
func document(text string, exists bool, err error) (string, error) {
	if err == nil && !exists {
		err = errors.New("it is gone")
	}
	return text, denied(err)
}

// denied marks an error that says that the session may not.
func denied(err error) error {
	if cloud.Is(err, fault.Denied) {
		return fmt.Errorf("%w: %w", evidence.ErrDenied, err)
	}
	return err
}
