package handoff

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/cloudid"
)

// GoogleCLI is the form of Google Cloud's work that is a script for the gcloud command line.
const GoogleCLI Form = "gcp"

// GoogleWork is what is to be made in one project of Google Cloud: a service account, who may become it,
// and what it may do.
type GoogleWork struct {
	// About says in sentences who asks for what, and what comes next.
	About []string
	// Owner as "KEY=VALUE" is the description of what is made. What is there without it is not
	// changed.
	Owner Tag
	// Project is the id of the project, and Number its number.
	Project, Number string
	// Pool and Provider are the ids of the workload identity pool, and of the provider in it that
	// trusts the cluster's issuer. Both have to be there.
	Pool, Provider string
	// Issuer is the URL of the issuer that the provider has to trust.
	Issuer string
	// Account is the id of the service account, which is its e-mail's beginning.
	Account     string
	DisplayName string
	// Subjects are the ServiceAccounts that become the service account, as
	// system:serviceaccount:NAMESPACE:NAME.
	Subjects []string
	// Roles are predefined roles, such as roles/storage.objectViewer, which the service account gets
	// in the project.
	Roles []string
	// Custom is a role for what no predefined role says, nil for none.
	Custom *GoogleRole
}

// GoogleRole is a custom role of the project, which the service account gets in the project.
type GoogleRole struct {
	// ID is how it ends in projects/PROJECT/roles/ID.
	ID, Title   string
	Permissions []string
}

// becomes is the role by which a subject of a pool may become a service account (cloud.google.com,
// "Configure Workload Identity Federation").
const becomes = "roles/iam.workloadIdentityUser"

// The bounds of Google Cloud.
const (
	// maxSubject bounds google.subject, which the provider takes from a token (cloud.google.com, IAM
	// API, projects.locations.workloadIdentityPools.providers: attributeMapping).
	maxSubject = 127
	// maxTitle bounds display names of service accounts and titles of roles (cloud.google.com, IAM API,
	// projects.serviceAccounts and "Create and manage custom roles").
	maxTitle = 100
	// maxPermissions bounds a custom role (cloud.google.com, "Quotas and limits" of IAM).
	maxPermissions = 3000
)

var (
	// customRole is the id of a custom role, googlePermission one of its permissions, and predefined a
	// predefined role (cloud.google.com, "Create and manage custom roles", "Roles and permissions").
	customRole       = cloudid.Shape(`[\w.]{3,64}`)
	googlePermission = cloudid.Shape(`[A-Za-z0-9]+([.-][A-Za-z0-9]+)+`)
	predefined       = cloudid.Shape(`roles/[\w.]{1,128}`)
	googleMarkKey    = cloudid.Shape(`\w[\w.:/+@-]{0,127}`)
)

var googleWriters = map[Form]func(GoogleWork) (string, error){GoogleCLI: googleShell, Terraform: googleTerraform}

// notTriedOnGoogle ends what a script says of itself.
const notTriedOnGoogle = "Tabard does not simulate Google Cloud: nothing here was tried against it."

// Text writes the work in a form, GoogleCLI or Terraform. It is the same at every call.
func (w GoogleWork) Text(form Form) (string, error) {
	write, known := googleWriters[form]
	if !known {
		return "", fmt.Errorf("there is no form %q for Google Cloud, expected %s or %s", form, GoogleCLI, Terraform)
	}
	if err := w.check(); err != nil {
		return "", err
	}
	w.About = append(slices.Clone(w.About), notTriedOnGoogle)
	return write(w)
}

// Email is the name by which Google Cloud knows the service account.
func (w GoogleWork) Email() string { return cloudid.Email(w.Account, w.Project) }

// Audience is what tokens for the provider are for.
func (w GoogleWork) Audience() string { return cloudid.Audience(w.Number, w.Pool, w.Provider) }

func (w GoogleWork) pool() string { return cloudid.Pool(w.Number, w.Pool) }

// member is a subject as a member of a policy (cloud.google.com, "Principal identifiers").
func (w GoogleWork) member(subject string) string {
	return "principal://iam.googleapis.com/" + w.pool() + "/subject/" + subject
}

// role is the custom role's whole name.
func (w GoogleWork) role() string { return "projects/" + w.Project + "/roles/" + w.Custom.ID }

// check refuses what Google Cloud would refuse, and what no form can say.
func (w GoogleWork) check() error {
	err := checked([]rule{
		{"the key of the owner's mark", w.Owner.Key, googleMarkKey, "letters, digits and _.:/+@-"},
		{"the project", w.Project, cloudid.IsProject, "the id of a project: 6 to 30 lower-case letters, digits and -"},
		{"the project's number", w.Number, cloudid.IsProjectNumber, "digits alone, not the id of a project"},
		{"the pool", w.Pool, cloudid.IsPool, "4 to 32 lower-case letters, digits and -"},
		{"the provider", w.Provider, cloudid.IsPool, "4 to 32 lower-case letters, digits and -"},
		{"the issuer", w.Issuer, issuerURL, "a URL that begins with https://"},
		{"the id of the service account", w.Account, cloudid.IsServiceAccount, "6 to 30 lower-case letters, digits and -, beginning with a letter and not ending with -"},
	})
	if err != nil {
		return err
	}
	for _, id := range []string{w.Pool, w.Provider} {
		if cloudid.IsReserved(id) {
			return fmt.Errorf("the pool or provider %q begins with gcp-, which only Google may use", id)
		}
	}
	if len(w.DisplayName) > maxTitle {
		return fmt.Errorf("the display name has %d bytes, expected at most %d", len(w.DisplayName), maxTitle)
	}
	return firstOf(checkMark(w.Owner), w.checkSubjects, w.checkRoles, func() error { return checkTexts(append([]string{w.DisplayName, w.Owner.Value, w.Issuer}, w.About...)) })
}

func (w GoogleWork) checkSubjects() error {
	if len(w.Subjects) == 0 {
		return errors.New("no ServiceAccount is named, so nobody could become the service account: name one")
	}
	for _, subject := range w.Subjects {
		if err := checked([]rule{{"the subject", subject, serviceAccount, "system:serviceaccount:NAMESPACE:NAME"}}); err != nil {
			return err
		}
		if len(subject) > maxSubject {
			return fmt.Errorf("the subject %s has %d bytes, and Google Cloud takes at most %d: its tokens would be refused", subject, len(subject), maxSubject)
		}
	}
	return nil
}

func (w GoogleWork) checkRoles() error {
	var rules []rule
	for _, role := range w.Roles {
		rules = append(rules, rule{"the role", role, predefined, "a predefined role, such as roles/storage.objectViewer"})
	}
	if w.Custom != nil {
		rules = append(rules, rule{"the id of the custom role", w.Custom.ID, customRole, "3 to 64 letters, digits, _ and ."})
		for _, permission := range w.Custom.Permissions {
			rules = append(rules, rule{"the permission", permission, googlePermission, "one such as storage.objects.get"})
		}
		if count := len(w.Custom.Permissions); count == 0 || count > maxPermissions {
			return fmt.Errorf("the custom role has %d permissions, expected 1 to %d", count, maxPermissions)
		}
		if title := w.Custom.Title; title == "" || len(title) > maxTitle {
			return fmt.Errorf("the title of the custom role has %d bytes, expected 1 to %d", len(title), maxTitle)
		}
		if err := checkTexts([]string{w.Custom.Title}); err != nil {
			return err
		}
	}
	return checked(rules)
}
