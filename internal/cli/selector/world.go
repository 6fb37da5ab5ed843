package selector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	identity "github.com/tabard-dev/tabard/api/identity/v1alpha1"
	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// The kinds that decide.
var (
	selectorKind  = services.GroupVersion.WithKind("IAMRoleSelector")
	choiceKind    = identity.GroupVersion.WithKind("IAMRoleChoice")
	namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
)

// world is all that a decision depends on, wherever it comes from.
type world struct {
	index     *roleselector.Index
	settings  roleselector.Settings
	selectors map[string]*services.IAMRoleSelector
	// namespaces are the labels of those that are known.
	namespaces map[string]map[string]string
	// problems are what is wrong with selectors and choices.
	problems []problem
	// unread says of what could not be read why.
	unread []string
}

// problem is something wrong with a selector or a choice.
type problem struct {
	Object  string `json:"object"`
	Field   string `json:"field"`
	Message string `json:"message"`
	// Blocks says that resources are blocked because of it.
	Blocks bool `json:"blocks"`
}

func newWorld(by administrator) *world {
	return &world{
		index: roleselector.NewIndex(by.options), settings: by.settings,
		selectors: map[string]*services.IAMRoleSelector{}, namespaces: map[string]map[string]string{},
	}
}

// convert makes an object of what was read. Strict refuses fields that the kind does not
// have, and those that are null: an API server would drop both.
func convert(o *unstructured.Unstructured, object any, strict bool) error {
	if spec, has := o.Object["spec"]; has && strict {
		if path := nullIn(spec, "spec"); path != "" {
			return fmt.Errorf("%s is null, which the API server refuses or drops: write a value, or leave it out", path)
		}
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, object, strict)
}

// nullIn is the path of the first null in a value, empty for none.
func nullIn(value any, path string) string {
	switch value := value.(type) {
	case nil:
		return path
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if found := nullIn(value[key], path+"."+key); found != "" {
				return found
			}
		}
	case []any:
		for i := range value {
			if found := nullIn(value[i], fmt.Sprintf("%s[%d]", path, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

// addSelector enters a selector, converted as convert does.
func (w *world) addSelector(o *unstructured.Unstructured, strict bool) error {
	var object services.IAMRoleSelector
	if err := convert(o, &object, strict); err != nil {
		return err
	}
	compiled := roleselector.Compile(&object)
	w.selectors[object.Name] = &object
	w.index.Set(compiled)
	w.note("IAMRoleSelector "+object.Name, compiled.Problems())
	return nil
}

func (w *world) addChoice(o *unstructured.Unstructured, strict bool) error {
	var object identity.IAMRoleChoice
	if err := convert(o, &object, strict); err != nil {
		return err
	}
	compiled := roleselector.CompileChoice(&object)
	w.index.SetChoice(compiled)
	w.note("IAMRoleChoice "+object.Namespace+"/"+object.Name, compiled.Problems())
	return nil
}

func (w *world) note(object string, problems []roleselector.Problem) {
	for _, p := range problems {
		w.problems = append(w.problems, problem{object, p.Field, p.Message, p.Blocks()})
	}
}

// resource is one that is decided on, as its controller sees it.
type resource struct {
	gvk    schema.GroupVersionKind
	object *unstructured.Unstructured
}

// String is KIND.GROUP NAMESPACE/NAME.
func (r resource) String() string {
	return r.gvk.Kind + "." + r.gvk.Group + " " + strings.TrimPrefix(r.object.GetNamespace()+"/"+r.object.GetName(), "/")
}

// query is what the index is asked about a resource.
func (w *world) query(r resource) roleselector.Query {
	namespace := r.object.GetNamespace()
	labels, known := w.namespaces[namespace]
	return roleselector.Query{
		Namespace: namespace, NamespaceLabels: labels, NamespaceKnown: known || namespace == "",
		Group: r.gvk.Group, Version: r.gvk.Version, Kind: r.gvk.Kind,
		Labels: r.object.GetLabels(), Choice: r.object.GetAnnotations()[services.ChoiceAnnotation],
	}
}

// decision is a decision for people and programs.
type decision struct {
	Outcome   roleselector.Outcome   `json:"outcome"`
	Reason    roleselector.Reason    `json:"reason"`
	DecidedBy roleselector.DecidedBy `json:"decidedBy,omitempty"`
	// Selector is the one whose role is used.
	Selector   string `json:"selector,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	RoleARN    string `json:"roleARN,omitempty"`
	Account    string `json:"account,omitempty"`
	// Selectors are those that took part.
	Selectors []string `json:"selectors,omitempty"`
	Message   string   `json:"message"`
}

func describe(d roleselector.Decision) decision {
	return decision{
		Outcome: d.Outcome, Reason: d.Reason, DecidedBy: d.DecidedBy,
		Selector: d.Selector.Name, Generation: d.Selector.Generation, RoleARN: d.Selector.ARN, Account: d.Selector.Account,
		Selectors: d.Names(), Message: d.Message(),
	}
}

// String is the decision in a few words.
func (d decision) String() string {
	switch d.Outcome {
	case roleselector.Use:
		return fmt.Sprintf("%s %s (%s)", d.Outcome, d.Selector, d.DecidedBy)
	case roleselector.NoSelector, roleselector.Conflict:
		return string(d.Outcome)
	default:
		return fmt.Sprintf("%s (%s)", d.Outcome, d.Reason)
	}
}
