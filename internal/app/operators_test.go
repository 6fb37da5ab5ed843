package app

import (
	"errors"
	"testing"

	"github.com/tabard-dev/tabard/internal/catalogue/catalogd"
	"github.com/tabard-dev/tabard/internal/catalogue/cluster"
	model "github.com/tabard-dev/tabard/internal/core/catalogue"
)

func TestACatalogueOfOneOLMHidesNoneOfTheOther(t *testing.T) {
	v0 := model.Catalogue{Packages: []model.Package{{Name: "a", Source: model.Source{Kind: model.CatalogSource, Namespace: "olm", Name: "v"}}}}
	v1 := model.Catalogue{Packages: []model.Package{{Name: "b", Source: model.Source{Kind: model.ClusterCatalog, Name: "w"}}}}
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		oldErr, err        error
		packages, findings int
		fails              error
	}{
		"both":             {nil, nil, 2, 0, nil},
		"OLM v0 only":      {nil, catalogd.ErrNoClusterCatalogs, 1, 0, nil},
		"OLM v1 only":      {cluster.ErrNoOLM, nil, 1, 0, nil},
		"none":             {cluster.ErrNoOLM, catalogd.ErrNoClusterCatalogs, 0, 0, cluster.ErrNoOLM},
		"v0 is broken":     {broken, nil, 1, 1, nil},
		"v1 is broken":     {nil, broken, 1, 1, nil},
		"both are broken":  {broken, errors.New("x"), 0, 0, broken},
		"v0 alone, broken": {broken, catalogd.ErrNoClusterCatalogs, 0, 0, broken},
		"v1 alone, broken": {cluster.ErrNoOLM, broken, 0, 0, broken},
	} {
		of := func(read model.Catalogue, err error) model.Catalogue {
			if err != nil {
				return model.Catalogue{}
			}
			return read
		}
		got, err := bothOLMs(of(v0, c.oldErr), c.oldErr, of(v1, c.err), c.err)
		if !errors.Is(err, c.fails) || len(got.Packages) != c.packages || len(got.Findings) != c.findings {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
