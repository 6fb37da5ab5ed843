package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// filters are the filters of the list with their values, and of each how many packages of the
// catalogue that stand alone have it. The cluster's cloud is named as such.
func (r *readCatalogue) filters(cluster *catalogue.Cloud, has installed, fromCluster bool) []api.Facet {
	clouds := slices.Clone(r.facets[0].Values)
	for i, value := range clouds {
		if cluster != nil && value.Value == cluster.String() {
			clouds[i].Label += " (this cluster)"
			own := clouds[i]
			clouds = slices.Insert(slices.Delete(clouds, i, i+1), 0, own)
		}
	}
	out := slices.Clone(r.facets)
	out[0].Values = clouds
	if fromCluster && has.why == "" {
		count := 0
		for i := range r.Packages {
			if len(has.of(r.placeOf(&r.Packages[i]), r.Packages[i].Name)) > 0 {
				count++
			}
		}
		out = append(out, api.Facet{Name: "installed", Label: "Installed", Values: []api.FacetValue{
			{Value: "yes", Label: "Installed", Count: count}, {Value: "no", Label: "Not installed", Count: len(r.Packages) - count},
		}})
	}
	return out
}

// makeFacets counts. The first are the clouds.
func (r *readCatalogue) makeFacets() []api.Facet {
	list := func(f listing.Filter) []listing.Row { return listing.List(&r.Catalogue, f, r.placeOf).Items }
	all := list(listing.Filter{})
	out := []api.Facet{{Name: "cloud", Label: "Cloud"}, {Name: "tokens", Label: "Token login"}, {Name: "permissions", Label: "Permissions"}}
	for _, cloud := range listing.Clouds() {
		f := listing.Filter{Tokens: &cloud, TokenAuth: string(listing.Yes)}
		out[0].Values = append(out[0].Values, api.FacetValue{Value: cloud.String(), Label: strings.ToUpper(cloud.String()), Count: len(list(f))})
	}
	labels := map[string]string{"yes": "Supported", "no": "Not supported", "unknown": "Not known"}
	for _, value := range listing.TokenAuths() {
		f := listing.Filter{TokenAuth: value}
		out[1].Values = append(out[1].Values, api.FacetValue{Value: value, Label: labels[value], Count: len(list(f))})
	}
	labels = map[string]string{"known": "Declared", "unknown": "Not declared", "sensitive": "Some are sensitive", "none": "Asks for nothing"}
	for _, value := range listing.PermissionStates() {
		f := listing.Filter{Permissions: value}
		out[2].Values = append(out[2].Values, api.FacetValue{Value: value, Label: labels[value], Count: len(list(f))})
	}
	out = append(out,
		counted("provider", "Provider", all, func(row listing.Row) []string { return []string{row.Provider} }),
		counted("source", "Source", all, func(row listing.Row) []string { return []string{row.Source.String()} }),
		r.categories(),
		counted("feature", "Features", all, func(row listing.Row) []string { return row.Features }),
	)
	return out
}

// counted is a facet by the values that rows have.
func counted(name, label string, rows []listing.Row, values func(listing.Row) []string) api.Facet {
	counts := map[string]int{}
	for _, row := range rows {
		for _, value := range values(row) {
			counts[value]++
		}
	}
	return facetOf(name, label, counts, mostValues)
}

// categories are those of the versions that new installs take.
func (r *readCatalogue) categories() api.Facet {
	counts := map[string]int{}
	for _, row := range r.List(catalogue.Filter{}).Rows {
		if row.Bundle != nil {
			for _, category := range row.Bundle.Categories() {
				counts[category]++
			}
		}
	}
	return facetOf("category", "Category", counts, mostValues)
}

// How many values a facet has at most: those that most rows have are shown. Of strangers' words a person
// searches for others; namespaces are the cluster's own, and the page's menu finds one among thousands.
const (
	mostValues          = 50
	mostNamespaceValues = 10_000
)

func facetOf(name, label string, counts map[string]int, most int) api.Facet {
	out := api.Facet{Name: name, Label: label, Values: []api.FacetValue{}}
	for value, count := range counts {
		if value != "" {
			out.Values = append(out.Values, api.FacetValue{Value: value, Label: value, Count: count})
		}
	}
	slices.SortFunc(out.Values, func(a, b api.FacetValue) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Value, b.Value)) })
	out.Values = out.Values[:min(len(out.Values), most)]
	slices.SortFunc(out.Values, func(a, b api.FacetValue) int { return compareText(a.Label, b.Label) })
	return out
}
