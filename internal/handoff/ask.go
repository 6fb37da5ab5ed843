package handoff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

// Ask is what one who runs an operator asks of the owner of a subscription of Azure or a project of
// Google Cloud, as plain values.
type Ask struct {
	// Name is how what is made is called. Where a cloud does not take it as it is, it is changed and
	// ends with a hash of the whole name.
	Name string
	// About says in sentences who asks for what, and what comes next.
	About []string
	// Owner is put on all that is made. Azure takes no / in the key of a tag: there it is a dot.
	Owner Tag
	// Issuer is the URL of the cluster's issuer, and Audience what tokens are for, which Google Cloud's
	// provider knows already.
	Issuer, Audience string
	// Subjects are ServiceAccounts, as system:serviceaccount:NAMESPACE:NAME.
	Subjects []string
	// Roles are built-in roles of Azure by name, or predefined roles of Google Cloud, with roles/.
	Roles []string
	// Permissions are what no such role says; DataPermissions are Azure's alone.
	Permissions, DataPermissions []string
}

// AzurePlace is where in Azure things are made; its fields are those of AzureWork.
type AzurePlace struct {
	Subscription, Tenant, ResourceGroup, Region string
	// Scope is where the roles hold; empty for the resource group.
	Scope string
}

// GooglePlace is where in Google Cloud things are made; its fields are those of GoogleWork.
type GooglePlace struct{ Project, Number, Pool, Provider string }

// hashDigits is how many hexadecimal digits of a hash end a name that was changed.
const hashDigits = 10

// Azure is the work for an ask, the same for the same values in any order. What Azure would refuse is
// refused when the work is written.
func (a Ask) Azure(place AzurePlace) AzureWork {
	w := AzureWork{
		About: a.About, Owner: Tag{Key: strings.ReplaceAll(a.Owner.Key, "/", "."), Value: a.Owner.Value},
		Subscription: place.Subscription, Tenant: place.Tenant, ResourceGroup: place.ResourceGroup, Region: place.Region,
		Identity: azureName.of(a.Name),
	}
	scope := place.Scope
	if scope == "" {
		scope = w.scope() + "/resourceGroups/" + place.ResourceGroup
	}
	for _, subject := range sortedSet(a.Subjects, strings.Clone) {
		w.Credentials = append(w.Credentials, FederatedCredential{
			Name: credentialNames.of(subject), Issuer: a.Issuer, Subject: subject, Audience: a.Audience,
		})
	}
	for _, role := range sortedSet(a.Roles, strings.ToLower) {
		w.Assignments = append(w.Assignments, AzureAssignment{Role: role, Scope: scope})
	}
	if len(a.Permissions)+len(a.DataPermissions) > 0 {
		w.Custom = &AzureRole{
			Name: w.Identity, Scope: scope,
			Actions: sortedSet(a.Permissions, strings.ToLower), DataActions: sortedSet(a.DataPermissions, strings.ToLower),
		}
	}
	return w
}

// Google is the work for an ask, the same for the same values in any order. Permissions on data are
// refused: Google Cloud has none of their own. What it would refuse besides is refused when the work is
// written.
func (a Ask) Google(place GooglePlace) (GoogleWork, error) {
	if len(a.DataPermissions) > 0 {
		return GoogleWork{}, fmt.Errorf("the permission on data %q is Azure's, expected permissions of Google Cloud alone", a.DataPermissions[0])
	}
	w := GoogleWork{
		About: a.About, Owner: a.Owner, Issuer: a.Issuer,
		Project: place.Project, Number: place.Number, Pool: place.Pool, Provider: place.Provider,
		Account: accountName.of(a.Name), DisplayName: a.Name,
		Subjects: sortedSet(a.Subjects, strings.Clone), Roles: sortedSet(a.Roles, strings.Clone),
	}
	if w.DisplayName == "" || len(w.DisplayName) > maxTitle {
		w.DisplayName = w.Account
	}
	if len(a.Permissions) > 0 {
		w.Custom = &GoogleRole{ID: customName.of(a.Name), Title: w.DisplayName, Permissions: sortedSet(a.Permissions, strings.Clone)}
	}
	return w, nil
}

// sortedSet are texts in order, and of those that a cloud takes for the same the first.
func sortedSet(texts []string, same func(string) string) []string {
	out := slices.Clone(texts)
	slices.SortFunc(out, func(a, b string) int {
		if order := strings.Compare(same(a), same(b)); order != 0 {
			return order
		}
		return strings.Compare(a, b)
	})
	return slices.CompactFunc(out, func(a, b string) bool { return same(a) == same(b) })
}

// naming is what a cloud demands of a name.
type naming struct {
	is    func(string) bool
	other func() *regexp.Regexp
	// by stands for the characters that other finds.
	by    string
	most  int
	lower bool
}

var (
	azureName       = naming{is: identityName, other: others(`[^A-Za-z0-9_-]+`), by: "-", most: 128}
	credentialNames = naming{is: credentialName, other: others(`[^A-Za-z0-9_-]+`), by: "-", most: 120}
	accountName     = naming{is: cloudid.IsServiceAccount, other: others(`[^a-z0-9-]+`), by: "-", most: 30, lower: true}
	customName      = naming{is: customRole, other: others(`[^A-Za-z0-9_.]+`), by: "_", most: 64}
)

// of is a name itself if the cloud takes it, and else what it would take of it with a hash of all of it.
func (n naming) of(name string) string {
	if n.is(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	head := name
	if n.lower {
		head = strings.ToLower(head)
	}
	head = strings.TrimLeft(n.other().ReplaceAllString(head, n.by), "0123456789_.-")
	head = strings.TrimRight(head[:min(len(head), n.most-1-hashDigits)], "_.-")
	if head == "" {
		head = "tabard"
	}
	return head + n.by + hex.EncodeToString(sum[:])[:hashDigits]
}

func others(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
