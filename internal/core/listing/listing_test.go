package listing_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/hack/catalogue/generate"
	reader "github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

const (
	token = "features.operators.openshift.io/token-auth-"
	reads = `[{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"r"},"spec":{"providerSpec":{
		"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetBucketLocation"],"resource":"arn:aws:s3:::one"}]}}}]`
)

// everything is sensitive.
var everything = strings.ReplaceAll(reads, `"s3:GetBucketLocation"`, `"*"`)

// made is a catalogue of packages that answer differently.
func made() *catalogue.Catalogue {
	var b catalogue.Builder
	add := func(name string, annotations map[string]string) {
		b.Package(catalogue.Package{Name: name, DefaultChannel: "stable"}, catalogue.Where{})
		b.Channel(name, catalogue.Channel{Name: "stable", EdgesKnown: true, Entries: []catalogue.Entry{{Name: name + ".v1"}}}, catalogue.Where{})
		bundle := catalogue.Bundle{Name: name + ".v1", Version: "1.0.0"}
		if annotations != nil {
			bundle.Metadata = &catalogue.Metadata{Provider: "Example", Annotations: annotations}
		}
		b.Bundle(name, bundle, catalogue.Where{})
	}
	add("admin", map[string]string{token + "aws": "true", permission.Annotation: everything})
	add("claims", map[string]string{catalogue.InfrastructureFeatures: `["TokenAuth"]`})
	add("dark", nil)
	add("free", map[string]string{token + "aws": "false", permission.Annotation: `[]`})
	add("gcp", map[string]string{token + "gcp": "true", permission.Annotation: reads})
	add("part", map[string]string{token + "aws": "true", catalogue.OperatorType: "non-standalone"})
	b.Package(catalogue.Package{Name: "without"}, catalogue.Where{})
	out := b.Build()
	return &out
}

func somewhere(*catalogue.Package) listing.Place {
	return listing.Place{Kind: "CatalogSource", Namespace: "olm", Name: "vendor"}
}

func TestList(t *testing.T) {
	aws, gcp := catalogue.AWS, catalogue.GCP
	for name, c := range map[string]struct {
		filter listing.Filter
		want   string
		// unknown and alone are how many may match, and how many are left out as no operators that
		// stand alone.
		unknown, alone int
	}{
		"everything that stands alone": {listing.Filter{}, "admin claims dark free gcp without", 0, 1},
		"everything":                   {listing.Filter{All: true}, "admin claims dark free gcp part without", 0, 0},
		"a cloud leaves nothing out":   {listing.Filter{Tokens: &aws}, "admin claims dark free gcp without", 0, 1},
		"tokens of AWS":                {listing.Filter{Tokens: &aws, TokenAuth: "yes"}, "admin", 3, 1},
		"tokens of GCP":                {listing.Filter{Tokens: &gcp, TokenAuth: "yes"}, "gcp", 3, 0},
		"tokens of any cloud":          {listing.Filter{TokenAuth: "yes"}, "admin gcp", 3, 1},
		"no tokens":                    {listing.Filter{TokenAuth: "no"}, "free", 3, 0},
		"unknown tokens":               {listing.Filter{TokenAuth: "unknown"}, "claims dark without", 0, 0},
		"known permissions":            {listing.Filter{Permissions: "known"}, "admin free gcp", 0, 0},
		"unknown permissions":          {listing.Filter{Permissions: "unknown"}, "claims dark without", 0, 1},
		"sensitive permissions":        {listing.Filter{Permissions: "sensitive"}, "admin", 3, 1},
		"no permissions":               {listing.Filter{Permissions: "none"}, "free", 3, 1},
		// What does not match by one filter is not unknown by another.
		"two filters":     {listing.Filter{TokenAuth: "no", Permissions: "known"}, "free", 0, 0},
		"a provider":      {listing.Filter{Provider: "example", TokenAuth: "yes"}, "admin gcp", 3, 1},
		"words":           {listing.Filter{Search: "adm"}, "admin", 2, 0},
		"a feature":       {listing.Filter{Features: []catalogue.Feature{catalogue.CSI}}, "", 2, 0},
		"Subscriptions":   {listing.Filter{Installed: of("gcp")}, "gcp", 0, 0},
		"none subscribed": {listing.Filter{Installed: of("absent")}, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := listing.List(made(), c.filter, somewhere)
			var names []string
			for _, r := range got.Items {
				names = append(names, r.Package)
				if r.Source.String() != "olm/vendor" || (len(r.Installed) > 0) != (c.filter.Installed != nil) {
					t.Errorf("%+v", r)
				}
			}
			if diff := cmp.Diff(strings.Fields(c.want), append([]string{}, names...)); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if got.Unknown != c.unknown || got.NotStandalone != c.alone || got.Total != 7 || got.Items == nil {
				t.Errorf("%d unknown, %d not alone, of %d; want %d and %d of 7", got.Unknown, got.NotStandalone, got.Total, c.unknown, c.alone)
			}
		})
	}
}

// of has a Subscription of one package.
func of(name string) func(*catalogue.Package) []listing.Install {
	return func(p *catalogue.Package) []listing.Install {
		if p.Name != name {
			return nil
		}
		return []listing.Install{{Namespace: "shop"}}
	}
}

// TestEachValueIsAsked: the values that callers check are those that the filter knows. Each package has
// one answer to each question.
func TestEachValueIsAsked(t *testing.T) {
	sum := func(values []string, filter func(string) listing.Filter) (n int) {
		for _, value := range values {
			n += len(listing.List(made(), filter(value), somewhere).Items)
		}
		return n
	}
	if n := sum(listing.TokenAuths(), func(v string) listing.Filter { return listing.Filter{All: true, TokenAuth: v} }); n != 7 {
		t.Errorf("%d answers of 7 packages", n)
	}
	if n := sum(listing.PermissionStates()[:2], func(v string) listing.Filter { return listing.Filter{All: true, Permissions: v} }); n != 7 {
		t.Errorf("%d answers of 7 packages", n)
	}
	for _, name := range listing.FeatureNames() {
		if _, ok := catalogue.FeatureNamed(name); !ok {
			t.Errorf("there is no feature %s", name)
		}
	}
}

func TestRows(t *testing.T) {
	aws := catalogue.AWS
	for _, r := range listing.List(made(), listing.Filter{All: true}, somewhere).Items {
		want := map[string][3]string{
			"admin": {"aws", "yes", "declared: 1, 1 sensitive"}, "claims": {"claimed", "claimed", "unknown"}, "dark": {"unknown", "unknown", "unknown"},
			"free": {"-", "no", "declared: nothing"}, "gcp": {"gcp", "not stated", "declared: 1"}, "part": {"aws", "yes", "unknown"}, "without": {"unknown", "unknown", "unknown"},
		}[r.Package]
		if got := [3]string{r.Takes(nil), r.Takes(&aws), r.Permissions.String()}; got != want {
			t.Errorf("%s: %q, want %q", r.Package, got, want)
		}
		if (r.Permissions.State == listing.StateUnknown) != (r.Permissions.Why != "") {
			t.Errorf("%+v", r)
		}
	}
}

func TestDetail(t *testing.T) {
	c := made()
	for i := range c.Packages {
		p := &c.Packages[i]
		d := listing.DetailOf(p, somewhere(p))
		if d.Package != p.Name || len(d.Versions) != len(p.Bundles) || d.Chosen != nil {
			t.Errorf("%+v", d)
		}
		for _, b := range listing.Newest(p) {
			d.Choose(p, b)
			if d.Chosen.CSV != b.Name || d.Chosen.MetadataKnown != (b.Metadata != nil) || len(d.Chosen.Features) != 11 {
				t.Errorf("%+v", d.Chosen)
			}
			values := map[string]string{"admin": "ROLEARN", "part": "ROLEARN", "gcp": "PROJECT_NUMBER POOL_ID PROVIDER_ID SERVICE_ACCOUNT_EMAIL AUDIENCE"}[p.Name]
			if got := strings.Join(d.Chosen.Values, " "); got != values {
				t.Errorf("%s takes %q, want %q", p.Name, got, values)
			}
		}
		// Programs get lists, also where there is nothing in them.
		if text := string(must.Get(json.Marshal(d))(t)); strings.Contains(text, "null") && p.Name == "without" {
			t.Errorf("%s", text)
		}
	}
}

func TestVersions(t *testing.T) {
	p := &catalogue.Package{Name: "p", Bundles: []catalogue.Bundle{{Name: "a", Version: "1.9.0"}, {Name: "b", Version: "odd"}, {Name: "c", Version: "1.10.0"}, {Name: "d", Version: "1.9.0"}}}
	names := func(all []catalogue.Bundle) (out string) {
		for _, b := range all {
			out += b.Name
		}
		return out
	}
	if got := names(listing.Newest(p)); got != "cadb" {
		t.Errorf("the newest first: %s", got)
	}
	for version, want := range map[string]string{"1.10.0": "c", "b": "b", "odd": "b", "1.9.0": "ad", "2.0.0": ""} {
		if got := names(listing.Version(p, version)); got != want {
			t.Errorf("%s is %q, want %q", version, got, want)
		}
	}
}

// TestFindingsOfAnotherCatalogueAreNotThePackages: two catalogues have a package of one name.
func TestFindingsOfAnotherCatalogueAreNotThePackages(t *testing.T) {
	manifest := func(source, supports string) string {
		return `{"kind":"PackageManifest","metadata":{"name":"p"},"status":{"packageName":"p","catalogSource":"` + source + `",
			"catalogSourceNamespace":"olm","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"p.v1",
			"entries":[{"name":"p.v1","version":"1.0.0"}],"currentCSVDesc":{"version":"1.0.0","annotations":{"` + token + `aws":"` + supports + `"}}}]}}`
	}
	read := must.Get(reader.Manifests{}.Read(t.Context(), strings.NewReader(`{"items":[`+manifest("vendor", "true")+`,`+manifest("other", "odd")+`]}`)))(t)
	if len(read.Packages) != 2 || len(read.Findings) == 0 {
		t.Fatalf("%+v", read)
	}
	for i, want := range []bool{true, false} {
		own, unplaced := listing.About(&read, &read.Packages[i])
		if len(own) > 0 != want || len(unplaced) > 0 {
			t.Errorf("of %s: %v", read.Packages[i].Source, own)
		}
	}
	if found := listing.FindingsOf(read.Findings); len(found) != len(read.Findings) || found[0].Message != read.Findings[0].Message {
		t.Errorf("%+v", found)
	}
	if listing.FindingsOf(nil) == nil {
		t.Error("no findings are no list")
	}
}

// BenchmarkList lists the generated catalogue of 5,000 bundles, read already. It is to take 20 ms
// at most.
func BenchmarkList(b *testing.B) {
	var all bytes.Buffer
	must.Do(b, generate.Plan{Seed: 1, Packages: 300, Bundles: 5000, Bytes: 60_000_000}.JSON(&all))
	read := must.Get(reader.Reader{Stdin: &all}.Read(b.Context(), "-"))(b)
	for _, f := range []listing.Filter{{}, {TokenAuth: "yes"}, {Permissions: "sensitive"}, {Search: "data"}} {
		b.Run(f.TokenAuth+f.Permissions+f.Search, func(b *testing.B) {
			for b.Loop() {
				listing.List(&read, f, somewhere)
			}
		})
	}
}
