package catalogue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

func source(namespace, name string) catalogue.Source {
	return catalogue.Source{Kind: catalogue.CatalogSource, Namespace: namespace, Name: name, DisplayName: "The " + name, Publisher: "Example"}
}

func TestTheSameNameInTwoSourcesIsTwoPackages(t *testing.T) {
	var b catalogue.Builder
	add := func(from catalogue.Source, channel string) {
		b.From(from)
		if b.Has("p") {
			t.Errorf("%s has the package before it was added", from)
		}
		b.Package(catalogue.Package{Name: "p", DefaultChannel: channel}, catalogue.Where{Source: from})
		b.Channel("p", catalogue.Channel{Name: channel, Head: "p.v1", Entries: []catalogue.Entry{{Name: "p.v1"}}}, catalogue.Where{Source: from})
		b.Bundle("p", catalogue.Bundle{Name: "p.v1", Version: "1.0.0"}, catalogue.Where{Source: from})
		if !b.Has("p") {
			t.Errorf("%s does not have the package", from)
		}
	}
	add(source("olm", "second"), "b")
	add(source("olm", "first"), "a")
	add(source("team", "first"), "c")
	add(catalogue.Source{}, "file")
	got := b.Build()
	var all []string
	for _, p := range got.Packages {
		all = append(all, p.Source.String()+" "+p.DefaultChannel+" "+p.Channels[0].Head+" "+p.Source.DisplayName)
	}
	want := []string{
		" file p.v1 ", `CatalogSource "olm/first" a p.v1 The first`, `CatalogSource "olm/second" b p.v1 The second`, `CatalogSource "team/first" c p.v1 The first`,
	}
	if diff := cmp.Diff(want, all); diff != "" || got.Findings != nil {
		t.Errorf("(-want +got):\n%s%v", diff, got.Findings)
	}
	if got.Packages[0].Source.LeavesOut() || !got.Packages[1].Source.LeavesOut() {
		t.Error("a file leaves nothing out, a CatalogSource may")
	}
}

func TestAFindingNamesItsSource(t *testing.T) {
	var b catalogue.Builder
	hostile := source("olm", "a\x1b[31m")
	b.From(hostile)
	b.Package(catalogue.Package{Name: "p", DefaultChannel: "none"}, catalogue.Where{Source: hostile})
	found := b.Build().Findings
	if len(found) != 1 || !strings.Contains(found[0].String(), `package "p" of CatalogSource "olm/a\x1b[31m"`) {
		t.Errorf("the findings are %q", found)
	}
}

func TestPlatformsOf(t *testing.T) {
	const arch, system = "operatorframework.io/arch.", "operatorframework.io/os."
	for name, test := range map[string]struct {
		labels map[string]string
		want   catalogue.Platforms
	}{
		"no label":                 {nil, catalogue.Platforms{Architectures: []string{"amd64"}, Systems: []string{"linux"}}},
		"labels of others":         {map[string]string{"a": "supported"}, catalogue.Platforms{Architectures: []string{"amd64"}, Systems: []string{"linux"}}},
		"several":                  {map[string]string{arch + "s390x": "supported", arch + "arm64": "supported", system + "linux": "supported"}, catalogue.Platforms{Architectures: []string{"arm64", "s390x"}, Systems: []string{"linux"}}},
		"only one kind":            {map[string]string{arch + "arm64": "supported"}, catalogue.Platforms{Architectures: []string{"arm64"}, Systems: []string{"linux"}}},
		"another value":            {map[string]string{arch + "arm64": "true", system + "linux": ""}, catalogue.Platforms{}},
		"a label without platform": {map[string]string{arch: "supported", "operatorframework.io/arch": "supported"}, catalogue.Platforms{Systems: []string{"linux"}}},
	} {
		if diff := cmp.Diff(test.want, catalogue.PlatformsOf(test.labels)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if !catalogue.PlatformLabel(arch+"arm64") || !catalogue.PlatformLabel(system+"linux") || catalogue.PlatformLabel("provider") {
		t.Error("the labels of platforms are those of architectures and systems")
	}
}
