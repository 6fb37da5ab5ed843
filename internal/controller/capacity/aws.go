package capacity

import (
	"context"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// Types knows what AWS says of instance types.
type Types interface {
	// Get answers a question as an identity. An error is a fault.Fault. It may
	// wait for AWS, at most until the context ends: passes do not wait for it.
	Get(ctx context.Context, who identity.Identity, q instancetype.Question) (instancetype.Answer, error)
}

// Credentials chooses who asks AWS.
type Credentials interface {
	// For says who asks for an object. It calls nobody in AWS. The identity is
	// good only if the credentials lack nothing; an error is one of the cluster's,
	// which is tried again.
	For(ctx context.Context, claim Claim) (identity.Identity, core.Credentials, error)
}

// Claim is the object for which AWS is asked.
type Claim struct {
	Kind            core.Kind
	Namespace, Name string
	// Secret is the name of the Secret with credentials that the object names, in
	// its own namespace; empty for none.
	Secret string
	// Selected is what IAMRoleSelectors say of the object.
	Selected core.Selected
	// OpenShift says that the cluster has an Infrastructure, and Endpoints are
	// its URLs by service.
	OpenShift bool
	Endpoints map[string]string
}

// Identities are the Credentials of this process, chosen as awsauth/identity
// says: the process's web identity, else the Secret that the object names; with the
// role of the IAMRoleSelector that selects the object. On
// OpenShift calls go to the cluster's own endpoints and trust its own bundle.
type Identities struct {
	// Environment is what the process's says.
	Environment identity.Environment
	// AllowContainer and AllowDefaultChain let other sources in, after those two.
	AllowContainer, AllowDefaultChain bool
}

// For implements Credentials.
func (i Identities) For(_ context.Context, claim Claim) (identity.Identity, core.Credentials, error) {
	wish := identity.Wish{
		For:            claim.Kind.Noun() + " " + claim.Name,
		AllowContainer: i.AllowContainer, AllowDefaultChain: i.AllowDefaultChain,
	}
	if claim.Secret != "" {
		wish.Secret = identity.SecretRef{Namespace: claim.Namespace, Name: claim.Secret}
	}
	who, credentials := core.Identify(i.Environment, wish, claim.Selected)
	if credentials.Problem == "" && claim.OpenShift {
		var err error
		who.CABundle = kube.CloudConfig
		if who.Endpoints, err = identity.NewEndpoints(claim.Endpoints); err != nil {
			// Only a change of what was just read helps.
			return identity.Identity{}, core.Credentials{Problem: err.Error()}, nil
		}
	}
	return who, credentials, nil
}
