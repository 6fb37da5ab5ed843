package app

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tabard-dev/tabard/internal/app/program"
	"github.com/tabard-dev/tabard/internal/cli/command"
	cli "github.com/tabard-dev/tabard/internal/cli/hub"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	core "github.com/tabard-dev/tabard/internal/core/hub"
)

// hubCluster is the hub's cluster as a person reaches it.
func hubCluster(kubeconfig *command.Kubeconfig) (cli.Cluster, error) {
	config, err := program.KubeConfigOf(kubeconfig)
	if err != nil {
		return cli.Cluster{}, err
	}
	scheme, err := newScheme()
	if err != nil {
		return cli.Cluster{}, err
	}
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return cli.Cluster{}, err
	}
	return cli.Cluster{Client: live, Issuer: (&issuer.Cluster{Config: config}).IssuerName, Server: config.Host}, nil
}

// hubSession is a person's own session in the hub's account.
type hubSession struct {
	accounts  *caller.Accounts
	providers *oidcprovider.Providers
	roles     *iamrole.Roles
}

func newHubSession() (cli.AWS, error) {
	auth, err := newAuth()
	if err != nil {
		return nil, err
	}
	return &hubSession{accounts: caller.New(auth), providers: oidcprovider.New(auth), roles: iamrole.New(auth)}, nil
}

// Caller is who it is.
func (s *hubSession) Caller(ctx context.Context, region string) (account, arn string, err error) {
	defer waitingForAWS()()
	return s.accounts.Caller(ctx, session(region))
}

// Provider reads an OIDC provider.
func (s *hubSession) Provider(ctx context.Context, region, arn string) core.ProviderSeen {
	defer waitingForAWS()()
	seen, err := s.providers.Get(ctx, session(region), arn)
	if err != nil {
		return core.ProviderSeen{Trouble: err.Error()}
	}
	return core.ProviderSeen{Exists: seen.Exists, Audiences: seen.Audiences}
}

// Role reads a role with the controller's policy.
func (s *hubSession) Role(ctx context.Context, region, name string) core.RoleSeen {
	defer waitingForAWS()()
	seen, err := s.roles.Get(ctx, session(region), name)
	if err != nil {
		return core.RoleSeen{Trouble: err.Error()}
	}
	return core.RoleSeen{Exists: seen.Exists, ARN: seen.ARN, Tags: seen.Tags, Trust: seen.Trust, Policy: seen.Policies[core.ControllerPolicyName], Boundary: seen.Boundary}
}

// EnsureRole makes the controller's role as wanted.
func (s *hubSession) EnsureRole(ctx context.Context, c core.Controller) (arn string, changed []string, err error) {
	defer waitingForAWS()()
	return s.roles.Ensure(ctx, session(c.Hub.Region), iamrole.Want{
		RoleWant: cloud.RoleWant{
			Name: core.ControllerRoleName(c.Hub), Path: c.Role.Path, Boundary: c.Role.Boundary, Tags: c.Role.Tags, Trust: c.Trust(), Description: core.ControllerDescription,
		},
		Owner:      cloud.Tag{Key: core.ControllerTag, Value: c.Hub.String()},
		PolicyName: core.ControllerPolicyName, Policy: core.Permissions(c.Hub).String(),
	})
}

// DeleteRole removes the controller's role.
func (s *hubSession) DeleteRole(ctx context.Context, region, name, hubARN string) error {
	defer waitingForAWS()()
	return s.roles.DeleteRole(ctx, session(region), name, cloud.Tag{Key: core.ControllerTag, Value: hubARN})
}
