package installing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/operator"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/olm"
)

// OtherRole is the change of the role of an operator that is installed, before anything is written.
type OtherRole struct {
	// Subscription is as it was read.
	Subscription operator.Subscription
	// Values are those of the role that it shall have.
	Values map[string]string
	// Has says that it has them already.
	Has bool
	// Judged is whether the role is enough for the version that is installed.
	Judged operator.Judgement
}

// Subscription finds the one of a name.
func (p Planner) Subscription(ctx context.Context, namespace, name string) (operator.Subscription, error) {
	all, err := p.Client.List(ctx, namespace)
	if err != nil {
		return operator.Subscription{}, err
	}
	at := slices.IndexFunc(all, func(s operator.Subscription) bool { return s.Name == name })
	if at < 0 {
		return operator.Subscription{}, refuse(NoSubscription, "there is no Subscription %s in the namespace %s", catalogue.Quoted(name), namespace)
	}
	return all[at], nil
}

// OtherRole says what changes where a Subscription gets the values of a role, and whether that role is
// enough for the version that is installed. Nothing is written.
func (p Planner) OtherRole(ctx context.Context, s operator.Subscription, values map[string]string) (OtherRole, error) {
	out := OtherRole{Subscription: s, Values: values, Has: operator.HasRole(s, values)}
	installed, _, err := p.Client.Installed(ctx, s.Namespace, s.InstalledCSV)
	if err != nil {
		return out, err
	}
	out.Judged, err = p.Judge(ctx, operator.Upgrade{
		CSV: s.InstalledCSV, New: permission.OfBundle(s.Package, installed, operator.CloudOf(values)), Namespace: s.Namespace, Values: values,
	})
	return out, err
}

// Edit is a variable of a Subscription that changes. Was is empty for one that is new, and Becomes for
// one that is removed.
type Edit struct{ Name, Was, Becomes string }

// Edits are the variables that change: those of the new role by name, and then those that go.
func (o OtherRole) Edits() (out []Edit) {
	had, _ := operator.ValuesOf(o.Subscription)
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if had[name] != o.Values[name] {
			out = append(out, Edit{name, had[name], o.Values[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if o.Values[name] == "" && operator.IsRoleVariable(name) {
			out = append(out, Edit{name, had[name], ""})
		}
	}
	return out
}

// Apply gives the Subscription the role, if the person may and nobody changed it since it was read.
// Where a risk was accepted an Event tells of it.
func (o OtherRole) Apply(ctx context.Context, client olm.Client, going Going) (out Written, err error) {
	s := o.Subscription
	if err := permitted(ctx, client, olm.SetsValues(s.Namespace)); err != nil {
		return out, err
	}
	if err := going.sure(); err != nil {
		return out, err
	}
	if err := client.SetValues(ctx, s, o.Values); err != nil {
		return out, err
	}
	out.tell(ctx, client, s.Namespace, s.Name, going,
		fmt.Sprintf("got a role of which the verdict was %s: %s", o.Judged.Verdict, o.Judged.Why))
	return out, nil
}
