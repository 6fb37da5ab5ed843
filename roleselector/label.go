package roleselector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/services/v1alpha1"
)

// term is one condition on labels, as Kubernetes' label selectors have it: NotIn
// and DoesNotExist hold where the key is absent. A pair of matchLabels is In with
// one value.
type term struct {
	key      string
	values   []string // sorted, none twice
	operator operator
}

type operator uint8

const (
	in operator = iota
	notIn
	exists
	doesNotExist
)

var operators = map[metav1.LabelSelectorOperator]operator{
	metav1.LabelSelectorOpIn: in, metav1.LabelSelectorOpNotIn: notIn,
	metav1.LabelSelectorOpExists: exists, metav1.LabelSelectorOpDoesNotExist: doesNotExist,
}

func (t *term) holds(labels map[string]string) bool {
	value, has := labels[t.key]
	switch t.operator {
	case in:
		return has && slices.Contains(t.values, value)
	case notIn:
		return !has || !slices.Contains(t.values, value)
	case exists:
		return has
	default:
		return !has
	}
}

// isPositive says that the term holds only where its key is present, so that it
// leads from labels to the selectors that want them.
func (t *term) isPositive() bool {
	return t.operator == in || t.operator == exists
}

// String is the term as Kubernetes writes it.
func (t *term) String() string {
	values := strings.Join(t.values, ", ")
	switch t.operator {
	case in:
		if len(t.values) == 1 {
			return t.key + "=" + values
		}
		return t.key + " in (" + values + ")"
	case notIn:
		return t.key + " notin (" + values + ")"
	case exists:
		return t.key
	default:
		return "!" + t.key
	}
}

func allHold(terms []term, labels map[string]string) bool {
	for i := range terms {
		if !terms[i].holds(labels) {
			return false
		}
	}
	return true
}

// compileLabels makes terms of a selector. A term that cannot be evaluated is
// left out, as if it held, and is a problem.
func compileLabels(field string, selector *v1alpha1.LabelSelector) ([]term, []Problem) {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return nil, nil
	}
	terms := make([]term, 0, len(selector.MatchLabels)+len(selector.MatchExpressions))
	var problems []Problem
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		if key == "" {
			problems = append(problems, invalid(field+".matchLabels", "a label's key is empty"))
			continue
		}
		terms = append(terms, term{key, []string{selector.MatchLabels[key]}, in})
	}
	for i, e := range selector.MatchExpressions {
		if wrong := faultOfTerm(e); wrong != "" {
			problems = append(problems, invalid(fmt.Sprintf("%s.matchExpressions[%d]", field, i), wrong))
			continue
		}
		values := slices.Clone(e.Values)
		slices.Sort(values)
		terms = append(terms, term{e.Key, slices.Clip(slices.Compact(values)), operators[e.Operator]})
	}
	return terms, problems
}

// faultOfTerm says what makes a term one that Kubernetes would refuse; a key or
// value that no object can have is no fault, it is only never met.
func faultOfTerm(e v1alpha1.LabelRequirement) string {
	if e.Key == "" {
		return "the key is empty"
	}
	switch e.Operator {
	case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
		if len(e.Values) == 0 {
			return fmt.Sprintf("the operator %s needs values", e.Operator)
		}
	case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			return fmt.Sprintf("the operator %s takes no values", e.Operator)
		}
	default:
		return fmt.Sprintf("%q is no operator; it is In, NotIn, Exists or DoesNotExist", e.Operator)
	}
	return ""
}
