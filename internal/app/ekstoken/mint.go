// Package ekstoken is the wiring of the commands that make EKS tokens, and the program
// that is nothing else.
package ekstoken

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tabard-dev/tabard/awsauth"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cli/eks"
	"github.com/tabard-dev/tabard/internal/cli/usage"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/cloud/caller"
	"github.com/tabard-dev/tabard/internal/cloud/presign"
	"github.com/tabard-dev/tabard/internal/core/ekstoken"
	"github.com/tabard-dev/tabard/internal/core/fault"
)

// sessionName is that of aws eks get-token, for a role's session that nothing names.
const sessionName = "EKSGetTokenAuth"

// World is the commands' world of this process.
func World() eks.World {
	return eks.World{Out: os.Stdout, Getenv: os.Getenv, Mint: Mint, Install: Install}
}

// Mint makes a token from what the environment and AWS's files say.
func Mint(ctx context.Context, wish eks.Wish) (string, time.Time, error) {
	if err := ekstoken.CheckCluster(wish.Cluster); err != nil {
		return "", time.Time{}, usage.Wrong(err)
	}
	if wish.RoleARN != "" && !identity.IsRoleARN(wish.RoleARN) {
		return "", time.Time{}, usage.Wrong(fmt.Errorf("the role is %q; it must be an ARN such as arn:aws:iam::111111111111:role/hub", wish.RoleARN))
	}
	seen, err := observe(os.Getenv, wish.Profile)
	if err != nil {
		return "", time.Time{}, ofFlag(wish.Profile, err)
	}
	source, err := ekstoken.Decide(seen)
	if err != nil {
		return "", time.Time{}, ofFlag(wish.Profile, err)
	}
	place, err := placeOf(os.Getenv, wish.Region, source)
	if err != nil {
		return "", time.Time{}, usage.Wrong(err)
	}
	auth, err := awsauth.New(awsauth.Options{
		Getenv: place.environment(os.Getenv, source), Source: oneKey{source.Key}, AppID: "tabard-eks-token",
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return minter{auth, presign.New(auth, time.Now), place}.mint(ctx, source, wish)
}

// ofFlag says that an error is about what was typed, if a flag has named what it is about.
func ofFlag(value string, err error) error {
	if value == "" {
		return err
	}
	return usage.Wrong(err)
}

// minter signs with what was decided.
type minter struct {
	auth   *awsauth.Auth
	signer *presign.Signer
	place  place
}

func (m minter) mint(ctx context.Context, source ekstoken.Source, wish eks.Wish) (string, time.Time, error) {
	id := identity.Identity{Base: source.Base, Region: m.place.region}.Via(named(source.Roles)...)
	if id.Base == identity.Secret {
		id.Secret = theKey
	}
	as := id
	if wish.RoleARN != "" && wish.RoleARN != source.Becomes() {
		as = id.Via(named([]identity.Role{{ARN: wish.RoleARN, ExternalID: wish.ExternalID, SessionName: wish.SessionName}})...)
	}
	token, expiry, err := m.sign(ctx, as, wish.Cluster)
	if as != id && cloud.Is(err, fault.Denied) && m.is(ctx, id, wish.RoleARN) {
		return m.sign(ctx, id, wish.Cluster)
	}
	return token, expiry, err
}

// is says whether an identity is the role already. A role seldom may assume itself, and
// the credentials of an agent or a session do not say whose they are: so STS is asked,
// once the role was refused.
func (m minter) is(ctx context.Context, id identity.Identity, role string) bool {
	_, who, err := caller.New(m.auth).Caller(ctx, id)
	return err == nil && ekstoken.IsRole(who, role)
}

func (m minter) sign(ctx context.Context, id identity.Identity, cluster string) (string, time.Time, error) {
	unsigned, err := ekstoken.Unsigned(m.place.origin)
	if err != nil {
		return "", time.Time{}, err
	}
	signed, at, ending, err := m.signer.GetCallerIdentity(ctx, id, unsigned, ekstoken.ClusterHeader, cluster)
	if err != nil {
		return "", time.Time{}, err
	}
	expiry := ekstoken.Expiry(at, ending)
	if !expiry.After(at) {
		return "", time.Time{}, errors.New("the credentials end within a minute, so no token is made of them; renew them")
	}
	token, err := ekstoken.Token(signed)
	return token, expiry, err
}

// named gives each session a name.
func named(roles []identity.Role) []identity.Role {
	for i := range roles {
		if roles[i].SessionName == "" {
			roles[i].SessionName = sessionName
		}
	}
	return roles
}
