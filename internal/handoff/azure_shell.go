package handoff

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// azureShell is a script of calls of the Azure command line, which may be run again. What is there
// already and is not the owner's ends it.
func azureShell(w AzureWork) (string, error) {
	s := &azureScript{work: w}
	s.head()
	s.account()
	s.identity()
	for _, credential := range w.Credentials {
		s.credential(credential)
	}
	if len(w.Assignments) > 0 || w.Custom != nil {
		s.assigned()
	}
	for _, a := range w.Assignments {
		s.WriteString("assigned " + s.value(a.Role) + " " + s.value(a.Scope) + "\n")
	}
	if w.Custom != nil {
		s.role(*w.Custom)
	}
	s.WriteString(`
printf 'client id: %s\ntenant id: %s\nsubscription id: %s\n' "$client" "$tenant" ` + line.Quoted(w.Subscription) + "\n")
	return s.String(), s.err
}

type azureScript struct {
	strings.Builder
	work AzureWork
	err  error
}

// value is a word that becomes the value of an option of az, which reads what begins with @ from a file
// (learn.microsoft.com, "Use the Azure CLI successfully": "Pass values by using a file").
func (s *azureScript) value(text string) string {
	if strings.HasPrefix(text, "@") {
		s.err = fmt.Errorf("%q begins with @, and az would read it from a file: hand this over as %s", text, Terraform)
	}
	return line.Quoted(text)
}

// option is an option of az with its value, as one word.
func (s *azureScript) option(name, value string) string { return "--" + name + "=" + s.value(value) }

func (s *azureScript) head() {
	s.WriteString("#!/bin/sh\n" + comment(s.work.About) + `# It may be run again: what is there stays, and what is missing is made. Azure needs some minutes until
# a new identity or role is known everywhere; if a call says that it does not know one, run this again.
set -eu

` + ownedFunction(s.work.Owner) + `
# there says whether a thing is there, and what az tells of it in $found. az ends with 3 for what is missing.
there() {
  code=0
  found=$("$@" 2>/dev/null) || code=$?
  test "$code" -ne 0 || return 0
  test "$code" -ne 3 || return 1
  "$@" >&2 || : # says what went wrong
  exit "$code"
}
`)
}

// account ends the script in another subscription or tenant.
func (s *azureScript) account() {
	fmt.Fprintf(s, `
subscription=$(az account show --query=id --output=tsv)
if test "$subscription" != %[1]s; then
  printf 'az uses the subscription %%s, expected %%s; type: az account set --subscription %%s\n' "$subscription" %[1]s %[1]s >&2
  exit 1
fi
tenant=$(az account show --query=tenantId --output=tsv)
`, line.Quoted(strings.ToLower(s.work.Subscription)))
	if s.work.Tenant != "" {
		fmt.Fprintf(s, `if test "$tenant" != %[1]s; then
  printf 'the subscription is in the tenant %%s, expected %%s\n' "$tenant" %[1]s >&2
  exit 1
fi
`, line.Quoted(strings.ToLower(s.work.Tenant)))
	}
}

// itself names the identity.
func (s *azureScript) itself() string {
	return s.option("name", s.work.Identity) + " " + s.option("resource-group", s.work.ResourceGroup)
}

func (s *azureScript) identity() {
	what, tag := "the identity "+s.work.Identity, s.work.Owner
	fmt.Fprintf(s, `
%sif there az identity show %[2]s %[3]s --output=tsv; then
  owned %[4]s "$found" %[5]s
else
  az identity create %[2]s %[6]s %[7]s --output=none
fi
client=$(az identity show %[2]s --query=clientId --output=tsv)
`, comment([]string{what}), s.itself(), s.option("query", `tags."`+tag.Key+`"`), line.Quoted(what), line.Quoted(tag.Value), s.option("location", s.work.Region), s.option("tags", tag.mark()))
}

// credential is made or changed: the identity is the owner's, and so is all in it.
func (s *azureScript) credential(c FederatedCredential) {
	itself := s.option("name", c.Name) + " " + s.option("identity-name", s.work.Identity) + " " + s.option("resource-group", s.work.ResourceGroup)
	values := s.option("issuer", c.Issuer) + " " + s.option("subject", c.Subject) + " " + s.option("audiences", c.Audience)
	fmt.Fprintf(s, `
%sif there az identity federated-credential show %[2]s --query=name --output=tsv; then
  az identity federated-credential update %[2]s %[3]s --output=none
else
  az identity federated-credential create %[2]s %[3]s --output=none
fi
`, comment([]string{c.Subject + " becomes the identity"}), itself, values)
}

// assigned writes the function that assigns roles, which az knows by name or id.
func (s *azureScript) assigned() {
	fmt.Fprintf(s, `
# assigned gives the identity the role $1 at the scope $2. An assignment that is there stays as it is.
assigned() {
  has=$(az role assignment list --role="$1" --scope="$2" --query="[?principalId=='$principal'].id" --output=tsv)
  test -z "$has" || return 0
  az role assignment create --assignee-object-id="$principal" --assignee-principal-type=ServicePrincipal --role="$1" --scope="$2" %s --output=none
}
principal=$(az identity show %s --query=principalId --output=tsv)
`, s.option("description", s.work.Owner.mark()), s.itself())
}

// role makes the custom role, or changes it if its description is the owner's mark.
func (s *azureScript) role(r AzureRole) {
	find := "az role definition list " + s.option("name", r.Name) + " " + s.option("scope", r.Scope) + " --custom-role-only=true"
	definition := s.option("role-definition", encoded(r.definition(s.work.Owner)))
	what := "the role " + r.Name
	fmt.Fprintf(s, `
%[1]srole=$(%[2]s '--query=[].name' --output=tsv)
if test -n "$role"; then
  found=$(%[2]s '--query=[].description' --output=tsv)
  owned %[3]s "$found" %[4]s
  az role definition update %[5]s --output=none
else
  az role definition create %[5]s --output=none
  role=$(%[2]s '--query=[].name' --output=tsv)
fi
assigned "$role" %[6]s
`, comment([]string{what}), find, line.Quoted(what), line.Quoted(s.work.Owner.mark()), definition, line.Quoted(r.Scope))
}

// definition is the role as az takes it (learn.microsoft.com, "Create or update Azure custom roles using
// Azure CLI").
func (r AzureRole) definition(owner Tag) in {
	return in{
		"Name": r.Name, "IsCustom": true, "Description": owner.mark(), "AssignableScopes": []string{r.Scope},
		"Actions": append([]string{}, r.Actions...), "NotActions": []string{},
		"DataActions": append([]string{}, r.DataActions...), "NotDataActions": []string{},
	}
}
