package operators

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/cli/command"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// control is a character of an output that a terminal would act on, or that turns the direction of
// writing.
func control(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && !unicode.IsGraphic(r) {
			return r, true
		}
	}
	return 0, false
}

const evil = "evil\x1b]0;owned\x07\x1b[31m"

// TestNothingControlsATerminal runs every command in every format over a catalogue, files and a
// cluster whose authors try it.
func TestNothingControlsATerminal(t *testing.T) {
	var runs [][]string
	formats := map[string][]string{
		"list":                     {"table", "wide", "name", "json", "yaml", "jsonpath={.items[*]}"},
		"show":                     {"table", "name", "json", "yaml", "jsonpath={.package}{.chosen}{.versions}"},
		"permissions":              {"sentences", "table", "policy", "json", "yaml", "jsonpath={.package}{.requests}"},
		"upgrade-diff --from evil": {"table", "json", "yaml", "jsonpath={.from}{.changes}"},
	}
	for name, all := range formats {
		for _, format := range all {
			command := strings.Fields(name)[0]
			for _, p := range []string{evil, "fenced", "--help", "absent\x1b[31m"} {
				args := []string{command, "-o", format}
				switch command {
				case "list":
					args = append(args, "--all")
				case "upgrade-diff":
					args = append(args, "--from", evil+".v1", "--to", evil+".v2", "--", p)
				default:
					args = append(args, "--", p)
				}
				runs = append(runs, args)
			}
		}
	}
	runs = append(runs, []string{"show", "--version", "2.0.0\x1b[31m", "--", evil}, []string{"show", "--channel", "\x1b[31m", "--", evil},
		[]string{"permissions", "--version", evil + ".v1", "--", evil}, []string{"permissions", "--requests", "testdata/\x1b[31m", "--", evil})
	for _, args := range runs {
		got := on(t, "hostile.json", args...)
		for _, text := range []string{got.out, got.errOut} {
			if r, is := control(text); is {
				t.Errorf("%q prints %U:\n%q", args, r, text)
			}
		}
		if got.out+got.errOut == "" {
			t.Errorf("%q says nothing", args)
		}
	}
	cluster := openshift4{objects: []runtime.Object{
		infrastructure("AWS\x1b[31m", "status", "platformStatus", "type"), cloudCredential("Man\u202eual"), authentication("https://x\u009b\n/"),
	}}
	for _, format := range []string{"table", "json", "yaml", "jsonpath={.facts}"} {
		got := cluster.run(t, "", "cluster", "-o", format)
		if r, is := control(got.out + got.errOut); is {
			t.Errorf("cluster -o %s prints %U:\n%q", format, r, got.out+got.errOut)
		}
	}
}

// TestATextIsOneLine: nobody adds a line of his own to what we say.
func TestATextIsOneLine(t *testing.T) {
	for _, args := range [][]string{{"show", "--", evil}, {"list", "-o", "wide"}, {"permissions", "--", evil}} {
		for line := range strings.Lines(on(t, "hostile.json", args...).out) {
			if strings.HasPrefix(line, "NAME: fake") || strings.HasPrefix(line, "DROP") || strings.HasPrefix(line, "B") {
				t.Errorf("%q has a line of the author's: %s", args, line)
			}
		}
	}
}

// TestProgramsGetWhatIsThere: JSON escapes what is not shown, and loses nothing.
func TestProgramsGetWhatIsThere(t *testing.T) {
	l := decoded[listDocument](t, on(t, "hostile.json", "list", "-o", "json").exits(t, 0))
	var names []string
	for _, r := range l.Items {
		names = append(names, r.Package)
	}
	if diff := cmp.Diff([]string{"--help", evil, "fenced"}, names); diff != "" {
		t.Error(diff)
	}
	if d := decoded[detailDocument](t, on(t, "hostile.json", "show", "-o", "json", "--", evil).exits(t, 0)); d.Package != evil || d.Chosen.DisplayName != "A\nB\r\x1b]0;owned\x07\x1b[31m\u202etxt.exe\u009b1m" {
		t.Errorf("%q %q", d.Package, d.Chosen.DisplayName)
	}
	for _, text := range []string{"", "plain", "\x00\x7f\u009b\u202e\u2028", "\U000e0001 tag \U0001f600", "<&>"} {
		var back string
		printed, err := json.Marshal(escaped{text})
		if err == nil {
			err = json.Unmarshal(printed, &back)
		}
		if _, is := control(string(printed)); is || err != nil || back != text {
			t.Errorf("%q becomes %s, which is %q, %v", text, printed, back, err)
		}
	}
}

func TestNamesThatLookLikeFlags(t *testing.T) {
	says(t, on(t, "all.json", "show", "--", "-rf").exits(t, 0).out, "Package:          -rf")
	says(t, on(t, "all.json", "permissions", "--", "-rf").exits(t, 0).out, "s3:GetObject")
	says(t, on(t, "all.json", "upgrade-diff", "--from", "1.0.0", "--to", "1.0.0", "--", "-rf").exits(t, 0).out, "the same")
	got := on(t, "hostile.json", "permissions", "--", "--help").exits(t, 1)
	says(t, got.out, "--requests PATH -- --help")
	for text, want := range map[string]string{"p": "p", "-p": "-- -p", "a b": "'a b'", "a'b": `'a'\''b'`, "-$(id)": "-- '-$(id)'", "": "''"} {
		if got := line.Argument(text); got != want {
			t.Errorf("line.Argument(%q) is %s, want %s", text, got, want)
		}
	}
}

// TestThePluginsNameIsForTextsOnly: what is data is not rewritten.
func TestThePluginsNameIsForTextsOnly(t *testing.T) {
	var out bytes.Buffer
	streams := harmless(command.Streams{Out: command.PluginWriter{To: &out}})
	_ = streams.Print("type tabard policy check\x1b\n")
	_ = command.Write(command.Raw(streams.Out), "data: tabard policy check\x1b\n")
	if want := "type kubectl tabard policy check\ufffd\ndata: tabard policy check\ufffd\n"; out.String() != want {
		t.Errorf("it prints %q, want %q", out.String(), want)
	}
}

// TestYAMLSaysThatItTakesLong with -v, where the standard error is no terminal.
func TestYAMLSaysThatItTakesLong(t *testing.T) {
	plan := generate.Plan{Seed: 1, Packages: 3, Bundles: 60, Bytes: 2_000_000}
	var inYAML, inJSON bytes.Buffer
	if err := plan.YAML(&inYAML); err != nil {
		t.Fatal(err)
	}
	if err := plan.JSON(&inJSON); err != nil {
		t.Fatal(err)
	}
	const said = `tabard: "-" is YAML, which takes about ten times as long to read as JSON`
	got := onAWS().run(t, inYAML.String(), "list", "--catalogue", "-", "-v").exits(t, 0)
	says(t, got.errOut, said)
	silent(t, onAWS().run(t, inYAML.String(), "list", "--catalogue", "-").errOut, said)
	fromJSON := onAWS().run(t, inJSON.String(), "list", "--catalogue", "-", "-v").exits(t, 0)
	silent(t, fromJSON.errOut, said)
	if diff := cmp.Diff(fromJSON.out, got.out); diff != "" {
		t.Errorf("YAML lists something else (-JSON +YAML):\n%s", diff)
	}
}

// TestGeneratedCatalogues: every package of a catalogue is listed and shown, whatever it has.
func TestGeneratedCatalogues(t *testing.T) {
	plan := generate.Plan{Seed: 3, Packages: 12, Bundles: 90, Bytes: 300_000}
	var all bytes.Buffer
	if err := plan.JSON(&all); err != nil {
		t.Fatal(err)
	}
	l := decoded[listDocument](t, onAWS().run(t, all.String(), "list", "--catalogue", "-", "--all", "-o", "json").exits(t, 0))
	if len(l.Items) != plan.Packages || l.Total != plan.Packages || l.Unknown != 0 {
		t.Fatalf("%d of %d, %d unknown", len(l.Items), l.Total, l.Unknown)
	}
	states := map[string]int{}
	for _, r := range l.Items {
		shown := decoded[detailDocument](t, onAWS().run(t, all.String(), "show", r.Package, "--catalogue", "-", "-o", "json").exits(t, 0))
		if shown.Chosen.CSV != r.CSV || len(shown.Versions) == 0 {
			t.Errorf("%s: %+v", r.Package, shown)
		}
		code := 0
		if r.Permissions.State == listing.StateUnknown {
			code = 1
		}
		onAWS().run(t, all.String(), "permissions", r.Package, "--catalogue", "-").exits(t, code)
		states[r.Permissions.State]++
	}
	if states[listing.StateDeclared] == 0 || states[listing.StateUnknown] == 0 {
		t.Errorf("the generated packages are %v", states)
	}
	// Each package answers --token-auth in exactly one way.
	sum := 0
	for _, value := range []string{"yes", "no", "unknown"} {
		sum += len(decoded[listDocument](t, onAWS().run(t, all.String(), "list", "--catalogue", "-", "--all", "--cloud", "aws", "--token-auth", value, "-o", "json")).Items)
	}
	if sum != plan.Packages {
		t.Errorf("%d answers of %d packages", sum, plan.Packages)
	}
}
