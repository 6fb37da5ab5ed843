package command

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// cats are a document with a table.
func cats() Printed {
	type cat struct {
		Name string `json:"name"`
		Age  int64  `json:"age"`
	}
	return Printed{
		Document: []cat{{"tom", 3}, {"kit\x1b", 4000000}},
		Header:   []string{"NAME", "AGE", "COLOUR"}, Rows: [][]string{{"tom", "3", "grey"}, {"kit\x1b", "4000000", "red"}}, Wide: 1,
		None: "There are no cats.\n", Names: []string{"cat/tom", "cat/kit\x1b"},
	}
}

func TestOneSetOfFormats(t *testing.T) {
	prose := Printed{Document: map[string]string{"say": "tabard lab up"}, Text: func() string { return "tabard lab up\n" }}
	for args, test := range map[string]struct {
		printed Printed
		want    string
	}{
		"":                                    {cats(), "NAME  AGE\ntom   3\nkit�  4000000\n"},
		"-o table":                            {cats(), "NAME  AGE\ntom   3\nkit�  4000000\n"},
		"--no-headers":                        {cats(), "tom   3\nkit�  4000000\n"},
		"-o wide":                             {cats(), "NAME  AGE      COLOUR\ntom   3        grey\nkit�  4000000  red\n"},
		"-o wide --no-headers":                {cats(), "tom   3        grey\nkit�  4000000  red\n"},
		"-o yaml":                             {cats(), "- age: 3\n  name: tom\n- age: 4000000\n  name: \"kit\\e\"\n"},
		"-o name":                             {cats(), "cat/tom\ncat/kit�\n"},
		"-o jsonpath={[*].age}":               {cats(), "3 4000000"},
		`-o jsonpath={range[*]}{.name},{end}`: {cats(), "tom,kit\x1b,"},
		"-o jsonpath={[0].weight}":            {cats(), ""},
		"-o json":                             {Printed{Document: map[string]string{}}, "{}\n"},
		"-o table --no-headers":               {Printed{None: "There are no cats.\n"}, "There are no cats.\n"},
		// A plugin's texts name its commands, its data does not.
		"-o=table":           {prose, "kubectl tabard lab up\n"},
		"-o=yaml":            {prose, "say: tabard lab up\n"},
		"-o=jsonpath={.say}": {prose, "tabard lab up"},
	} {
		t.Run(args, func(t *testing.T) {
			var o Output
			c := &cobra.Command{}
			o.AddFlags(c, Wide, Name)
			o.AddHeaderFlag(c)
			must.Do(t, c.ParseFlags(strings.Fields(args)))
			must.Do(t, o.Check())
			var out strings.Builder
			must.Do(t, Streams{Out: PluginWriter{&out}}.PrintAs(o, test.printed))
			if out.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), test.want)
			}
		})
	}
}

func TestAFormatThatACommandLacksIsRefusedWithThoseThatItHas(t *testing.T) {
	for args, test := range map[string]struct {
		more []string
		want string
	}{
		"-o xml":               {[]string{Name, Wide}, `-o is "xml", expected table, wide, json, yaml, name or jsonpath=TEMPLATE`},
		"-o name":              {[]string{Wide}, `-o is "name", expected table, wide, json, yaml or jsonpath=TEMPLATE`},
		"-o wide":              {nil, `-o is "wide", expected table, json, yaml or jsonpath=TEMPLATE`},
		"--output=":            {nil, `-o is "", expected table`},
		"-o jsonpath":          {nil, `-o is "jsonpath", expected table`},
		"-o jsonpath=":         {nil, "expected one such as -o jsonpath='{.name}'"},
		"-o jsonpath={.a":      {nil, "unclosed action; expected a template such as '{.name}'"},
		"-o jsonpath=.name":    {nil, "which has no braces and would print itself; expected a template such as '{.name}'"},
		"-o json --no-headers": {nil, "--no-headers is for -o table, and -o is json: leave one out"},
	} {
		var o Output
		c := &cobra.Command{}
		o.AddFlags(c, test.more...)
		o.AddHeaderFlag(c)
		must.Do(t, c.ParseFlags(strings.Fields(args)))
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error %v, want %s", args, err, test.want)
		}
	}
}
