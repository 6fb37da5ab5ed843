package app

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud/accessentry"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/hubaccess"
	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/iamname"
)

// hubAccessFlags are what the controller of that name is told.
type hubAccessFlags struct {
	prefix  string
	managed string
	options hubaccess.Options
	tags    []string
}

func (f *hubAccessFlags) add(flags *pflag.FlagSet, prefix string) {
	f.prefix = prefix
	flags.StringVar(&f.managed, prefix+"managed-iam", "", "On or Off: whether roles and access entries are made and removed (default: what disableManagedIam in the ClusterManager says, and nothing is done where its schema has no such field)")
	flags.StringVar(&f.options.Flags.HubARN, prefix+"hub-cluster-arn", "", "the ARN of the hub in EKS (default: hubClusterArn in the ClusterManager)")
	flags.StringArrayVar(&f.tags, prefix+"aws-resource-tag", nil, "a further tag of roles and access entries, as KEY=VALUE; can be repeated")
	flags.Float64Var(&f.options.Writes, prefix+"writes-per-second", 10, "how many changes a second are made in AWS at most")
}

// complete checks what the flags say.
func (f *hubAccessFlags) complete() error {
	var err error
	f.options.Flags.IAM = hub.Switch(f.managed)
	switch f.options.Flags.IAM {
	case hub.On, hub.Off, "":
	default:
		return fmt.Errorf("--%smanaged-iam=%.80s: expected On or Off", f.prefix, f.managed)
	}
	if arn := f.options.Flags.HubARN; arn != "" {
		if _, err := hub.ParseARN(arn); err != nil {
			return fmt.Errorf("--%shub-cluster-arn: %w", f.prefix, err)
		}
	}
	if f.options.Flags.Tags, err = iamname.ParseTags(f.tags); err != nil {
		return fmt.Errorf("--%saws-resource-tag: %w", f.prefix, err)
	}
	if f.options.Writes <= 0 {
		return fmt.Errorf("--%swrites-per-second=%v: expected more than 0", f.prefix, f.options.Writes)
	}
	return nil
}

func declareHubAccess() *declaration {
	var f hubAccessFlags
	return &declaration{
		name: "hubaccess", off: true,
		does:  "gives accepted clusters of an Open Cluster Management hub in EKS an IAM role and an access entry",
		page:  "hub.md",
		flags: f.add, complete: f.complete,
		add: func(ctx context.Context, mgr ctrl.Manager, _ *operator) error {
			auth, err := newAuth()
			if err != nil {
				return err
			}
			f.options.As = hubIdentity(auth.Environment())
			f.options.AWS = hubaccess.AWS{Accounts: caller.New(auth), Roles: iamrole.New(auth), Entries: accessentry.New(auth)}
			return hubaccess.Add(ctx, mgr, f.options)
		},
	}
}

// hubIdentity is who the controller is in AWS: the web identity of its ServiceAccount, or
// what the agent of EKS Pod Identity gives. Where there is neither, the first call to AWS
// says so, and no earlier: a hub whose managed IAM is off needs none.
func hubIdentity(env identity.Environment) identity.Identity {
	if as, err := identity.Decide(env, identity.Wish{AllowContainer: true}); err == nil {
		return as
	}
	return identity.Identity{Base: identity.WebIdentity}
}
