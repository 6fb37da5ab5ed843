package capacity

import (
	"context"

	"github.com/tabard-dev/tabard/awsauth/identity"
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
}

// Dependency names an object of the cluster from which credentials are made.
type Dependency struct {
	// Resource is the plural: "secrets", "configmaps" or "infrastructures".
	Resource, Namespace, Name string
}
