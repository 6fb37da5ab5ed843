package catalogue_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	"github.com/tabard-dev/tabard/internal/catalogue"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

type object = map[string]any

// at is what is at a path of fields; nil if there is nothing.
func at(value any, path ...string) any {
	for _, field := range path {
		in, _ := value.(object)
		value = in[field]
	}
	return value
}

func list(value any) []any { all, _ := value.([]any); return all }

func name(value any) string { text, _ := value.(string); return text }

// manifests are the PackageManifests that OLM's package server makes of a file-based catalogue
// of JSON lines whose channels all have a head with metadata.
func manifests(t *testing.T, lines string) []object {
	t.Helper()
	documents := map[string]map[string][]object{}
	decoder := json.NewDecoder(strings.NewReader(lines))
	for decoder.More() {
		var d object
		if err := decoder.Decode(&d); err != nil {
			t.Fatal(err)
		}
		pkg := name(d["package"])
		if d["schema"] == "olm.package" {
			pkg = name(d["name"])
		}
		if documents[pkg] == nil {
			documents[pkg] = map[string][]object{}
		}
		documents[pkg][name(d["schema"])] = append(documents[pkg][name(d["schema"])], d)
	}
	var all []object
	for _, pkg := range slices.Sorted(maps.Keys(documents)) {
		all = append(all, manifest(pkg, documents[pkg]))
	}
	return all
}

func manifest(pkg string, documents map[string][]object) object {
	bundles, against := map[string]object{}, map[string]object{}
	for _, b := range documents["olm.bundle"] {
		bundles[name(b["name"])] = b
	}
	for _, d := range documents["olm.deprecations"] {
		for _, e := range list(d["entries"]) {
			against[name(at(e, "reference", "schema"))+"/"+name(at(e, "reference", "name"))] = object{"message": at(e, "message")}
		}
	}
	deprecated := func(o object, what string) object {
		if against[what] != nil {
			o["deprecation"] = against[what]
		}
		return o
	}
	labels := object{"catalog": "vendor", "catalog-namespace": "olm", "provider": "Example"}
	var channels []any
	for _, c := range documents["olm.channel"] {
		var entries []any
		left := map[string]bool{}
		for _, e := range list(c["entries"]) {
			left[name(at(e, "replaces"))] = true
			for _, skipped := range list(at(e, "skips")) {
				left[name(skipped)] = true
			}
		}
		head := ""
		for _, e := range slices.Backward(list(c["entries"])) {
			entry := name(at(e, "name"))
			if !left[entry] {
				head = entry
			}
			entries = append(entries, deprecated(object{"name": entry, "version": version(bundles[entry])}, "olm.bundle/"+entry))
		}
		description, own := described(bundles[head])
		if c["name"] == documents["olm.package"][0]["defaultChannel"] {
			maps.Copy(labels, own)
		}
		channels = append(channels, deprecated(object{
			"name": c["name"], "currentCSV": head, "currentCSVDesc": description, "entries": entries,
		}, "olm.channel/"+name(c["name"])))
	}
	return object{
		"kind": "PackageManifest", "apiVersion": "packages.operators.coreos.com/v1", "spec": object{},
		"metadata": object{"name": pkg, "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": platformed(labels)},
		"status": deprecated(object{
			"packageName": pkg, "catalogSource": "vendor", "catalogSourceNamespace": "olm", "catalogSourceDisplayName": "The Vendor",
			"catalogSourcePublisher": "Example", "provider": object{"name": "Example"},
			"defaultChannel": documents["olm.package"][0]["defaultChannel"], "channels": channels,
		}, "olm.package/"),
	}
}

func property(bundle object, kind string) any {
	for _, p := range list(bundle["properties"]) {
		if at(p, "type") == kind {
			return at(p, "value")
		}
	}
	return nil
}

func version(bundle object) any { return at(property(bundle, "olm.package"), "version") }

// described is the currentCSVDesc of a bundle, and the labels of its ClusterServiceVersion.
func described(bundle object) (description, labels object) {
	from, _ := property(bundle, "olm.csv.metadata").(object)
	from = maps.Clone(from)
	if data := property(bundle, "olm.bundle.object"); data != nil && from == nil {
		var csv object
		text, _ := base64.StdEncoding.DecodeString(name(at(data, "data"))) // The generator wrote it.
		_ = json.Unmarshal(text, &csv)
		from, _ = csv["spec"].(object)
		from["annotations"], from["labels"] = at(csv, "metadata", "annotations"), at(csv, "metadata", "labels")
		delete(from, "install")
	}
	labels, _ = from["labels"].(object)
	delete(from, "labels")
	from["version"], from["icon"], from["relatedImages"] = version(bundle), []any{}, []any{"registry.example.com/x"}
	return from, labels
}

// platformed adds the labels that the package server adds where an operator has none of a kind.
func platformed(labels object) object {
	for prefix, platform := range map[string]string{"operatorframework.io/arch": ".amd64", "operatorframework.io/os": ".linux"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(l string) bool { return strings.HasPrefix(l, prefix) }) {
			labels[prefix+platform] = "supported"
		}
	}
	return labels
}

// answer is what an API server answers with.
func answer(t *testing.T, items ...object) string {
	t.Helper()
	text, err := json.Marshal(object{
		"kind": "PackageManifestList", "apiVersion": "packages.operators.coreos.com/v1", "metadata": object{"resourceVersion": "1"}, "items": items,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// untold takes from what a file tells all that PackageManifests do not.
func untold(c model.Catalogue) []model.Package {
	for i := range c.Packages {
		p := &c.Packages[i]
		heads := map[string]string{}
		for j := range p.Channels {
			channel := &p.Channels[j]
			heads[channel.Head] = channel.Name
			channel.EdgesKnown = false
			for k, e := range channel.Entries {
				channel.Entries[k] = model.Entry{Name: e.Name}
			}
			slices.SortFunc(channel.Entries, func(a, b model.Entry) int { return strings.Compare(a.Name, b.Name) })
		}
		for j := range p.Bundles {
			b := &p.Bundles[j]
			b.Image, b.Workload = "", nil
			if heads[b.Name] == "" {
				b.Metadata, b.Features = nil, model.Features{}
			} else if heads[b.Name] != p.DefaultChannel {
				b.Metadata.Platforms = nil
			}
		}
	}
	return c.Packages
}

// rows are what a listing says of each package but its source, and counts what is not known.
func rows(c model.Catalogue, f model.Filter) ([]object, int) {
	listing := c.List(f)
	var all []object
	for _, r := range listing.Rows {
		b := *r.Bundle
		b.Image, b.Workload = "", nil // PackageManifests do not have them, and no row shows them.
		all = append(all, object{
			"package": r.Package.Name, "deprecation": r.Package.Deprecation, "channel": r.Channel.Name, "channelDeprecation": r.Channel.Deprecation,
			"head": b, "demand": b.Demand(), "categories": b.Categories(),
		})
	}
	return all, listing.Unknown
}

const twoChannels = `{"schema":"olm.package","name":"q","defaultChannel":"stable"}
{"schema":"olm.channel","package":"q","name":"stable","entries":[{"name":"q.v1.0.0"},{"name":"q.v1.1.0","replaces":"q.v1.0.0","skipRange":"<1.1.0"}]}
{"schema":"olm.channel","package":"q","name":"fast","entries":[{"name":"q.v1.1.0"},{"name":"q.v2.0.0","replaces":"q.v1.1.0"}]}
{"schema":"olm.bundle","package":"q","name":"q.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"q","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"q","name":"q.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"q","version":"1.1.0"}},` +
	`{"type":"olm.csv.metadata","value":{"displayName":"Q","labels":{"operatorframework.io/arch.arm64":"supported","operatorframework.io/arch.amd64":"supported"},` +
	`"annotations":{"features.operators.openshift.io/token-auth-gcp":"true","operators.openshift.io/infrastructure-features":"[\"TokenAuth\"]"}}}]}
{"schema":"olm.bundle","package":"q","name":"q.v2.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"q","version":"2.0.0"}},` +
	`{"type":"olm.csv.metadata","value":{"displayName":"Q2","provider":{"name":"Example"},"annotations":{"features.operators.openshift.io/csi":"yes"}}}]}
{"schema":"olm.deprecations","package":"q","entries":[{"reference":{"schema":"olm.package"},"message":"all"},{"reference":{"schema":"olm.channel","name":"fast"},"message":"slow"},{"reference":{"schema":"olm.bundle","name":"q.v1.1.0"},"message":"old"}]}
`

// Scenario 9, a file and PackageManifests: the same catalogue gives the same rows for the heads
// of channels, but for the source; of all else PackageManifests give what they have, and nothing
// that they do not have.
func TestScenario9AFileAndPackageManifestsGiveTheSameRows(t *testing.T) {
	plan := generate.Plan{Seed: 7, Packages: 40, Bundles: 400, Bytes: 3_200_000}
	var file bytes.Buffer
	if err := plan.JSON(&file); err != nil {
		t.Fatal(err)
	}
	lines := file.String() + twoChannels + allP
	fromFile := readText(t, lines)
	fromCluster, err := catalogue.Manifests{}.Read(t.Context(), strings.NewReader(answer(t, manifests(t, lines)...)))
	if err != nil || len(fromCluster.Packages) != plan.Packages+2 {
		t.Fatalf("%d packages, %v", len(fromCluster.Packages), err)
	}
	yes, nothing := model.Yes, model.DemandNothing
	for filter, f := range map[string]model.Filter{
		"all": {}, "AWS": {Tokens: &yes}, "GCP": {Cloud: model.GCP, Tokens: &yes}, "nothing asked": {Demand: &nothing},
		"provider": {Provider: "Example Data"}, "category": {Category: "storage"}, "words": {Search: "bucket"}, "feature": {Features: []model.Feature{model.CSI}},
	} {
		want, unknown := rows(fromFile, f)
		got, unknownHere := rows(fromCluster, f)
		if diff := cmp.Diff(want, got); diff != "" || unknown != unknownHere || filter != "words" && len(want) == 0 {
			t.Errorf("%s: %d rows, %d unknown, want %d and %d (-file +cluster):\n%.3000s", filter, len(got), unknownHere, len(want), unknown, diff)
		}
	}
	source := model.Source{Kind: model.CatalogSource, Namespace: "olm", Name: "vendor", DisplayName: "The Vendor", Publisher: "Example"}
	for i, p := range fromCluster.Packages {
		if p.Source != source {
			t.Errorf("the source of %s is %+v, want %+v", p.Name, p.Source, source)
		}
		fromCluster.Packages[i].Source = model.Source{}
		for _, c := range p.Channels {
			slices.SortFunc(c.Entries, func(a, b model.Entry) int { return strings.Compare(a.Name, b.Name) })
		}
	}
	if diff := cmp.Diff(untold(fromFile), fromCluster.Packages); diff != "" {
		t.Errorf("(-file +cluster):\n%.3000s", diff)
	}
	if len(fromFile.Findings) != 1 || len(fromCluster.Findings) != 1 || fromCluster.Findings[0].Message != fromFile.Findings[0].Message {
		t.Errorf("the findings are %v and %v, want one of an odd value each", fromFile.Findings, fromCluster.Findings)
	}
}
