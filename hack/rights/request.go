package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// request is one to the API server, by which something is taken.
type request struct {
	verb, group, version, resource, sub, kind string
	namespace, name                           string
	// object and old are what a policy is asked about; old of updates alone.
	object, old map[string]any
}

// withSub is a resource with what is below it, as RBAC names it.
func withSub(resource, sub string) string {
	if sub == "" {
		return resource
	}
	return resource + "/" + sub
}

func (r request) String() string {
	resource := withSub(r.resource, r.sub)
	if r.group != "" {
		resource += "." + r.group
	}
	where := ""
	if r.namespace != "" {
		where = " in " + r.namespace
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", r.verb, resource, r.name)) + where
}

// operation is what admission calls the verb.
func (r request) operation() string {
	switch {
	case r.resource == "pods" && (r.sub == "exec" || r.sub == "attach" || r.sub == "portforward" || r.sub == "proxy"):
		return "CONNECT"
	case r.verb == "create":
		return "CREATE"
	case r.verb == "update" || r.verb == "patch":
		return "UPDATE"
	case r.verb == "delete" || r.verb == "deletecollection":
		return "DELETE"
	}
	return ""
}

// on is a request about an object, which carries its name and namespace.
func on(verb, group, version, resource, kind, namespace, name string, object map[string]any) request {
	meta, _ := object["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"] = name
	if namespace != "" {
		meta["namespace"] = namespace
	}
	object["metadata"], object["kind"], object["apiVersion"] = meta, kind, strings.TrimPrefix(group+"/"+version, "/")
	return request{verb: verb, group: group, version: version, resource: resource, kind: kind, namespace: namespace, name: name, object: object}
}

// as is the same by another verb.
func (r request) as(verb string) request {
	r.verb = verb
	return r
}

// removals are the two ways to delete the object.
func (r request) removals() []request {
	gone := r.as("delete")
	gone.old, gone.object = r.object, nil
	return []request{gone, gone.as("deletecollection")}
}

// variant is the update of an object by a change.
func (r request) variant(verb string, change func(map[string]any)) request {
	r.verb, r.old = verb, r.object
	r.object = copied(r.object, change)
	return r
}

// metaOf is an object's metadata, to change.
func metaOf(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }

// mark are changes of metadata that are somebody else's business.
var marks = map[string]func(map[string]any){
	"an owner, with which it is deleted": func(o map[string]any) {
		metaOf(o)["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}}
	},
	"a finalizer":                 func(o map[string]any) { metaOf(o)["finalizers"] = []any{"example.com/stay"} },
	"a label":                     func(o map[string]any) { metaOf(o)["labels"] = map[string]any{"attack": "x"} },
	"an annotation":               func(o map[string]any) { metaOf(o)["annotations"] = map[string]any{"note": "x", "attack": "x"} },
	"another value of somebody's": func(o map[string]any) { metaOf(o)["annotations"] = map[string]any{"note": "y"} },
	"no annotation of somebody's": func(o map[string]any) { metaOf(o)["annotations"] = map[string]any{} },
}

// copied is a copy of an object with a change.
func copied(object map[string]any, change func(map[string]any)) map[string]any {
	out := runtime.DeepCopyJSON(object)
	change(out)
	return out
}
