package operators

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	reader "github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// manifest is a PackageManifest of a catalogue in namespace olm.
func manifest(source, pkg string) string {
	return `{"kind":"PackageManifest","metadata":{"name":"` + pkg + `"},"status":{"packageName":"` + pkg + `","catalogSource":"` + source + `",
		"catalogSourceNamespace":"olm","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"` + pkg + `.v1",
		"entries":[{"name":"` + pkg + `.v1","version":"1.0.0"}],"currentCSVDesc":{"displayName":"` + pkg + ` of ` + source + `","version":"1.0.0",
		"annotations":{"features.operators.openshift.io/token-auth-aws":"true"}}}]}}`
}

// serving is a cluster that serves PackageManifests, and says what it was asked for.
func serving(asked *Origin, manifests ...string) openshift4 {
	cluster := onAWS()
	cluster.catalogue = func(ctx context.Context, from Origin) (catalogue.Catalogue, error) {
		*asked = from
		asked.Kubeconfig = nil
		wanted := reader.Wanted{Package: from.Package, CatalogueNamespace: from.CatalogueNamespace, Catalogue: from.Catalogue}
		list := `{"kind":"PackageManifestList","items":[` + strings.Join(manifests, ",") + `]}`
		return reader.Manifests{Wanted: wanted}.Read(ctx, strings.NewReader(list))
	}
	return cluster
}

func TestTheClustersCataloguesAreTheUsualOnes(t *testing.T) {
	var asked Origin
	cluster := serving(&asked, manifest("vendor", "p"), manifest("vendor", "q"))
	for args, want := range map[string]Origin{
		"list":                       {Kind: Cluster},
		"list --catalogue cluster":   {Kind: Cluster},
		"list --context x":           {Kind: Cluster},
		"list -n shop":               {Kind: Cluster, Namespace: "shop"},
		"list --source vendor":       {Kind: Cluster, Catalogue: "vendor"},
		"show p --source olm/vendor": {Kind: Cluster, Package: "p", CatalogueNamespace: "olm", Catalogue: "vendor"},
		"permissions p --requests testdata/requests --source vendor": {Kind: Cluster, Package: "p", Catalogue: "vendor"},
		"upgrade-diff p --from 1.0.0 --to 1.0.0":                     {Kind: Cluster, Package: "p"},
	} {
		got := cluster.run(t, "", strings.Fields(args)...)
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s%s", args, diff, got.errOut)
		}
		asked = Origin{}
	}
	// Files of requests need no catalogue.
	cluster.run(t, "", "permissions", "p", "--requests", "testdata/requests").exits(t, 0)
	if asked.Kind != "" {
		t.Errorf("a catalogue was read: %+v", asked)
	}
}

func TestAListNamesTheSourceOfEachPackage(t *testing.T) {
	var asked Origin
	l := decoded[listDocument](t, serving(&asked, manifest("vendor", "p"), manifest("other", "p")).run(t, "", "list", "-o", "json").exits(t, 0))
	want := []listing.Place{{Kind: "CatalogSource", Namespace: "olm", Name: "other"}, {Kind: "CatalogSource", Namespace: "olm", Name: "vendor"}}
	var got []listing.Place
	for _, r := range l.Items {
		got = append(got, r.Source)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	says(t, serving(&asked, manifest("vendor", "p")).run(t, "", "list", "-o", "wide").exits(t, 0).out, "olm/vendor")
}

func TestAPackageOfTwoCataloguesIsChosenBySource(t *testing.T) {
	var asked Origin
	both := serving(&asked, manifest("vendor", "p"), manifest("other", "p"))
	for _, command := range []string{"show p", "permissions p", "upgrade-diff p --from 1.0.0 --to 1.0.0"} {
		says(t, both.run(t, "", strings.Fields(command)...).exits(t, 2).errOut, `package "p" is in 2 catalogues of the cluster: choose one by --source, of "olm/other", "olm/vendor"`)
	}
	says(t, both.run(t, "", "show", "p", "--source", "olm/vendor").exits(t, 0).out, "p of vendor", "olm/vendor")
	says(t, both.run(t, "", "show", "absent", "--source", "vendor").exits(t, 2).errOut,
		`the cluster serves no package "absent"`, "tabard operators list --all --source vendor names all")
}

func TestAClusterWithoutCatalogues(t *testing.T) {
	var asked Origin
	empty := serving(&asked)
	says(t, empty.run(t, "", "list").exits(t, 1).errOut, "the cluster serves no package: kubectl get catalogsources")
	says(t, empty.run(t, "", "list", "--source", "vendor").exits(t, 1).errOut, "the cluster serves no package by --source vendor")
	failing := onAWS()
	failing.catalogue = func(context.Context, Origin) (catalogue.Catalogue, error) {
		return catalogue.Catalogue{}, errors.New("this cluster has no OLM")
	}
	says(t, failing.run(t, "", "list").exits(t, 1).errOut, "tabard: this cluster has no OLM")
}

func TestWhatCatalogueSays(t *testing.T) {
	for text, want := range map[string]Origin{
		"": {Kind: Cluster}, "cluster": {Kind: Cluster}, "./cluster": {Kind: File, Path: "./cluster"}, "-": {Kind: File, Path: "-"},
		"catalog.json": {Kind: File, Path: "catalog.json"}, "oci:a/b": {Kind: Layout, Path: "a/b"}, "./oci:a": {Kind: File, Path: "./oci:a"},
		"archive:a.tar": {Kind: Archive, Path: "a.tar"}, "image:r.example.com/a:v1": {Kind: Image, Path: "r.example.com/a:v1"}, "OCI:a": {Kind: File, Path: "OCI:a"},
	} {
		if diff := cmp.Diff(want, originOf(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for flags, says1 := range map[string]string{"oci:": "oci:catalogue/", "archive:": "archive:catalogue.tar", "image:": "image:registry.example.com/catalogue:v1", "oci:x -n a": "leave them out"} {
		says(t, onAWS().run(t, "", append([]string{"list", "--catalogue"}, strings.Fields(flags)...)...).exits(t, 2).errOut, says1)
	}
}
