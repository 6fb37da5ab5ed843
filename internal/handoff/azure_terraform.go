package handoff

import "fmt"

// azureTerraform is a module of the azurerm provider, with what the operator needs as outputs.
func azureTerraform(w AzureWork) (string, error) {
	t := &module{}
	t.WriteString(comment(w.About) + `
terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = "~> 4.0"
    }
  }
}

provider "azurerm" {
  features {}
  subscription_id = ` + literal(w.Subscription) + "\n")
	if w.Tenant != "" {
		t.WriteString("  tenant_id = " + literal(w.Tenant) + "\n")
	}
	t.WriteString("}\n")
	const itself = "azurerm_user_assigned_identity.identity"
	t.block("azurerm_user_assigned_identity", "identity", "name", literal(w.Identity), "resource_group_name", literal(w.ResourceGroup),
		"location", literal(w.Region), "tags", tagMap([]Tag{w.Owner}))
	after := "" // Azure makes the credentials of an identity one after the other alone
	for i, c := range w.Credentials {
		name := numbered("credential", "_", i)
		t.block("azurerm_federated_identity_credential", name, "name", literal(c.Name), "resource_group_name", literal(w.ResourceGroup),
			"parent_id", itself+".id", "issuer", literal(c.Issuer), "subject", literal(c.Subject), "audience", list([]string{c.Audience}), "depends_on", after)
		after = "[azurerm_federated_identity_credential." + name + "]"
	}
	for i, a := range w.Assignments {
		t.assign(w, numbered("assignment", "_", i), a.Scope, "role_definition_name", literal(a.Role))
	}
	if r := w.Custom; r != nil {
		t.block("azurerm_role_definition", "role", "name", literal(r.Name), "scope", literal(r.Scope), "description", literal(w.Owner.mark()),
			"", "permissions {\n    actions = "+list(r.Actions)+"\n    data_actions = "+list(r.DataActions)+"\n  }",
			"assignable_scopes", list([]string{r.Scope}))
		t.assign(w, "custom", r.Scope, "role_definition_id", "azurerm_role_definition.role.role_definition_resource_id")
	}
	t.output("client_id", itself+".client_id")
	t.output("tenant_id", itself+".tenant_id")
	t.output("subscription_id", literal(w.Subscription))
	return t.String(), nil
}

func (m *module) assign(w AzureWork, name, scope, by, role string) {
	m.block("azurerm_role_assignment", name, "scope", literal(scope), by, role,
		"principal_id", "azurerm_user_assigned_identity.identity.principal_id", "principal_type", `"ServicePrincipal"`, "description", literal(w.Owner.mark()))
}

func (m *module) output(name, value string) {
	fmt.Fprintf(m, "\noutput %q {\n  value = %s\n}\n", name, value)
}
