package operator

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Install is what a person asks for.
type Install struct {
	Wanted
	// InstallMode is one of OLM's, such as OwnNamespace; empty for that of the namespace's
	// OperatorGroup, or where there is none for the first that the version supports of
	// OwnNamespace and AllNamespaces.
	InstallMode string
	// Watched is the namespace of the mode SingleNamespace.
	Watched string
	// Approval is Manual or Automatic.
	Approval string
	// Variables are more of the Subscription's.
	Variables map[string]string
	// WithoutRole says that the operator supports tokens, and shall not have a role.
	WithoutRole bool
}

// The kinds of approval.
const (
	Manual    = "Manual"
	Automatic = "Automatic"
)

// Change is one object of a plan. It is there already, or is made.
type Change struct {
	Kind  Kind
	Name  string
	Exist bool
	// Sentence says what of the object matters.
	Sentence string
}

// String is the line of a plan.
func (c Change) String() string {
	mark := "+"
	if c.Exist {
		mark = "="
	}
	return fmt.Sprintf("%s %-13s %s: %s", mark, c.Kind, c.Name, c.Sentence)
}

// ErrConflict is an install that what is there does not let be.
var ErrConflict = errors.New("nothing was written")

// Plan is what an install makes, in its order: the namespace, the OperatorGroup and the Subscription.
// What is there stays as it is; where it does not fit, the error says why.
func (i Install) Plan(o *Objects) ([]Change, error) {
	if unread := o.FirstUnread(KindNamespace, KindGroup, KindSubscription); unread != nil {
		return nil, fmt.Errorf("%w: %w", ErrConflict, unread)
	}
	group, err := i.group(o)
	if err != nil {
		return nil, err
	}
	subscription, err := i.subscription(o)
	if err != nil {
		return nil, err
	}
	namespace := Change{Kind: KindNamespace, Name: i.Namespace, Exist: o.NamespaceExists, Sentence: "for the operator"}
	return []Change{namespace, group, subscription}, nil
}

// Mode is the install mode for a namespace without an OperatorGroup; empty where the version
// supports none that the install may choose.
func (i Install) Mode(o *Objects) string {
	if i.InstallMode != "" {
		return i.InstallMode
	}
	for _, mode := range []string{"OwnNamespace", "AllNamespaces"} {
		if o.InstallModes == nil || slices.Contains(o.InstallModes, mode) {
			return mode
		}
	}
	return ""
}

// Targets are the namespaces that the OperatorGroup of a mode watches, none for all.
func (i Install) Targets(o *Objects) []string {
	switch i.Mode(o) {
	case "OwnNamespace":
		return []string{i.Namespace}
	case "SingleNamespace":
		return []string{i.Watched}
	}
	return nil
}

func (i Install) group(o *Objects) (Change, error) {
	mode := i.Mode(o)
	switch {
	case mode == "":
		return Change{}, fmt.Errorf("%w: the operator supports the install modes %s: type --install-mode", ErrConflict, strings.Join(o.InstallModes, ", "))
	case mode == "SingleNamespace" && i.Watched == i.Namespace:
		// OLM takes an OperatorGroup with the operator's own namespace for the mode OwnNamespace.
		return Change{}, fmt.Errorf("%w: the install mode SingleNamespace is for another namespace than %s, in which the operator is installed: choose the mode OwnNamespace", ErrConflict, i.Namespace)
	case len(o.Groups) > 1:
		return Change{}, fmt.Errorf("%w: the namespace %s has %d OperatorGroups, and OLM installs only where there is one", ErrConflict, i.Namespace, len(o.Groups))
	case len(o.Groups) == 1:
		return i.present(o, o.Groups[0])
	case o.InstallModes != nil && !slices.Contains(o.InstallModes, mode):
		return Change{}, fmt.Errorf("%w: the install mode is %s, and the operator supports %s", ErrConflict, mode, strings.Join(o.InstallModes, ", "))
	}
	sentence := "watches " + strings.Join(i.Targets(o), ", ")
	if mode == "AllNamespaces" {
		sentence = "watches all namespaces"
	}
	return Change{Kind: KindGroup, Name: i.Namespace + "/" + i.Namespace, Sentence: sentence}, nil
}

// present is the OperatorGroup that is there.
func (i Install) present(o *Objects, g Group) (Change, error) {
	has := g.mode(i.Namespace)
	if len(g.Namespaces) > 0 {
		switch {
		case o.InstallModes != nil && !slices.Contains(o.InstallModes, has):
			return Change{}, fmt.Errorf("%w: the OperatorGroup %s/%s asks for the install mode %s, and the operator supports %s: choose another namespace", ErrConflict, i.Namespace, g.Name, has, strings.Join(o.InstallModes, ", "))
		case i.InstallMode != "" && i.InstallMode != has:
			return Change{}, fmt.Errorf("%w: the OperatorGroup %s/%s asks for the install mode %s, and --install-mode for %s: choose another namespace", ErrConflict, i.Namespace, g.Name, has, i.InstallMode)
		}
	}
	return Change{Kind: KindGroup, Name: i.Namespace + "/" + g.Name, Exist: true, Sentence: "is there, and fits"}, nil
}

func (i Install) subscription(o *Objects) (Change, error) {
	out := Change{Kind: KindSubscription, Name: i.Namespace + "/" + i.Wanted.Subscription}
	for _, s := range o.Subscriptions {
		if s.Package == i.Package && s.Name != i.Wanted.Subscription {
			return out, fmt.Errorf("%w: the Subscription %s of the namespace %s is for the package %s already", ErrConflict, s.Name, i.Namespace, i.Package)
		}
	}
	if own := o.own(); own != nil {
		out.Exist, out.Sentence = true, "is there, and is as it shall be"
		return out, i.differs(*own)
	}
	out.Sentence = fmt.Sprintf("%s of %s/%s, channel %s, approval %s", i.CSV, i.SourceNamespace, i.Source, i.Channel, i.Approval)
	if len(i.Values) > 0 {
		out.Sentence += ", with " + strings.Join(slices.Sorted(maps.Keys(i.Values)), ", ")
	}
	return out, nil
}

// differs refuses a Subscription that is there with something else in it.
func (i Install) differs(own Subscription) error {
	for _, field := range [][3]string{
		{"name", own.Package, i.Package}, {"source", own.Source, i.Source}, {"sourceNamespace", own.SourceNamespace, i.SourceNamespace}, {"channel", own.Channel, i.Channel}, {"installPlanApproval", cmp.Or(own.Approval, Automatic), i.Approval},
	} {
		if field[1] != field[2] {
			return fmt.Errorf("%w: the Subscription %s/%s is there, and its spec.%s is %q, expected %q", ErrConflict, own.Namespace, own.Name, field[0], field[1], field[2])
		}
	}
	if own.References {
		return fmt.Errorf("%w: the Subscription %s/%s is there, and takes variables from other objects, so that it is unknown which role the operator has", ErrConflict, own.Namespace, own.Name)
	}
	for _, name := range append(slices.Sorted(maps.Keys(i.Values)), roleVariables...) {
		if has := own.Env[name]; has != i.Values[name] {
			return fmt.Errorf("%w: the Subscription %s/%s is there, and has %q as %s, expected %q: tabard operators set-role %s -n %s changes it", ErrConflict, own.Namespace, own.Name, has, name, i.Values[name], own.Name, own.Namespace)
		}
	}
	return nil
}

// Environment are all variables of the Subscription.
func (i Install) Environment() map[string]string {
	out := maps.Clone(i.Variables)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, i.Values)
	return out
}

// roleVariables are those by which an operator is led to its role, and to none but that. REGION and
// AUDIENCE may be there for other reasons.
var roleVariables = []string{envRole, envClient, envTenant, envSubscription, envResourceGroup, envProject, envPool, envProvider, envServiceAccount}

// IsRoleVariable says whether a variable is one by which an operator is led to its role, and to
// nothing else.
func IsRoleVariable(name string) bool { return slices.Contains(roleVariables, name) }

// ValuesOf are the values of a role in a Subscription, and the identity by which a CredentialsRequest
// names that role. Without a role both are empty.
func ValuesOf(s Subscription) (values map[string]string, identity string) {
	values = map[string]string{}
	for _, name := range append([]string{envRegion, envAudience}, roleVariables...) {
		if value := s.Env[name]; value != "" {
			values[name] = value
		}
	}
	for _, name := range []string{envRole, envClient, envServiceAccount} {
		if values[name] != "" {
			return values, values[name]
		}
	}
	return nil, ""
}

// HasRole says whether a Subscription has exactly the values of a role. REGION and AUDIENCE, which may
// be there for other reasons, count only where the values have them.
func HasRole(s Subscription, values map[string]string) bool {
	for _, name := range roleVariables {
		if s.Env[name] != values[name] {
			return false
		}
	}
	for name, value := range values {
		if s.Env[name] != value {
			return false
		}
	}
	return true
}

// CloudOf is the cloud of a role's values; nil without any.
func CloudOf(values map[string]string) *catalogue.Cloud {
	for _, one := range []struct {
		name  string
		cloud catalogue.Cloud
	}{{envRole, catalogue.AWS}, {envClient, catalogue.Azure}, {envServiceAccount, catalogue.GCP}} {
		if values[one.name] != "" {
			return &one.cloud
		}
	}
	return nil
}

// IdentityOf is that among values of a role.
func IdentityOf(values map[string]string) string {
	_, identity := ValuesOf(Subscription{Env: values})
	return identity
}

// Follow is the install of a Subscription that is there: of the version that is installed, or where
// there is none of the one that OLM chose.
func Follow(s Subscription) Wanted {
	out := Wanted{Subscription: s.Name, Namespace: s.Namespace, Package: s.Package, Channel: s.Channel, Source: s.Source, SourceNamespace: s.SourceNamespace, CSV: s.InstalledCSV}
	out.Values, out.Identity = ValuesOf(s)
	return out
}
