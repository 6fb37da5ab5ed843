package app

import (
	"cmp"
	"context"
	"fmt"

	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud/iamrole"
	"github.com/tabard-dev/tabard/internal/controller/issuer"
	"github.com/tabard-dev/tabard/internal/controller/operators"
	"github.com/tabard-dev/tabard/internal/core/sufficiency"
	"github.com/tabard-dev/tabard/internal/olm"
)

func declareOperators() *declaration {
	return &declaration{
		name: operators.Name,
		does: "notes on InstallPlans that wait for an approval whether the roles are enough for what they install; approves none",
		off:  true,
		page: "operators.md",
		lacks: map[part]string{
			alertsPart: "a plan that waits harms nobody, and an event of the Subscription says why it may not be approved",
		},
		add: func(_ context.Context, mgr ctrl.Manager, _ *operator) error {
			options, err := operatorsOptions()
			if err != nil {
				return err
			}
			objects, err := dynamic.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
			if err != nil {
				return fmt.Errorf("make a client for OLM's objects: %w", err)
			}
			options.OLM = olm.Client{Objects: objects, Discovered: (&issuer.Cluster{Config: mgr.GetConfig()}).IssuerName}
			return operators.Add(mgr, options)
		},
	}
}

// operatorsOptions are those of the controller: it reads roles as the web identity of its
// ServiceAccount, or as what the agent of EKS Pod Identity gives. Without either it reads none, and
// never as the node.
func operatorsOptions() (out operators.Options, err error) {
	auth, err := newAuth()
	if err != nil {
		return out, err
	}
	as, err := identity.Decide(auth.Environment(), identity.Wish{For: "the controller " + operators.Name, AllowContainer: true})
	if err != nil {
		out.WithoutRoles = "the controller has no identity in AWS: " + err.Error()
		return out, nil
	}
	roles := iamrole.New(auth)
	out.Roles = func(ctx context.Context, arn string) (sufficiency.Documents, error) {
		region := cmp.Or(auth.Region(), homeRegion[identity.PartitionOfARN(arn)], "us-east-1")
		return roleDocuments(ctx, roles, as.In(region), arn)
	}
	return out, nil
}
