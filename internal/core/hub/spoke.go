package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/issuer"
)

// TokenAudience is the audience of the tokens with which agents become a role at STS.
const TokenAudience = "sts.amazonaws.com"

// Spoke is a cluster that joins a hub, as far as its roles depend on it.
type Spoke struct {
	// Cluster is the name of its ManagedCluster.
	Cluster string
	// ARN is the one of a spoke in EKS; the zero value for every other.
	ARN ARN
	// Issuer is the URL of its published token issuer: of a spoke in EKS that of EKS, by
	// which its agents become its role in its own account; of another spoke that by
	// which its agents become the role in the hub's account. Empty if there is none.
	Issuer string
	// Principals are the ARNs of roles and users whose credentials a spoke that is not in
	// EKS uses.
	Principals []string
	// Agents are the ServiceAccounts of its agents.
	Agents Agents
}

// Agents are the ServiceAccounts of a klusterlet's agents.
type Agents struct {
	// Namespace is spec.namespace of the Klusterlet, Klusterlet its name.
	Namespace, Klusterlet string
	// Singleton says that both agents are one Deployment (deployOption.mode Singleton).
	Singleton bool
}

// Subjects are the subjects of the agents' tokens.
func (a Agents) Subjects() []string {
	subject := func(agent string) string {
		return "system:serviceaccount:" + a.Namespace + ":" + a.Klusterlet + "-" + agent + "-sa"
	}
	if a.Singleton {
		return []string{subject("work")}
	}
	return []string{subject("registration"), subject("work")}
}

// Check says all that is wrong with what a person said of a spoke.
func (s Spoke) Check(hub ARN) error {
	var errs []error
	if wrong := validation.IsDNS1123Subdomain(s.Cluster); len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("%s is not the name of a ManagedCluster: %s", quoted(s.Cluster), wrong[0]))
	}
	if s.Issuer != "" {
		if err := issuer.ValidateForeignURL(s.Issuer); err != nil {
			errs = append(errs, fmt.Errorf("the issuer %s: %w", quoted(s.Issuer), err))
		}
	}
	switch {
	case !s.ARN.IsZero() && len(s.Principals) > 0:
		errs = append(errs, fmt.Errorf("the spoke has the ARN %s, so its own role %s becomes the role in the hub's account: leave the principals out", s.ARN, SpokeRoleName("SUFFIX")))
	case !s.ARN.IsZero() && s.ARN.Partition != hub.Partition:
		errs = append(errs, fmt.Errorf("the hub is in the AWS partition %s and the spoke in %s: roles of one partition cannot become roles of another", hub.Partition, s.ARN.Partition))
	case s.ARN.IsZero() && (s.Issuer == "") == (len(s.Principals) == 0):
		errs = append(errs, errors.New("a spoke that is not in EKS needs either its token issuer, or the roles and users whose credentials its agents use"))
	}
	for _, principal := range s.Principals {
		errs = append(errs, checkPrincipal(hub, principal))
	}
	if wrong := slices.Concat(validation.IsDNS1123Label(s.Agents.Namespace), validation.IsDNS1123Subdomain(s.Agents.Klusterlet)); len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("the agents' namespace is %s and their Klusterlet %s: %s", quoted(s.Agents.Namespace), quoted(s.Agents.Klusterlet), wrong[0]))
	}
	return errors.Join(errs...)
}

// checkPrincipal refuses what admits more than one role or user: an account, a session of
// a role, a wildcard.
func checkPrincipal(hub ARN, text string) error {
	// Users have the names and paths of roles, in ARNs of the same form.
	arn, ok := identity.ParseRoleARN(strings.Replace(text, ":user/", ":role/", 1))
	if !ok || strings.ContainsAny(text, "*?") {
		return fmt.Errorf("%s is not the ARN of one IAM role or user, expected such as arn:aws:iam::123456789012:role/agents", quoted(text))
	}
	if arn.Partition != hub.Partition {
		return fmt.Errorf("%s is in the AWS partition %s and the hub in %s: it cannot become a role there", quoted(text), arn.Partition, hub.Partition)
	}
	return nil
}

// HubRole is the name and the trust policy of a spoke's role in the hub's account.
func (s Spoke) HubRole(hub ARN) (name, trust string, err error) {
	suffix, err := Suffix(hub, s.ARN, s.Cluster)
	if err != nil {
		return "", "", err
	}
	switch {
	case !s.ARN.IsZero():
		trust = Trust(hub, s.ARN, suffix)
	case s.Issuer != "":
		trust = iampolicy.Document{iampolicy.WebIdentity(s.Provider(hub), TokenAudience, s.Agents.Subjects()...)}.String()
	default:
		trust = iampolicy.Document{{
			Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeAWS: s.Principals}, Actions: []string{"sts:AssumeRole"},
		}}.String()
	}
	return RoleName(suffix), trust, nil
}

// Provider is the ARN of the OIDC provider of the spoke's issuer in the hub's account.
func (s Spoke) Provider(hub ARN) string {
	return issuer.ProviderARN(hub.Partition, hub.Account, s.Issuer)
}

// OwnRole is the role of a spoke in EKS in its own account: which its agents become by
// their tokens, and which may become the role in the hub's account. The hub's role knows it by
// these tags.
type OwnRole struct {
	Name, Trust, Policy string
	// Provider is the ARN of the OIDC provider in the spoke's account.
	Provider string
	Tags     map[string]string
}

// OwnRole is the role of a spoke in EKS in its own account; its Issuer has to be known.
func (s Spoke) OwnRole(hub ARN) (OwnRole, error) {
	suffix, err := Suffix(hub, s.ARN, s.Cluster)
	switch {
	case err != nil:
		return OwnRole{}, err
	case s.ARN.IsZero():
		return OwnRole{}, errors.New("the spoke is not in EKS: it has no role in an account of its own")
	case s.Issuer == "":
		return OwnRole{}, errors.New("the token issuer of the spoke is not known, and its role trusts it: aws eks describe-cluster --name NAME --query cluster.identity.oidc.issuer prints it")
	}
	provider := issuer.ProviderARN(s.ARN.Partition, s.ARN.Account, s.Issuer)
	return OwnRole{
		Name:     SpokeRoleName(suffix),
		Provider: provider,
		Trust:    iampolicy.Document{iampolicy.WebIdentity(provider, TokenAudience, s.Agents.Subjects()...)}.String(),
		Policy:   iampolicy.Document{{Actions: []string{"sts:AssumeRole"}, Resources: []string{hub.RoleARN(RoleName(suffix))}}}.String(),
		Tags:     trustTags(hub, s.ARN),
	}, nil
}
