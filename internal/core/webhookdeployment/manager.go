package webhookdeployment

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// manager names who else keeps an object, empty for nobody: Helm, by its marks, or the
// manager of a field that is wanted. kubectl is a person, whose edits are put back.
func manager(stored, wanted Object) string {
	meta, _ := stored["metadata"].(Object)
	labels, _ := meta["labels"].(Object)
	annotations, _ := meta["annotations"].(Object)
	if labels["app.kubernetes.io/managed-by"] == "Helm" || annotations["meta.helm.sh/release-name"] != nil {
		return "Helm"
	}
	fields := Object{}
	for _, key := range []string{"spec", "webhooks"} {
		if value, ok := wanted[key]; ok {
			fields[key] = value
		}
	}
	for _, entry := range items(meta, "managedFields") {
		name, _ := entry["manager"].(string)
		owned, _ := entry["fieldsV1"].(Object)
		if name == Owner || isPerson(name) || entry["subresource"] == "status" {
			continue
		}
		if overlaps(owned, fields) {
			return "the field manager " + name
		}
	}
	return ""
}

// isPerson says that a field manager is one that people type with: kubectl's commands,
// and what a first server-side apply takes over from before there were managers.
func isPerson(manager string) bool {
	return manager == "kubectl" || strings.HasPrefix(manager, "kubectl-") || manager == "before-first-apply"
}

// overlaps says that a manager owns a field that is wanted. FieldsV1 names a field f:NAME
// and an item of a list k:KEYS or v:VALUE. An item alone, or its name, is nobody's: the
// controller certificate owns the caBundle inside of hooks.
func overlaps(owned Object, wanted any) bool {
	switch wanted := wanted.(type) {
	case Object:
		for key, value := range wanted {
			inner, ok := owned["f:"+key].(Object)
			if ok && key != "name" && (len(inner) == 0 || overlaps(inner, value)) {
				return true
			}
		}
	case []any:
		for _, key := range slices.Sorted(maps.Keys(owned)) {
			inner, _ := owned[key].(Object)
			if strings.HasPrefix(key, "v:") {
				return true
			}
			for _, item := range wanted {
				if object, ok := item.(Object); ok && isItem(key, object) && overlaps(inner, object) {
					return true
				}
			}
		}
	}
	return false
}

// isItem says that a key of FieldsV1 is that of an item. What an API server fills in,
// such as a protocol, an item of ours need not have.
func isItem(key string, item Object) bool {
	text, ok := strings.CutPrefix(key, "k:")
	keys := Object{}
	if !ok || json.Unmarshal([]byte(text), &keys) != nil {
		return false
	}
	for name, value := range keys {
		if ours, said := item[name]; said && ours != value {
			return false
		}
	}
	return true
}
