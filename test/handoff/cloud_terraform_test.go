package handoff_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"

	"github.com/tabard-dev/tabard/internal/handoff"
)

// resources are the values of a module's blocks, by labels and attribute; those of a block within stand
// behind its name. What refers to another resource has the resource and attribute that it refers to.
func resources(t *testing.T, text string) map[string]cty.Value {
	t.Helper()
	file, diagnostics := hclparse.NewParser().ParseHCL([]byte(text), "main.tf")
	if diagnostics.HasErrors() {
		t.Fatalf("%v in\n%s", diagnostics, text)
	}
	out := map[string]cty.Value{}
	var walk func(string, *hclsyntax.Body)
	walk = func(path string, body *hclsyntax.Body) {
		for name, attribute := range body.Attributes {
			out[path+"."+name] = valueOf(t, attribute.Expr)
		}
		for _, block := range body.Blocks {
			walk(strings.TrimPrefix(path+"."+strings.Join(append([]string{block.Type}, block.Labels...), "."), "."), block.Body)
		}
	}
	walk("", file.Body.(*hclsyntax.Body))
	return out
}

func valueOf(t *testing.T, expression hcl.Expression) cty.Value {
	t.Helper()
	if variables := expression.Variables(); len(variables) > 0 {
		var refers []string
		for _, variable := range variables {
			name := variable.RootName()
			for _, step := range variable[1:] {
				name += "." + step.(hcl.TraverseAttr).Name
			}
			refers = append(refers, name)
		}
		return cty.StringVal("-> " + strings.Join(refers, " "))
	}
	value, diagnostics := expression.Value(nil)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	return value
}

func wantResources(t *testing.T, text, written string, want map[string]cty.Value) {
	t.Helper()
	got := resources(t, written)
	for name, value := range got {
		if wanted, known := want[name]; !known || !value.RawEquals(wanted) {
			t.Errorf("%q: %s is %#v, want %#v", text, name, value, wanted)
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			t.Errorf("%q: there is no %s", text, name)
		}
	}
}

// texts is a list, and one is a text, as Terraform reads them: in a normal form of Unicode.
func texts(all ...string) cty.Value {
	var out []cty.Value
	for _, text := range all {
		out = append(out, one(text))
	}
	return cty.TupleVal(out)
}

func one(text string) cty.Value { return cty.StringVal(norm.NFC.String(text)) }

// refers is a reference to a resource.
func refers(to string) cty.Value { return cty.StringVal("-> " + to) }

// shown are the characters of a text that can be in the mark of an owner.
func shown(text string) string {
	return strings.Map(func(char rune) rune {
		if unicode.IsPrint(char) {
			return char
		}
		return -1
	}, text)
}

const (
	subscription = "11111111-2222-3333-4444-555555555555"
	scope        = "/subscriptions/" + subscription
	subject      = "system:serviceaccount:ns:"
)

func wantAzure(t *testing.T, text string) {
	t.Helper()
	owner := "o" + shown(text) + "o"
	w := handoff.AzureWork{
		About: []string{text}, Owner: handoff.Tag{Key: "tabard.dev.operator", Value: owner},
		Subscription: subscription, Tenant: subscription, ResourceGroup: "group", Region: "westeurope", Identity: "operator",
		Credentials: []handoff.FederatedCredential{
			{Name: "one", Issuer: "https://issuer.example/${x}", Subject: subject + "one", Audience: "a" + text},
			{Name: "two", Issuer: "https://issuer.example/%{x}", Subject: subject + "two", Audience: "openshift"},
		},
		Assignments: []handoff.AzureAssignment{{Role: "r" + text, Scope: scope + "/" + text}, {Role: "Reader", Scope: scope}},
		Custom:      &handoff.AzureRole{Name: "n" + text, Scope: scope, Actions: []string{"x" + text, "y"}, DataActions: []string{text + "z"}},
	}
	written, err := w.Text(handoff.Terraform)
	if err != nil {
		t.Fatal(err)
	}
	const (
		identity = "azurerm_user_assigned_identity.identity"
		federate = "resource.azurerm_federated_identity_credential."
	)
	want := map[string]cty.Value{
		"provider.azurerm.subscription_id": one(subscription), "provider.azurerm.tenant_id": one(subscription),
		"terraform.required_providers.azurerm":          cty.ObjectVal(map[string]cty.Value{"source": one("hashicorp/azurerm"), "version": one("~> 4.0")}),
		"resource." + identity + ".name":                one("operator"),
		"resource." + identity + ".resource_group_name": one("group"),
		"resource." + identity + ".location":            one("westeurope"),
		"resource." + identity + ".tags":                cty.ObjectVal(map[string]cty.Value{"tabard.dev.operator": one(owner)}),

		federate + "credential.name": one("one"), federate + "credential.resource_group_name": one("group"), federate + "credential.parent_id": refers(identity + ".id"),
		federate + "credential.issuer": one("https://issuer.example/${x}"), federate + "credential.subject": one(subject + "one"), federate + "credential.audience": texts("a" + text),
		federate + "credential_2.name": one("two"), federate + "credential_2.resource_group_name": one("group"), federate + "credential_2.parent_id": refers(identity + ".id"),
		federate + "credential_2.issuer": one("https://issuer.example/%{x}"), federate + "credential_2.subject": one(subject + "two"), federate + "credential_2.audience": texts("openshift"),
		federate + "credential_2.depends_on": refers("azurerm_federated_identity_credential.credential"),

		"resource.azurerm_role_definition.role.name": one("n" + text), "resource.azurerm_role_definition.role.scope": one(scope),
		"resource.azurerm_role_definition.role.description":              one("tabard.dev.operator=" + owner),
		"resource.azurerm_role_definition.role.assignable_scopes":        texts(scope),
		"resource.azurerm_role_definition.role.permissions.actions":      texts("x"+text, "y"),
		"resource.azurerm_role_definition.role.permissions.data_actions": texts(text + "z"),
		"output.client_id.value":                                         refers(identity + ".client_id"),
		"output.tenant_id.value":                                         refers(identity + ".tenant_id"),
		"output.subscription_id.value":                                   one(subscription),
	}
	for name, at := range map[string]string{"assignment": scope + "/" + text, "assignment_2": scope, "custom": scope} {
		assignment := "resource.azurerm_role_assignment." + name
		want[assignment+".scope"], want[assignment+".description"] = one(at), one("tabard.dev.operator="+owner)
		want[assignment+".principal_id"], want[assignment+".principal_type"] = refers(identity+".principal_id"), one("ServicePrincipal")
	}
	want["resource.azurerm_role_assignment.assignment.role_definition_name"] = one("r" + text)
	want["resource.azurerm_role_assignment.assignment_2.role_definition_name"] = one("Reader")
	want["resource.azurerm_role_assignment.custom.role_definition_id"] = refers("azurerm_role_definition.role.role_definition_resource_id")
	wantResources(t, text, written, want)
}

func wantGoogle(t *testing.T, text string) {
	t.Helper()
	owner := "o" + shown(text) + "o"
	w := handoff.GoogleWork{
		About: []string{text}, Owner: handoff.Tag{Key: "tabard.dev/operator", Value: owner},
		Project: "my-project", Number: "123456789", Pool: "my-pool", Provider: "my-provider", Issuer: "https://issuer.example/${x}",
		Account: "operator", DisplayName: "d" + text, Subjects: []string{subject + "one", subject + "two"}, Roles: []string{"roles/viewer", "roles/browser"},
		Custom: &handoff.GoogleRole{ID: "operator", Title: "t" + text, Permissions: []string{"storage.objects.get", "storage.objects.list"}},
	}
	written, err := w.Text(handoff.Terraform)
	if err != nil {
		t.Fatal(err)
	}
	const (
		account = "google_service_account.account"
		custom  = "resource.google_project_iam_custom_role.custom"
		pool    = "//iam.googleapis.com/projects/123456789/locations/global/workloadIdentityPools/my-pool/"
	)
	want := map[string]cty.Value{
		"provider.google.project":               one("my-project"),
		"terraform.required_providers.google":   cty.ObjectVal(map[string]cty.Value{"source": one("hashicorp/google")}),
		"resource." + account + ".project":      one("my-project"),
		"resource." + account + ".account_id":   one("operator"),
		"resource." + account + ".display_name": one("d" + text),
		"resource." + account + ".description":  one("tabard.dev/operator=" + owner),
		custom + ".project":                     one("my-project"), custom + ".role_id": one("operator"), custom + ".title": one("t" + text),
		custom + ".description": one("tabard.dev/operator=" + owner), custom + ".permissions": texts("storage.objects.get", "storage.objects.list"),
		"output.service_account_email.value": refers(account + ".email"), "output.project_number.value": one("123456789"), "output.pool_id.value": one("my-pool"),
		"output.provider_id.value": one("my-provider"), "output.audience.value": one(pool + "providers/my-provider"),
	}
	for name, who := range map[string]string{"subject": "one", "subject_2": "two"} {
		member := "resource.google_service_account_iam_member." + name
		want[member+".service_account_id"], want[member+".role"], want[member+".member"] = refers(account+".name"), one("roles/iam.workloadIdentityUser"), one("principal:"+pool+"subject/"+subject+who)
	}
	for name, role := range map[string]cty.Value{"role": one("roles/viewer"), "role_2": one("roles/browser"), "custom": refers("google_project_iam_custom_role.custom.id")} {
		member := "resource.google_project_iam_member." + name
		want[member+".project"], want[member+".role"], want[member+".member"] = one("my-project"), role, refers(account+".email")
	}
	wantResources(t, text, written, want)
}

func TestTerraformReadsWhatWasMeantForAzureAndGoogle(t *testing.T) {
	for _, text := range nasty {
		wantAzure(t, text)
		wantGoogle(t, text)
	}
}

func FuzzCloudTerraform(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") && len(text) < 90 {
			wantAzure(t, text)
			wantGoogle(t, text)
		}
	})
}
