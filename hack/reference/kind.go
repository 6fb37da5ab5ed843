package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// kindPage is the reference of one kind: a table of the fields of spec and
// status, as users of YAML see them.
func kindPage(manifest []byte) (kind, page string, err error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(manifest, &crd); err != nil {
		return "", "", err
	}
	if len(crd.Spec.Versions) == 0 || crd.Spec.Versions[0].Schema == nil {
		return "", "", errors.New("no version with a schema, expected the output of controller-gen")
	}
	version := crd.Spec.Versions[0]
	schema := version.Schema.OpenAPIV3Schema
	var b strings.Builder
	kind = crd.Spec.Names.Kind
	fmt.Fprintf(&b, "# %s\n\n`apiVersion: %s/%s`, %s", kind, crd.Spec.Group, version.Name, strings.ToLower(string(crd.Spec.Scope)))
	if names := crd.Spec.Names.ShortNames; len(names) > 0 {
		fmt.Fprintf(&b, ", short name `%s`", strings.Join(names, "`, `"))
	}
	fmt.Fprintf(&b, ".\n\n%s\n", oneLine(schema.Description))
	for _, part := range []string{"spec", "status"} {
		properties, ok := schema.Properties[part]
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", part, oneLine(properties.Description))
		b.WriteString("| Field | Type | Default | Meaning |\n| --- | --- | --- | --- |\n")
		for _, f := range fields("", properties) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.path, f.kind, f.preset, f.meaning)
		}
	}
	return kind, b.String(), nil
}

// field is one row of the table.
type field struct{ path, kind, preset, meaning string }

// fields lists the properties of an object in alphabetical order, each before
// what is inside it.
func fields(prefix string, object apiextensionsv1.JSONSchemaProps) []field {
	var out []field
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		property := object.Properties[name]
		path := prefix + name
		out = append(out, row(path, slices.Contains(object.Required, name), property))
		switch {
		case isCondition(property):
			// The type is Kubernetes' own, and known to its users.
		case property.Type == "object":
			out = append(out, fields(path+".", property)...)
		case property.Items != nil && property.Items.Schema != nil:
			out = append(out, fields(path+"[].", *property.Items.Schema)...)
		}
	}
	return out
}

// isCondition says that a property is a list of metav1.Condition.
func isCondition(property apiextensionsv1.JSONSchemaProps) bool {
	if property.Items == nil || property.Items.Schema == nil {
		return false
	}
	_, ok := property.Items.Schema.Properties["lastTransitionTime"]
	return ok
}

func row(path string, required bool, property apiextensionsv1.JSONSchemaProps) field {
	f := field{path: path, kind: typeOf(property), meaning: meaningOf(property)}
	switch {
	case property.Default != nil:
		f.preset = "`" + string(property.Default.Raw) + "`"
	case required:
		f.preset = "required"
	}
	return f
}

func typeOf(property apiextensionsv1.JSONSchemaProps) string {
	switch {
	case len(property.Enum) > 0:
		values := make([]string, 0, len(property.Enum))
		for _, value := range property.Enum {
			values = append(values, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
		return strings.Join(values, " or ")
	case isCondition(property):
		return "list of conditions"
	case property.Items != nil && property.Items.Schema != nil:
		return "list of " + property.Items.Schema.Type
	case property.Format == "date-time":
		return "time"
	}
	return property.Type
}

// meaningOf is the description and the rules of a field, in one cell.
func meaningOf(property apiextensionsv1.JSONSchemaProps) string {
	parts := []string{oneLine(property.Description)}
	for _, rule := range property.XValidations {
		parts = append(parts, "Rule: "+oneLine(rule.Message)+".")
	}
	text := strings.TrimSpace(strings.Join(parts, " "))
	if isCondition(property) && text == "" {
		return "See [reasons](reasons.md)."
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
