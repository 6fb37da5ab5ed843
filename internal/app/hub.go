package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/cli/hub"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/accessentry"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	core "github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/hubjoin"
)

// hubPatience is how long a request to a hub that is to be joined takes at most.
const hubPatience = 30 * time.Second

func hubCommand() *cobra.Command {
	return hub.New(hub.World{
		Streams: program.StandardStreams(), Cluster: hubCluster, AWS: newHubSession,
		Manager: hubaccess.ReadManager, Access: hubAccessOf,
		Hub: func(kubeconfig *command.Kubeconfig) (client.Reader, error) {
			config, err := program.KubeConfigOf(kubeconfig)
			if err != nil {
				return nil, err
			}
			return client.New(config, client.Options{})
		},
		Bootstrap: func(config *rest.Config) (client.Client, error) {
			config.Timeout = hubPatience
			return client.New(config, client.Options{})
		},
	})
}

// hubAccessOf looks at a role of the hub's account, and at its access entry, with a person's session.
func hubAccessOf(ctx context.Context, arn core.ARN, role string) (seen hubjoin.AWS) {
	defer waitingForAWS()()
	auth, err := newAuth()
	if err != nil {
		return hubjoin.AWS{Trouble: err.Error()}
	}
	as := session(arn.Region)
	if seen.Account, _, err = caller.New(auth).Caller(ctx, as); err != nil {
		return hubjoin.AWS{Trouble: err.Error()}
	}
	if seen.Account != arn.Account {
		return seen // nothing of another account is meant
	}
	there, err := iamrole.New(auth).GetBare(ctx, as, role)
	seen.Role = hubjoin.Role{Exists: there.Exists, ID: there.ID, Trust: there.Trust, Trouble: textOf(err)}
	entry, err := accessentry.New(auth).Get(ctx, as, cloud.AccessEntryRef{Cluster: arn.Name, Principal: arn.RoleARN(role)})
	seen.Entry = hubjoin.Entry{Exists: entry.Exists, Username: entry.Username, Groups: entry.Groups, Type: entry.Type, Tags: entry.Tags, Trouble: textOf(err)}
	return seen
}

// textOf is what an error says; empty for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
