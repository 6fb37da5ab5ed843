package main

import (
	"slices"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/cel/environment"
)

// parser is the CEL of the API server, for what is only read.
var parser = sync.OnceValues(func() (*celgo.Env, error) {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(environment.StoredExpressions)
})

// literals are the texts that the expressions of a policy have: the keys, finalizers and values that
// it lets pass are among them, and those that it speaks against. They are read by the API server's
// own CEL. Of what that cannot read there are none: the policy then refuses everything.
func literals(policy admissionv1.ValidatingAdmissionPolicy) ([]string, error) {
	env, err := parser()
	if err != nil {
		return nil, err
	}
	var expressions []string
	for _, each := range policy.Spec.Variables {
		expressions = append(expressions, each.Expression)
	}
	for _, each := range policy.Spec.Validations {
		expressions = append(expressions, each.Expression)
	}
	var found []string
	for _, each := range expressions {
		found = append(found, literalsOf(env, each)...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func literalsOf(env *celgo.Env, expression string) (found []string) {
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return nil
	}
	ast.PostOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.LiteralKind {
			return
		}
		if text, is := e.AsLiteral().Value().(string); is && text != "" {
			found = append(found, text)
		}
	}))
	return found
}

// foreign is a key that no policy speaks of.
const foreign = "attack.example.com/key"

// keysFor are the texts in the policies about a request that can be the key of an annotation or a
// label, or a finalizer, and one that is none of theirs.
func (w *world) keysFor(r request) []string {
	found := []string{"", foreign}
	for _, each := range own {
		if each.key == r.group+"/"+r.resource {
			found = append(found, each.annotation, each.finalizer)
		}
	}
	for _, guard := range w.guards {
		if slices.ContainsFunc(guard.policy.Spec.MatchConstraints.ResourceRules, r.matches) {
			found = append(found, guard.literals...)
		}
	}
	slices.Sort(found)
	return slices.DeleteFunc(slices.Compact(found), func(text string) bool {
		prefix, name, is := strings.Cut(text, "/")
		return text != "" && (!is || prefix == "" || name == "" || strings.ContainsAny(text, " ^:$()"))
	})
}

// shape is a request about an object with an annotation, and with another one, a label or a finalizer;
// with empty ones without.
type shape struct {
	request
	annotation, another, label, finalizer string
}

// shapes are a request about an object as each key of its policies can shape it: with an annotation,
// a label, a finalizer, and with an annotation and one more of these. A change adds them, gives them
// other values, or takes them away; one that changes nothing is no shape. What is deleted has them.
func (w *world) shapes(r request) []shape {
	var found []shape
	if r.operation() != "UPDATE" {
		found = append(found, shape{request: r})
	}
	if r.object == nil && r.old == nil {
		return found
	}
	keys := w.keysFor(r)
	for _, annotation := range keys {
		for _, other := range keys {
			if annotation+other == "" {
				continue
			}
			marks := []shape{{r, annotation, "", other, ""}, {r, annotation, "", "", other}}
			if annotation < other { // the other way round it is the same
				marks = append(marks, shape{r, annotation, other, "", ""})
			}
			for _, s := range marks {
				for _, each := range r.shaped(s.mark) {
					found = append(found, shape{each, s.annotation, s.another, s.label, s.finalizer})
				}
			}
		}
	}
	return found
}

// has says that the shape is made by an annotation, with none where it is empty, and a finalizer
// alike, and by nothing that no policy speaks of.
func (s shape) has(annotation, finalizer string) bool {
	all := []string{s.annotation, s.another, s.label, s.finalizer}
	annotated := slices.Contains(all[:2], annotation)
	if annotation == "" {
		annotated = s.annotation+s.another == ""
	}
	return annotated && s.finalizer == finalizer && !slices.Contains(all, foreign)
}

// mark gives an object what the shape has.
func (s shape) mark(o map[string]any) {
	annotations := map[string]any{}
	for _, key := range []string{s.annotation, s.another} {
		if key != "" {
			annotations[key] = "x"
		}
	}
	if len(annotations) > 0 {
		metaOf(o)["annotations"] = annotations
	}
	if s.label != "" {
		metaOf(o)["labels"] = map[string]any{s.label: "true"}
	}
	if s.finalizer != "" {
		metaOf(o)["finalizers"] = []any{s.finalizer}
	}
}

// shaped is a request about an object that a change shapes.
func (r request) shaped(change func(map[string]any)) []request {
	switch r.operation() {
	case "UPDATE":
		added, changed, removed := r, r, r
		added.old, added.object = r.object, copied(r.object, change)
		changed.old, changed.object = added.object, copied(added.object, otherValues)
		removed.old, removed.object = added.object, r.object
		return []request{added, changed, removed}
	case "DELETE":
		r.old = copied(r.old, change)
	default:
		r.object = copied(r.object, change)
	}
	return []request{r}
}

// otherValues gives each annotation and label another value, and changes the finalizers.
func otherValues(o map[string]any) {
	for _, kind := range []string{"annotations", "labels"} {
		values, _ := metaOf(o)[kind].(map[string]any)
		for key := range values {
			values[key] = "y"
		}
	}
	if finalizers, is := metaOf(o)["finalizers"].([]any); is {
		metaOf(o)["finalizers"] = append(slices.Clone(finalizers), foreign+"-more")
	}
}
