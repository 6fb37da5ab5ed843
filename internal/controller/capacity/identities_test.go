package capacity_test

import (
	"testing"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awsauth/kube"
	"github.com/tabard-dev/tabard/internal/controller/capacity"
	core "github.com/tabard-dev/tabard/internal/core/capacity"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestIdentitiesAreThoseOfTheTable(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/capacity"
	irsa := identity.Environment{RoleARN: role, TokenFile: "/token"}
	endpoints := must.Get(identity.NewEndpoints(map[string]string{"ec2": "https://ec2.example.com"}))(t)
	keys := identity.SecretRef{Namespace: "machines", Name: "keys"}
	for name, c := range map[string]struct {
		from  capacity.Identities
		claim capacity.Claim
		want  identity.Identity
		says  core.Credentials
	}{
		"a web identity wins over the Secret": {
			from: capacity.Identities{Environment: irsa}, claim: capacity.Claim{Secret: "keys"},
			want: identity.Identity{Base: identity.WebIdentity}, says: core.Credentials{Method: "IRSA with role " + role},
		},
		"a Secret is one of the object's namespace": {
			claim: capacity.Claim{Secret: "keys"},
			want:  identity.Identity{Base: identity.Secret, Secret: keys}, says: core.Credentials{Method: "Secret machines/keys"},
		},
		"half a web identity is an error whatever else there is": {
			from: capacity.Identities{Environment: identity.Environment{RoleARN: role}}, claim: capacity.Claim{Secret: "keys"},
			says: core.Credentials{Problem: "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing"},
		},
		"nothing is an error that names a MachineSet": {
			claim: capacity.Claim{Kind: core.MachineAPIMachineSet},
			says:  core.Credentials{Problem: "no AWS credentials configured for machineSet workers: neither IRSA environment variables nor credentialsSecret specified"},
		},
		"nothing is an error that names a MachineDeployment": {
			claim: capacity.Claim{Kind: core.MachineDeployment},
			says:  core.Credentials{Problem: "no AWS credentials configured for machineDeployment workers: neither IRSA environment variables nor credentialsSecret specified"},
		},
		"an agent that nobody allowed does not count": {
			from: capacity.Identities{Environment: identity.Environment{Container: true}},
			says: core.Credentials{Problem: "no AWS credentials configured for machineSet workers: neither IRSA environment variables nor credentialsSecret specified"},
		},
		"an agent that is allowed counts": {
			from: capacity.Identities{Environment: identity.Environment{Container: true}, AllowContainer: true},
			want: identity.Identity{Base: identity.Container}, says: core.Credentials{Method: "the container's credentials"},
		},
		"the default chain counts if it is allowed": {
			from: capacity.Identities{AllowDefaultChain: true},
			want: identity.Identity{Base: identity.DefaultChain}, says: core.Credentials{Method: "the SDK's default chain"},
		},
		"OpenShift has endpoints and a bundle of its own": {
			from: capacity.Identities{Environment: irsa}, claim: capacity.Claim{OpenShift: true, Endpoints: map[string]string{"ec2": "https://ec2.example.com"}},
			want: identity.Identity{Base: identity.WebIdentity, Endpoints: endpoints, CABundle: kube.CloudConfig},
			says: core.Credentials{Method: "IRSA with role " + role},
		},
		"an endpoint that is none is told without its URL": {
			from: capacity.Identities{Environment: irsa}, claim: capacity.Claim{OpenShift: true, Endpoints: map[string]string{"ec2": "http://a:hush@x"}},
			says: core.Credentials{Problem: `the endpoint of the service "ec2" is no usable URL; it must be like https://ec2.example.com`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.claim.Namespace, c.claim.Name = "machines", "workers"
			got, says, err := c.from.For(t.Context(), c.claim)
			if got != c.want || says != c.says || err != nil {
				t.Errorf("identity %+v, %+v, error %v; want %+v, %+v", got, says, err, c.want, c.says)
			}
		})
	}
}
