package raw_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/inject/raw"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		ok   bool
	}{
		"an object is read":                    {text: `{"a":1}`, ok: true},
		"blanks around the value are allowed":  {text: " \n[1, 2]\t", ok: true},
		"nothing is refused":                   {text: ``},
		"two values are refused":               {text: `{} {}`},
		"an unclosed string is refused":        {text: `{"a":"b}`},
		"YAML is refused":                      {text: "a: b\n"},
		"a text nested very deep is read":      {text: strings.Repeat("[", 10000) + strings.Repeat("]", 10000), ok: true},
		"a text nested too deep is refused":    {text: strings.Repeat("[", 10001) + strings.Repeat("]", 10001)},
		"an object that ends like an array":    {text: `{]`},
		"a comma before the end is refused":    {text: `{"a":1,}`},
		"a name without a value is refused":    {text: `{"a":}`},
		"a name that is no string is refused":  {text: `{a:1}`},
		"an unknown escape is refused":         {text: `"\x41"`},
		"a short unicode escape is refused":    {text: `"\u00g0"`},
		"all kinds of numbers are read":        {text: `[0,-0,1.5,-10e+3,2E-1]`, ok: true},
		"a number without digits is refused":   {text: `-`},
		"a fraction without digits is refused": {text: `1.`},
		"a power without digits is refused":    {text: `1e+`},
		"a half literal is refused":            {text: `tru`},
		"an unfinished escape is refused":      {text: `"\"`},
		"a control character is refused":       {text: "\"\n\""},
		"a number with a leading 0 is refused": {text: `01`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := raw.Parse([]byte(test.text)); (err == nil) != test.ok || json.Valid([]byte(test.text)) != test.ok {
				t.Errorf("Parse(%.40q) = %v, want ok %t", test.text, err, test.ok)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		a, b string
		want bool
	}{
		"the order of members":       {`{"a":1,"b":[true,null]}`, ` {"b" : [true, null], "a":1}`, true},
		"a string with escapes":      {`{"\u0061":"\u002f"}`, `{"a":"/"}`, true},
		"a member more":              {`{"a":1,"b":2}`, `{"a":1}`, false},
		"a member less":              {`{"a":1}`, `{"a":1,"b":null}`, false},
		"a member twice for another": {`{"a":1,"a":1}`, `{"a":1,"b":1}`, false},
		"another value":              {`{"a":{"b":1}}`, `{"a":{"b":2}}`, false},
		"another kind":               {`{"a":"1"}`, `{"a":1}`, false},
		"an element more":            {`[1,2]`, `[1]`, false},
		"an element less":            {`[1]`, `[1,2]`, false},
		"the order of elements":      {`[1,2]`, `[2,1]`, false},
		"nothing and nothing":        {`[]`, `[ ]`, true},
		"another number":             {`1`, `1.0`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := must.Get(raw.Parse([]byte(test.a)))(t)
			b := must.Get(raw.Parse([]byte(test.b)))(t)
			if got := a.Equal(b); got != test.want {
				t.Errorf("%s equals %s: %t, want %t", test.a, test.b, got, test.want)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	text := ` { "plain" : "x", "qu\u006fted": "a\"b\\", "n": -1.5e3 , "t":true,"null":null,
		"o":{"deep":["]","}",{"\"":0}]},"a":[ ], "twice":1, "twice":2, "bytes":"` + "\xff" + `" } `
	value := must.Get(raw.Parse([]byte(text)))(t)
	type seen struct {
		Kind        raw.Kind
		Bytes, Text string
	}
	tests := map[string]struct {
		name string
		want seen
	}{
		"a string":                             {"plain", seen{raw.String, `"x"`, "x"}},
		"a name and a string with escapes":     {"quoted", seen{raw.String, `"a\"b\\"`, `a"b\`}},
		"a number":                             {"n", seen{raw.Number, "-1.5e3", ""}},
		"a literal":                            {"t", seen{raw.Bool, "true", ""}},
		"null":                                 {"null", seen{raw.Null, "null", ""}},
		"an object with brackets in strings":   {"o", seen{raw.Object, `{"deep":["]","}",{"\"":0}]}`, ""}},
		"an empty array":                       {"a", seen{raw.Array, "[ ]", ""}},
		"of two members of a name the last":    {"twice", seen{raw.Number, "2", ""}},
		"a string that is not UTF-8 is mended": {"bytes", seen{raw.String, "\"\xff\"", "\ufffd"}},
		"a member that is not there":           {"absent", seen{raw.Absent, "", ""}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := value.Get(test.name)
			if diff := cmp.Diff(test.want, seen{got.Kind(), string(got.Bytes()), got.Text()}); diff != "" {
				t.Errorf("Get(%q) (-want +got):\n%s", test.name, diff)
			}
		})
	}
}

// FuzzAgreesWithStandardLibrary compares each value reached with what
// encoding/json reads there.
func FuzzAgreesWithStandardLibrary(f *testing.F) {
	for _, seed := range []string{`{"a":[1,"\"",{"b":null}],"c":"\\"}`, `[]`, `{}`, `"x"`, ` -1 `, `[[],[{}]]`, "{\"\xff\":0}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want any
		wantErr := json.Unmarshal(text, &want)
		value, err := raw.Parse(text)
		if (err == nil) != json.Valid(text) {
			t.Fatalf("Parse = %v, encoding/json = %v", err, wantErr)
		}
		if err == nil && wantErr == nil {
			if diff := cmp.Diff(want, tree(t, value)); diff != "" {
				t.Errorf("(-encoding/json +raw):\n%s", diff)
			}
		}
	})
}

func tree(t *testing.T, value raw.Value) any {
	t.Helper()
	switch value.Kind() {
	case raw.Object:
		members := map[string]any{}
		for c := value.Walk(); c.Next(); {
			members[string(c.Name())] = tree(t, c.Value())
		}
		return members
	case raw.Array:
		elements := []any{}
		for c := value.Walk(); c.Next(); {
			elements = append(elements, tree(t, c.Value()))
		}
		return elements
	case raw.String:
		return value.Text()
	default:
		var leaf any
		if err := json.Unmarshal(value.Bytes(), &leaf); err != nil {
			t.Fatalf("leaf %q: %v", value.Bytes(), err)
		}
		return leaf
	}
}
