package chain

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/line"
)

// notAsked is the finding of hooks that are asked about other pods, with the labels of the one for which
// the fewest have to change.
func (w *walk) notAsked(symptom string, hooks []Hook) Finding {
	f := Finding{
		Code: CodeNotAsked, Symptom: symptom + ": its webhook is not asked about it", Observed: "labels that " + hooks[0].title() + " does not select",
		Required: "it selects " + wants(hooks[0]), Mend: []string{hooks[0].look()}, Note: "No label makes the hook be asked: its selectors leave the namespace or the pod out.",
	}
	best := -1
	for _, h := range hooks {
		namespace, possible := changes(h.Namespaces, w.namespaceLabels())
		pod, can := changes(h.Objects, w.NewPod.Value.Labels)
		if !possible || !can || best >= 0 && len(namespace)+len(pod) >= best {
			continue
		}
		f.Required, f.Note, f.Mend = h.title()+" selects "+wants(h), "", nil
		f.Observed = strings.Join(append(labelled("the namespace", namespace, w.namespaceLabels()), labelled("the pod", pod, w.NewPod.Value.Labels)...), ", ")
		best = len(namespace) + len(pod)
		if len(namespace) > 0 {
			f.Mend = append(f.Mend, "kubectl label namespace "+line.Word(w.subject.Namespace)+" --overwrite"+typed(namespace))
			f.Note = "Who may label namespaces types it. All pods of the namespace are asked about then."
			if w.pod() != nil && w.own == nil && len(pod) == 0 { // a template that changes makes new pods by itself
				f.Mend = append(f.Mend, w.restart())
			}
		}
		if len(pod) > 0 {
			f.Mend = append(f.Mend, w.patch(map[string]any{"metadata": map[string]any{"labels": pod}}, h.look()))
			f.Note += " The pod's template gets its labels too; those by which its workload finds its pods cannot change."
		}
		f.Note = strings.TrimSpace(f.Note)
	}
	return f
}

// wants is what a hook selects.
func wants(h Hook) string {
	out := []string{}
	if h.Namespaces != nil {
		out = append(out, "namespaces with "+metav1.FormatLabelSelector(h.Namespaces))
	}
	if h.Objects != nil {
		out = append(out, "pods with "+metav1.FormatLabelSelector(h.Objects))
	}
	return strings.Join(out, ", ")
}

func (w *walk) namespaceLabels() map[string]string {
	if w.NamespaceLabels.Value == nil {
		return nil
	}
	return *w.NamespaceLabels.Value
}

// changes are the labels that have to change for a selector to match, nil in place of a value for one
// that has to go. It is not possible for a label that the API server keeps, and for a selector that
// contradicts itself.
func changes(selector *metav1.LabelSelector, of map[string]string) (out map[string]*string, possible bool) {
	out = map[string]*string{}
	if selector == nil {
		return out, true
	}
	for key, value := range selector.MatchLabels {
		if has, is := of[key]; !is || has != value {
			out[key] = new(value)
		}
	}
	for _, each := range selector.MatchExpressions {
		has, is := of[each.Key]
		switch {
		case each.Operator == metav1.LabelSelectorOpIn && len(each.Values) > 0 && !slices.Contains(each.Values, has):
			out[each.Key] = new(each.Values[0])
		case each.Operator == metav1.LabelSelectorOpExists && !is && out[each.Key] == nil:
			out[each.Key] = new("")
		case is && (each.Operator == metav1.LabelSelectorOpDoesNotExist || each.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(each.Values, has)):
			out[each.Key] = nil
		}
	}
	after := maps.Clone(of)
	if after == nil {
		after = map[string]string{}
	}
	for key, value := range out {
		if key == corev1.LabelMetadataName {
			return nil, false
		}
		if value == nil {
			delete(after, key)
		} else {
			after[key] = *value
		}
	}
	return out, selects(selector, after)
}

// labelled says what somebody has of the labels that have to change.
func labelled(who string, all map[string]*string, of map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if value, has := of[key]; has {
			out = append(out, who+" has "+key+"="+value)
		} else {
			out = append(out, who+" has no label "+key)
		}
	}
	return out
}

// typed are the labels as kubectl label takes them.
func typed(all map[string]*string) (out string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		word := key + "-"
		if value := all[key]; value != nil {
			word = key + "=" + *value
		}
		out += " " + line.Word(word)
	}
	return out
}
