package credentials

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cloudv1 "github.com/tabard-dev/tabard/api/cloudcredential/v1"
	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/condition"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

const describeLong = `Show what one CredentialsRequest asks for, who fulfils it and why, what it waits for, what to
do about that, and what was made for it.

If you may read the requests of a namespace and no CredentialsGrants, the command shows the
request's own status, and says on the standard error what it leaves out.

Exit codes: 0 it does not wait; 1 it waits for something, or the cluster cannot be read; 2 the
input cannot be used.`

func newDescribe(streams command.Streams, world World) *cobra.Command {
	w := &where{place: world.Place(), own: true}
	var output command.Output
	out := &cobra.Command{
		Use:     "describe NAME",
		Short:   "Show what a request asks for, who fulfils it, and what to do if it waits",
		Long:    describeLong,
		Example: `  tabard credentials describe reports -n team-a`,
		Args:    oneName(streams),
		RunE: failed(streams, func(c *cobra.Command, args []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			return describe(c.Context(), streams, w, args[0], output)
		}),
	}
	w.add(out.Flags(), false)
	output.AddFlags(out, command.Name)
	return out
}

// oneName wants the name of a request.
func oneName(streams command.Streams) cobra.PositionalArgs {
	return command.Spoken(streams, func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes the name of one CredentialsRequest, and got %d arguments; see %s --help", c.CommandPath(), len(args), c.CommandPath())
		}
		return nil
	})
}

// description is all that is known of a request.
type description struct {
	command.Meta `json:",inline"`
	core.Row
	// Asks are sentences on what it asks for.
	Asks []string `json:"asks"`
	// Remedy is what to do about the reason.
	Remedy   string   `json:"remedy,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	Grant    string   `json:"grant,omitempty"`
	// Former says that the grant is of an earlier request of the same name, of which
	// what was made goes first.
	Former     bool                             `json:"former,omitempty"`
	Record     *v1alpha1.CredentialsGrantStatus `json:"record,omitempty"`
	Conditions []metav1.Condition               `json:"conditions,omitempty"`
	Adopted    bool                             `json:"adopted,omitempty"`
	Bound      *v1alpha1.BoundIdentity          `json:"bound,omitempty"`
}

func describe(ctx context.Context, streams command.Streams, w *where, name string, output command.Output) error {
	s, request, err := w.one(ctx, name)
	if err != nil {
		return err
	}
	s.leftOut(streams)
	d := s.descriptionOf(request)
	err = streams.PrintAs(output, command.Printed{Document: d, Text: d.text, Names: []string{nameOf(d.Row)}})
	if err == nil && d.State == core.RowWaiting {
		err = &command.Exit{Code: command.Found, What: d.Reason}
	}
	return err
}

func (s *seen) descriptionOf(request *cloudv1.CredentialsRequest) description {
	w := s.World(request)
	out := description{Meta: command.MetaOf("CredentialsDescription"), Row: s.Row(w), Asks: asks(w)}
	for _, e := range core.Reference.Reasons {
		if out.Reason == string(e.Reason) {
			out.Remedy = e.Remedy
		}
	}
	if w.Provider.AWS != nil {
		out.Subjects = core.Subjects(w)
	}
	if s.Unread {
		out.Conditions = ownConditions(request)
	}
	if grant := w.Grant; grant != nil {
		out.Grant, out.Record, out.Former = grant.Name, &grant.Status, core.GrantOf(w) == nil
		out.Conditions, out.Adopted, out.Bound = grant.Status.Conditions, grant.Spec.Adopted, grant.Spec.Bound
	}
	return out
}

// asks are sentences on what a request asks for.
func asks(w core.World) []string {
	p := w.Provider
	switch {
	case p.Missing:
		return []string{"It asks for nothing: spec.providerSpec is missing."}
	case p.Error != "":
		return []string{"What it asks for cannot be read: " + p.Error + "."}
	case p.AWS != nil:
		return asksAWS(p.AWS)
	case p.Azure != nil:
		out := []string{"It asks for an identity in Azure, which somebody else makes."}
		for _, b := range p.Azure.RoleBindings {
			out = append(out, "The identity shall have the role "+b.Role+".")
		}
		return out
	case p.GCP != nil:
		out := []string{"It asks for an identity in Google Cloud, which somebody else makes."}
		for _, r := range p.GCP.PredefinedRoles {
			out = append(out, "The identity shall have the role "+r+".")
		}
		return out
	}
	return []string{fmt.Sprintf("It asks for a cloud that Tabard gives no identity of: the kind of spec.providerSpec is %q.", p.Kind)}
}

func asksAWS(spec *cloudv1.AWSProviderSpec) []string {
	var out []string
	if spec.STSIAMRoleARN != "" {
		out = append(out, "It names a role that somebody else made: "+spec.STSIAMRoleARN+".")
	}
	for _, s := range spec.StatementEntries {
		out = append(out, sentence(s))
	}
	if len(out) == 0 {
		return []string{"It asks for nothing in AWS: it names neither statements nor a role."}
	}
	return out
}

// sentence is a statement in words.
func sentence(s cloudv1.StatementEntry) string {
	out := fmt.Sprintf("%s %s on %s", s.Effect, strings.Join(s.Action, ", "), s.Resource)
	var conditions []string
	for _, operator := range slices.Sorted(maps.Keys(s.PolicyCondition)) {
		for _, key := range slices.Sorted(maps.Keys(s.PolicyCondition[operator])) {
			value, err := json.Marshal(s.PolicyCondition[operator][key])
			if err != nil {
				value = []byte("?") // it was read from JSON
			}
			conditions = append(conditions, fmt.Sprintf("%s %s %s", key, operator, value))
		}
	}
	if len(conditions) > 0 {
		out += ", if " + strings.Join(conditions, " and ")
	}
	return out + "."
}

// text is the description for people.
func (d description) text() string {
	var out strings.Builder
	say := func(format string, args ...any) { out.WriteString(command.Plain(fmt.Sprintf(format, args...)) + "\n") }
	say("CredentialsRequest %s/%s", d.Namespace, d.Name)
	say("Target:        %s", orDash(d.Target))
	say("Fulfilled by:  %s: %s", d.Actor.Name(), d.Why)
	say("State:         %s", d.StateText())
	if d.Message != "" && d.Message != d.Why {
		say("Waits for:     %s", d.Message)
	}
	if d.Remedy != "" {
		say("What to do:    %s", d.Remedy)
	}
	say("Asks for:")
	for _, line := range d.Asks {
		say("  - %s", line)
	}
	if role := cmp.Or(d.RoleARN, d.Role); role != "" {
		say("Role:          %s", role)
	}
	for _, subject := range d.Subjects {
		say("Who may be it: %s", subject)
	}
	d.record(say)
	return out.String()
}

// record tells what Tabard remembers.
func (d description) record(say func(string, ...any)) {
	if d.Record == nil {
		return
	}
	say("Record:        CredentialsGrant %s", d.Grant)
	if d.Former {
		say("  - it is of an earlier request of the same name: what was made for that goes first")
	}
	if d.Adopted {
		say("  - it was adopted: a Cloud Credential Operator had it")
	}
	if d.Bound != nil {
		say("  - an administrator bound it to %s", identityText(*d.Bound))
	}
	for _, t := range d.Record.Targets {
		say("  - %s is written for it", core.Target{Kind: t.Kind, Namespace: t.Namespace, Name: t.Name})
	}
	for _, i := range d.Record.Issuers {
		if i.RetireAfter == nil {
			say("  - its role trusts the issuer %s", i.URL)
			continue
		}
		say("  - its role trusts the issuer %s until %s", i.URL, i.RetireAfter.UTC().Format("2006-01-02 15:04 UTC"))
	}
	for _, c := range d.Conditions {
		v, _ := condition.Read(d.Conditions, c.Type)
		say("  - %s is %s (%s): %s", c.Type, c.Status, v.Reason, v.Message)
	}
}

// identityText is a bound identity in words.
func identityText(b v1alpha1.BoundIdentity) string {
	switch {
	case b.RoleARN != "":
		return b.RoleARN
	case b.ServiceAccountEmail != "":
		return b.ServiceAccountEmail + " of " + b.Audience
	}
	return fmt.Sprintf("client %s of tenant %s, subscription %s, region %s", b.AzureClientID, b.AzureTenantID, b.AzureSubscriptionID, b.AzureRegion)
}
