package operator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

// The environment variables by which OpenShift's console leads an operator to its role, and those
// that shipped operators read besides: REGION and AUDIENCE.
const (
	envRole           = "ROLEARN"
	envClient         = "CLIENTID"
	envTenant         = "TENANTID"
	envSubscription   = "SUBSCRIPTIONID"
	envResourceGroup  = "RESOURCEGROUP"
	envRegion         = "REGION"
	envProject        = "PROJECT_NUMBER"
	envPool           = "POOL_ID"
	envProvider       = "PROVIDER_ID"
	envServiceAccount = "SERVICE_ACCOUNT_EMAIL"
	envAudience       = "AUDIENCE"
)

// ErrOtherAccount is a role that is of another account than it has to be.
var ErrOtherAccount = errors.New("of another account")

// ForAWS are the values for a role. Partition and account are those that it has to be of; empty for
// any. A role of another account is ErrOtherAccount.
func ForAWS(arn, partition, account string) (map[string]string, error) {
	const expected = "expected arn:aws:iam::ACCOUNT:role/NAME, with the twelve digits of the account and a name of 64 characters at most"
	role, ok := identity.ParseRoleARN(arn)
	switch {
	case strings.TrimSpace(arn) != arn:
		return nil, fmt.Errorf("the role is %.300q, which begins or ends with a blank: %s", arn, expected)
	case strings.Contains(arn, ":assumed-role/"):
		return nil, fmt.Errorf("the role is %.300q, which is a session of a role: %s", arn, expected)
	case !ok || !identity.IsRoleARN(arn):
		return nil, fmt.Errorf("the role is %.300q, %s", arn, expected)
	case partition != "" && role.Partition != partition:
		return nil, fmt.Errorf("the role is %.300q, of the partition %s, expected the partition %s", arn, role.Partition, partition)
	case account != "" && role.Account != account:
		return nil, fmt.Errorf("the role is %.300q, %w: it is of %s, expected one of account %s", arn, ErrOtherAccount, role.Account, account)
	}
	return map[string]string{envRole: arn}, nil
}

// Azure is an identity of Azure. ResourceGroup and Region may be empty; operators exist that need
// the region.
type Azure struct{ Client, Tenant, Subscription, ResourceGroup, Region string }

// ForAzure are the values for an identity.
func ForAzure(a Azure) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range [][3]string{{"client id", a.Client, envClient}, {"tenant id", a.Tenant, envTenant}, {"subscription id", a.Subscription, envSubscription}} {
		if !cloudid.IsUUID(id[1]) || cloudid.IsZero(id[1]) {
			return nil, fmt.Errorf("the %s is %.80q, expected one such as 11111111-2222-3333-4444-555555555555", id[0], id[1])
		}
		out[id[2]] = id[1]
	}
	if a.ResourceGroup != "" {
		if !cloudid.IsResourceGroup(a.ResourceGroup) {
			return nil, fmt.Errorf("the resource group is %.100q, expected at most 90 letters, digits and -_.(), and no dot at the end", a.ResourceGroup)
		}
		out[envResourceGroup] = a.ResourceGroup
	}
	if a.Region != "" {
		if !cloudid.IsAzureRegion(a.Region) {
			return nil, fmt.Errorf("the region is %.80q, expected Azure's name of a region, such as westeurope", a.Region)
		}
		out[envRegion] = a.Region
	}
	return out, nil
}

// Google is a service account of Google Cloud, and the provider by which tokens of the cluster lead
// to it.
type Google struct{ Project, Pool, Provider, ServiceAccount string }

// GoogleFrom takes the audience of a provider apart, with https: before it or without.
func GoogleFrom(text string) (Google, error) {
	number, pool, provider, ok := cloudid.OfAudience(text)
	if !ok {
		return Google{}, fmt.Errorf("the audience is %.300q, expected //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER", text)
	}
	return Google{Project: number, Pool: pool, Provider: provider}, nil
}

// Audience is that of tokens for the provider.
func (g Google) Audience() string { return cloudid.Audience(g.Project, g.Pool, g.Provider) }

// ForGoogle are the values for a service account: the four of the console, and the audience.
func ForGoogle(g Google) (map[string]string, error) {
	if !cloudid.IsProjectNumber(g.Project) {
		return nil, fmt.Errorf("the project is %.80q, expected its number, which is digits alone, and not its id", g.Project)
	}
	for _, id := range [][2]string{{"pool", g.Pool}, {"provider", g.Provider}} {
		if !cloudid.IsPool(id[1]) || cloudid.IsReserved(id[1]) {
			return nil, fmt.Errorf("the %s is %.80q, expected 4 to 32 lower-case letters, digits and -, not beginning with gcp-", id[0], id[1])
		}
	}
	if !cloudid.IsEmail(g.ServiceAccount) {
		return nil, fmt.Errorf("the service account is %.200q, expected its e-mail, such as name@project.iam.gserviceaccount.com", g.ServiceAccount)
	}
	return map[string]string{envProject: g.Project, envPool: g.Pool, envProvider: g.Provider, envServiceAccount: g.ServiceAccount, envAudience: g.Audience()}, nil
}

// ErrNoApproval is a plan that must not be approved by a program.
var ErrNoApproval = errors.New("the plan is for a person to approve")

// MayApprove says whether an InstallPlan installs only what was shown to a person: the wanted
// version and its dependencies, none of which replaces what another Subscription installed.
func MayApprove(p Plan, wanted string, dependencies []string, subscriptions []Subscription) error {
	allowed := map[string]bool{wanted: true}
	for _, name := range dependencies {
		allowed[name] = true
	}
	if len(p.CSVs) == 0 {
		return fmt.Errorf("%w: it does not say what it installs", ErrNoApproval)
	}
	has := false
	for _, name := range p.CSVs {
		has = has || name == wanted
		if !allowed[name] {
			return fmt.Errorf("%w: it installs %s too", ErrNoApproval, name)
		}
		for _, s := range subscriptions {
			if s.CurrentCSV == name && s.InstalledCSV != "" && s.InstalledCSV != name {
				return fmt.Errorf("%w: it upgrades %s of the Subscription %s to %s", ErrNoApproval, s.InstalledCSV, s.Name, name)
			}
		}
	}
	if !has {
		return fmt.Errorf("%w: it does not install %s", ErrNoApproval, wanted)
	}
	return nil
}
