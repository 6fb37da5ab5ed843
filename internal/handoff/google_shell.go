package handoff

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// googleShell is a script of calls of gcloud, which may be run again. What is there already and is not
// the owner's ends it.
func googleShell(w GoogleWork) (string, error) {
	s := &googleScript{work: w}
	s.head()
	s.place()
	s.account()
	if w.Custom != nil {
		s.role(*w.Custom)
	}
	for _, subject := range w.Subjects {
		s.WriteString(gcloud("iam service-accounts add-iam-policy-binding", w.Email(), "member", w.member(subject), "role", becomes, "condition", "None", "project", w.Project) + " >/dev/null\n")
	}
	for _, role := range w.Roles {
		s.bind(role)
	}
	if w.Custom != nil {
		s.bind(w.role())
	}
	fmt.Fprintf(s, `
printf 'service account: %%s\nproject number: %%s\npool: %%s\nprovider: %%s\naudience: %%s\n' %s %s %s %s %s
`, line.Quoted(w.Email()), line.Quoted(w.Number), line.Quoted(w.Pool), line.Quoted(w.Provider), line.Quoted(w.Audience()))
	return s.String(), nil
}

type googleScript struct {
	strings.Builder
	work GoogleWork
}

// gcloud is one call: what it is about, and options by name and value. A value is one word with its
// option, so that none is taken for another option.
func gcloud(command, about string, options ...string) string {
	out := "gcloud " + command + " " + line.Quoted(about)
	for i := 0; i < len(options); i += 2 {
		out += " --" + options[i] + "=" + line.Quoted(options[i+1])
	}
	return out + " --quiet"
}

func (s *googleScript) head() {
	s.WriteString("#!/bin/sh\n" + comment(s.work.About) + `# It may be run again: what is there stays, and what is missing is made. Google Cloud needs some minutes
# until a new service account or role is known everywhere; if a call says that it does not know one, run
# this again.
set -eu

` + ownedFunction(s.work.Owner))
}

// place ends the script where the project is another one, or the provider trusts another issuer.
func (s *googleScript) place() {
	w := s.work
	fmt.Fprintf(s, `
number=$(%s)
if test "$number" != %[2]s; then
  printf 'the project %%s has the number %%s, expected %%s\n' %[3]s "$number" %[2]s >&2
  exit 1
fi
issuer=$(%[4]s)
if test "$issuer" != %[5]s; then
  printf 'the provider %%s trusts the issuer %%s, expected %%s\n' %[6]s "$issuer" %[5]s >&2
  exit 1
fi
`, gcloud("projects describe", w.Project, "format", "value(projectNumber)"), line.Quoted(w.Number), line.Quoted(w.Project),
		gcloud("iam workload-identity-pools providers describe", w.Provider, "workload-identity-pool", w.Pool, "location", "global", "project", w.Project, "format", "value(oidc.issuerUri)"),
		line.Quoted(w.Issuer), line.Quoted(w.Provider))
}

// unless makes a thing that is not there; one that is there is changed if it is the owner's.
func (s *googleScript) unless(what, look, create, change string) {
	fmt.Fprintf(s, "\n%sif found=$(%s 2>/dev/null); then\n  owned %s \"$found\" %s\n", comment([]string{what}), look, line.Quoted(what), line.Quoted(s.work.Owner.mark()))
	if change != "" {
		s.WriteString("  " + change + "\n")
	}
	s.WriteString("else\n  " + create + "\nfi\n")
}

func (s *googleScript) account() {
	w := s.work
	s.unless("the service account "+w.Email(),
		gcloud("iam service-accounts describe", w.Email(), "project", w.Project, "format", "value(description)"),
		gcloud("iam service-accounts create", w.Account, "project", w.Project, "display-name", w.DisplayName, "description", w.Owner.mark()), "")
}

func (s *googleScript) role(r GoogleRole) {
	w := s.work
	values := []string{"project", w.Project, "title", r.Title, "description", w.Owner.mark(), "permissions", strings.Join(r.Permissions, ",")}
	s.unless("the role "+w.role(), gcloud("iam roles describe", r.ID, "project", w.Project, "format", "value(description)"),
		gcloud("iam roles create", r.ID, values...)+" >/dev/null", gcloud("iam roles update", r.ID, values...)+" >/dev/null")
}

// bind gives the service account a role in the project. That is the same if it has it already.
func (s *googleScript) bind(role string) {
	s.WriteString(gcloud("projects add-iam-policy-binding", s.work.Project, "member", "serviceAccount:"+s.work.Email(), "role", role, "condition", "None") + " >/dev/null\n")
}
