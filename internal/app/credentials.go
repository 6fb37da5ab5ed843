package app

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/cloud/oidcprovider"
	"github.com/tabard-dev/tabard/internal/controller/credentials"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	coreplatform "github.com/tabard-dev/tabard/internal/core/platform"
	"github.com/tabard-dev/tabard/internal/platform"
)

// credentialsFlags are what the controller of that name is told.
type credentialsFlags struct {
	prefix   string
	settings core.Settings
	drift    string
	writes   float64
	foreign  bool
	platform platform.Flags
	override coreplatform.Override
}

func (f *credentialsFlags) add(flags *pflag.FlagSet, prefix string) {
	f.prefix = prefix
	flags.StringVar(&f.settings.Path, prefix+"role-path", core.DefaultPath, "the path of roles whose CredentialsBoundary has none")
	flags.StringVar(&f.settings.PermissionsBoundary, prefix+"permissions-boundary", "", "the ARN of the permissions boundary of roles whose CredentialsBoundary has none; \"tabard credentials bootstrap\" makes one")
	flags.StringVar(&f.settings.TokenPath, prefix+"default-token-path", core.DefaultTokenPath, "where workloads find their token if the request has no cloudTokenPath")
	flags.StringToStringVar(&f.settings.Tags, prefix+"role-tags", nil, "further tags of roles, as KEY=VALUE,KEY=VALUE")
	flags.StringVar(&f.drift, prefix+"drift", string(core.DriftEnforce), "Enforce or Report: what is done about policies that others add to a role")
	flags.Float64Var(&f.writes, prefix+"writes-per-second", 10, "how many changes a second are made in AWS at most")
	flags.BoolVar(&f.foreign, prefix+"read-foreign-roles", false, "read the roles that requests name, once an hour, and tell by the condition RoleOutOfSync what they lack; the controller's role needs iam:GetRole, iam:ListRolePolicies, iam:GetRolePolicy, iam:ListAttachedRolePolicies, iam:GetPolicy and iam:GetPolicyVersion on them")
	f.platform.Add(flags)
}

// complete checks what the flags say.
func (f *credentialsFlags) complete() error {
	var err error
	if f.override, err = f.platform.Override(); err != nil {
		return err
	}
	f.settings.Drift = core.Drift(f.drift)
	switch {
	case f.settings.Drift != core.DriftEnforce && f.settings.Drift != core.DriftReport:
		return fmt.Errorf("--%sdrift=%.80s: expected Enforce or Report", f.prefix, f.drift)
	case !iamname.IsPath(f.settings.Path):
		return fmt.Errorf("--%srole-path=%.80s: expected a path that begins and ends with a slash, such as /tabard/", f.prefix, f.settings.Path)
	case f.settings.PermissionsBoundary != "" && !iamname.IsPolicyARN(f.settings.PermissionsBoundary):
		return fmt.Errorf("--%spermissions-boundary=%.200s: expected the ARN of a managed policy, such as arn:aws:iam::123456789012:policy/tabard/boundary", f.prefix, f.settings.PermissionsBoundary)
	case !strings.HasPrefix(f.settings.TokenPath, "/"):
		return fmt.Errorf("--%sdefault-token-path=%.200s: expected an absolute path", f.prefix, f.settings.TokenPath)
	case f.writes <= 0:
		return fmt.Errorf("--%swrites-per-second=%v: expected more than 0", f.prefix, f.writes)
	}
	return nil
}

func declareCredentials() *declaration {
	var f credentialsFlags
	return &declaration{
		name: "credentials", off: true,
		page:  "credentials.md",
		does:  "fulfils CredentialsRequests without stored keys: roles in AWS, token Secrets",
		flags: f.add, complete: f.complete,
		add: func(_ context.Context, mgr ctrl.Manager, op *operator) error { return f.start(mgr, op) },
	}
}

// ownConfigs are the ConfigMaps that the bootstraps write.
var ownConfigs = []string{"tabard-issuer", "tabard-credentials"}

// start adds the controller to a manager.
func (f *credentialsFlags) start(mgr ctrl.Manager, op *operator) error {
	if f.override.Infrastructure == "" && f.override.Platform == coreplatform.Kubernetes {
		return fmt.Errorf("--infrastructure-name is missing: names of roles begin with it, and plain Kubernetes says none")
	}
	auth, err := newAuth()
	if err != nil {
		return err
	}
	reader, err := platform.New(mgr.GetConfig(), mgr.GetHTTPClient(), f.override)
	if err != nil {
		return err
	}
	host, err := client.New(op.host, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" { // a start reads all requests and roles once
		debug.SetGCPercent(garbage)
	}
	settings := f.settings
	settings.OwnNamespaces = []string{op.namespace}
	return credentials.Add(mgr, credentials.Options{
		Settings: settings, Operator: identity.Identity{Base: identity.WebIdentity}, Writes: f.writes,
		ReadForeign: f.foreign,
		Own:         credentials.OwnConfigs{Reader: host, Namespace: op.namespace, Names: ownConfigs},
		AWS:         credentials.AWS{Accounts: caller.New(auth), Providers: oidcprovider.New(auth), Roles: iamrole.New(auth)},
		Platform:    reader,
		PlatformNews: func(who func(context.Context) []reconcile.Request) source.TypedSource[reconcile.Request] {
			return platform.Source(reader, who)
		},
	})
}
