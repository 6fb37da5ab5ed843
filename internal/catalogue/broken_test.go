package catalogue_test

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

func indent(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A broken document hides neither what is before it nor what is after it.
func TestABrokenDocumentHidesNothing(t *testing.T) {
	a, b, c := simple("a"), simple("b"), simple("c")
	for name, test := range map[string]struct {
		text  string
		names []string
		found []string
	}{
		"a line that is no JSON":          {a + "\n{nonsense}\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"a line without braces":           {a + "\nnonsense\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"a bracket too many":              {a + "}\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"a bracket too few":               {a + "\n" + `{"schema":"olm.package","name":"x"` + "\n" + b + "\n" + c, []string{"a", "b", "c"}, []string{"DocumentBroken - 2"}},
		"cut behind a comma":              {a + "\n" + `{"schema":"olm.package",` + "\n" + b + "\n" + c, []string{"a", "b", "c"}, []string{"DocumentBroken - 2"}},
		"cut within a list":               {a + "\n" + `{"x":[1,` + "\n" + b + "\n" + c, []string{"a", "b", "c"}, []string{"DocumentBroken - 2"}},
		"cut behind a colon":              {a + "\n" + `{"x":` + "\n" + b + "\n" + c + "\n", []string{"a", "b", "c"}, []string{"DocumentBroken - 2"}},
		"cut within a text":               {a + "\n" + `{"schema":"olm.pack` + "\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"cut behind a backslash":          {a + "\n" + `{"schema":"olm.pack\` + "\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"cut at the end":                  {a + "\n" + b + "\n" + `{"schema":"olm.package"`, []string{"a", "b"}, []string{"DocumentBroken - 3"}},
		"the other bracket":               {a + "\n" + `{"schema":["olm.package"}` + "\n" + b, []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"indented, without a comma":       {indent(t, a) + "\n{\n  \"schema\": \"olm.package\"\n  \"name\": \"x\"\n}\n" + indent(t, b), []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"indented, without its end":       {indent(t, a) + "\n{\n  \"schema\": {\n    \"x\": 1\n  }\n" + indent(t, b) + "\n" + c, []string{"a", "b", "c"}, []string{"DocumentBroken - 2"}},
		"a list at the top":               {"[]\n" + a, nil, []string{"DocumentBroken - 1"}},
		"YAML with a tab":                 {"schema: olm.package\nname: a\n---\n\tx: 1\n---\nschema: olm.package\nname: b\n", []string{"a", "b"}, []string{"DocumentBroken - 2"}},
		"YAML with a list":                {"- a\n---\nschema: olm.package\nname: b\n", []string{"b"}, []string{"DocumentBroken - 1"}},
		"YAML cut within a text":          {"schema: \"olm\n---\nschema: olm.package\nname: b\n", []string{"b"}, []string{"DocumentBroken - 1"}},
		"YAML with an odd key":            {"? [a]\n: b\n---\nschema: olm.package\nname: b\n", []string{"b"}, []string{"DocumentBroken - 1"}},
		"JSON that broke within YAML":     {"---\n{\n---\n" + b, []string{"b"}, []string{"DocumentBroken - 1"}},
		"no schema":                       {`{"name":"x"}` + "\n" + b, []string{"b"}, []string{"DocumentIncomplete - 1"}},
		"no name":                         {`{"schema":"olm.package"}` + "\n" + b, []string{"b"}, []string{"DocumentIncomplete - 1"}},
		"no package":                      {`{"schema":"olm.channel","name":"x"}` + "\n" + b, []string{"b"}, []string{"DocumentIncomplete - 1"}},
		"a name that is no text":          {`{"schema":"olm.package","name":1}` + "\n" + b, []string{"b"}, []string{"DocumentIncomplete - 1", "DocumentIncomplete - 1"}},
		"a field twice in different case": {`{"schema":"olm.package","name":"x","Name":"y"}` + "\n" + b, []string{"b"}, []string{"FieldTwice - 1"}},
		"a field twice, escaped":          {`{"schema":"olm.package","name":"x","n\u0061me":"y"}` + "\n" + b, []string{"b"}, []string{"FieldTwice - 1"}},
		"a field twice in YAML":           {"schema: olm.package\nname: x\nname: y\n---\nschema: olm.package\nname: b\n", []string{"b"}, []string{"FieldTwice - 1"}},
		"a package twice":                 {a + "\n" + a, []string{"a"}, []string{"DefinedTwice - 2"}},
	} {
		for how, in := range map[string]io.Reader{"whole": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text))} {
			t.Run(name+", "+how, func(t *testing.T) {
				got, err := catalogue.Reader{Stdin: in}.Read(t.Context(), "-")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.names, names(got)); diff != "" {
					t.Errorf("packages (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.found, places(got)); diff != "" {
					t.Errorf("findings (-want +got):\n%s\n%v", diff, got.Findings)
				}
			})
		}
	}
}

// Scenario 4, through a file, and bundles of which a part cannot be read.
func TestBrokenParts(t *testing.T) {
	metadata := func(annotations string) string {
		return `{"type":"olm.csv.metadata","value":{"annotations":{` + annotations + `}}}`
	}
	const aws = `"features.operators.openshift.io/token-auth-aws":`
	for name, test := range map[string]struct {
		properties []string
		found      []string
		aws        model.Support
	}{
		"scenario 4: an odd value":      {[]string{metadata(aws + `"True"`)}, []string{"ValueOdd - 1"}, model.No},
		"no text":                       {[]string{metadata(aws + `true`)}, []string{"ValueOdd - 1"}, model.NotStated},
		"an annotation twice":           {[]string{metadata(aws + `"true",` + aws + `"false"`)}, []string{"FieldTwice - 1"}, model.No},
		"metadata that is a text":       {[]string{`{"type":"olm.csv.metadata","value":"x"}`}, []string{"MetadataBroken - 1"}, model.Unknown},
		"metadata without a value":      {[]string{`{"type":"olm.csv.metadata"}`}, []string{"MetadataBroken - 1"}, model.Unknown},
		"metadata twice":                {[]string{metadata(aws + `"true"`), metadata(aws + `"false"`)}, []string{"DefinedTwice - 1"}, model.Yes},
		"too many annotations":          {[]string{metadata(aws + `"true","description":"` + strings.Repeat("x", 256<<10) + `"`)}, []string{"AnnotationsTooLarge - 1"}, model.Unknown},
		"no base64":                     {[]string{`{"type":"olm.bundle.object","value":{"data":"%"}}`}, []string{"MetadataBroken - 1"}, model.Unknown},
		"no manifest":                   {[]string{encoded("ClusterServiceVersion: [")}, []string{"MetadataBroken - 1"}, model.Unknown},
		"a manifest without spec":       {[]string{encoded(`{"kind":"ClusterServiceVersion"}`)}, []string{"MetadataBroken - 1"}, model.Unknown},
		"Deployments that are a text":   {[]string{encoded(`{"kind":"ClusterServiceVersion","spec":{"install":{"spec":{"deployments":"x"}}}}`)}, []string{"MetadataBroken - 1"}, model.NotStated},
		"a second property olm.package": {[]string{`{"type":"olm.package","value":{"packageName":"p","version":"9.9.9"}}`}, []string{"DocumentIncomplete - 1"}, model.Unknown},
		"annotations that are a list":   {[]string{`{"type":"olm.csv.metadata","value":{"annotations":[]}}`}, []string{"MetadataBroken - 1"}, model.Unknown},
		"annotations that are null":     {[]string{`{"type":"olm.csv.metadata","value":{"annotations":null}}`}, nil, model.NotStated},
		"labels that are a text":        {[]string{`{"type":"olm.csv.metadata","value":{"labels":"x"}}`}, []string{"MetadataBroken - 1"}, model.NotStated},
		"properties of others":          {[]string{`{"type":"example.com","value":[{"a":[1,-2.5e3,true,null,"\"]}"]}]}`, `{}`, `1`}, nil, model.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			got := readText(t, bundleWith("p.v1.0.0", test.properties...))
			if diff := cmp.Diff(test.found, places(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%v", diff, got.Findings)
			}
			b := got.Packages[0].Bundles[0]
			if b.Version != "1.0.0" || b.Features.Tokens[model.AWS] != test.aws {
				t.Errorf("the bundle is %+v, want tokens of AWS %s", b, test.aws)
			}
		})
	}
}

func TestDeprecations(t *testing.T) {
	got := readText(t, allP+`{"schema":"olm.deprecations","package":"p","entries":[
 {"reference":{"schema":"olm.package"},"message":"all of it"},
 {"reference":{"schema":"olm.channel","name":"stable"},"message":"the channel"},
 {"reference":{"schema":"olm.bundle","name":"p.v1.0.0"},"message":"the bundle"},
 {"reference":{"schema":"olm.bundle"},"message":"none"}]}`)
	p := got.Packages[0]
	if diff := cmp.Diff([]string{"all of it", "the channel", "the bundle", ""}, []string{p.Deprecation, p.Channels[0].Deprecation, p.Bundles[0].Deprecation, p.Bundles[1].Deprecation}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"DocumentIncomplete - 5"}, places(got)); diff != "" {
		t.Error(diff)
	}
}

// bomb is a YAML document whose aliases stand for nine to the power of levels texts.
func bomb(levels int) string {
	text := "a0: &a0 x\n"
	for i := 1; i <= levels; i++ {
		ref := "*a" + string(rune('0'+i-1))
		text += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(ref+",", 8) + ref + "]\n"
	}
	return text
}

func mergeBomb() string {
	text := "a0: &a0 {x: 1}\n"
	for i := 1; i <= 9; i++ {
		ref := "*a" + string(rune('0'+i-1))
		text += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " {<<: [" + strings.Repeat(ref+",", 8) + ref + "]}\n"
	}
	return text
}

// Each attack is a finding, the package behind it is there, and the memory of the whole reading
// is bounded.
func TestAttacksAreFindings(t *testing.T) {
	const mib = 1 << 20
	nextYAML := "\n---\nschema: olm.package\nname: b\n"
	for name, test := range map[string]struct {
		text string
		want model.Code
	}{
		"aliases that grow":                 {bomb(9) + nextYAML, model.DocumentTooLarge},
		"merges that grow":                  {mergeBomb() + nextYAML, model.DocumentTooLarge},
		"an alias within itself":            {"a: &a [*a]" + nextYAML, model.DocumentBroken},
		"a merge of itself":                 {"a: &a {<<: *a}" + nextYAML, model.DocumentBroken},
		"deep YAML":                         {strings.Repeat("[", 5000) + nextYAML, model.DocumentBroken},
		"deep YAML that is closed":          {"a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + nextYAML, model.DocumentBroken},
		"deep JSON":                         {`{"a":` + strings.Repeat("[", 5*mib) + "\n" + simple("b"), model.DocumentBroken},
		"deep JSON that is closed":          {`{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n" + simple("b"), model.DocumentBroken},
		"many YAML values":                  {"a: [" + strings.Repeat("a,", 7*mib) + "]" + nextYAML, model.DocumentTooLarge},
		"many YAML lines":                   {strings.Repeat("- a\n", 4*mib-100) + nextYAML, model.DocumentTooLarge},
		"a large JSON document":             {`{"a":"` + strings.Repeat("x", 20*mib) + "\"}\n" + simple("b"), model.DocumentTooLarge},
		"a large JSON document, no lines":   {`{"a":"` + strings.Repeat("x", 20*mib) + `"}` + simple("b"), model.DocumentTooLarge},
		"a large YAML document":             {"a: |\n" + strings.Repeat("  "+strings.Repeat("x", 98)+"\n", 200_000) + nextYAML, model.DocumentTooLarge},
		"a large YAML line":                 {"a: " + strings.Repeat("x", 40*mib) + nextYAML, model.DocumentTooLarge},
		"lines that never end":              {strings.Repeat("{\"a\":[1,\n", 200_000) + simple("b"), model.DocumentBroken},
		"lines of nothing":                  {"{}\n" + strings.Repeat("x\n", 200_000) + simple("b"), model.DocumentBroken},
		"a name that is a flag":             {simple("--all") + "\n" + simple("b"), model.NameOdd},
		"a name that climbs":                {simple("../../etc") + "\n" + simple("b"), model.NameOdd},
		"a name with an escape":             {`{"schema":"olm.package","name":"\u001b]0;x\u0007"}` + "\n" + simple("b"), model.NameOdd},
		"a name written from right to left": {simple("a\u202eb") + "\n" + simple("b"), model.NameOdd},
		"a long name":                       {simple(strings.Repeat("x", mib)) + "\n" + simple("b"), model.NameOdd},
		"a circle":                          {`{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"x","replaces":"y"},{"name":"y","replaces":"x"}]}` + "\n" + simple("b"), model.ReplacesCycle},
		"a program":                         {"\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00\xff\n", 1000) + nextYAML, model.DocumentBroken},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := readText(t, test.text)
			runtime.ReadMemStats(&after)
			if !slices.Contains(names(got), "b") {
				t.Errorf("the package behind is hidden: %v", names(got))
			}
			if !slices.ContainsFunc(got.Findings, func(f model.Finding) bool { return f.Code == test.want }) {
				t.Errorf("no finding %s: %v", test.want, got.Findings[:min(5, len(got.Findings))])
			}
			for _, f := range got.Findings {
				if strings.ContainsAny(f.String(), "\x1b\x07\u202e\n") || len(f.String()) > 2000 {
					t.Fatalf("the finding is %.2000q", f.String())
				}
			}
			t.Logf("allocated %d MiB in all", (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

// An icon of 10 MB is read over, and nothing of it stays.
func TestALargeIconIsNotKept(t *testing.T) {
	icon := strings.Repeat("QUJD", 10<<20/4)
	got := readText(t, `{"schema":"olm.package","name":"p","icon":{"base64data":"`+icon+`","mediatype":"image/png"}}`+"\n"+
		"{\"schema\":\"olm.package\",\"name\":\"q\"}\n")
	if diff := cmp.Diff([]string{"p", "q"}, names(got)); diff != "" || places(got) != nil {
		t.Errorf("%s %v", diff, places(got))
	}
	inYAML := readText(t, "schema: olm.package\nname: p\nicon:\n  base64data: |\n"+strings.Repeat("    "+strings.Repeat("QUJD", 19)+"\n", 130_000))
	if diff := cmp.Diff([]string{"p"}, names(inYAML)); diff != "" || places(inYAML) != nil {
		t.Errorf("%s %v", diff, inYAML.Findings)
	}
}

func TestYAMLIsSaidToBeSlow(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"YAML": {strings.Repeat("schema: other\n# "+strings.Repeat("x", 1000)+"\n---\n", 3000), 1},
		"JSON": {strings.Repeat(`{"schema":"other","x":"`+strings.Repeat("x", 1000)+"\"}\n", 3000), 0},
		"less": {yamlP, 0},
	} {
		said := 0
		reader := catalogue.Reader{Stdin: strings.NewReader(test.text), Slow: func(string) { said++ }}
		if _, err := reader.Read(t.Context(), "-"); err != nil || said != test.want {
			t.Errorf("%s: said %d times, want %d; %v", name, said, test.want, err)
		}
	}
}
