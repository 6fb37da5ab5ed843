package console

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tabard-dev/tabard/internal/console/api"
	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/listing"
)

// ReadCatalogue reads the catalogue.
type ReadCatalogue func(context.Context) (catalogue.Catalogue, error)

// For how long a catalogue that was read is shown without another look, and for how long while another
// one is read.
const (
	freshFor = time.Minute
	shownFor = time.Hour
	readIn   = 2 * time.Minute
)

// readCatalogue is one that was read. Its methods may be called by several goroutines.
type readCatalogue struct {
	catalogue.Catalogue
	placeOf func(*catalogue.Package) listing.Place
	facets  []api.Facet

	mu     sync.Mutex
	listed map[string]listing.Listing
}

// mostListed bounds how many answers are kept. One has some megabytes for thousands of packages.
const mostListed = 8

// list is what a filter leaves. A person turns pages and sorts, so that the last answers are kept: to
// count what each of thousands of operators asks for takes a tenth of a second. The answer is shared: it
// must not be changed.
func (r *readCatalogue) list(f listing.Filter) listing.Listing {
	cloud := ""
	if f.Tokens != nil {
		cloud = f.Tokens.String()
	}
	key := fmt.Sprintf("%q %q %v %q %q %q %q %v", cloud, f.TokenAuth, f.Features, f.Permissions, f.Provider, f.Category, f.Search, f.All)
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.listed[key]; ok {
		return found
	}
	if r.listed == nil || len(r.listed) == mostListed {
		r.listed = map[string]listing.Listing{}
	}
	r.listed[key] = listing.List(&r.Catalogue, f, r.placeOf)
	return r.listed[key]
}

// find is the package with an address.
func (r *readCatalogue) find(address string) (*catalogue.Package, bool) {
	for i := range r.Packages {
		if p := &r.Packages[i]; id(r.placeOf(p), p.Name) == address {
			return p, true
		}
	}
	return nil, false
}

// keepCatalogue keeps the catalogue that was read last, with its filters counted before anybody waits for
// them.
func keepCatalogue(world World, now func() time.Time) *kept[*readCatalogue] {
	return &kept[*readCatalogue]{now: now, freshFor: freshFor, shownFor: shownFor, within: readIn, read: func(ctx context.Context) (*readCatalogue, error) {
		read, err := world.Read(ctx)
		if err != nil {
			return nil, err
		}
		out := &readCatalogue{Catalogue: read, placeOf: world.placeOf}
		out.facets = out.makeFacets()
		return out, nil
	}}
}
