package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// The formats of -o that not every command has.
const (
	// Wide is a table with more columns.
	Wide = "wide"
	// Name is a line for each object, as kubectl get -o name has it.
	Name = "name"
)

const (
	table    = "table"
	asJSON   = "json"
	asYAML   = "yaml"
	template = "jsonpath="
)

// Output is how a command prints: its flag -o, and --no-headers where it has a table. The zero
// value is a table.
type Output struct {
	Format    string
	NoHeaders bool

	formats []string
}

// AddFlags adds the flags, for table, JSON, YAML, a JSONPath template and what more the
// command has. The first one of the command's own formats is its default.
func (o *Output) AddFlags(c *cobra.Command, more ...string) {
	o.formats = slices.DeleteFunc(slices.Clone(more), func(format string) bool { return format == Wide || format == Name })
	o.formats = append(o.formats, table)
	usual := o.formats[0]
	if slices.Contains(more, Wide) {
		o.formats = append(o.formats, Wide)
	}
	o.formats = append(o.formats, asJSON, asYAML)
	if slices.Contains(more, Name) {
		o.formats = append(o.formats, Name)
	}
	o.formats = append(o.formats, template)
	c.Flags().StringVarP(&o.Format, "output", "o", usual, "the output's `format`: "+o.listed())
	// The flag was defined one line above, and that is the only error.
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(o.formats, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder))
}

// AddHeaderFlag adds --no-headers, for a command whose table has a line of headers.
func (o *Output) AddHeaderFlag(c *cobra.Command) {
	c.Flags().BoolVar(&o.NoHeaders, "no-headers", false, "print the table without its line of headers")
}

// IsForPeople says that a person reads the output, and no program.
func (o *Output) IsForPeople() bool { return o.Format == "" || o.Format == table || o.Format == Wide }

// listed are the formats for people.
func (o *Output) listed() string {
	last := len(o.formats) - 1
	return strings.Join(o.formats[:last], ", ") + " or " + o.formats[last] + "TEMPLATE"
}

// Check refuses a format that the command does not have, before anything is read for it.
func (o *Output) Check() error {
	if text, is := strings.CutPrefix(o.Format, template); is {
		_, err := parse(text)
		return err
	}
	if !slices.Contains(o.formats, o.Format) {
		return fmt.Errorf("-o is %.80q, expected %s", o.Format, o.listed())
	}
	if o.NoHeaders && !o.IsForPeople() {
		return fmt.Errorf("--no-headers is for -o table, and -o is %s: leave one out", o.Format)
	}
	return nil
}

// parse reads a JSONPath template (https://kubernetes.io/docs/reference/kubectl/jsonpath).
func parse(text string) (*jsonpath.JSONPath, error) {
	if text == "" {
		return nil, errors.New("-o is jsonpath= without a template, expected one such as -o jsonpath='{.name}'")
	}
	if !strings.Contains(text, "{") {
		return nil, fmt.Errorf("-o is jsonpath=%.200s, which has no braces and would print itself; expected a template such as '{%.200s}'", text, text)
	}
	path := jsonpath.New("out").AllowMissingKeys(true)
	if err := path.Parse(text); err != nil {
		return nil, fmt.Errorf("-o is jsonpath=%.200s: %w; expected a template such as '{.name}'", text, err)
	}
	return path, nil
}

// Meta names what a document is, so that programs know one that they can read.
type Meta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// MetaOf is that of documents of a kind.
func MetaOf(kind string) Meta { return Meta{APIVersion: "tabard.dev/v1alpha1", Kind: kind} }

// List is a document with items, as kubectl prints several objects.
type List[T any] struct {
	Meta  `json:",inline"`
	Items []T `json:"items"`
}

// ListOf is a list of a kind; without items it has an empty list.
func ListOf[T any](kind string, items []T) List[T] {
	return List[T]{Meta: MetaOf(kind), Items: append([]T{}, items...)}
}

// Printed is what a command has to print, in all formats.
type Printed struct {
	// Document is for programs: its JSON, the same in YAML, or what a template takes of it.
	Document any
	// Text is for people, in place of a table.
	Text func() string
	// Header and Rows are a table, of which the last Wide columns are for -o wide.
	Header []string
	Rows   [][]string
	Wide   int
	// None is said in place of a table without rows.
	None string
	// Names are for -o name: KIND.GROUP/NAME.
	Names []string
}

// PrintAs prints in the format that was asked for.
func (s Streams) PrintAs(o Output, p Printed) error {
	text, is := strings.CutPrefix(o.Format, template)
	switch {
	case is:
		return s.printTemplate(text, p.Document)
	case o.Format == asJSON:
		return s.PrintJSON(p.Document)
	case o.Format == asYAML:
		text, err := yaml.Marshal(p.Document)
		if err != nil {
			return fmt.Errorf("write the output: %w", err)
		}
		return Write(Raw(s.Out), string(text))
	case o.Format == Name:
		var lines strings.Builder
		for _, name := range p.Names {
			lines.WriteString(Plain(name) + "\n")
		}
		return Write(Raw(s.Out), lines.String())
	case p.Text != nil:
		return s.Print(p.Text())
	case len(p.Rows) == 0 && p.None != "":
		return s.Print(p.None)
	default:
		return s.Print(Table(p.cells(o)))
	}
}

// cells are the lines of a table.
func (p Printed) cells(o Output) [][]string {
	lines := p.Rows
	if !o.NoHeaders {
		lines = append([][]string{p.Header}, lines...)
	}
	if o.Format == Wide || p.Wide == 0 {
		return lines
	}
	var narrow [][]string
	for _, cells := range lines {
		narrow = append(narrow, cells[:len(cells)-p.Wide])
	}
	return narrow
}

// printTemplate prints what a template takes of a document's JSON.
func (s Streams) printTemplate(text string, document any) error {
	path, err := parse(text)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	var plain any
	if err := utiljson.Unmarshal(encoded, &plain); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	var out strings.Builder
	if err := path.Execute(&out, plain); err != nil {
		return fmt.Errorf("-o jsonpath=%.200s: %w", text, err)
	}
	_, err = io.WriteString(Raw(s.Out), out.String())
	return err
}
