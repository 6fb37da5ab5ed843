package roleselector

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Selector is a compiled IAMRoleSelector. It is immutable and holds nothing of
// the object but what decisions need.
type Selector struct {
	// What readers look at first stands first, within two lines of the processor's
	// cache.
	types          []resourceType
	resourceTerms  []term
	namespaceTerms []term
	names          []string // sorted, none twice
	reference      Reference
	deny           bool
	selectable     bool
	isDefault      bool
	requireChoice  bool
	byNamespace    bool // an IAMRoleChoice may choose it
	byAnnotation   bool // a resource's annotation may choose it
	recreate       bool
	noNamespace    bool // its label selector of namespaces has no term, and nothing else names one
	noResource     bool // its label selector of resources has no term, and no namespace is named
	assumeRole     *v1alpha1.AssumeRole
	problems       []Problem
}

// Reference names an IAMRoleSelector and its role.
type Reference struct {
	// Name, UID, ResourceVersion and Generation are the object's.
	Name            string
	UID             types.UID
	ResourceVersion string
	Generation      int64
	// ARN is the role, Account its account.
	ARN, Account string
}

// Compile makes a Selector of an object, which it does not keep. It never fails:
// what cannot be evaluated is in Problems and counts as if it selected, so that a
// broken selector blocks what its sound parts are aimed at. Nil is one without a
// name, and broken.
func Compile(object *v1alpha1.IAMRoleSelector) *Selector {
	if object == nil {
		return &Selector{problems: []Problem{invalid("", "there is no object, so that nothing says at what it is aimed")}}
	}
	s := &Selector{reference: Reference{
		Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion, Generation: object.Generation,
	}}
	spec := object.Spec
	if spec == nil {
		s.problems = []Problem{invalid("spec", "there is none, so that the selector is aimed at every resource; it needs an arn at least")}
		return s
	}
	s.compileEffect(spec)
	s.compileRole(spec)
	s.compileNamespaces(spec.NamespaceSelector)
	var problems []Problem
	s.types, problems = compileTypes("spec.resourceTypeSelector", spec.ResourceTypeSelector)
	s.problems = append(s.problems, problems...)
	s.resourceTerms, problems = compileLabels("spec.resourceLabelSelector", spec.ResourceLabelSelector)
	s.problems = append(s.problems, problems...)
	s.compileMissingTerms(spec)
	s.compileSelection(spec.Selection)
	if spec.AssumeRole != nil {
		s.assumeRole = spec.AssumeRole.DeepCopy()
		s.problems = append(s.problems, faultsOfAssumeRole(s.assumeRole)...)
	}
	s.problems = slices.Clip(s.problems)
	return s
}

func (s *Selector) compileEffect(spec *v1alpha1.IAMRoleSelectorSpec) {
	switch spec.Effect {
	case "", v1alpha1.Use:
	case v1alpha1.Deny:
		s.deny = true
	default:
		s.problems = append(s.problems, invalid("spec.effect", fmt.Sprintf("%q is neither Use nor Deny", spec.Effect)))
	}
	switch spec.OnAccountChange {
	case "", v1alpha1.Refuse:
	case v1alpha1.Recreate:
		s.recreate = true
	default:
		s.problems = append(s.problems, invalid("spec.onAccountChange", fmt.Sprintf("%q is neither Refuse nor Recreate", spec.OnAccountChange)))
	}
}

// compileRole leaves the ARN out of the reference unless it is usable. A
// selector that denies has no use for one.
func (s *Selector) compileRole(spec *v1alpha1.IAMRoleSelectorSpec) {
	role, ok := identity.ParseRoleARN(spec.ARN)
	switch {
	case s.deny:
	case ok:
		s.reference.ARN, s.reference.Account = spec.ARN, role.Account
	default:
		s.problems = append(s.problems, invalid("spec.arn",
			fmt.Sprintf("%q is not the ARN of an IAM role, such as arn:aws:iam::111122223333:role/team-a", shortened(spec.ARN))))
	}
}

// shortened bounds a text that somebody else wrote, for a message.
func shortened(text string) string {
	const most = 128
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

func (s *Selector) compileNamespaces(n *v1alpha1.NamespaceSelector) {
	if n == nil {
		return
	}
	const field = "spec.namespaceSelector.names"
	// An empty name stays in the list: without it the list might be empty, which
	// selects every namespace.
	names := slices.Clone(n.Names)
	slices.Sort(names)
	s.names = slices.Clip(slices.Compact(names))
	if len(s.names) < len(n.Names) {
		s.problems = append(s.problems, harmless(field, "a name is there twice"))
	}
	for _, name := range s.names {
		if name == "" || strings.ToLower(name) != name || strings.ContainsAny(name, "*?/ ") {
			s.problems = append(s.problems, harmless(field, fmt.Sprintf("no namespace can be called %q; names are compared as they are", name)))
		}
	}
	var problems []Problem
	s.namespaceTerms, problems = compileLabels("spec.namespaceSelector.labelSelector", n.LabelSelector)
	s.problems = append(s.problems, problems...)
}

// compileMissingTerms looks at label selectors that are there and have no term, be it that
// their terms were lost as values that are null: the API server stores none of those. Where
// namespaces are named such a one is as if it were left out, as with ACK. Else nobody can
// tell whom the role is for.
func (s *Selector) compileMissingTerms(spec *v1alpha1.IAMRoleSelectorSpec) {
	missing := func(field string, selector *v1alpha1.LabelSelector) bool {
		switch {
		case selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0:
			return false
		case len(s.names)+len(s.namespaceTerms) > 0:
			s.problems = append(s.problems, harmless(field, "it has no term, and is as if it were left out"))
			return false
		}
		s.problems = append(s.problems, invalid(field,
			"it has no term, as where a value was null, and no namespace is named, so that it selects nothing: give it a label, or leave it out"))
		return true
	}
	if n := spec.NamespaceSelector; n != nil {
		s.noNamespace = missing("spec.namespaceSelector.labelSelector", n.LabelSelector)
	}
	s.noResource = missing("spec.resourceLabelSelector", spec.ResourceLabelSelector)
}

func (s *Selector) compileSelection(selection *v1alpha1.Selection) {
	s.byNamespace = true
	if selection == nil {
		return
	}
	switch selection.Mode {
	case "", v1alpha1.Exclusive:
	case v1alpha1.Selectable:
		s.selectable = true
	default:
		s.problems = append(s.problems, invalid("spec.selection.mode", fmt.Sprintf("%q is neither Exclusive nor Selectable", selection.Mode)))
	}
	s.isDefault, s.requireChoice = selection.Default, selection.RequireChoice
	if len(selection.Choosers) == 0 {
		return
	}
	s.byNamespace = slices.Contains(selection.Choosers, v1alpha1.NamespaceChoice)
	s.byAnnotation = slices.Contains(selection.Choosers, v1alpha1.ResourceAnnotation)
	for _, chooser := range selection.Choosers {
		if chooser != v1alpha1.NamespaceChoice && chooser != v1alpha1.ResourceAnnotation {
			s.problems = append(s.problems, invalid("spec.selection.choosers",
				fmt.Sprintf("%q is neither NamespaceChoice nor ResourceAnnotation", chooser)))
		}
	}
}

// Reference is the selector's name and role. A selector whose ARN is not usable
// has none.
func (s *Selector) Reference() Reference { return s.reference }

// Problems are what is wrong with the object; it must not be changed.
func (s *Selector) Problems() []Problem { return s.problems }

// Denies says that its effect is Deny.
func (s *Selector) Denies() bool { return s.deny }

// namesNothing says that it gives its role to nothing, for want of a label. One that denies
// goes on to deny all that its other parts select.
func (s *Selector) namesNothing() bool { return !s.deny && (s.noNamespace || s.noResource) }

// selects says whether the selector selects the query. Where the group must be
// named, only an entry that names it selects.
func (s *Selector) selects(q *Query, needGroup bool) Verdict {
	if !s.selectsName(q.Namespace) {
		return No
	}
	return s.selectsBesideName(q, needGroup)
}

// selectsBesideName leaves the names out, for a caller whom they have led here.
func (s *Selector) selectsBesideName(q *Query, needGroup bool) Verdict {
	if !anyTypeSelects(s.types, q, needGroup) || !allHold(s.resourceTerms, q.Labels) {
		return No
	}
	return s.selectsNamespaceLabels(q)
}

func (s *Selector) selectsName(namespace string) bool {
	if len(s.names) == 0 {
		return true
	}
	if namespace == "" {
		return false
	}
	if len(s.names) <= 8 {
		return slices.Contains(s.names, namespace)
	}
	_, found := slices.BinarySearch(s.names, namespace)
	return found
}

// selectsByTypeAlone says that it selects all or nothing of a kind.
func (s *Selector) selectsByTypeAlone() bool {
	return len(s.names)+len(s.namespaceTerms)+len(s.resourceTerms) == 0
}

func (s *Selector) selectsNamespaceLabels(q *Query) Verdict {
	switch {
	case len(s.namespaceTerms) == 0:
		return Yes
	case !q.NamespaceKnown:
		return Unknown
	case allHold(s.namespaceTerms, q.NamespaceLabels):
		return Yes
	}
	return No
}
