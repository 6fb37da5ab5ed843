package handoff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/handoff"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

var (
	azurePlace  = handoff.AzurePlace{Subscription: subscription, Tenant: tenant, ResourceGroup: "group", Region: "westeurope"}
	googlePlace = handoff.GooglePlace{Project: "my-project", Number: "123456789", Pool: "my-pool", Provider: "my-provider"}
)

func ask() handoff.Ask {
	return handoff.Ask{
		Name: "cluster-ns-operator", About: []string{"why"}, Owner: handoff.Tag{Key: "tabard.dev/operator", Value: "cluster/ns/operator"},
		Issuer: issuer, Audience: "openshift", Subjects: []string{"system:serviceaccount:ns:two", "system:serviceaccount:ns:one", "system:serviceaccount:ns:two"},
	}
}

func TestAnAskBecomesWorkInAzure(t *testing.T) {
	a := ask()
	a.Roles = []string{"Reader", "Contributor", "reader"}
	a.Permissions, a.DataPermissions = []string{"b/read", "a/read", "B/read"}, []string{"c/read"}
	got := a.Azure(azurePlace)
	group := scope + "/resourceGroups/group"
	want := handoff.AzureWork{
		About: a.About, Owner: handoff.Tag{Key: "tabard.dev.operator", Value: "cluster/ns/operator"},
		Subscription: subscription, Tenant: tenant, ResourceGroup: "group", Region: "westeurope", Identity: "cluster-ns-operator",
		Credentials: []handoff.FederatedCredential{
			{Name: "system-serviceaccount-ns-one-650b1243cb", Issuer: issuer, Subject: "system:serviceaccount:ns:one", Audience: "openshift"},
			{Name: "system-serviceaccount-ns-two-6c26afec5b", Issuer: issuer, Subject: "system:serviceaccount:ns:two", Audience: "openshift"},
		},
		Assignments: []handoff.AzureAssignment{{Role: "Contributor", Scope: group}, {Role: "Reader", Scope: group}},
		Custom:      &handoff.AzureRole{Name: "cluster-ns-operator", Scope: group, Actions: []string{"a/read", "B/read"}, DataActions: []string{"c/read"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	slices.Reverse(a.Subjects)
	slices.Reverse(a.Roles)
	slices.Reverse(a.Permissions)
	if diff := cmp.Diff(want, a.Azure(azurePlace)); diff != "" {
		t.Errorf("in another order (-want +got):\n%s", diff)
	}
	place := azurePlace
	place.Scope = scope
	if w := a.Azure(place); w.Assignments[0].Scope != scope || w.Custom.Scope != scope {
		t.Errorf("the scope is not the one that was given: %+v", w)
	}
	for _, form := range []handoff.Form{handoff.AzureCLI, handoff.Terraform} {
		must.Get(got.Text(form))(t)
	}
}

func TestAnAskBecomesWorkInGoogleCloud(t *testing.T) {
	a := ask()
	a.Roles = []string{"roles/viewer", "roles/browser", "roles/viewer"}
	a.Permissions = []string{"storage.objects.list", "storage.objects.get", "storage.objects.get"}
	got := must.Get(a.Google(googlePlace))(t)
	want := handoff.GoogleWork{
		About: a.About, Owner: a.Owner, Issuer: issuer,
		Project: "my-project", Number: "123456789", Pool: "my-pool", Provider: "my-provider",
		Account: "cluster-ns-operator", DisplayName: "cluster-ns-operator",
		Subjects: []string{"system:serviceaccount:ns:one", "system:serviceaccount:ns:two"}, Roles: []string{"roles/browser", "roles/viewer"},
		Custom: &handoff.GoogleRole{ID: "cluster_ns_operator_ae640ce991", Title: "cluster-ns-operator", Permissions: []string{"storage.objects.get", "storage.objects.list"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, form := range []handoff.Form{handoff.GoogleCLI, handoff.Terraform} {
		must.Get(got.Text(form))(t)
	}
	a.DataPermissions = []string{"c/read"}
	if _, err := a.Google(googlePlace); err == nil || !strings.Contains(err.Error(), `the permission on data "c/read" is Azure's`) {
		t.Errorf("permissions on data: %v", err)
	}
}

// TestNamesAreCutWithAHash tries names that a cloud does not take: what is made of two of them differs,
// and is taken.
func TestNamesAreCutWithAHash(t *testing.T) {
	long := strings.Repeat("long-", 60)
	seen := map[string]string{}
	for _, name := range []string{"a", "ab", "a-b", "a_b", "a.b", "-", "", "ÄÖ", "9lives", "Upper-Case", "upper-case.", "upper_case-", long + "1", long + "2", "$(touch x)", "a\nb", "---------", strings.Repeat("-", 40)} {
		a := ask()
		a.Name, a.Permissions = name, []string{"storage.objects.get"}
		az := a.Azure(azurePlace)
		goo := must.Get(a.Google(googlePlace))(t)
		for _, form := range []handoff.Form{handoff.AzureCLI, handoff.Terraform} {
			must.Get(az.Text(form))(t)
		}
		if goo.DisplayName == "" {
			t.Errorf("%q has no title", name)
		}
		for _, form := range []handoff.Form{handoff.GoogleCLI, handoff.Terraform} {
			must.Get(goo.Text(form))(t)
		}
		for _, made := range []string{"identity " + strings.ToLower(az.Identity), "account " + goo.Account, "role " + goo.Custom.ID} {
			if other, there := seen[made]; there {
				t.Errorf("%q and %q are both %s", other, name, made)
			}
			seen[made] = name
		}
	}
}
