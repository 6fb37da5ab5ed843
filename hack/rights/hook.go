package main

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// elsewhere is a server of the attacker.
var elsewhere = map[string]any{"url": "https://attacker.example.com"}

// hookChanges are those by which an attacker sees or changes what is created.
var hookChanges = map[string]func(map[string]any){
	"another server": onHook(func(hook map[string]any) { hook["clientConfig"] = elsewhere }),
	"another service": onHook(func(hook map[string]any) {
		inside(hook, "clientConfig")["service"] = map[string]any{"name": "attack", "namespace": "attack"}
	}),
	"other objects":  onHook(func(hook map[string]any) { hook["rules"] = []any{} }),
	"all namespaces": onHook(func(hook map[string]any) { delete(hook, "namespaceSelector") }),
	"all labels":     onHook(func(hook map[string]any) { delete(hook, "objectSelector") }),
	"other conditions": onHook(func(hook map[string]any) {
		hook["matchConditions"] = []any{map[string]any{"name": "a", "expression": "false"}}
	}),
	"a hook that fails":   onHook(func(hook map[string]any) { hook["failurePolicy"] = "Attack" }),
	"a field of tomorrow": onHook(func(hook map[string]any) { hook["tomorrow"] = "x" }),
	"a hook more": func(o map[string]any) {
		o["webhooks"] = append(slices.Clone(hooksOf(o)), map[string]any{"name": "attack.example.com", "clientConfig": elsewhere})
	},
	"a hook less": func(o map[string]any) { o["webhooks"] = hooksOf(o)[1:] },
	"no hooks":    func(o map[string]any) { delete(o, "webhooks") },
}

func hooksOf(object map[string]any) []any {
	list, _ := object["webhooks"].([]any)
	return list
}

func inside(object map[string]any, key string) map[string]any {
	found, _ := object[key].(map[string]any)
	if found == nil {
		found = map[string]any{}
		object[key] = found
	}
	return found
}

// onHook changes the first hook.
func onHook(change func(map[string]any)) func(map[string]any) {
	return func(o map[string]any) { change(hooksOf(o)[0].(map[string]any)) }
}

// hookAttacks write webhook configurations: those that there are, and others.
func hookAttacks(w *world, grants []grant) []attack {
	var found []attack
	for _, of := range []struct{ resource, kind string }{
		{"mutatingwebhookconfigurations", "MutatingWebhookConfiguration"}, {"validatingwebhookconfigurations", "ValidatingWebhookConfiguration"},
	} {
		for _, name := range append(namesOf(grants, admissionv1.GroupName, of.resource, ""), "attack") {
			base := on("create", admissionv1.GroupName, "v1", of.resource, of.kind, "", name, w.configuration(of.kind, name))
			found = append(found, attack{everybody, "a webhook of its own", []request{base}})
			for _, gone := range base.removals() {
				found = append(found, attack{everybody, "no webhook where identity is required", []request{gone}})
			}
			for _, changes := range []map[string]func(map[string]any){hookChanges, marks} {
				for how, change := range changes {
					for _, verb := range []string{"update", "patch"} {
						found = append(found, attack{everybody, "a webhook that it turns to itself, by " + how, []request{base.variant(verb, change)}})
					}
				}
			}
		}
	}
	return found
}

// configuration is a webhook configuration as shipped, else one of one hook, with what
// can be taken away.
func (w *world) configuration(kind, name string) map[string]any {
	for _, each := range w.mutating {
		if kind == "MutatingWebhookConfiguration" && each.Name == name {
			return asMap(&each)
		}
	}
	for _, each := range w.validating {
		if kind == "ValidatingWebhookConfiguration" && each.Name == name {
			return asMap(&each)
		}
	}
	return full(map[string]any{"metadata": map[string]any{}, "webhooks": []any{map[string]any{"name": "one.example.com"}}})
}

func asMap(object any) map[string]any {
	found, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err) // not reached: it was read from a manifest
	}
	return full(found)
}

// full gives the first hook what an API server fills in, so that it can be taken away.
func full(object map[string]any) map[string]any {
	hook := hooksOf(object)[0].(map[string]any)
	for _, key := range []string{"namespaceSelector", "objectSelector"} {
		inside(hook, key)["matchLabels"] = map[string]any{"a": "b"}
	}
	inside(hook, "clientConfig")["caBundle"] = "eA=="
	hook["rules"] = []any{map[string]any{"resources": []any{"pods"}}}
	metaOf(object)["annotations"] = map[string]any{"note": "x"}
	return object
}

// answers says that an account's pods are behind a hook's Service.
func (w *world) answers(from account, config admissionv1.WebhookClientConfig) bool {
	if config.Service == nil {
		return false
	}
	for _, service := range w.services {
		if service.Name != config.Service.Name || service.Namespace != config.Service.Namespace {
			continue
		}
		for _, each := range w.workloads {
			if each.account == from && from.namespace == service.Namespace && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(each.labels)) {
				return true
			}
		}
	}
	return false
}

// asked are the accounts about whose pods a hook asks, by their namespaces. A label
// that a namespace does not have may be given to it; only its name cannot be changed,
// and what the manifests say of it is taken as said.
func (w *world) asked(selector *metav1.LabelSelector) []string {
	var found []string
	for namespace, labels := range w.namespaces {
		if excludes(selector, labels) {
			continue
		}
		for to := range w.inhabitants(namespace) {
			found = append(found, to)
		}
	}
	if !excludes(selector, map[string]string{"kubernetes.io/metadata.name": "somebody-elses"}) {
		found = append(found, thePods)
	}
	return found
}

// excludes says that a selector leaves a namespace out whatever other labels it has.
func excludes(selector *metav1.LabelSelector, known map[string]string) bool {
	if selector == nil {
		return false
	}
	for key, value := range selector.MatchLabels {
		if has, ok := known[key]; ok && has != value {
			return true
		}
	}
	for _, term := range selector.MatchExpressions {
		has, ok := known[term.Key]
		if ok && (term.Operator == metav1.LabelSelectorOpIn && !slices.Contains(term.Values, has) ||
			term.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(term.Values, has) || term.Operator == metav1.LabelSelectorOpDoesNotExist) {
			return true
		}
	}
	return false
}
