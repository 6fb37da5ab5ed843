package catalogue_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

// Scenario 12: heads of channels.
func TestHeads(t *testing.T) {
	for name, test := range map[string]struct {
		entries []catalogue.Entry
		want    []string
	}{
		"the one that nothing replaces":   {[]catalogue.Entry{{Name: "a"}, {Name: "b", Replaces: "a"}}, []string{"b"}},
		"in any order":                    {[]catalogue.Entry{{Name: "b", Replaces: "a"}, {Name: "a"}}, []string{"b"}},
		"what is skipped is none":         {[]catalogue.Entry{{Name: "a"}, {Name: "bad"}, {Name: "c", Replaces: "a", Skips: []string{"bad"}}}, []string{"c"}},
		"a skipRange makes none":          {[]catalogue.Entry{{Name: "a"}, {Name: "b", SkipRange: "<2.0.0"}}, []string{"a", "b"}},
		"two heads":                       {[]catalogue.Entry{{Name: "a"}, {Name: "b", Replaces: "a"}, {Name: "c", Replaces: "a"}}, []string{"b", "c"}},
		"a circle has none":               {[]catalogue.Entry{{Name: "a", Replaces: "b"}, {Name: "b", Replaces: "a"}}, nil},
		"one that replaces itself":        {[]catalogue.Entry{{Name: "a", Replaces: "a"}}, nil},
		"no entry":                        {nil, nil},
		"what is replaced need not exist": {[]catalogue.Entry{{Name: "b", Replaces: "gone"}}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, catalogue.Heads(test.entries)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCycle(t *testing.T) {
	for name, test := range map[string]struct {
		entries []catalogue.Entry
		want    []string
	}{
		"a line":                {[]catalogue.Entry{{Name: "b", Replaces: "a"}, {Name: "a"}, {Name: "c", Replaces: "b"}}, nil},
		"two that meet":         {[]catalogue.Entry{{Name: "a"}, {Name: "b", Replaces: "a"}, {Name: "c", Replaces: "a"}}, nil},
		"itself":                {[]catalogue.Entry{{Name: "a", Replaces: "a"}}, []string{"a"}},
		"a circle with a tail":  {[]catalogue.Entry{{Name: "t", Replaces: "a"}, {Name: "a", Replaces: "b"}, {Name: "b", Replaces: "c"}, {Name: "c", Replaces: "a"}}, []string{"a", "b", "c"}},
		"a circle beside lines": {[]catalogue.Entry{{Name: "x"}, {Name: "y", Replaces: "x"}, {Name: "a", Replaces: "b"}, {Name: "b", Replaces: "a"}}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, catalogue.Cycle(test.entries)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func bundles(versions ...string) []catalogue.Bundle {
	var all []catalogue.Bundle
	for _, v := range versions {
		all = append(all, catalogue.Bundle{Name: "p.v" + v, Version: v})
	}
	return all
}

// Scenario 12: edges of replaces, skips and skipRange.
func TestUpgrades(t *testing.T) {
	pkg := catalogue.Package{Bundles: append(bundles("0.9.0", "1.0.0", "1.1.0", "1.2.0", "1.2.0-rc.1", "2.0.0"),
		catalogue.Bundle{Name: "p.unknown"}, catalogue.Bundle{Name: "p.odd", Version: "v1.0"})}
	for name, test := range map[string]struct {
		entry catalogue.Entry
		want  []catalogue.Edge
	}{
		"replaces":                 {catalogue.Entry{Replaces: "p.v1.1.0"}, []catalogue.Edge{{From: "p.v1.1.0", By: catalogue.ByReplaces}}},
		"skips, also what is gone": {catalogue.Entry{Skips: []string{"p.v1.0.0", "gone"}}, []catalogue.Edge{{From: "p.v1.0.0", By: catalogue.BySkips}, {From: "gone", By: catalogue.BySkips}}},
		"a range without its end":  {catalogue.Entry{SkipRange: ">=1.0.0 <1.2.0"}, []catalogue.Edge{{From: "p.v1.0.0", By: catalogue.BySkipRange}, {From: "p.v1.1.0", By: catalogue.BySkipRange}, {From: "p.v1.2.0-rc.1", By: catalogue.BySkipRange}}},
		"a range with two parts":   {catalogue.Entry{SkipRange: "<1.0.0 || >1.2.0"}, []catalogue.Edge{{From: "p.v0.9.0", By: catalogue.BySkipRange}}},
		"each bundle once":         {catalogue.Entry{Replaces: "p.v1.1.0", Skips: []string{"p.v1.1.0", "p.v1.0.0"}, SkipRange: ">=1.0.0 <1.2.0-a"}, []catalogue.Edge{{From: "p.v1.1.0", By: catalogue.ByReplaces}, {From: "p.v1.0.0", By: catalogue.BySkips}}},
		"a range that is no range": {catalogue.Entry{SkipRange: "soon"}, nil},
		"a range that is too long": {catalogue.Entry{SkipRange: strings.Repeat(">0.0.0 ", 1000)}, nil},
		"itself is no upgrade":     {catalogue.Entry{Replaces: "p.v2.0.0", Skips: []string{"p.v2.0.0"}}, nil},
		"nothing upgrades to it":   {catalogue.Entry{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.entry.Name = "p.v2.0.0"
			channel := catalogue.Channel{EdgesKnown: true, Entries: []catalogue.Entry{test.entry}}
			if diff := cmp.Diff(test.want, pkg.Upgrades(channel, "p.v2.0.0")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, edge := range test.want {
				from, _ := pkg.Bundle(edge.From)
				if by, ok := test.entry.Upgrade(edge.From, from.Version); !ok || by != edge.By {
					t.Errorf("%s upgrades: %v, by %s, want %s", edge.From, ok, by, edge.By)
				}
			}
			if _, ok := test.entry.Upgrade("p.v2.0.0", "2.0.0"); ok {
				t.Error("the bundle upgrades to itself")
			}
			channel.EdgesKnown = false
			if got := pkg.Upgrades(channel, "p.v2.0.0"); got != nil {
				t.Errorf("edges that nobody knows are %v", got)
			}
		})
	}
	if got := pkg.Upgrades(catalogue.Channel{EdgesKnown: true}, "absent"); got != nil {
		t.Errorf("an absent entry has the upgrades %v", got)
	}
	installed := catalogue.Entry{Name: "p.v2.0.0", SkipRange: "<2.0.0"}
	if by, ok := installed.Upgrade("p.v1.5.0", "1.5.0"); !ok || by != catalogue.BySkipRange {
		t.Errorf("a version that is not in the catalogue upgrades: %v, %v", by, ok)
	}
}

// Scenario 12: a channel with two heads is marked, and its package is there.
func TestBuilderKeepsWhatIsInvalid(t *testing.T) {
	var b catalogue.Builder
	at := catalogue.Where{File: "f", Document: 1}
	b.Package(catalogue.Package{Name: "p", DefaultChannel: "stable"}, at)
	b.Channel("p", catalogue.Channel{Name: "stable", EdgesKnown: true, Entries: []catalogue.Entry{{Name: "p.v1.0.0"}, {Name: "p.v2.0.0"}}}, at)
	b.Channel("p", catalogue.Channel{Name: "circle", EdgesKnown: true, Entries: []catalogue.Entry{{Name: "p.v1.0.0", Replaces: "p.v1.0.0", SkipRange: "?"}}}, at)
	b.Channel("p", catalogue.Channel{Name: "circle"}, at)
	for _, bundle := range append(bundles("1.0.0"), catalogue.Bundle{Name: "--all", Version: "one"}) {
		b.Bundle("p", bundle, at)
	}
	b.Bundle("q\x1b[2J", catalogue.Bundle{Name: "q.v1"}, at)
	b.Deprecate("p", catalogue.Reference{Schema: "olm.package"}, "gone", at)
	b.Deprecate("p", catalogue.Reference{Schema: "olm.bundle", Name: "p.v1.0.0"}, "old", at)
	b.Deprecate("p", catalogue.Reference{Schema: "olm.channel", Name: "stable"}, "dull", at)
	b.Deprecate("p", catalogue.Reference{Schema: "olm.package"}, "again", at)
	made := b.Build()
	if len(made.Packages) != 2 || made.Packages[0].Name != "p" || made.Packages[1].Name != "q\x1b[2J" {
		t.Fatalf("packages are %+v", made.Packages)
	}
	p := made.Packages[0]
	stable, _ := p.Channel("stable")
	if !stable.Invalid || stable.Head != "" || stable.Deprecation != "dull" || p.Deprecation != "gone" {
		t.Errorf("the package is %+v", p)
	}
	if old, ok := p.Bundle("p.v1.0.0"); !ok || old.Deprecation != "old" || old.Features.Tokens[catalogue.AWS] != catalogue.Unknown {
		t.Errorf("the bundle is %+v", old)
	}
	want := []catalogue.Code{
		catalogue.ChannelWithHeads, catalogue.ChannelWithoutHead, catalogue.ReplacesCycle, catalogue.RangeBroken, catalogue.DefinedTwice,
		catalogue.NameOdd, catalogue.VersionBroken, catalogue.NameOdd, catalogue.DefinedTwice, catalogue.BundleMissing, catalogue.PackageNotDefined,
	}
	if diff := cmp.Diff(want, codes(made.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	for _, f := range made.Findings {
		if text := f.String(); strings.Contains(text, "\x1b") || !strings.Contains(text, `"f", document 1`) {
			t.Errorf("the finding is %q", text)
		}
	}
}

func TestABuilderKeepsAThousandFindings(t *testing.T) {
	var b catalogue.Builder
	for i := range 1500 {
		b.Find(catalogue.Finding{Code: catalogue.DocumentBroken, Message: fmt.Sprint(i)})
	}
	findings := b.Build().Findings
	if last := findings[len(findings)-1]; len(findings) != 1001 || last.Code != catalogue.TooManyFindings || !strings.HasPrefix(last.Message, "500 more") {
		t.Errorf("%d findings, the last is %v", len(findings), last)
	}
}

func TestAMissingDefaultChannel(t *testing.T) {
	var b catalogue.Builder
	b.Package(catalogue.Package{Name: "p", DefaultChannel: "stable"}, catalogue.Where{})
	if diff := cmp.Diff([]catalogue.Code{catalogue.DefaultChannelMissing}, codes(b.Build().Findings)); diff != "" {
		t.Error(diff)
	}
}

func TestLeads(t *testing.T) {
	bundles := func(names ...string) (out []catalogue.Bundle) {
		for _, name := range names {
			out = append(out, catalogue.Bundle{Name: "p.v" + name, Version: name})
		}
		return out
	}
	stable := catalogue.Channel{Name: "stable", EdgesKnown: true, Entries: []catalogue.Entry{
		{Name: "p.v1.0.0"}, {Name: "p.v1.1.0", Replaces: "p.v1.0.0"}, {Name: "p.v1.2.0", Replaces: "p.v1.1.0", Skips: []string{"p.v1.1.1"}},
	}}
	fast := catalogue.Channel{Name: "fast", EdgesKnown: true, Entries: []catalogue.Entry{{Name: "p.v1.2.0", SkipRange: "<1.2.0"}}}
	cycle := catalogue.Channel{Name: "cycle", EdgesKnown: true, Entries: []catalogue.Entry{{Name: "a", Replaces: "b"}, {Name: "b", Replaces: "a"}}}
	all := bundles("1.0.0", "1.1.0", "1.2.0", "0.9.0")
	for name, c := range map[string]struct {
		p        catalogue.Package
		from, to string
		want     []string
		known    bool
	}{
		"at once":                 {catalogue.Package{Channels: []catalogue.Channel{stable}, Bundles: all}, "p.v1.0.0", "p.v1.1.0", []string{"stable"}, true},
		"over another":            {catalogue.Package{Channels: []catalogue.Channel{stable}, Bundles: all}, "p.v1.0.0", "p.v1.2.0", []string{"stable"}, true},
		"by skips":                {catalogue.Package{Channels: []catalogue.Channel{stable}, Bundles: all}, "p.v1.1.1", "p.v1.2.0", []string{"stable"}, true},
		"by a range":              {catalogue.Package{Channels: []catalogue.Channel{stable, fast}, Bundles: all}, "p.v0.9.0", "p.v1.2.0", []string{"fast"}, true},
		"by two channels":         {catalogue.Package{Channels: []catalogue.Channel{stable, fast}, Bundles: all}, "p.v1.0.0", "p.v1.2.0", []string{"stable", "fast"}, true},
		"back":                    {catalogue.Package{Channels: []catalogue.Channel{stable, fast}, Bundles: all}, "p.v1.1.0", "p.v1.0.0", nil, true},
		"from one outside":        {catalogue.Package{Channels: []catalogue.Channel{stable}, Bundles: all}, "p.v0.9.0", "p.v1.2.0", nil, true},
		"without edges":           {catalogue.Package{Channels: []catalogue.Channel{{Name: "stable", Entries: stable.Entries}}, Bundles: all}, "p.v1.0.0", "p.v1.1.0", nil, false},
		"one of two without them": {catalogue.Package{Channels: []catalogue.Channel{{Name: "x"}, stable}, Bundles: all}, "p.v1.0.0", "p.v1.1.0", []string{"stable"}, true},
		"a cycle":                 {catalogue.Package{Channels: []catalogue.Channel{cycle}}, "c", "a", nil, true},
		"no channel":              {catalogue.Package{}, "a", "b", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, known := c.p.Leads(c.from, c.to); !slices.Equal(got, c.want) || known != c.known {
				t.Errorf("%v %t", got, known)
			}
		})
	}
	// Of a catalogue as somebody hostile makes it, the search ends and nothing is said.
	hostile := catalogue.Package{Channels: []catalogue.Channel{{Name: "stable", EdgesKnown: true}}}
	for i := range 20_000 {
		name := strconv.Itoa(i)
		hostile.Bundles = append(hostile.Bundles, catalogue.Bundle{Name: name, Version: "1.0." + name})
		hostile.Channels[0].Entries = append(hostile.Channels[0].Entries, catalogue.Entry{Name: name, SkipRange: ">=1.0.0"})
	}
	if got, known := hostile.Leads("other", "0"); got != nil || known {
		t.Errorf("%v %t", got, known)
	}
}
