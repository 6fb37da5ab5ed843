package console

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/catalogue"
	"github.com/tabard-dev/tabard/internal/console/api"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

// shown is a browser that shows the example's catalogue in a file, without a cluster.
func shown(t *testing.T) *browser {
	t.Helper()
	const file = "../../examples/operators/catalog.json"
	return open(t, server(t, Options{World: World{Files: "catalog.json", CatalogueFlags: " --catalogue catalog.json", Read: func(ctx context.Context) (model.Catalogue, error) {
		return catalogue.Reader{Stdin: os.Stdin}.Read(ctx, file)
	}}}))
}

func TestTheListIsFilteredSortedAndPaged(t *testing.T) {
	b := shown(t)
	for asked, want := range map[string]string{
		"":                                "object-keeper quiet silent",
		"sort=-name":                      "silent quiet object-keeper",
		"sort=package":                    "object-keeper quiet silent",
		"sort=-permissions":               "silent object-keeper quiet",
		"search=KEEPS":                    "object-keeper",
		"cloud=aws&tokens=yes":            "object-keeper silent",
		"cloud=aws":                       "object-keeper silent",
		"cloud=aws&tokens=no":             "quiet",
		"cloud=azure&tokens=yes":          "",
		"permissions=none":                "quiet",
		"permissions=unknown":             "silent",
		"limit=2":                         "object-keeper quiet",
		"limit=2&page=2":                  "silent",
		"limit=2&page=3":                  "",
		"source=catalog.json":             "object-keeper quiet silent",
		"source=other":                    "",
		"category=storage&feature=cnf":    "",
		"all=true&search=quiet&sort=name": "quiet",
	} {
		var got api.Operators
		b.get("/api/v1/operators?"+asked, &got)
		var names []string
		for _, row := range got.Items {
			names = append(names, row.Package)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%q lists %q, want %q", asked, names, want)
		}
		if got.Total != 3 || got.ReadAt.IsZero() || !strings.HasPrefix(got.Command, "tabard operators list") || !strings.HasSuffix(got.Command, " --catalogue catalog.json") {
			t.Errorf("%q: %d packages of a catalogue read at %s; the command is %q", asked, got.Total, got.ReadAt, got.Command)
		}
	}
}

func TestWhatTheListDoesNotKnowIsRefused(t *testing.T) {
	b := shown(t)
	for _, asked := range []string{
		"clouds=aws", "cloud=ibm", "tokens=maybe", "permissions=all", "feature=fast", "sort=size", "page=0", "page=x", "limit=101", "limit=-1",
		"installed=true", "all=1", "search=a&search=b", "%zz", "page=99999999999999999999",
	} {
		if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/operators?"+asked, ""))); p.Status != http.StatusBadRequest || p.Code != "parameter" {
			t.Errorf("%q: %+v", asked, p)
		}
	}
}

// The command that a page shows asks the same: it is one that a shell takes, whatever was searched for.
func TestTheCommandOfAListAsksTheSame(t *testing.T) {
	b := shown(t)
	var got api.Operators
	b.get("/api/v1/operators?"+url.Values{
		"search": {"it's $(id)"}, "cloud": {"aws"}, "tokens": {"no"}, "permissions": {"known"}, "feature": {"cnf", "csi"}, "all": {"true"}, "provider": {"A B"},
	}.Encode(), &got)
	const want = `tabard operators list --cloud aws --token-auth no --permissions known --provider 'A B' --search 'it'\''s $(id)' --feature cnf --feature csi --all --catalogue catalog.json`
	if diff := cmp.Diff(want, got.Command); diff != "" {
		t.Error(diff)
	}
}

func TestFacetsCountTheWholeCatalogue(t *testing.T) {
	b := shown(t)
	var got api.Operators
	b.get("/api/v1/operators?search=quiet", &got)
	said := map[string]string{}
	for _, facet := range got.Facets {
		for _, value := range facet.Values {
			said[facet.Name] += value.Value + ":" + strings.Repeat("x", value.Count) + " "
		}
	}
	want := map[string]string{
		"cloud": "aws:xx azure: gcp: ", "tokens": "yes:xx no:x unknown: ", "permissions": "known:xx unknown:x sensitive: none:x ",
		"provider": "Example:xxx ", "source": "catalog.json:xxx ", "category": "Storage:x ",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

func TestAnOperator(t *testing.T) {
	b := shown(t)
	var got api.Operator
	b.get("/api/v1/operators/file:object-keeper", &got)
	if got.Chosen == nil || got.Chosen.CSV != "object-keeper.v1.1.0" || len(got.Versions) != 2 || got.CannotInstall == "" || got.ID != "file:object-keeper" {
		t.Fatalf("the operator is %+v", got)
	}
	asks := got.Chosen.Permissions
	if !asks.Known || asks.Certainty != "declared" || len(asks.Requests) != 1 || len(asks.Requests[0].Sentences) != 4 || !strings.Contains(asks.Policy, "sqs:SendMessage") {
		t.Errorf("it asks for %+v", asks)
	}
	b.get("/api/v1/operators/file:object-keeper?version=1.0.0", &got)
	if got.Chosen.CSV != "object-keeper.v1.0.0" || got.Command != "tabard operators show object-keeper --version 1.0.0 --catalogue catalog.json" {
		t.Errorf("version 1.0.0 is %s, and its command %q", got.Chosen.CSV, got.Command)
	}
	b.get("/api/v1/operators/file:silent", &got)
	if asks := got.Chosen.Permissions; asks.Known || asks.Why == "" || asks.AsksNothing || len(asks.Requests) != 0 {
		t.Errorf("what nobody declares is %+v", asks)
	}
	for path, code := range map[string]string{
		"/api/v1/operators/file:nothing": "operator", "/api/v1/operators/object-keeper": "operator", "/api/v1/operators/file:object-keeper?version=9": "version",
		"/api/v1/operators/file:object-keeper?v=1": "parameter",
	} {
		if p := refusal(t, b.do(b.request(http.MethodGet, path, ""))); p.Code != code {
			t.Errorf("%s: %+v", path, p)
		}
	}
}

func TestTwoVersionsAreCompared(t *testing.T) {
	b := shown(t)
	var got api.Difference
	b.get("/api/v1/operators/file:object-keeper/diff?from=1.0.0&to=object-keeper.v1.1.0", &got)
	var classes []string
	for _, row := range got.Rows {
		classes = append(classes, row.Class+" "+row.Text)
	}
	want := []string{"added may write objects (s3:PutObject) of arn:aws:s3:::objects/*", "added may call sqs:SendMessage on arn:aws:sqs:eu-west-1:111122223333:changes"}
	if diff := cmp.Diff(want, classes); diff != "" || !got.Known || got.TrustMustChange {
		t.Errorf("the difference is %+v: %s", got, diff)
	}
	if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/operators/file:object-keeper/diff?from=1.0.0", ""))); p.Code != "parameter" {
		t.Errorf("one version: %+v", p)
	}
}

// Where nobody knows what is installed, nothing is said to be installed or not.
func TestWhatIsInstalledMayBeUnknown(t *testing.T) {
	b := shown(t)
	for _, asked := range []string{"yes", "no"} {
		var got api.Operators
		b.get("/api/v1/operators?installed="+asked, &got)
		if len(got.Items) != 0 || got.Unknown != 3 || got.InstalledUnknown == "" {
			t.Errorf("installed=%s: %d listed, %d unknown, because %q", asked, len(got.Items), got.Unknown, got.InstalledUnknown)
		}
	}
}

func TestWithoutAClusterItIsSaid(t *testing.T) {
	b := shown(t)
	if p := refusal(t, b.do(b.request(http.MethodGet, "/api/v1/cluster", ""))); p.Code != "noCluster" || len(p.Next) == 0 {
		t.Errorf("the problem is %+v", p)
	}
}

// Strangers write the texts of a catalogue. What turns the direction of writing, or is not seen, does not
// reach a page.
func TestTextsOfStrangersAreShownAsTheyAre(t *testing.T) {
	b := open(t, server(t, Options{World: World{Files: "x", Read: func(context.Context) (model.Catalogue, error) {
		return model.Catalogue{Packages: []model.Package{{Name: "p\u202eevil\u200b\x1b[31m<script>", DefaultChannel: "a"}}}, nil
	}}}))
	out := b.do(b.request(http.MethodGet, "/api/v1/operators", ""))
	for _, bad := range []string{"\u202e", "\u200b", "\x1b", "<script>"} {
		if strings.Contains(out.Body.String(), bad) {
			t.Errorf("the answer has %q: %s", bad, out.Body)
		}
	}
}
