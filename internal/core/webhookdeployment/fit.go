package webhookdeployment

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// whole are fields that are ours as a whole: one key more in them is drift, for it
// changes who is asked, who answers, or what the process may do.
var whole = []string{
	"rules", "namespaceSelector", "objectSelector", "service", "selector", "securityContext", "livenessProbe", "readinessProbe", "resources",
}

// barred are fields that nothing of ours has, and that change what runs, or who answers.
// They are taken away. What else others add stays, such as where pods are placed.
var barred = []string{
	"initContainers", "volumes", "hostNetwork", "hostPID", "hostIPC", "hostAliases", "shareProcessNamespace", "dnsConfig",
	"command", "env", "envFrom", "volumeMounts", "volumeDevices", "lifecycle", "workingDir",
	"matchConditions", "url", "externalName", "externalIPs", "maxUnavailable",
}

// members are lists whose items are known by their names. Items of others stay in those
// that are true, and are taken away from the others.
var members = map[string]bool{"containers": false, "webhooks": false, "ports": true}

// fit is what is stored with what is wanted put in. It changes neither. The API server
// and others may have added fields, which stay, unless they are of a whole or barred;
// so do labels and annotations. The caBundle of a hook stays, which is the controller
// certificate's.
func fit(stored, wanted Object) Object {
	out := runtime.DeepCopyJSON(stored)
	for _, key := range []string{"metadata", "spec", "webhooks"} {
		if value, ok := wanted[key]; ok {
			out[key] = laid(key, out[key], value)
		}
	}
	return out
}

// laid is a field with what is wanted put in.
func laid(key string, stored, wanted any) any {
	if slices.Contains(whole, key) {
		return runtime.DeepCopyJSONValue(wanted)
	}
	switch wanted := wanted.(type) {
	case Object:
		if key == "labels" || key == "annotations" {
			return laidMarks(stored, wanted)
		}
		return laidObject(stored, wanted)
	case []any:
		if others, ok := members[key]; ok {
			return laidMembers(stored, wanted, others)
		}
	}
	return runtime.DeepCopyJSONValue(wanted)
}

// laidMarks are labels or annotations: those of others stay, whatever they are called.
func laidMarks(stored any, wanted Object) Object {
	out, _ := stored.(Object)
	out = maps.Clone(out)
	if out == nil {
		out = Object{}
	}
	maps.Copy(out, wanted)
	return out
}

func laidObject(stored any, wanted Object) Object {
	out := laidMarks(stored, nil)
	for _, field := range barred {
		if _, ours := wanted[field]; !ours {
			delete(out, field)
		}
	}
	for field, value := range wanted {
		out[field] = laid(field, out[field], value)
	}
	return out
}

// laidMembers keeps the order of what is wanted, so that a list in another order is
// drift: what is stored at a place of a container is seen by those who patch by places.
func laidMembers(stored any, wanted []any, others bool) []any {
	there, _ := stored.([]any)
	var out []any
	named := map[any]bool{}
	for _, item := range wanted {
		item := item.(Object)
		named[item["name"]] = true
		out = append(out, laidObject(member(there, item["name"]), item))
	}
	for _, item := range there {
		if object, ok := item.(Object); ok && others && !named[object["name"]] {
			out = append(out, object)
		}
	}
	return out
}

// member is the item of a name.
func member(list []any, name any) any {
	for _, item := range list {
		if object, ok := item.(Object); ok && object["name"] == name {
			return object
		}
	}
	return nil
}

// difference is the merge patch (RFC 7396) that makes one of the other: null for what
// goes, and a list as a whole.
func difference(from, to Object) Object {
	patch := Object{}
	for key := range from {
		if _, stays := to[key]; !stays {
			patch[key] = nil
		}
	}
	for key, value := range to {
		was, isObject := from[key].(Object)
		is, staysObject := value.(Object)
		if isObject && staysObject {
			if inner := difference(was, is); len(inner) > 0 {
				patch[key] = inner
			}
		} else if !equality.Semantic.DeepEqual(from[key], value) {
			patch[key] = value
		}
	}
	return patch
}

// at is an object inside an object, made where there is none.
func at(object Object, path ...string) Object {
	for _, key := range path {
		next, ok := object[key].(Object)
		if !ok {
			next = Object{}
			object[key] = next
		}
		object = next
	}
	return object
}

// look is a field inside an object, nil where there is none.
func look(object Object, path ...string) any {
	var found any = object
	for _, key := range path {
		inner, _ := found.(Object)
		found = inner[key]
	}
	return found
}

// items are those of a list that are objects.
func items(object Object, key string) (out []Object) {
	list, _ := object[key].([]any)
	for _, item := range list {
		if each, ok := item.(Object); ok {
			out = append(out, each)
		}
	}
	return out
}

// idOf names an object.
func idOf(object Object) ID {
	kind, _ := object["kind"].(string)
	name, _ := look(object, "metadata", "name").(string)
	namespace, _ := look(object, "metadata", "namespace").(string)
	return ID{kind, namespace, name}
}
