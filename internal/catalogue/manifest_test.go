package catalogue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// offered is the PackageManifest of a package with one channel, whose head has these
// annotations in JSON.
func offered(pkg, source, annotations string) string {
	return fmt.Sprintf(`{"metadata":{"name":%[1]q,"labels":{"catalog":%[2]q,"operatorframework.io/arch.amd64":"supported","operatorframework.io/os.linux":"supported"}},`+
		`"status":{"packageName":%[1]q,"catalogSource":%[2]q,"catalogSourceNamespace":"olm","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"%[1]s.v1.1.0",`+
		`"currentCSVDesc":{"displayName":"P","version":"1.1.0","provider":{"name":"Example"},"installModes":[{"type":"OwnNamespace","supported":true}],"annotations":%[3]s},`+
		`"entries":[{"name":"%[1]s.v1.1.0","version":"1.1.0"},{"name":"%[1]s.v1.0.0","version":"1.0.0"}]}]}}`, pkg, source, annotations)
}

func listOf(items ...string) string {
	return `{"kind":"PackageManifestList","apiVersion":"packages.operators.coreos.com/v1","metadata":{},"items":[` + strings.Join(items, ",") + "]}\n"
}

func readList(t *testing.T, text string) model.Catalogue {
	t.Helper()
	got, err := catalogue.Manifests{}.Read(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func codes(c model.Catalogue) []model.Code {
	var all []model.Code
	for _, f := range c.Findings {
		all = append(all, f.Code)
	}
	return all
}

const token = "features.operators.openshift.io/token-auth-"

// Scenarios 3, 4 and 5, through PackageManifests: what the head's annotations make of tokens.
func TestScenarios3To5TokensOfPackageManifests(t *testing.T) {
	const yes, no, unstated, claimed = model.Yes, model.No, model.NotStated, model.Claimed
	for name, test := range map[string]struct {
		annotations     string
		aws, azure, gcp model.Support
		found           []model.Code
	}{
		"3: AWS and not Azure": {`{"` + token + `aws":"true","` + token + `azure":"false"}`, yes, no, unstated, nil},
		"3: the other order":   {`{"` + token + `azure":"false","` + token + `aws":"true"}`, yes, no, unstated, nil},
		"4: false":             {`{"` + token + `aws":"false"}`, no, unstated, unstated, nil},
		"4: absent":            {`{}`, unstated, unstated, unstated, nil},
		"4: null":              {`null`, unstated, unstated, unstated, nil},
		"4: True":              {`{"` + token + `aws":"True"}`, no, unstated, unstated, []model.Code{model.ValueOdd}},
		"4: yes":               {`{"` + token + `aws":"yes"}`, no, unstated, unstated, []model.Code{model.ValueOdd}},
		"4: no text":           {`{"` + token + `aws":true}`, unstated, unstated, unstated, []model.Code{model.ValueOdd}},
		"5: the legacy list":   {`{"operators.openshift.io/infrastructure-features":"[\"TokenAuth\"]"}`, claimed, claimed, claimed, nil},
		"5: a broken list":     {`{"operators.openshift.io/infrastructure-features":"TokenAuth"}`, unstated, unstated, unstated, []model.Code{model.AnnotationBroken}},
	} {
		t.Run(name, func(t *testing.T) {
			got := readList(t, listOf(offered("p", "c", test.annotations)))
			head, _ := got.Packages[0].Bundle("p.v1.1.0")
			if diff := cmp.Diff([3]model.Support{test.aws, test.azure, test.gcp}, head.Features.Tokens); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.found, codes(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s%v", diff, got.Findings)
			}
		})
	}
}

// Scenario 6, through PackageManifests: an operator for another cloud is found by that cloud.
func TestScenario6AnotherCloud(t *testing.T) {
	got := readList(t, listOf(offered("p", "c", `{"`+token+`gcp":"true"}`), offered("q", "c", `{"`+token+`aws":"true"}`)))
	yes := model.Yes
	listing := got.List(model.Filter{Cloud: model.GCP, Tokens: &yes})
	if len(listing.Rows) != 1 || listing.Rows[0].Package.Name != "p" || listing.Unknown != 0 {
		t.Errorf("%+v", listing)
	}
}

// Scenario 8, through PackageManifests: the head has features, the other entries are unknown,
// and never without.
func TestScenario8OnlyHeadsAreKnown(t *testing.T) {
	got := readList(t, listOf(offered("p", "c", `{"`+token+`aws":"true","`+model.CredentialsRequests+`":"[]"}`)))
	p := got.Packages[0]
	old, _ := p.Bundle("p.v1.0.0")
	if old.Metadata != nil || old.Features != (model.Features{}) || old.Demand() != model.DemandUnknown || old.Version != "1.0.0" || old.Workload != nil {
		t.Errorf("the bundle that is no head is %+v, want name and version", old)
	}
	head, _ := p.Bundle("p.v1.1.0")
	want := &model.Metadata{
		DisplayName: "P", Provider: "Example", InstallModes: []string{"OwnNamespace"},
		Annotations: map[string]string{token + "aws": "true", model.CredentialsRequests: "[]"},
		Platforms:   &model.Platforms{Architectures: []string{"amd64"}, Systems: []string{"linux"}},
	}
	if diff := cmp.Diff(want, head.Metadata); diff != "" || head.Demand() != model.DemandNothing || head.Workload != nil {
		t.Errorf("the head (-want +got):\n%s%+v", diff, head)
	}
	channel := p.Channels[0]
	if channel.EdgesKnown || channel.Head != "p.v1.1.0" || channel.Invalid || p.Upgrades(channel, "p.v1.1.0") != nil || !p.Source.LeavesOut() {
		t.Errorf("the channel is %+v, want a head and no edges", channel)
	}
}

// Scenario 12, through PackageManifests: the API leaves out a channel whose head it cannot read,
// and names another default channel. What is left is listed.
func TestScenario12AChannelIsLeftOut(t *testing.T) {
	text := strings.Replace(listOf(offered("p", "c", `{}`)), `"defaultChannel":"stable"`, `"defaultChannel":"gone"`, 1)
	got := readList(t, text)
	yes := model.Yes
	if listing := got.List(model.Filter{Tokens: &yes}); listing.Unknown != 1 || len(listing.Rows) != 0 {
		t.Errorf("%+v, want what the missing channel offers to be unknown", listing)
	}
	if diff := cmp.Diff([]model.Code{model.DefaultChannelMissing}, codes(got)); diff != "" {
		t.Error(diff)
	}
	if c := got.Packages[0].Channels[0]; c.Name != "stable" || c.Head != "p.v1.1.0" {
		t.Errorf("the channel is %+v", c)
	}
}

func TestTheSamePackageInTwoCatalogues(t *testing.T) {
	got := readList(t, listOf(offered("p", "one", `{"`+token+`aws":"true"}`), offered("p", "two", `{"`+token+`aws":"false"}`), offered("p", "one", `{}`)))
	var all []string
	for _, p := range got.Packages {
		head, _ := p.Bundle("p.v1.1.0")
		all = append(all, p.Source.String()+" "+head.Features.Tokens[model.AWS].String())
	}
	if diff := cmp.Diff([]string{`CatalogSource "olm/one" yes`, `CatalogSource "olm/two" no`}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Findings) != 1 || got.Findings[0].String() != `DefinedTwice: package "p" of CatalogSource "olm/one": it is there already; the first one counts` {
		t.Errorf("the findings are %v", got.Findings)
	}
}

func TestDeprecationsOfPackageManifests(t *testing.T) {
	text := listOf(offered("p", "c", `{}`))
	for old, with := range map[string]string{
		`"packageName":`:                      `"deprecation":{"message":"all of it"},"packageName":`,
		`"name":"stable"`:                     `"name":"stable","deprecation":{"message":"the channel"}`,
		`"name":"p.v1.0.0"`:                   `"name":"p.v1.0.0","deprecation":{"message":"the bundle"}`,
		`"name":"p.v1.1.0","version":"1.1.0"`: `"name":"p.v1.1.0","version":"1.1.0","deprecation":{}`,
	} {
		text = strings.Replace(text, old, with, 1)
	}
	got := readList(t, text)
	p := got.Packages[0]
	want := []string{"all of it", "the channel", "the bundle", "deprecated"}
	if diff := cmp.Diff(want, []string{p.Deprecation, p.Channels[0].Deprecation, p.Bundles[0].Deprecation, p.Bundles[1].Deprecation}); diff != "" || got.Findings != nil {
		t.Errorf("(-want +got):\n%s%v", diff, got.Findings)
	}
}

func TestADeprecationThatIsNullIsNone(t *testing.T) {
	text := strings.NewReplacer(`"packageName":`, `"deprecation":null,"packageName":`, `"version":`, `"deprecation":null,"version":`,
		`"currentCSV":`, `"deprecation":null,"currentCSV":`).Replace(listOf(offered("p", "c", `{}`)))
	p := readList(t, text).Packages[0]
	if p.Deprecation != "" || p.Channels[0].Deprecation != "" || p.Bundles[0].Deprecation != "" || p.Bundles[1].Deprecation != "" {
		t.Errorf("the package is %+v", p)
	}
}

// A bundle that is the head of two channels is one bundle, and known if either describes it.
func TestTheHeadOfTwoChannels(t *testing.T) {
	good := offered("p", "c", `{"`+token+`aws":"true"}`)
	other := `{"name":"other","currentCSV":"p.v1.1.0","entries":[{"name":"p.v1.1.0","version":"1.1.0"}]}`
	for name, item := range map[string]string{
		"described by the first":  strings.Replace(good, `]}}`, `,`+other+`]}}`, 1),
		"described by the second": strings.Replace(good, `"channels":[`, `"channels":[`+other+`,`, 1),
	} {
		p := readList(t, listOf(item)).Packages[0]
		head, _ := p.Bundle("p.v1.1.0")
		if len(p.Bundles) != 2 || len(p.Channels) != 2 || head.Metadata == nil || head.Features.Tokens[model.AWS] != model.Yes || head.Metadata.Platforms == nil {
			t.Errorf("%s: the package is %+v", name, p)
		}
	}
}

// Scenario 7, through PackageManifests: a malformed item is a finding, and hides no other.
func TestScenario7AMalformedItemHidesNoOther(t *testing.T) {
	const mib = 1 << 20
	good := offered("bad", "c", "{}")
	replace := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	for name, test := range map[string]struct {
		item  string
		found []model.Code
		// seen says that the package is there nevertheless.
		seen bool
	}{
		"a text":                      {`"x"`, []model.Code{model.DocumentIncomplete}, false},
		"null":                        {`null`, []model.Code{model.DocumentIncomplete}, false},
		"an empty object":             {`{}`, []model.Code{model.DocumentIncomplete}, false},
		"a status that is a list":     {`{"status":[]}`, []model.Code{model.DocumentIncomplete}, false},
		"no JSON":                     {`{"status":nope}`, []model.Code{model.DocumentBroken}, false},
		"brackets that do not fit":    {`{"status":[}]`, []model.Code{model.DocumentBroken}, false},
		"a line end in a text":        {"{\"status\":\"\n\"}", []model.Code{model.DocumentBroken}, false},
		"deep":                        {strings.Repeat("[", mib) + strings.Repeat("]", mib), []model.Code{model.DocumentBroken}, false},
		"another kind":                {`{"kind":"Secret","status":{"packageName":"bad"}}`, []model.Code{model.NotAskedFor}, false},
		"too large":                   {`{"status":[` + strings.Repeat(`"x",`, 5*mib) + `1]}`, []model.Code{model.DocumentTooLarge}, false},
		"no name":                     {`{"status":{"channels":[]}}`, []model.Code{model.DocumentIncomplete}, false},
		"no catalogue":                {replace(`"catalogSource":"c",`, ``), []model.Code{model.DocumentIncomplete}, true},
		"a name from the metadata":    {replace(`"packageName":"bad",`, ``), nil, true},
		"channels that are a text":    {`{"status":{"packageName":"bad","catalogSource":"c","catalogSourceNamespace":"olm","channels":"x"}}`, []model.Code{model.DocumentIncomplete, model.DefaultChannelMissing}, true},
		"a channel without a name":    {replace(`"name":"stable",`, ``), []model.Code{model.DocumentIncomplete, model.DefaultChannelMissing}, true},
		"a channel without a head":    {replace(`"currentCSV":"bad.v1.1.0",`, ``), []model.Code{model.DocumentIncomplete}, true},
		"a channel twice":             {replace(`"channels":[`, `"channels":[{"name":"stable","currentCSV":"bad.v1.1.0","currentCSVDesc":{},"entries":[{"name":"bad.v1.1.0"}]},`), []model.Code{model.DefinedTwice}, true},
		"a head without description":  {replace(`"currentCSVDesc":`, `"other":`), []model.Code{model.MetadataBroken}, true},
		"a head that is no entry":     {replace(`{"name":"bad.v1.1.0","version":"1.1.0"},`, ``), []model.Code{model.DocumentIncomplete}, true},
		"an entry without a name":     {replace(`"name":"bad.v1.0.0",`, ``), []model.Code{model.DocumentIncomplete}, true},
		"two versions":                {replace(`"version":"1.1.0"}`, `"version":"1.1.1"}`), []model.Code{model.DefinedTwice}, true},
		"an odd version":              {replace(`"version":"1.0.0"`, `"version":"one"`), []model.Code{model.VersionBroken}, true},
		"annotations that are a text": {replace(`"annotations":{}`, `"annotations":"x"`), []model.Code{model.MetadataBroken}, true},
		"annotations that are large":  {replace(`"annotations":{}`, `"annotations":{"description":"`+strings.Repeat("x", 300<<10)+`"}`), []model.Code{model.AnnotationsTooLarge}, true},
		"annotations of 3 MiB":        {replace(`"annotations":{}`, `"annotations":{"description":"`+strings.Repeat(`\u0041`, mib/2)+`"}`), []model.Code{model.AnnotationsTooLarge}, true},
		"labels that are a text":      {replace(`"labels":{`, `"labels":"x","other":{`), []model.Code{model.MetadataBroken}, true},
		"a name that is a flag":       {strings.ReplaceAll(good, `"packageName":"bad"`, `"packageName":"--all"`), []model.Code{model.NameOdd}, false},
		"an escape in a name":         {strings.ReplaceAll(good, `"name":"stable"`, `"name":"\u001b]0;x\u0007"`), []model.Code{model.NameOdd, model.DefaultChannelMissing}, true},
		"from right to left":          {strings.ReplaceAll(good, `"catalogSource":"c"`, "\"catalogSource\":\"a\u202eb\""), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := readList(t, listOf(offered("first", "c", "{}"), test.item, offered("last", "c", "{}")))
			want := []string{"first", "last"}
			if test.seen {
				want = []string{"bad", "first", "last"}
			}
			if there := names(got); !slices.Equal(slices.DeleteFunc(there, func(n string) bool { return n == "--all" }), want) {
				t.Errorf("the packages are %v, want %v", there, want)
			}
			if diff := cmp.Diff(test.found, codes(got)); diff != "" {
				t.Errorf("findings (-want +got):\n%s%v", diff, got.Findings)
			}
			for _, f := range got.Findings {
				if strings.ContainsAny(f.String(), "\x1b\x07\u202e\n") || len(f.String()) > 2000 {
					t.Errorf("the finding is %.2000q", f.String())
				}
			}
		})
	}
}

// What cannot be read of a head is unknown, never none.
func TestAHeadThatCannotBeReadIsUnknown(t *testing.T) {
	good := offered("p", "c", `{"`+model.CredentialsRequests+`":"[]"}`)
	for name, item := range map[string]string{
		"no description":              strings.Replace(good, `"currentCSVDesc":`, `"other":`, 1),
		"a description that is null":  strings.Replace(good, `"currentCSVDesc":{`, `"currentCSVDesc":null,"other":{`, 1),
		"annotations that are a list": strings.Replace(good, `"annotations":{`, `"annotations":[],"other":{`, 1),
		"annotations too large":       strings.Replace(good, `"annotations":{`, `"annotations":{"description":"`+strings.Repeat("x", 2<<20)+`",`, 1),
	} {
		head, ok := readList(t, listOf(item)).Packages[0].Bundle("p.v1.1.0")
		if !ok || head.Metadata != nil || head.Features != (model.Features{}) || head.Demand() != model.DemandUnknown || head.Version != "1.1.0" {
			t.Errorf("%s: the head is %+v, want it unknown", name, head)
		}
	}
}

func TestOnlyWhatWasAskedForIsRead(t *testing.T) {
	text := listOf(offered("p", "one", `{}`), offered("p", "two", `{}`), offered("q", "one", `{}`))
	for name, test := range map[string]struct {
		wanted catalogue.Wanted
		want   int
	}{
		"everything":        {catalogue.Wanted{}, 3},
		"a package":         {catalogue.Wanted{Package: "p"}, 2},
		"a catalogue":       {catalogue.Wanted{Catalogue: "one", CatalogueNamespace: "olm"}, 2},
		"both":              {catalogue.Wanted{Package: "p", Catalogue: "two"}, 1},
		"another namespace": {catalogue.Wanted{CatalogueNamespace: "default"}, 0},
	} {
		got, err := catalogue.Manifests{Wanted: test.wanted}.Read(t.Context(), strings.NewReader(text))
		if err != nil || len(got.Packages) != test.want || len(got.Findings) != 3-test.want {
			t.Errorf("%s: %v, %v, %v, want %d packages", name, err, names(got), got.Findings, test.want)
		}
		for _, code := range codes(got) {
			if code != model.NotAskedFor {
				t.Errorf("%s: a finding is %s", name, code)
			}
		}
	}
}

func TestAnAnswerThatIsNoList(t *testing.T) {
	whole := listOf(offered("p", "c", `{}`), offered("q", "c", `{}`))
	for name, test := range map[string]struct{ text, want string }{
		"nothing":               {"", "ended in its middle"},
		"a page":                {"<html>", `there is '<', expected a list`},
		"a text":                {`"x"`, "expected a list"},
		"a Status":              {`{"kind":"Status","items":[]}`, `kind "Status", expected PackageManifestList`},
		"another list":          {`{"kind":"SecretList","items":[{}]}`, `kind "SecretList"`},
		"no items":              {`{"kind":"PackageManifestList"}`, "no items"},
		"items that are a text": {`{"items":"x"}`, "no items"},
		"a part":                {`{"metadata":{"continue":"x"},"items":[]}`, "a part of the list"},
		"broken metadata":       {`{"metadata":{"continue"},"items":[]}`, "no JSON"},
		"no commas":             {`{"items":[{} {}]}`, `behind item 1 there is '{'`},
		"a comma too many":      {`{"items":[{},]}`, "expected a value"},
		"no colon":              {`{"items" []}`, `expected ":"`},
		"a field without name":  {`{1:2}`, "expected the name of a field"},
		"cut in an item":        {whole[:len(whole)-100], "ended in its middle"},
		"cut behind an item":    {whole[:strings.Index(whole, `"q"`)-len(`,{"metadata":{"name":`)], "ended in its middle"},
		"cut behind the items":  {strings.TrimRight(whole, "}\n"), "ended in its middle"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := catalogue.Manifests{}.Read(t.Context(), strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) || got.Packages != nil {
				t.Errorf("%v and %v, want nothing and an error with %q", names(got), err, test.want)
			}
		})
	}
	for name, text := range map[string]string{
		"an empty list": `{"kind":"PackageManifestList","items":[]}`, "null": ` {"items" : null , "metadata":null} `,
		"as kubectl writes it": indent(t, `{"apiVersion":"v1","items":[],"kind":"List","metadata":{"resourceVersion":""}}`),
	} {
		if got := readList(t, text); got.Packages != nil || got.Findings != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if diff := cmp.Diff(readList(t, whole), readList(t, indent(t, whole))); diff != "" {
		t.Errorf("indented:\n%s", diff)
	}
}

func TestReadingEndsWithItsContextOrTheFault(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (catalogue.Manifests{}).Read(ctx, strings.NewReader(listOf(`{}`))); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	fault := errors.New("the line is dead")
	in := io.MultiReader(strings.NewReader(`{"items":[{}`), iotest.ErrReader(fault))
	if _, err := (catalogue.Manifests{}).Read(t.Context(), in); !errors.Is(err, fault) {
		t.Errorf("the error is %v", err)
	}
	text := listOf(offered("p", "c", `{}`))
	if _, err := (catalogue.Manifests{Most: int64(len(text)) - 5}).Read(t.Context(), strings.NewReader(text)); !errors.Is(err, catalogue.ErrTooLarge) {
		t.Errorf("the error is %v", err)
	}
	if _, err := (catalogue.Manifests{Most: int64(len(text))}).Read(t.Context(), strings.NewReader(text)); err != nil {
		t.Errorf("the error is %v", err)
	}
}
