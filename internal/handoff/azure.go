package handoff

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

// AzureCLI is the form of Azure's work that is a script for the Azure command line.
const AzureCLI Form = "azure"

// AzureWork is what is to be made in one resource group of Azure: an identity, who may become it, and
// what it may do.
type AzureWork struct {
	// About says in sentences who asks for what, and what comes next.
	About []string
	// Owner is the tag of the identity, and "KEY=VALUE" is the description of what has no tags in
	// Azure. What is there without it is not changed.
	Owner Tag
	// Subscription is the id of the subscription, and Tenant that of its tenant; Tenant is empty for
	// the one that the subscription is in.
	Subscription, Tenant string
	// ResourceGroup is where the identity is; it has to be there. Region is Azure's name of a region.
	ResourceGroup, Region string
	// Identity is the name of the user-assigned managed identity.
	Identity    string
	Credentials []FederatedCredential
	Assignments []AzureAssignment
	// Custom is a role for what no built-in role says, nil for none. The identity has it at its scope.
	Custom *AzureRole
}

// FederatedCredential lets one subject of an issuer become the identity.
type FederatedCredential struct{ Name, Issuer, Subject, Audience string }

// AzureAssignment gives the identity a built-in role, by its name, at a scope of the subscription.
type AzureAssignment struct{ Role, Scope string }

// AzureRole is a custom role.
type AzureRole struct {
	Name string
	// Scope is the one that it may be assigned at: the subscription, or a resource group of it.
	Scope                string
	Actions, DataActions []string
}

// The bounds of Azure.
const (
	// MaxCredentials is how many subjects may become one identity (learn.microsoft.com, "Important
	// considerations and restrictions for federated identity credentials").
	MaxCredentials = 20
	// maxFederated bounds issuer, subject and audience (learn.microsoft.com, as above).
	maxFederated = 600
	// maxAzureRole bounds the name of a custom role (learn.microsoft.com, "Azure custom roles").
	maxAzureRole = 512
	// maxMark bounds the owner's mark: the value of a tag of Azure (learn.microsoft.com, "Use tags to
	// organize your Azure resources"), and the description of a service account (cloud.google.com,
	// IAM API, projects.serviceAccounts) have 256.
	maxMark = 256
)

var azureWriters = map[Form]func(AzureWork) (string, error){AzureCLI: azureShell, Terraform: azureTerraform}

// notTriedOnAzure ends what a script says of itself.
const notTriedOnAzure = "Tabard does not simulate Azure: nothing here was tried against it."

// Text writes the work in a form, AzureCLI or Terraform. It is the same at every call.
func (w AzureWork) Text(form Form) (string, error) {
	write, known := azureWriters[form]
	if !known {
		return "", fmt.Errorf("there is no form %q for Azure, expected %s or %s", form, AzureCLI, Terraform)
	}
	if err := w.check(); err != nil {
		return "", err
	}
	w.About = append(slices.Clone(w.About), notTriedOnAzure)
	return write(w)
}

var (
	// identityName is that of an identity (learn.microsoft.com, "Naming rules and restrictions for Azure
	// resources").
	identityName = cloudid.Shape(`[A-Za-z0-9][\w-]{2,127}`)
	// credentialName is a federated credential's (learn.microsoft.com, "Important considerations and
	// restrictions for federated identity credentials").
	credentialName = cloudid.Shape(`[A-Za-z0-9][\w-]{2,119}`)
	// azureTagKey leaves out what Azure refuses in the name of a tag (learn.microsoft.com, "Use tags to
	// organize your Azure resources": <, >, %, &, \, ?, /) and what has a meaning in a call of az.
	azureTagKey = cloudid.Shape(`\w[\w.:+@-]{0,127}`)
	// serviceAccount is the subject of a ServiceAccount's token (Kubernetes: names are DNS labels and
	// subdomains).
	serviceAccount = cloudid.Shape(`system:serviceaccount:[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?:[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?`)
	issuerURL      = cloudid.Shape(`https://[^\s"<>#?]+`)
)

// rule is what a value has to look like.
type rule struct {
	what, value string
	is          func(string) bool
	expected    string
}

func checked(rules []rule) error {
	for _, r := range rules {
		if !r.is(r.value) {
			return fmt.Errorf("%s is %q, expected %s", r.what, r.value, r.expected)
		}
	}
	return nil
}

// check refuses what Azure would refuse, and what no form can say.
func (w AzureWork) check() error {
	err := checked([]rule{
		{"the key of the owner's tag", w.Owner.Key, azureTagKey, "letters, digits and _.:+@-, which Azure takes as the name of a tag"},
		{"the subscription", w.Subscription, cloudid.IsUUID, "the id of a subscription, such as 11111111-2222-3333-4444-555555555555"},
		{"the resource group", w.ResourceGroup, cloudid.IsResourceGroup, "at most 90 letters, digits and -_.(), and no dot at the end"},
		{"the region", w.Region, cloudid.IsAzureRegion, "Azure's name of a region, such as westeurope"},
		{"the name of the identity", w.Identity, identityName, "3 to 128 letters, digits, - and _, beginning with a letter or a digit"},
	})
	if err != nil {
		return err
	}
	if w.Tenant != "" && !cloudid.IsUUID(w.Tenant) {
		return fmt.Errorf("the tenant is %q, expected the id of a tenant, or nothing", w.Tenant)
	}
	for _, id := range []string{w.Subscription, w.Tenant} {
		if id != "" && cloudid.IsZero(id) {
			return fmt.Errorf("the id %q is all zeros, expected that of a subscription or a tenant", id)
		}
	}
	return firstOf(checkMark(w.Owner), w.checkCredentials, w.checkRoles, func() error { return checkTexts(w.texts()) })
}

// firstOf is the first error.
func firstOf(err error, others ...func() error) error {
	for _, other := range others {
		if err != nil {
			return err
		}
		err = other()
	}
	return err
}

func (w AzureWork) checkCredentials() error {
	switch count := len(w.Credentials); {
	case count == 0:
		return errors.New("no ServiceAccount is named, so nobody could become the identity: name one")
	case count > MaxCredentials:
		return fmt.Errorf("%d ServiceAccounts are to become one identity, and Azure allows an identity %d federated credentials, one a ServiceAccount: hand over fewer ServiceAccounts at once, with an identity each time", count, MaxCredentials)
	}
	names, subjects := map[string]bool{}, map[[2]string]bool{}
	for _, c := range w.Credentials {
		err := checked([]rule{
			{"the name of a federated credential", c.Name, credentialName, "3 to 120 letters, digits, - and _, beginning with a letter or a digit"},
			{"the issuer", c.Issuer, issuerURL, "a URL that begins with https://"},
			{"the subject", c.Subject, serviceAccount, "system:serviceaccount:NAMESPACE:NAME"},
		})
		if err != nil {
			return err
		}
		if c.Audience == "" || max(len(c.Issuer), len(c.Subject), len(c.Audience)) > maxFederated {
			return fmt.Errorf("the audience of %s is empty, or its issuer, subject or audience is longer than %d bytes", c.Subject, maxFederated)
		}
		// Azure knows names in any case, and one credential an issuer and subject.
		name, subject := strings.ToLower(c.Name), [2]string{c.Issuer, c.Subject}
		if names[name] || subjects[subject] {
			return fmt.Errorf("the federated credential %s for %s is named twice: leave one out", c.Name, c.Subject)
		}
		names[name], subjects[subject] = true, true
	}
	return nil
}

func (w AzureWork) checkRoles() error {
	for _, a := range w.Assignments {
		if a.Role == "" || !w.isWithin(a.Scope) {
			return fmt.Errorf("the role %q is to be assigned at %q, expected the name of a role and a scope within /subscriptions/%s", a.Role, a.Scope, w.Subscription)
		}
	}
	if w.Custom == nil {
		return nil
	}
	c := *w.Custom
	if c.Name == "" || len(c.Name) > maxAzureRole {
		return fmt.Errorf("the name of the custom role has %d bytes, expected 1 to %d", len(c.Name), maxAzureRole)
	}
	rest, group := strings.CutPrefix(strings.TrimPrefix(c.Scope, w.scope()), "/resourceGroups/")
	if !w.isWithin(c.Scope) || rest != "" && (!group || !cloudid.IsResourceGroup(rest)) {
		return fmt.Errorf("the custom role is to be assigned at %q, expected %s, or /resourceGroups/NAME behind it", c.Scope, w.scope())
	}
	if len(c.Actions)+len(c.DataActions) == 0 || slices.Contains(slices.Concat(c.Actions, c.DataActions), "") {
		return fmt.Errorf("the custom role %q has no permission, or an empty one", c.Name)
	}
	return nil
}

// scope is the subscription as a scope.
func (w AzureWork) scope() string { return "/subscriptions/" + w.Subscription }

func (w AzureWork) isWithin(scope string) bool {
	return scope == w.scope() || strings.HasPrefix(scope, w.scope()+"/")
}

// texts are all values.
func (w AzureWork) texts() []string {
	out := append([]string{w.Owner.Value, w.Region}, w.About...)
	for _, c := range w.Credentials {
		out = append(out, c.Issuer, c.Audience)
	}
	for _, a := range w.Assignments {
		out = append(out, a.Role, a.Scope)
	}
	if w.Custom != nil {
		out = append(out, w.Custom.Name, w.Custom.Scope)
		out = append(append(out, w.Custom.Actions...), w.Custom.DataActions...)
	}
	return out
}
