package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The definitions of Open Cluster Management that get the requirement's fields, and the version
// of both in which they are known (operator.open-cluster-management.io/v1, v1.2.1).
const (
	ManagerDefinition    = "clustermanagers.operator.open-cluster-management.io"
	KlusterletDefinition = "klusterlets.operator.open-cluster-management.io"
	definitionVersion    = "v1"
)

const (
	// theirPattern is the pattern of both ARNs in their definitions.
	theirPattern = `^arn:aws:eks:([a-zA-Z0-9-]+):(\d{12}):cluster/([a-zA-Z0-9-]+)$`
	// arnPattern is the same for all partitions of AWS, and for names with "_", which EKS allows.
	arnPattern = `^arn:aws(-[a-z]+)*:eks:([a-zA-Z0-9-]+):(\d{12}):cluster/([0-9A-Za-z][A-Za-z0-9_-]{0,99})$`
	// optionalPattern admits an empty text too: clients with a Go type send one for none.
	optionalPattern = `^(arn:aws(-[a-z]+)*:eks:([a-zA-Z0-9-]+):(\d{12}):cluster/([0-9A-Za-z][A-Za-z0-9_-]{0,99}))?$`
)

// FieldChange is one difference between a definition as it is and as the requirement has it.
type FieldChange struct {
	// Field is the field's path for people, such as awsirsa.disableManagedIam; What says
	// what becomes of it.
	Field, What string

	path     []string
	from, to any
}

// wish is what a definition shall have at a path.
type wish struct {
	field, what string
	path        []string
	// to is the value that is wanted; nil is none.
	to any
	// over are the values that may be replaced; nil is none. Any other is somebody's own.
	over []any
}

// wishesFor are what a definition shall have, by its name; none for others.
func wishesFor(name string) []wish {
	spec := []string{"properties", "spec", "properties", "registrationConfiguration", "properties"}
	switch name {
	case ManagerDefinition:
		driver := append(slices.Clone(spec), "registrationDrivers", "items", "properties", "awsirsa", "properties")
		return []wish{
			added(driver, "awsirsa", "disableManagedIam", map[string]any{
				"type":        "boolean",
				"description": "disableManagedIam says that no program makes or removes IAM roles and access entries of clusters: administrators do. It was added by " + FieldsCommand + ".",
			}),
			widened(driver, "awsirsa", "hubClusterArn", arnPattern),
		}
	case KlusterletDefinition:
		driver := append(slices.Clone(spec), "registrationDriver", "properties", "awsIrsa", "properties")
		return []wish{
			added(driver, "awsIrsa", "iamConfigSecret", map[string]any{
				"type": "string", "maxLength": int64(253), "pattern": `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
				"description": "iamConfigSecret is the name of a Secret in the namespace of the agents, whose keys config and credentials are the agents' files of AWS. It was added by " + FieldsCommand + ".",
			}),
			widened(driver, "awsIrsa", "hubClusterArn", arnPattern),
			widened(driver, "awsIrsa", "managedClusterArn", optionalPattern),
			{
				field: "awsIrsa.managedClusterArn", what: "may be empty", path: append(slices.Clone(driver), "managedClusterArn", "minLength"),
				over: []any{int64(1)},
			},
			{
				field: "awsIrsa.managedClusterArn", what: "is optional", path: append(slices.Clone(driver[:len(driver)-1]), "required"),
				to: []any{"hubClusterArn"}, over: []any{[]any{"hubClusterArn", "managedClusterArn"}},
			},
		}
	}
	return nil
}

func added(driver []string, of, name string, schema map[string]any) wish {
	return wish{field: of + "." + name, what: "is added, a " + schema["type"].(string), path: append(slices.Clone(driver), name), to: schema, over: []any{nil}} //nolint:forcetypeassert // each has one
}

func widened(driver []string, of, name, pattern string) wish {
	return wish{
		field: of + "." + name, what: "admits ARNs of all partitions of AWS", path: append(slices.Clone(driver), name, "pattern"),
		to: pattern, over: []any{theirPattern},
	}
}

// Fields are the changes that give a definition of Open Cluster Management the requirement's
// fields; none where it has them. The definition is a CustomResourceDefinition as JSON decodes
// it with whole numbers as int64. It is refused where something at one of the places is neither
// theirs nor wanted: a definition that nobody has seen is not changed.
func Fields(definition map[string]any) ([]FieldChange, error) {
	schema, err := schemaOf(definition)
	if err != nil {
		return nil, err
	}
	var out []FieldChange
	var errs []error
	for _, w := range wishesFor(nameOf(definition)) {
		now, err := at(schema, w.path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", w.field, err))
		case isWanted(now, w.to):
		case !slices.ContainsFunc(w.over, func(known any) bool { return reflect.DeepEqual(known, now) }):
			errs = append(errs, fmt.Errorf("%s: at %s there is %v, which is neither Open Cluster Management's (v1.2.1) nor what is wanted, so it is left alone", w.field, strings.Join(w.path, "."), now))
		default:
			out = append(out, FieldChange{w.field, w.what, w.path, now, w.to})
		}
	}
	return out, errors.Join(errs...)
}

// isWanted says that a place is as wanted. A field of the wanted type is, whoever added it: a
// later version of theirs may have it with a description of its own.
func isWanted(now, wanted any) bool {
	a, is := now.(map[string]any)
	b, both := wanted.(map[string]any)
	return reflect.DeepEqual(now, wanted) || is && both && a["type"] == b["type"]
}

// Merge makes changes, and remembers in an annotation what was there before. It changes the
// definition that it is given.
func Merge(definition map[string]any, changes []FieldChange) error {
	schema, err := schemaOf(definition)
	if err != nil {
		return err
	}
	former, err := formerOf(definition)
	if err != nil {
		return err
	}
	restored := ""
	for _, change := range changes {
		key := strings.Join(change.path, "/")
		if _, before := former[key]; before && nameOf(definition) == ManagerDefinition && change.from == nil {
			restored = "true" // of all fields, what was said in an added one is lost
		}
		set(schema, change.path, change.to)
		former[key] = change.from
	}
	text, err := json.Marshal(former)
	if err != nil {
		return err
	}
	annotate(definition, FieldsAnnotation, string(text))
	if restored != "" {
		annotate(definition, RestoredAnnotation, restored)
	}
	return nil
}

// Unmerge are the changes that take back what Merge made. What is not as Merge left it stays as
// it is: somebody else has changed it since.
func Unmerge(definition map[string]any) ([]FieldChange, error) {
	schema, err := schemaOf(definition)
	if err != nil {
		return nil, err
	}
	former, err := formerOf(definition)
	if err != nil {
		return nil, err
	}
	var out []FieldChange
	for _, w := range wishesFor(nameOf(definition)) {
		was, ours := former[strings.Join(w.path, "/")]
		if now, err := at(schema, w.path); ours && err == nil && reflect.DeepEqual(now, w.to) {
			out = append(out, FieldChange{w.field, "is as before: " + describe(was), w.path, now, was})
		}
	}
	return out, nil
}

func describe(value any) string {
	if value == nil {
		return "there is none"
	}
	return fmt.Sprint(value)
}

// Restore makes the changes of Unmerge, and forgets them.
func Restore(definition map[string]any, changes []FieldChange) error {
	schema, err := schemaOf(definition)
	if err != nil {
		return err
	}
	for _, change := range changes {
		set(schema, change.path, change.to)
	}
	annotate(definition, FieldsAnnotation, "")
	annotate(definition, RestoredAnnotation, "")
	return nil
}

// formerOf is what a definition's annotation remembers: values by their paths.
func formerOf(definition map[string]any) (map[string]any, error) {
	out := map[string]any{}
	annotations, err := at(definition, []string{"metadata", "annotations"})
	if err != nil || annotations == nil {
		return out, err
	}
	text, _ := annotations.(map[string]any)[FieldsAnnotation].(string) //nolint:forcetypeassert // the API server's
	if text == "" {
		return out, nil
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("the annotation %s of %s cannot be read, and says what was there before: %w", FieldsAnnotation, nameOf(definition), err)
	}
	for path, value := range out {
		if number, is := value.(float64); is {
			out[path] = int64(number)
		}
	}
	return out, nil
}

// annotate writes an annotation; an empty text removes it.
func annotate(definition map[string]any, key, text string) {
	path := []string{"metadata", "annotations", key}
	if text == "" {
		unstructured.RemoveNestedField(definition, path...)
		return
	}
	metadata, _ := definition["metadata"].(map[string]any)
	if metadata["annotations"] == nil {
		metadata["annotations"] = map[string]any{}
	}
	set(definition, path, text)
}

func nameOf(definition map[string]any) string {
	name, _, _ := unstructured.NestedString(definition, "metadata", "name")
	return name
}

// schemaOf is the schema of the version that is known.
func schemaOf(definition map[string]any) (map[string]any, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, each := range versions {
		version, _ := each.(map[string]any)
		if version["name"] != definitionVersion {
			continue
		}
		if schema, err := at(version, []string{"schema", "openAPIV3Schema"}); err == nil {
			if out, is := schema.(map[string]any); is {
				return out, nil
			}
		}
	}
	return nil, fmt.Errorf("%s has no schema of the version %s, which is the one that is known", nameOf(definition), definitionVersion)
}

// at is the value at a path; nil where its last step is not there. It is an error where the way
// to it is not.
func at(object map[string]any, path []string) (any, error) {
	for i, step := range path[:len(path)-1] {
		next, is := object[step].(map[string]any)
		if !is {
			return nil, fmt.Errorf("there is no %s", strings.Join(path[:i+1], "."))
		}
		object = next
	}
	return object[path[len(path)-1]], nil
}

// set writes the value at a path whose way is there; nil removes it.
func set(object map[string]any, path []string, value any) {
	if value == nil {
		unstructured.RemoveNestedField(object, path...)
		return
	}
	last := len(path) - 1
	if parent, err := at(object, path[:last]); err == nil {
		if parent, is := parent.(map[string]any); is {
			parent[path[last]] = value
		}
	}
}
