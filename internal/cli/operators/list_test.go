package operators

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// listed are the packages that a list has.
func listed(t *testing.T, args ...string) []string {
	t.Helper()
	got := on(t, "all.json", append([]string{"list", "-o", "name"}, args...)...).exits(t, 0)
	return strings.Fields(strings.ReplaceAll(got.out, "package/", ""))
}

// lists fails unless the list has packages and others not; both are names between blanks, "!"
// before those that it must not have.
func lists(t *testing.T, flags, wants string) {
	t.Helper()
	got := listed(t, strings.Fields(flags)...)
	for _, want := range strings.Fields(wants) {
		name, not := strings.CutPrefix(want, "!")
		if slices.Contains(got, name) == not {
			t.Errorf("list %s: %v, want %s", flags, got, want)
		}
	}
}

func TestScenario3KeysInAnyOrder(t *testing.T) {
	for _, name := range []string{"p", "azure-no-first"} {
		lists(t, "--cloud aws --token-auth yes", name)
		lists(t, "--cloud azure --token-auth yes", "!"+name)
		lists(t, "--cloud azure --token-auth no", name)
	}
	lists(t, "--cloud this --token-auth yes", "p azure-no-first !gcp-only")
}

func TestScenario4OnlyTrueIsSupport(t *testing.T) {
	lists(t, "--cloud aws --token-auth yes", "p !aws-false !aws-absent !aws-upper !aws-yes")
	lists(t, "--cloud aws --token-auth no", "!p aws-false aws-absent aws-upper aws-yes")
	got := on(t, "all.json", "list", "-o", "json").exits(t, 0)
	odd := 0
	for _, f := range decoded[listDocument](t, got).Findings {
		if f.Code == "ValueOdd" {
			odd++
			says(t, f.Object, "aws-")
		}
	}
	if odd != 2 {
		t.Errorf("%d findings of odd values, want 2", odd)
	}
	if got.errOut != "" {
		t.Errorf("with -o json it says\n%s", got.errOut)
	}
	says(t, on(t, "all.json", "list").errOut, "findings in the catalogue", `ValueOdd: "testdata/all.json", document`, `is "True", which does not count`)
	says(t, on(t, "all.json", "show", "aws-upper").out, "Findings:", "ValueOdd")
}

func TestScenario5TheLegacyListClaims(t *testing.T) {
	lists(t, "--cloud aws --token-auth yes", "!claims")
	lists(t, "--cloud aws --token-auth no", "!claims")
	lists(t, "--token-auth unknown", "claims no-metadata !p !aws-false")
	says(t, on(t, "all.json", "show", "claims").exits(t, 0).out, "claims token support, cloud unknown", "operators.openshift.io/infrastructure-features")
}

func TestScenario6AnotherCloudCanBeAskedFor(t *testing.T) {
	lists(t, "--cloud gcp", "gcp-only p")
	lists(t, "--cloud gcp --token-auth yes", "gcp-only !p")
	says(t, on(t, "all.json", "list", "--cloud", "gcp").out, "TOKENS(gcp)")
}

func TestScenario7ADirectoryWithAllThatCanBeInIt(t *testing.T) {
	got := on(t, "tree", "list", "-o", "json").exits(t, 0)
	l := decoded[listDocument](t, got)
	var names []string
	for _, r := range l.Items {
		names = append(names, r.Package)
	}
	if !slices.Equal(names, []string{"beside", "p", "yaml"}) {
		t.Errorf("it lists %v", names)
	}
	if !slices.ContainsFunc(l.Findings, func(f listing.CatalogueFinding) bool {
		return f.Code == "DocumentBroken" && f.File == "testdata/tree/broken/catalog.yaml" && f.Document == 2
	}) {
		t.Errorf("the broken document is not a finding: %+v", l.Findings)
	}
	says(t, on(t, "tree", "list").errOut, `"testdata/tree/broken/catalog.yaml", document 2`)
	says(t, on(t, "tree", "show", "p").exits(t, 0).errOut, "1 document or file could not be used, which may have more of package \"p\"")
}

func TestScenario8BothFormsShowTheSameFeatures(t *testing.T) {
	features := map[string]string{}
	for _, name := range []string{"object", "metadata", "no-metadata"} {
		text := on(t, "all.json", "show", name).exits(t, 0).out
		_, after, _ := strings.Cut(text, "Features:\n")
		features[name], _, _ = strings.Cut(after, "Permissions:")
	}
	if features["object"] != features["metadata"] {
		t.Errorf("%s\nand\n%s", features["object"], features["metadata"])
	}
	says(t, features["object"], "features.operators.openshift.io/token-auth-aws", "ROLEARN")
	says(t, features["no-metadata"], "unknown")
	silent(t, features["no-metadata"], "yes", "not stated")
	for _, r := range decoded[listDocument](t, on(t, "all.json", "list", "-o", "json")).Items {
		if r.Package == "no-metadata" && (r.Tokens["aws"] != "unknown" || r.Permissions.State != listing.StateUnknown || r.Why == "" || r.Permissions.Why == "") {
			t.Errorf("%+v", r)
		}
	}
}

func TestScenario12TwoHeadsAndEdges(t *testing.T) {
	lists(t, "", "two-heads")
	says(t, on(t, "all.json", "list").out, "no head")
	got := on(t, "all.json", "show", "two-heads").exits(t, 0)
	says(t, got.out, "invalid: no single head", "ChannelWithHeads")
	says(t, got.errOut, `has no head in the catalogue; type --version, one of "1.1.0", "1.0.0"`)
	on(t, "all.json", "show", "two-heads", "--version", "1.1.0").exits(t, 0)
	for _, v := range decoded[detailDocument](t, on(t, "all.json", "show", "edges", "-o", "json").exits(t, 0)).Versions {
		want := map[string][]string{
			"1.0.0": {}, "1.0.1": {"edges.v1.0.0"}, "1.1.0": {"edges.v1.0.1", "edges.v1.0.2", "edges.v1.0.0"},
		}[v.Version]
		if !slices.Equal(v.Upgrades, want) {
			t.Errorf("upgrades to %s from %v, want %v", v.Version, v.Upgrades, want)
		}
	}
}

func TestFiltersNeverHideSilently(t *testing.T) {
	total := decoded[listDocument](t, on(t, "all.json", "list", "--all", "-o", "json")).Total
	for flags, want := range map[string]struct {
		has    string
		footer string
	}{
		"":                                     {"p no-metadata !not-alone", "1 not shown because they do not stand alone: --all shows them"},
		"--all":                                {"p not-alone", ""},
		"--cloud aws --token-auth yes":         {"!not-alone", "1 not shown because"},
		"--permissions none":                   {"asks-nothing !p !no-metadata !aws-absent", " unknown: "},
		"--permissions known":                  {"asks-nothing p admin slips !no-metadata !broken-json", ""},
		"--permissions unknown":                {"no-metadata aws-absent broken-json !p !asks-nothing", ""},
		"--permissions sensitive":              {"admin !p !asks-nothing !no-metadata", " unknown: "},
		"--feature disconnected":               {"claims !p", " unknown: "},
		"--category storage":                   {"p !claims", " unknown: "},
		"--provider EXAMPLE":                   {"p !no-metadata", " unknown: "},
		"--search object":                      {"p object", ""},
		"--search keeper":                      {"p !object", "2 unknown: "},
		"--token-auth yes --permissions known": {"p !aws-yes", ""},
	} {
		lists(t, flags, want.has)
		got := on(t, "all.json", append([]string{"list"}, strings.Fields(flags)...)...).exits(t, 0)
		says(t, got.errOut, " of "+line.Count(total, "package", "packages"), want.footer)
		l := decoded[listDocument](t, on(t, "all.json", append([]string{"list", "-o", "json"}, strings.Fields(flags)...)...))
		if l.Total != total {
			t.Errorf("list %s: %d of %d", flags, len(l.Items), l.Total)
		}
	}
	// What does not match by one filter is not unknown by another.
	if l := decoded[listDocument](t, on(t, "all.json", "list", "-o", "json", "--token-auth", "yes", "--permissions", "known")); l.Unknown != 0 {
		t.Errorf("%d are unknown, want none", l.Unknown)
	}
	// What claims support, has no metadata or no head may match.
	if l := decoded[listDocument](t, on(t, "all.json", "list", "-o", "json", "--cloud", "this", "--token-auth", "yes")); l.Unknown != 3 || l.Cloud != "aws" {
		t.Errorf("%d are unknown, want 3; cloud %q", l.Unknown, l.Cloud)
	}
	says(t, on(t, "all.json", "list", "--search", "nothing-has-this").exits(t, 0).out, "No operator")
}

func TestUnusableFlags(t *testing.T) {
	for flags, want := range map[string]string{
		"list --source a/b/c": "expected the name of a CatalogSource, such as olm/vendor, or",
		"list --source /b":    "expected the name of a CatalogSource",
		"list --catalogue testdata/p.json --source vendor":               "leave them out",
		"list --catalogue testdata/p.json -n shop":                       "leave them out",
		"permissions p --requests testdata/requests --context x":         "with --requests alone none is asked",
		"permissions p --requests testdata/requests --channel x":         "type --catalogue",
		"list --catalogue testdata/absent":                               "there is no such file or folder; expected a file-based catalogue",
		"list --catalogue testdata/requests":                             "there is no package in it",
		"list --catalogue -":                                             "there is no package in it",
		"list --catalogue testdata/p.json --cloud alibaba":               "expected aws, azure, gcp or this",
		"list --catalogue testdata/p.json --token-auth y":                "expected yes, no or unknown",
		"list --catalogue testdata/p.json --permissions x":               "expected known, unknown, sensitive or none",
		"list --catalogue testdata/p.json --feature x":                   "expected one of disconnected, fips-compliant",
		"list --catalogue testdata/p.json -o text":                       "expected table, wide, json",
		"list --catalogue testdata/p.json --context x":                   "so that none is asked",
		"list p --catalogue testdata/p.json":                             "takes no arguments",
		"show --catalogue testdata/p.json":                               "takes the name of one package",
		"show q --catalogue testdata/p.json":                             `no package "q" in the catalogue; tabard operators list --all --catalogue testdata/p.json names all 1`,
		"show pp --catalogue testdata/p.json":                            `which has "p"`,
		"show p --version 9 --catalogue testdata/p.json":                 `has the versions "1.1.0", "1.0.0"`,
		"show p --channel x --catalogue testdata/p.json":                 `has the channels "stable"`,
		"show p --channel x --version 1 --catalogue testdata/p.json":     "leave one out",
		"permissions p --catalogue testdata/p.json -o xml":               "expected sentences, policy, table, json, yaml or jsonpath=TEMPLATE",
		"permissions p --catalogue - --requests -":                       "can be read once",
		"permissions p --requests testdata/absent":                       "--requests is",
		"upgrade-diff p --catalogue testdata/p.json --from 1.0.0":        "type both",
		"upgrade-diff p --catalogue testdata/p.json --from 1.0.0 --to 3": `--to is "3"`,
	} {
		got := onAWS().run(t, "", strings.Fields(flags)...).exits(t, 2)
		says(t, got.errOut, want)
		if got.out != "" {
			t.Errorf("%s prints\n%s", flags, got.out)
		}
	}
}
