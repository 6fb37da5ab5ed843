package selector

import (
	"fmt"
	"slices"

	services "github.com/tabard-dev/tabard/api/services/v1alpha1"
	"github.com/tabard-dev/tabard/roleselector"
)

// next are the commands to go on with.
func (w *world) next(e *explanation, r resource, k kind) []string {
	object := k.plural + "." + k.Group + " " + r.object.GetName()
	in := ""
	if namespace := r.object.GetNamespace(); namespace != "" {
		in = " -n " + namespace
	}
	switch e.Decision.Outcome {
	case roleselector.NotYetKnown:
		return notRead(in)
	case roleselector.Conflict:
		return w.resolve(e, object, in)
	case roleselector.Invalid:
		if e.Decision.Reason == roleselector.ReasonChoiceInvalid {
			return []string{"kubectl get iamrolechoices" + in + " -o yaml   # correct the one that the decision names"}
		}
		return forEach(e.Decision.Selectors, "kubectl edit iamroleselector %s   # correct what the decision names; for another arn make a new one and delete this")
	case roleselector.Denied:
		return refused(e, object, in)
	}
	if !e.Used.AsDecided || e.Course != nil && e.Course.Step != roleselector.GoOn {
		return []string{"kubectl describe " + object + in + "   # its conditions say what the controller waits for"}
	}
	return nil
}

func notRead(in string) []string {
	commands := []string{"kubectl auth can-i list iamroleselectors.services.k8s.aws"}
	if in != "" {
		commands = append(commands, "kubectl auth can-i list iamrolechoices.identity.tabard.dev"+in, "kubectl auth can-i get namespaces")
	}
	return append(commands, "kubectl get crd iamroleselectors.services.k8s.aws iamrolechoices.identity.tabard.dev")
}

// resolve ends a conflict: by a choice if that is possible, else by an
// administrator.
func (w *world) resolve(e *explanation, object, in string) []string {
	commands := forEach(e.Decision.Selectors, "kubectl edit iamroleselector %s   # an administrator makes it select less, or deletes it")
	for _, name := range e.Decision.Selectors {
		if spec := w.selectors[name].Spec; spec == nil || spec.Selection == nil || spec.Selection.Mode != services.Selectable {
			return commands
		}
	}
	for _, name := range e.Decision.Selectors {
		choosers := w.selectors[name].Spec.Selection.Choosers
		if len(choosers) == 0 || slices.Contains(choosers, services.NamespaceChoice) {
			commands = append(commands, fmt.Sprintf("an IAMRoleChoice in the namespace with selectorRef: {name: %s} chooses this one", name))
		}
		if slices.Contains(choosers, services.ResourceAnnotation) {
			commands = append(commands, fmt.Sprintf("kubectl annotate %s%s %s=%s   # chooses this one", object, in, services.ChoiceAnnotation, name))
		}
	}
	return commands
}

// refused leads to what stands against a role.
func refused(e *explanation, object, in string) []string {
	switch e.Decision.Reason {
	case roleselector.ReasonChoiceNotPermitted:
		if e.Choice != "" {
			return []string{"kubectl annotate " + object + in + " " + services.ChoiceAnnotation + "-   # takes the choice back"}
		}
		return []string{"kubectl get iamrolechoices" + in + "   # correct or delete the one that the decision names"}
	case roleselector.ReasonAmbiguousChoice:
		return []string{"kubectl get iamrolechoices" + in + "   # delete one of those that the decision names, or make it more specific"}
	case roleselector.ReasonNoSelectorPolicy:
		return []string{"an administrator makes an IAMRoleSelector that selects it, or one that does select more"}
	}
	return forEach(e.Decision.Selectors, "kubectl get iamroleselector %s -o yaml   # denies it; an administrator decides whether that is meant")
}

// most is how many of several objects commands are given for.
const most = 3

func forEach(names []string, format string) []string {
	var commands []string
	for _, name := range names[:min(len(names), most)] {
		commands = append(commands, fmt.Sprintf(format, name))
	}
	return commands
}
