package handoff

// googleTerraform is a module of the google provider, with what the operator needs as outputs.
func googleTerraform(w GoogleWork) (string, error) {
	t := &module{}
	t.WriteString(comment(w.About) + `
terraform {
  required_providers {
    google = {
      source = "hashicorp/google"
    }
  }
}

provider "google" {
  project = ` + literal(w.Project) + "\n}\n")
	const itself = "google_service_account.account"
	t.block("google_service_account", "account", "project", literal(w.Project), "account_id", literal(w.Account),
		"display_name", optional(w.DisplayName), "description", literal(w.Owner.mark()))
	for i, subject := range w.Subjects {
		t.block("google_service_account_iam_member", numbered("subject", "_", i), "service_account_id", itself+".name",
			"role", literal(becomes), "member", literal(w.member(subject)))
	}
	for i, role := range w.Roles {
		t.member(w, numbered("role", "_", i), literal(role))
	}
	if r := w.Custom; r != nil {
		t.block("google_project_iam_custom_role", "custom", "project", literal(w.Project), "role_id", literal(r.ID), "title", literal(r.Title),
			"description", literal(w.Owner.mark()), "permissions", list(r.Permissions))
		t.member(w, "custom", "google_project_iam_custom_role.custom.id")
	}
	t.output("service_account_email", itself+".email")
	t.output("project_number", literal(w.Number))
	t.output("pool_id", literal(w.Pool))
	t.output("provider_id", literal(w.Provider))
	t.output("audience", literal(w.Audience()))
	return t.String(), nil
}

func (m *module) member(w GoogleWork, name, role string) {
	m.block("google_project_iam_member", name, "project", literal(w.Project), "role", role, "member", `"serviceAccount:${google_service_account.account.email}"`)
}
