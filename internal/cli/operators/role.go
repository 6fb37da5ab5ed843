package operators

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
	"github.com/tabard-dev/tabard/internal/olm/installing"
)

// roleFlags say which role an operator gets.
type roleFlags struct {
	operator.Given
	// documents and issuer say what cannot be read: of the role, and of the cluster.
	documents, issuer string
}

func (r *roleFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&r.ARN, "role-arn", "", "the `ARN` of the role in AWS")
	flags.StringVar(&r.Azure.Client, "azure-client-id", "", "the client `id` of the identity in Azure")
	flags.StringVar(&r.Azure.Tenant, "azure-tenant-id", "", "the `id` of its tenant")
	flags.StringVar(&r.Azure.Subscription, "azure-subscription-id", "", "the `id` of the Azure subscription")
	flags.StringVar(&r.Azure.ResourceGroup, "azure-resource-group", "", "the `name` of the resource group, for operators that need it")
	flags.StringVar(&r.Azure.Region, "azure-region", "", "the Azure `region`, for operators that need it, such as westeurope")
	flags.StringVar(&r.Audience, "gcp-audience", "", "the `audience` of the provider in Google Cloud: //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER")
	flags.StringVar(&r.ServiceAccount, "gcp-service-account", "", "the e-mail `address` of the service account in Google Cloud")
	r.addRead(flags)
}

// addRead adds the flags for what cannot be read.
func (r *roleFlags) addRead(flags *pflag.FlagSet) {
	flags.StringVar(&r.documents, "role-documents", "", "a `directory` with what the AWS command line printed of the role (default: read from AWS)")
	flags.StringVar(&r.issuer, "issuer", "", "the `URL` of the issuer of the cluster's tokens, which the role has to trust (default: the cluster's)")
}

func (r *roleFlags) checkRead() error {
	if r.issuer == "" {
		return nil
	}
	if err := rolerequest.CheckIssuer(r.issuer); err != nil {
		return fmt.Errorf("--issuer: %w", err)
	}
	return nil
}

// values are those of the role that the flags say: operator.ErrNoRole without any. The partition is the
// cluster's; empty where it is not known.
func (r *roleFlags) values(partition string) (map[string]string, error) {
	values, err := r.Values(partition)
	switch {
	case err == nil || errors.Is(err, operator.ErrNoRole):
		return values, err
	case errors.Is(err, operator.ErrSeveralRoles):
		return nil, errors.New("the flags say roles of several clouds: leave out all but one of --role-arn, --azure-… and --gcp-…")
	}
	return nil, fmt.Errorf("%s: %w", r.flag(), err)
}

// flag is the flag of the one cloud that the flags say.
func (r *roleFlags) flag() string {
	switch {
	case r.ARN != "":
		return "--role-arn"
	case r.Azure != operator.Azure{}:
		return "--azure-…"
	}
	return "--gcp-…"
}

// planner is what reads and judges, with what the flags say of what cannot be read.
func (r *roleFlags) planner(streams command.Streams, world World, client olm.Client) installing.Planner {
	out := installing.Planner{Client: client, Issuer: r.issuer}
	out.RoleDocuments = func(ctx context.Context, arn string) (sufficiency.Documents, error) {
		documents, err := world.RoleDocuments(ctx, arn)
		if err != nil {
			err = fmt.Errorf("%w; --role-documents DIR takes what somebody else printed of it", err)
		}
		return documents, err
	}
	if r.documents == "" {
		return out
	}
	out.Given = func(arn string) (sufficiency.Documents, error) {
		documents, err := documentsIn(streams, r.documents, arn)
		if err != nil {
			err = streams.Unusable(err)
		}
		return documents, err
	}
	return out
}
