package selector

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cli/record"
	"github.com/tabard-dev/tabard/roleselector"
)

// explanation is what explain says.
type explanation struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Resource   resourceRef `json:"resource"`
	// NamespaceLabels are left out while they are not known.
	NamespaceLabels map[string]string `json:"namespaceLabels,omitempty"`
	// Choice is the value of the resource's annotation.
	Choice string `json:"choice,omitempty"`
	// Unread says what could not be read.
	Unread    []string  `json:"unread,omitempty"`
	Selectors []row     `json:"selectors"`
	Hidden    int       `json:"hidden,omitempty"`
	Problems  []problem `json:"problems,omitempty"`
	Decision  decision  `json:"decision"`
	Used      used      `json:"used"`
	// Course is what the controller does with the resource as it is.
	Course *course `json:"course,omitempty"`
	// Notes are what else a person should know.
	Notes []string `json:"notes,omitempty"`
	// Next are the commands to go on with, or words.
	Next []string `json:"next,omitempty"`

	mayCallAWS bool
}

type resourceRef struct {
	Group     string `json:"group"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// row is one selector.
type row struct {
	Name    string          `json:"name"`
	UID     types.UID       `json:"uid,omitempty"`
	RoleARN string          `json:"roleARN,omitempty"`
	Effect  services.Effect `json:"effect"`
	// Mode is how the selector stands beside others.
	Mode     services.SelectionMode `json:"mode"`
	Selects  string                 `json:"selects"`
	Criteria []criterion            `json:"criteria"`
}

type criterion struct {
	Name   string `json:"name"`
	Holds  string `json:"holds"`
	Wanted string `json:"wanted"`
	Seen   string `json:"seen,omitempty"`
}

// used is what the resource's status says.
type used struct {
	Selector   string       `json:"selector,omitempty"`
	Generation int64        `json:"generation,omitempty"`
	RoleARN    string       `json:"roleARN,omitempty"`
	Account    string       `json:"account,omitempty"`
	Since      *metav1.Time `json:"since,omitempty"`
	// AsDecided says that it is what is decided now; Difference says why not.
	AsDecided  bool   `json:"asDecided"`
	Difference string `json:"difference,omitempty"`
}

type course struct {
	Step    roleselector.Step   `json:"step"`
	Reason  roleselector.Reason `json:"reason"`
	Message string              `json:"message"`
}

// explain explains a resource.
func (w *world) explain(r resource, k kind, controllerAccount string) (*explanation, error) {
	recorded, err := record.Read(r.object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	query := w.query(r)
	found := w.index.Explain(query)
	found.Decision = w.admit(found.Decision, r, query)
	e := &explanation{
		APIVersion: "tabard.dev/v1alpha1", Kind: "RoleExplanation",
		Resource:        resourceRef{r.gvk.Group, r.gvk.Version, r.gvk.Kind, query.Namespace, r.object.GetName()},
		NamespaceLabels: query.NamespaceLabels, Choice: query.Choice, Unread: w.unread,
		Selectors: []row{}, Decision: describe(found.Decision), mayCallAWS: found.Decision.MayCallAWS(),
	}
	for i := range found.Selectors {
		e.Selectors = append(e.Selectors, w.row(&found.Selectors[i]))
	}
	e.Problems = w.problems
	e.Used = usedNow(recorded, found.Decision)
	e.follow(w, r, query, recorded, found.Decision, controllerAccount)
	if len(k.versions) > 1 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s is served as %s. Selectors that name a version go by the one that the controller manages; this is for %s.",
			k.GroupKind(), strings.Join(k.versions, ", "), k.Version))
	}
	e.Next = w.next(e, r, k)
	return e, nil
}

func (w *world) row(s *roleselector.SelectorExplanation) row {
	one := row{
		Name: s.Selector.Name, UID: s.Selector.UID, RoleARN: s.Selector.ARN,
		Effect: services.Use, Mode: services.Exclusive, Selects: s.Selects.String(),
	}
	if s.Denies {
		one.Effect = services.Deny
	}
	if spec := w.selectors[one.Name].Spec; spec != nil && spec.Selection != nil && spec.Selection.Mode != "" {
		one.Mode = spec.Selection.Mode
	}
	for _, c := range s.Criteria {
		one.Criteria = append(one.Criteria, criterion{c.Name, c.Holds.String(), c.Wanted, c.Seen})
	}
	return one
}

// keepMatching leaves out the selectors that do not select the resource.
func (e *explanation) keepMatching() {
	all := len(e.Selectors)
	e.Selectors = slices.DeleteFunc(e.Selectors, func(one row) bool { return one.Selects == roleselector.No.String() })
	e.Hidden = all - len(e.Selectors)
	shown := map[string]bool{}
	for _, one := range e.Selectors {
		shown["IAMRoleSelector "+one.Name] = true
	}
	e.Problems = slices.DeleteFunc(e.Problems, func(p problem) bool {
		return strings.HasPrefix(p.Object, "IAMRoleSelector ") && !shown[p.Object]
	})
}

// usedNow is what was used last, held against what is decided.
func usedNow(r record.Record, d roleselector.Decision) used {
	u := used{Selector: r.Selector, Generation: r.Generation, RoleARN: r.RoleARN, Account: r.Account, Since: r.Since}
	switch {
	case r.Selector == "" && r.Account == "":
		u.Difference = "The status names no role yet."
	case !d.MayCallAWS():
		u.Difference = "No role may be used now."
	case r.Selector != d.Selector.Name:
		u.Difference = "Another role is decided now."
	case d.Outcome == roleselector.NoSelector:
		u.AsDecided = true
	case r.UID != "" && r.UID != d.Selector.UID:
		u.Difference = "The IAMRoleSelector of this name was deleted and made anew since."
	case r.RoleARN != "" && r.RoleARN != d.Selector.ARN:
		u.Difference = "The IAMRoleSelector of this name has another role now."
	case r.Generation != 0 && r.Generation != d.Selector.Generation:
		u.Difference = fmt.Sprintf("The IAMRoleSelector has changed since: it is of generation %d now.", d.Selector.Generation)
	default:
		u.AsDecided = true
	}
	return u
}

// follow says what the rules for existing resources lead to, if they do.
func (e *explanation) follow(w *world, r resource, q roleselector.Query, recorded record.Record, d roleselector.Decision, controllerAccount string) {
	deleting := r.object.GetDeletionTimestamp() != nil
	if recorded.Account == "" && !deleting {
		return
	}
	if deleting && recorded.Selector != "" && recorded.UID == "" {
		e.Notes = append(e.Notes, "The resource is being deleted, and its status does not say the UID of the IAMRoleSelector: what follows is not known.")
		return
	}
	// What was managed with the controller's own role is in its account.
	if controllerAccount == "" && recorded.Selector == "" {
		controllerAccount = recorded.Account
	}
	if d.Outcome == roleselector.NoSelector && controllerAccount == "" && !deleting {
		e.Notes = append(e.Notes, fmt.Sprintf(
			"The controller's own role is used only if it is of the account %s, where the resource is; --controller-account says of which it is.", recorded.Account))
		return
	}
	last := roleselector.Recorded{
		Account: recorded.Account, Region: recorded.Region, Selector: recorded.Selector, SelectorUID: recorded.UID, RoleARN: recorded.RoleARN,
	}
	found := roleselector.Proceed(roleselector.Situation{
		Decision:       d,
		Recorded:       last,
		DefaultAccount: controllerAccount, Region: recorded.Region, Deleting: deleting,
		Retain:   r.object.GetAnnotations()[retainAnnotation] == "retain",
		LastUsed: w.index.LastUsed(q, last),
	})
	e.Course = &course{found.Step, found.Reason, found.Message}
	if found.Step == roleselector.AccountChangePending {
		e.Notes = append(e.Notes, "It stays where it is if the deletion policy of its namespace or of the controller is to retain it: these are not looked at here.")
	}
}

// retainAnnotation is ACK's for what stays in AWS.
const retainAnnotation = "services.k8s.aws/deletion-policy"
