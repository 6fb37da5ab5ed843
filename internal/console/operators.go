package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// How many packages a page has, and how many findings are told.
const (
	fewestRows   = 1
	mostRows     = 100
	usualRows    = 20
	mostPages    = 1 << 20
	mostFindings = 20
)

// asked is what a person asks of the catalogue.
type asked struct {
	listing.Filter
	cloud, source, installed string
	sort                     string
	page, limit              int
}

// sorts are the orders of the list; one with a minus before is the reverse.
func sorts() []string {
	var out []string
	for _, by := range []string{"name", "package", "provider", "version", "permissions"} {
		out = append(out, by, "-"+by)
	}
	return out
}

// askedBy reads what a request asks.
func askedBy(r *http.Request) (asked, error) {
	q := queryOf(r, "search", "cloud", "tokens", "permissions", "provider", "source", "category", "feature", "installed", "all", "sort", "page", "limit")
	out := asked{
		Filter: listing.Filter{
			TokenAuth: q.oneOf("tokens", listing.TokenAuths()...), Permissions: q.oneOf("permissions", listing.PermissionStates()...),
			Provider: q.text("provider"), Category: q.text("category"), Search: q.text("search"), All: q.oneOf("all", "true", "false") == "true",
		},
		cloud: q.text("cloud"), source: q.text("source"), installed: q.oneOf("installed", "yes", "no"), sort: q.oneOf("sort", sorts()...),
		page: q.number("page", 1, mostPages, 1), limit: q.number("limit", fewestRows, mostRows, usualRows),
	}
	for _, cloud := range listing.Clouds() {
		if out.cloud == cloud.String() {
			out.Tokens = &cloud
		}
	}
	if out.cloud != "" && out.Tokens == nil {
		q.refuse("the parameter cloud is %.80q, expected one of aws, azure, gcp", out.cloud)
	}
	if out.Tokens != nil && out.TokenAuth == "" {
		out.TokenAuth = string(listing.Yes) // who chooses a cloud wants to see its operators
	}
	for _, name := range q.values["feature"] {
		feature, ok := catalogue.FeatureNamed(name)
		if !ok {
			q.refuse("the parameter feature is %.80q, expected one of %s", name, strings.Join(listing.FeatureNames(), ", "))
		}
		out.Features = append(out.Features, feature)
	}
	return out, q.err()
}

// operators is a page of the catalogue.
func (s *Server) operators(r *http.Request) (any, error) {
	asked, err := askedBy(r)
	if err != nil {
		return nil, err
	}
	read, at, err := s.catalogue.get(r.Context())
	if err != nil {
		return nil, err
	}
	installed := s.whatIsInstalled(r.Context())
	listed := read.list(asked.Filter)
	rows := make([]api.Row, 0, len(listed.Items))
	for _, row := range listed.Items {
		row.Installed = installed.of(row.Source, row.Package)
		switch {
		case asked.installed != "" && installed.why != "" && len(row.Installed) == 0:
			listed.Unknown++ // it may be installed where nobody looked
		case asked.leaves(row):
			rows = append(rows, api.Row{ID: id(row.Source, row.Package), Row: row, Asks: row.Permissions.String()})
		}
	}
	asked.order(rows)
	out := api.Operators{
		Matching: len(rows), Total: listed.Total, Unknown: listed.Unknown, NotStandalone: listed.NotStandalone,
		Page: asked.page, Limit: asked.limit, ReadAt: at, InstalledUnknown: installed.why,
		Findings: listing.FindingsOf(read.Findings[:min(len(read.Findings), mostFindings)]), FindingsTotal: len(read.Findings),
		Command: s.ofCatalogue("operators list" + asked.flags(s.World.Files != "")),
	}
	cluster := s.cloud(r.Context())
	if cluster != nil {
		out.Cloud = cluster.String()
	}
	out.Facets = read.filters(cluster, installed, s.World.Files == "")
	from := min((asked.page-1)*asked.limit, len(rows))
	out.Items = rows[from:min(from+asked.limit, len(rows))]
	return out, nil
}

// leaves says that what is not asked of the core's filter leaves a row in.
func (a asked) leaves(row listing.Row) bool {
	switch {
	case a.source != "" && row.Source.String() != a.source:
		return false
	case a.installed != "":
		return (a.installed == "yes") == (len(row.Installed) > 0)
	}
	return true
}

// order sorts rows. Those that are equal stay in the order of their packages.
func (a asked) order(rows []api.Row) {
	by, reverse := strings.CutPrefix(a.sort, "-")
	if by == "package" && !reverse {
		return
	}
	type keyed struct {
		text string
		row  *api.Row
	}
	all := make([]keyed, len(rows))
	for i := range rows {
		all[i] = keyed{keyOf(by, &rows[i]), &rows[i]}
	}
	slices.SortStableFunc(all, func(x, y keyed) int {
		if reverse {
			x, y = y, x
		}
		switch by {
		case "version":
			return listing.CompareVersions(x.row.Version, y.row.Version)
		case "permissions":
			p, q := x.row.Permissions, y.row.Permissions
			return cmp.Or(cmp.Compare(p.State, q.State), cmp.Compare(p.Sensitive, q.Sensitive), cmp.Compare(p.Count, q.Count))
		}
		return cmp.Compare(x.text, y.text)
	})
	sorted := make([]api.Row, len(rows))
	for i, one := range all {
		sorted[i] = *one.row
	}
	copy(rows, sorted)
}

// keyOf is the text by which a row is sorted, without case.
func keyOf(by string, row *api.Row) string {
	switch by {
	case "provider":
		return strings.ToLower(row.Provider)
	case "package":
		return row.Package
	case "version", "permissions":
		return ""
	}
	return strings.ToLower(cmp.Or(row.DisplayName, row.Package))
}

func compareText(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

// flags are those of "tabard operators list" that ask the same.
func (a asked) flags(inFiles bool) string {
	out := ""
	if inFiles {
		a.source = "" // there is one
	}
	for _, one := range [][2]string{
		{"cloud", a.cloud}, {"token-auth", a.TokenAuth}, {"permissions", a.Permissions}, {"provider", a.Provider}, {"source", a.source}, {"category", a.Category}, {"search", a.Search},
	} {
		out += flag(one[0], one[1])
	}
	for _, feature := range a.Features {
		out += " --feature " + feature.String()
	}
	if a.installed == "yes" {
		out += " --installed"
	}
	if a.All {
		out += " --all"
	}
	return out
}

// placeOf is where a package was read.
func (w World) placeOf(p *catalogue.Package) listing.Place {
	if p.Source.Kind != "" {
		return listing.Place{Kind: string(p.Source.Kind), Namespace: p.Source.Namespace, Name: p.Source.Name}
	}
	return listing.Place{Kind: "file", Name: w.Files}
}

// id is a package in addresses. A catalogue in files is the only one.
func id(place listing.Place, name string) string {
	if place.Kind == "file" {
		return "file:" + name
	}
	return place.Kind + ":" + place.String() + ":" + name
}

// installed are the Subscriptions of a cluster, by what they install.
type installed struct {
	all map[string][]listing.Install
	// why says why it is not known what else is installed.
	why string
}

func (i installed) of(place listing.Place, name string) []listing.Install {
	return i.all[id(place, name)]
}

// installedFor is how long it is kept what is installed, and installedWithin how long the list of the
// catalogue waits for it.
const (
	installedFor    = 5 * time.Second
	installedWithin = 3 * time.Second
)

// whatIsInstalled are the Subscriptions. That they may not be read is no error: the list is of what the
// catalogue has.
func (s *Server) whatIsInstalled(ctx context.Context) installed {
	switch {
	case !s.World.HasCluster():
		return installed{why: "there is no cluster"}
	case s.World.Files != "":
		return installed{why: "a catalogue in files does not say which of the cluster's it is"}
	}
	ctx, cancel := context.WithTimeout(ctx, installedWithin)
	defer cancel()
	out, _, err := s.installed.get(ctx)
	if err != nil {
		return installed{why: line.Of(err.Error())}
	}
	return out
}

func (s *Server) readInstalled(ctx context.Context) (installed, error) {
	out := installed{all: map[string][]listing.Install{}}
	found, partly, err := s.subscriptions(ctx)
	if err != nil {
		return out, err
	}
	out.why = strings.Join(partly, " ")
	for _, one := range found {
		at := id(listing.Place{Kind: string(catalogue.CatalogSource), Namespace: one.SourceNamespace, Name: one.Source}, one.Package)
		out.all[at] = append(out.all[at], listing.Install{Namespace: one.Namespace, CSV: one.InstalledCSV})
	}
	return out, nil
}
