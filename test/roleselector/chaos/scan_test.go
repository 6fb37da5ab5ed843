package chaos

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"

	identityv1alpha1 "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// The kind of all resources here.
const (
	group      = "s3.services.k8s.aws"
	apiVersion = "v1alpha1"
	kind       = "Bucket"
)

// moment is all that decides on one resource at one time. What it holds has passed
// the rules of the API server.
type moment struct {
	selectors map[key]*v1alpha1.IAMRoleSelector
	// choices are those of the resource's namespace.
	choices  map[key]*identityv1alpha1.IAMRoleChoice
	home     *namespace
	resource *resource
}

// role is the role that may call AWS for the resource, empty for none; own is the
// controller's. It is a plain scan, which shares nothing with package roleselector.
// why says what stands against any role.
func (m moment) role(own string) (role, why string) {
	if m.resource == nil || m.home == nil {
		return "", "does not exist"
	}
	selector, why := m.decide()
	if m.resource.deleting && m.resource.recorded.selector != "" {
		selector, why = m.lastUsed(why)
	}
	switch role = roleOfSelector(selector, own); {
	case why != "":
		return "", why
	case m.isElsewhere(role):
		return m.leave(selector)
	}
	return role, ""
}

// roleOfSelector is the controller's own where there is none.
func roleOfSelector(s *v1alpha1.IAMRoleSelector, own string) string {
	if s == nil {
		return own
	}
	return s.Spec.ARN
}

// isElsewhere says that the resource is in another account than a role.
func (m moment) isElsewhere(role string) bool {
	return m.resource.recorded.account != "" && m.resource.recorded.account != accountOf(role)
}

// leave is the role of the selector on record: with it a resource is deleted where it
// is, if the selector that it has now lets it move, if it is not to be retained, and if
// that was announced.
func (m moment) leave(to *v1alpha1.IAMRoleSelector) (role, why string) {
	r := m.resource
	if to == nil || to.Spec.OnAccountChange != v1alpha1.Recreate || r.retain || r.deleting {
		return "", "AccountMismatch"
	}
	last, why := m.lastUsed("")
	if why != "" || m.isElsewhere(last.Spec.ARN) {
		return "", "AccountMismatch"
	}
	if !strings.Contains(r.announced, "in the account "+r.recorded.account+".") || !strings.HasSuffix(r.announced, " in "+accountOf(to.Spec.ARN)+".") {
		return "", "AccountChangePending"
	}
	return last.Spec.ARN, ""
}

// forbids says what stands against an operation although the resource has the role:
// what goes is not made, and what stays is not deleted.
func (m moment) forbids(own, operation string) (why string) {
	selector, undecided := m.decide()
	goes := m.resource.deleting || undecided == "" && m.isElsewhere(roleOfSelector(selector, own))
	switch {
	case operation == "DeleteBucket" && !goes:
		return "it is to stay"
	case goes && (operation == "CreateBucket" || operation == "PutBucketTagging"):
		return "it is to go"
	}
	return ""
}

// lastUsed is the selector on record, with which the resource is deleted if it is the
// same object and still selects it, even if others do too; or else one that does and has
// the role on record. None is against a Deny.
func (m moment) lastUsed(decided string) (last *v1alpha1.IAMRoleSelector, why string) {
	if decided == "Denied" {
		return nil, decided
	}
	r := m.resource.recorded
	for at, s := range m.selectors {
		switch {
		case s.Spec.Effect == v1alpha1.Deny || !m.selects(s):
		case at.name == r.selector && s.UID == r.selectorUID:
			return s, ""
		case r.role != "" && s.Spec.ARN == r.role:
			last = s
		}
	}
	if last == nil {
		return nil, "SelectorGone"
	}
	return last, ""
}

// decide goes through the selectors and the choices; nil is none, if nothing stands
// against that.
func (m moment) decide() (used *v1alpha1.IAMRoleSelector, why string) {
	var selecting, offered, defaults []*v1alpha1.IAMRoleSelector
	denied, exclusive := false, 0
	for _, s := range m.selectors {
		if !m.selects(s) {
			continue
		}
		if s.Spec.Effect == v1alpha1.Deny {
			denied = true
			continue
		}
		selecting = append(selecting, s)
		selection := selectionOf(s)
		if selection.Mode != v1alpha1.Selectable {
			exclusive++
		}
		if !selection.RequireChoice {
			offered = append(offered, s)
		}
		if selection.Default && !selection.RequireChoice {
			defaults = append(defaults, s)
		}
	}
	choice, tied := m.choice()
	switch {
	case denied:
		return nil, "Denied"
	case tied:
		return nil, "AmbiguousChoice"
	case exclusive > 0 && len(selecting) > 1:
		return nil, "Conflict"
	case choice.name != "":
		return chosen(selecting, choice, exclusive > 0)
	case len(offered) == 1:
		return offered[0], ""
	case len(defaults) == 1:
		return defaults[0], ""
	case len(offered) > 1:
		return nil, "Conflict"
	}
	return nil, ""
}

func selectionOf(s *v1alpha1.IAMRoleSelector) v1alpha1.Selection {
	if s.Spec.Selection == nil {
		return v1alpha1.Selection{Mode: v1alpha1.Exclusive}
	}
	return *s.Spec.Selection
}

// pick is what a user chose.
type pick struct {
	name, uid string
	annotated bool
}

// chosen is the selector that was picked. An exclusive one needs no
// leave to be picked, and there is no other then.
func chosen(selecting []*v1alpha1.IAMRoleSelector, choice pick, exclusive bool) (used *v1alpha1.IAMRoleSelector, why string) {
	for _, s := range selecting {
		channel, listed := v1alpha1.NamespaceChoice, selectionOf(s).Choosers
		if choice.annotated {
			channel = v1alpha1.ResourceAnnotation
		}
		permitted := exclusive || slices.Contains(listed, channel) || len(listed) == 0 && !choice.annotated
		if s.Name == choice.name && (choice.uid == "" || choice.uid == string(s.UID)) && permitted {
			return s, ""
		}
	}
	return nil, "ChoiceNotPermitted"
}

// choice is the annotation, or the most specific choice of the namespace: one by
// labels and type, then by labels, by type, by neither.
func (m moment) choice() (found pick, tied bool) {
	if m.resource.choice != "" {
		return pick{name: m.resource.choice, annotated: true}, false
	}
	best := -1
	for _, c := range m.choices {
		rank := 0
		if hasTerms(c.Spec.ResourceLabelSelector) {
			rank += 2
		}
		if len(c.Spec.ResourceTypeSelector) > 0 {
			rank++
		}
		switch {
		case !isOfType(c.Spec.ResourceTypeSelector), !fits(c.Spec.ResourceLabelSelector, m.resource.labels), rank < best:
		case rank == best:
			tied = true
		default:
			best, tied = rank, false
			found = pick{name: c.Spec.SelectorRef.Name, uid: string(c.Spec.SelectorRef.UID)}
		}
	}
	return found, tied
}

// selects says whether a selector selects the resource.
func (m moment) selects(s *v1alpha1.IAMRoleSelector) bool {
	if n := s.Spec.NamespaceSelector; n != nil {
		if len(n.Names) > 0 && !slices.Contains(n.Names, m.resource.namespace) || !fits(n.LabelSelector, m.home.labels) {
			return false
		}
	}
	return isOfType(s.Spec.ResourceTypeSelector) && fits(s.Spec.ResourceLabelSelector, m.resource.labels)
}

// isOfType says whether one of the types is that of the resources here; none is any.
func isOfType(list []v1alpha1.ResourceType) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(e v1alpha1.ResourceType) bool {
		if e.APIVersion != "" && e.APIVersion != group+"/"+apiVersion {
			return false
		}
		is := func(part, want string) bool { return part == "" || part == want }
		return is(e.Group, group) && is(e.Version, apiVersion) && is(e.Kind, kind)
	})
}

func hasTerms(s *v1alpha1.LabelSelector) bool {
	return s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0
}

// fits asks Kubernetes' own label selectors.
func fits(s *v1alpha1.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return true
	}
	theirs := &metav1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, e := range s.MatchExpressions {
		theirs.MatchExpressions = append(theirs.MatchExpressions, metav1.LabelSelectorRequirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
	}
	selector, err := metav1.LabelSelectorAsSelector(theirs)
	return err == nil && selector.Matches(k8slabels.Set(labels))
}

// accountOf is the account of an ARN.
func accountOf(arn string) string {
	fields := strings.SplitN(arn, ":", 6)
	if len(fields) != 6 {
		return ""
	}
	return fields[4]
}
