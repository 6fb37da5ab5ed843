package inject_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject"
)

func TestParseMapping(t *testing.T) {
	t.Parallel()
	const role = `"RoleARN":"` + roleARN + `"`
	tests := map[string]struct {
		text     string
		unusable bool
		length   int
		problems []string
	}{
		"nothing":              {text: ``, unusable: true, problems: []string{"no JSON object: unexpected end of JSON input"}},
		"null":                 {text: `null`, unusable: true, problems: []string{"no JSON object: it is null"}},
		"an array":             {text: `[]`, unusable: true, problems: []string{"no JSON object: it is an array, expected an object"}},
		"YAML":                 {text: "shop/app:\n", unusable: true, problems: []string{"no JSON object: invalid character 's' looking for beginning of value"}},
		"an empty object":      {text: `{}`},
		"the reference's form": {text: `{"shop/app":{` + role + `},"*/app":{` + role + `,"Unknown":1}}`, length: 2},
		"values of wrong kinds": {
			text: `{"a/a":{"RoleARN":[]},"a/b":{"TokenExpiration":1.5},"a/c":{"UseRegionalSTS":"true"},"a/d":null,"a/e":"x"}`, length: 5,
			problems: []string{
				`"a/a": RoleARN is an array, expected a string`,
				`"a/b": TokenExpiration is the number 1.5, expected a whole number`,
				`"a/c": UseRegionalSTS is a string, expected true or false`,
				`"a/d": it is null, expected an object with RoleARN`,
				`"a/e": it is a string, expected an object`,
			},
		},
		"keys that never apply": {
			text:     `{"a":{},"/a":{},"a/":{},"A/a":{},"*":{},"*/":{}}`,
			problems: []string{`"*": expected NAMESPACE/SERVICEACCOUNT`, `"*/": "" is no name of a ServiceAccount`, `"/a": "" is no name of a namespace`, `"A/a": "A" is no name of a namespace`, `"a": expected NAMESPACE/SERVICEACCOUNT`, `"a/": "" is no name of a ServiceAccount`},
		},
		"bindings that are no list": {
			text: `{"tabard.dev/bindings":{"items":{}},"a/a":{}}`, length: 1,
			problems: []string{`"tabard.dev/bindings": no object with a list items: items is an object, expected an array`},
		},
		"an expression in a binding": {
			text:     `{"tabard.dev/bindings":{"items":[{"namespaceSelector":{"matchExpressions":[]},` + role + `}]}}`,
			problems: []string{`"tabard.dev/bindings": items[0]: unknown field "matchExpressions"`},
		},
		"a binding without role": {
			text: `{"tabard.dev/bindings":{"items":[{"namespaceSelector":{"matchLabels":{"a":"b"}}}]}}`, length: 1,
			problems: []string{`"tabard.dev/bindings": items[0]: RoleARN is empty, expected the ARN of a role`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mapping, problems := inject.ParseMapping([]byte(test.text))
			if diff := cmp.Diff(test.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if (mapping == nil) != test.unusable || mapping.Len() != test.length {
				t.Errorf("mapping %v of %d, want %d", mapping != nil, mapping.Len(), test.length)
			}
		})
	}
}

func TestMappingSaysWhichLabelsItNeeds(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		selectors          string
		namespace, account []string
	}{
		"a namespace's name":  {`"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}`, nil, nil},
		"a namespace's label": {`"namespaceSelector":{"matchLabels":{"team":"shop"}}`, []string{"team"}, nil},
		"labels of accounts":  {`"serviceAccountSelector":{"matchLabels":{"tier":"web","app":"a"}}`, nil, []string{"app", "tier"}},
		"labels of both kinds": {`"namespaceSelector":{"matchLabels":{"team":"shop"}},"serviceAccountSelector":{"matchLabels":{"tier":"web"}}`,
			[]string{"team"}, []string{"tier"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mapping, problems := inject.ParseMapping([]byte(`{"tabard.dev/bindings":{"items":[{` + test.selectors + `,"RoleARN":"` + roleARN + `"}]}}`))
			if problems != nil {
				t.Fatal(problems)
			}
			if diff := cmp.Diff([][]string{test.namespace, test.account}, [][]string{mapping.NamespaceLabels(), mapping.AccountLabels()}); diff != "" {
				t.Errorf("of namespaces, of accounts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseIdentities(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text     string
		unusable bool
		length   int
		problems []string
	}{
		"an empty file": {text: " \n"},
		"an empty list": {text: `{"identities":[]}`},
		"no list":       {text: `{}`},
		"two, one of them twice": {
			text:   `{"identities":[{"namespace":"a","serviceAccount":"a"},{"namespace":"b","serviceAccount":"a","more":1},{"Namespace":"a","SERVICEACCOUNT":"a"}]}`,
			length: 2,
		},
		"half a file":      {text: `{"identities":[`, unusable: true, problems: []string{"no JSON object with a list identities: unexpected end of JSON input"}},
		"an object inside": {text: `{"identities":{}}`, unusable: true, problems: []string{"no JSON object with a list identities: identities is an object, expected an array"}},
		"entries that are wrong": {
			text: `{"identities":[{"namespace":"a"},{"namespace":"*","serviceAccount":"a"},5,null,{"namespace":"a","serviceAccount":"a"}]}`, length: 1,
			problems: []string{
				`identities[0]: "" is no name of a ServiceAccount`,
				`identities[1]: "*" is no name of a namespace`,
				`identities[2]: it is a number, expected an object`,
				`identities[3]: "" is no name of a namespace`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			identities, problems := inject.ParseIdentities([]byte(test.text))
			if diff := cmp.Diff(test.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if (identities == nil) != test.unusable || identities.Len() != test.length {
				t.Errorf("identities %v of %d, want %d", identities != nil, identities.Len(), test.length)
			}
		})
	}
}

// TestManyProfiles bounds the profiles of a pod.
func TestManyProfiles(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 40 {
		text.WriteString("p" + strings.Repeat("x", i%20) + string(rune('a'+i/20)) + "=" + roleARN + " ")
	}
	result := injected(t, newSetup(), []byte(`{"metadata":{"annotations":{"eks.amazonaws.com/role-profiles":"`+text.String()+`"}},"spec":{"serviceAccountName":"app"}}`))
	if got := strings.Count(string(result.Patch), "serviceAccountToken"); got != 16 || len(result.Warnings) != 1 {
		t.Errorf("%d tokens, want 16; warnings %q", got, result.Warnings)
	}
}
