package catalogue_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

func clusterCatalog(name string) catalogue.Source {
	return catalogue.Source{Kind: catalogue.ClusterCatalog, Name: name}
}

func TestAClusterCatalogIsInNoNamespace(t *testing.T) {
	of := clusterCatalog("a\x1b[31m")
	if got := of.String(); got != `ClusterCatalog "a\x1b[31m"` || of.LeavesOut() {
		t.Errorf("the source is %s, and leaves out: %v", got, of.LeavesOut())
	}
}

func TestMerge(t *testing.T) {
	has := func(from catalogue.Source, channel string, names ...string) catalogue.Catalogue {
		var c catalogue.Catalogue
		for _, name := range names {
			c.Packages = append(c.Packages, catalogue.Package{Name: name, Source: from, DefaultChannel: channel})
		}
		c.Findings = []catalogue.Finding{{Code: catalogue.ValueOdd, Message: channel}}
		return c
	}
	old, first, second := source("olm", "vendor"), clusterCatalog("first"), clusterCatalog("second")
	a, b := has(old, "a", "p", "r"), has(first, "b", "p", "q")
	untouched := slices.Clone(a.Packages)
	got := catalogue.Merge(catalogue.Merge(catalogue.Merge(catalogue.Catalogue{}, a), b), has(second, "c", "q"))
	var all []string
	for _, p := range got.Packages {
		all = append(all, p.Name+" of "+p.Source.String())
	}
	want := []string{
		`p of CatalogSource "olm/vendor"`, `p of ClusterCatalog "first"`, `q of ClusterCatalog "first"`,
		`q of ClusterCatalog "second"`, `r of CatalogSource "olm/vendor"`,
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Findings) != 3 || got.Findings[0].Message+got.Findings[1].Message+got.Findings[2].Message != "abc" {
		t.Errorf("the findings are %v", got.Findings)
	}
	twice := catalogue.Merge(b, has(first, "other", "q"))
	if len(twice.Packages) != 2 || twice.Packages[1].DefaultChannel != "b" || twice.Findings[2].Code != catalogue.DefinedTwice {
		t.Errorf("a package that both have: %v", twice)
	}
	if diff := cmp.Diff(untouched, a.Packages); diff != "" {
		t.Errorf("what was merged has changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(catalogue.Catalogue{}, catalogue.Merge(catalogue.Catalogue{}, catalogue.Catalogue{})); diff != "" {
		t.Errorf("nothing and nothing (-want +got):\n%s", diff)
	}
}

// However many catalogues are merged, the findings are bounded, and one says that there are more.
func TestMergeBoundsFindings(t *testing.T) {
	many := func(count int) (c catalogue.Catalogue) {
		var b catalogue.Builder
		for i := range count {
			b.Find(catalogue.Finding{Code: catalogue.ValueOdd, Message: fmt.Sprint(i)})
		}
		return b.Build()
	}
	for name, test := range map[string]struct {
		parts []int
		want  int
		more  bool
	}{
		"at the bound":       {[]int{600, 400}, 1000, false},
		"beyond it together": {[]int{600, 401}, 1001, true},
		"the first beyond":   {[]int{1500, 0}, 1001, true},
		"the second beyond":  {[]int{0, 1500}, 1001, true},
		"many":               {[]int{1500, 1500, 1500, 3}, 1001, true},
	} {
		var all catalogue.Catalogue
		for _, count := range test.parts {
			all = catalogue.Merge(all, many(count))
		}
		more := len(all.Findings) > 0 && all.Findings[len(all.Findings)-1].Code == catalogue.TooManyFindings
		if len(all.Findings) != test.want || more != test.more || all.Findings[0].Message != "0" {
			t.Errorf("%s: %d findings, more: %v; want %d, %v", name, len(all.Findings), more, test.want, test.more)
		}
	}
}
