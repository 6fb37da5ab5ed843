package catalogue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
)

func listed() catalogue.Catalogue {
	var b catalogue.Builder
	add := func(name string, metadata *catalogue.Metadata) {
		b.Package(catalogue.Package{Name: name, DefaultChannel: "stable"}, catalogue.Where{})
		b.Channel(name, catalogue.Channel{Name: "stable", EdgesKnown: true, Entries: []catalogue.Entry{{Name: name + ".v1"}}}, catalogue.Where{})
		b.Bundle(name, catalogue.Bundle{Name: name + ".v1", Version: "1.0.0", Metadata: metadata}, catalogue.Where{})
	}
	add("asks", &catalogue.Metadata{Provider: "Example", DisplayName: "Bucket Maker", Annotations: map[string]string{
		token + "aws": "true", "categories": "Storage, Cloud Provider", "features.operators.openshift.io/csi": "true",
		catalogue.CredentialsRequests: `[{}]`, catalogue.Description: "Makes buckets",
	}})
	add("free", &catalogue.Metadata{Provider: "Other", Annotations: map[string]string{token + "aws": "false", catalogue.CredentialsRequests: `[]`}})
	add("part", &catalogue.Metadata{Annotations: map[string]string{catalogue.OperatorType: "non-standalone"}})
	add("unknown", nil)
	b.Package(catalogue.Package{Name: "without"}, catalogue.Where{})
	return b.Build()
}

func TestList(t *testing.T) {
	yes, no, unknown := catalogue.Yes, catalogue.No, catalogue.Unknown
	nothing, some, dark := catalogue.DemandNothing, catalogue.DemandSome, catalogue.DemandUnknown
	for name, test := range map[string]struct {
		filter  catalogue.Filter
		want    []string
		unknown int
	}{
		"everything that stands alone":     {catalogue.Filter{}, []string{"asks", "free", "unknown", "without"}, 0},
		"everything":                       {catalogue.Filter{All: true}, []string{"asks", "free", "part", "unknown", "without"}, 0},
		"tokens of AWS":                    {catalogue.Filter{Tokens: &yes}, []string{"asks"}, 2},
		"no tokens of AWS":                 {catalogue.Filter{Tokens: &no}, []string{"free"}, 2},
		"tokens of AWS unknown":            {catalogue.Filter{Tokens: &unknown}, []string{"unknown", "without"}, 0},
		"tokens of GCP":                    {catalogue.Filter{Cloud: catalogue.GCP, Tokens: &yes}, nil, 2},
		"a feature":                        {catalogue.Filter{Features: []catalogue.Feature{catalogue.CSI}}, []string{"asks"}, 2},
		"a feature that nothing has":       {catalogue.Filter{Features: []catalogue.Feature{catalogue.CSI, catalogue.CNI}}, nil, 2},
		"a provider":                       {catalogue.Filter{Provider: "example"}, []string{"asks"}, 2},
		"a category":                       {catalogue.Filter{Category: "cloud provider"}, []string{"asks"}, 2},
		"asks for nothing":                 {catalogue.Filter{Demand: &nothing}, []string{"free"}, 2},
		"asks for something":               {catalogue.Filter{Demand: &some}, []string{"asks"}, 2},
		"what it asks for is unknown":      {catalogue.Filter{Demand: &dark}, []string{"unknown", "without"}, 0},
		"words":                            {catalogue.Filter{Search: "MAKER buckets"}, []string{"asks"}, 2},
		"words of a name":                  {catalogue.Filter{Search: "unkn"}, []string{"unknown"}, 1},
		"a no outweighs what is not known": {catalogue.Filter{Tokens: &yes, Provider: "Nobody"}, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			made := listed()
			got := made.List(test.filter)
			var names []string
			for _, row := range got.Rows {
				names = append(names, row.Package.Name)
			}
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Unknown != test.unknown || got.Total != 5 {
				t.Errorf("%d of %d are unknown, want %d of 5", got.Unknown, got.Total, test.unknown)
			}
		})
	}
}
