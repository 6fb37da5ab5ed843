package selector

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/tabard-dev/tabard/roleselector"
)

// administrator is what is said of controllers by flags of theirs.
type administrator struct {
	options  roleselector.Options
	settings roleselector.Settings
}

// sessionLimit is the one of those flags that changes nothing here: which sessions
// a controller has open is not known.
const sessionLimit = "assume-role-session-limit"

const administratorHelp = `If the controllers run with flags about selectors, such as --no-selector-policy and
--allowed-role-arn-patterns, give the same flags here. A role that the controllers would
not assume because of them is Invalid.`

func (a *administrator) add(flags *pflag.FlagSet) {
	for _, one := range roleselector.Flags(&a.options, &a.settings) {
		if one.Name != sessionLimit {
			flags.Func(one.Name, "as the controllers' flag of this name: "+one.Usage, one.Set)
		}
	}
}

// check says what only shows once all flags are set.
func (a *administrator) check() error {
	if problems := a.settings.Problems(); len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	return nil
}

// unseen stands for what a controller knows of itself, and for the UIDs of what is
// not in a cluster.
const unseen = "00000000-0000-0000-0000-000000000000"

// admit makes a decision for a role Invalid if the role may not be assumed for the
// resource. Where that depends on labels of a namespace that are not known, it is
// not known either.
func (w *world) admit(d roleselector.Decision, r resource, q roleselector.Query) roleselector.Decision {
	if d.Outcome != roleselector.Use {
		return d
	}
	service, _, _ := strings.Cut(q.Group, ".")
	_, problems := d.Used().AssumeRole(roleselector.Subject{
		ClusterID: unseen, ControllerNamespace: "ack-system", Service: service, Kind: q.Kind,
		Namespace: q.Namespace, NamespaceUID: unseen, NamespaceLabels: q.NamespaceLabels,
		Name: r.object.GetName(), UID: unseen, Labels: q.Labels,
	}, w.settings)
	if len(problems) == 0 {
		return d
	}
	problem := problems[0]
	d.Detail = "IAMRoleSelector " + d.Selector.Name + ": " + problem.String()
	d.Outcome, d.Reason = roleselector.Invalid, problem.Reason
	if !q.NamespaceKnown && problem.Field != "spec.arn" {
		d.Outcome, d.Reason = roleselector.NotYetKnown, roleselector.ReasonNamespaceUnknown
	}
	d.DecidedBy, d.Selector, d.OnAccountChange = "", roleselector.Reference{}, ""
	return d
}
