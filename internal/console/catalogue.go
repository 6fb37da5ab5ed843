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
	at      time.Time
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

// catalogues keeps the catalogue that was read last, for all sessions: they are one person's. Its
// methods may be called by several goroutines; what is read is not changed.
type catalogues struct {
	read    ReadCatalogue
	placeOf func(*catalogue.Package) listing.Place
	now     func() time.Time

	mu      sync.Mutex
	last    *readCatalogue
	err     error
	reading chan struct{} // closed at its end; nil where nothing is read
}

func newCatalogues(read ReadCatalogue, placeOf func(*catalogue.Package) listing.Place, now func() time.Time) *catalogues {
	return &catalogues{read: read, placeOf: placeOf, now: now}
}

// get is the catalogue. One that is older than a minute is read again meanwhile; only one that is not
// there, or an hour old, is waited for.
func (c *catalogues) get(ctx context.Context) (*readCatalogue, error) {
	c.mu.Lock()
	last, reading := c.last, c.reading
	age := time.Duration(0)
	if last != nil {
		age = c.now().Sub(last.at)
	}
	if reading == nil && (last == nil || age > freshFor) {
		reading = make(chan struct{})
		c.reading = reading
		// Who comes meanwhile waits for the same, so that it does not end with the one who asked.
		go c.again(context.WithoutCancel(ctx), reading)
	}
	c.mu.Unlock()
	if last != nil && age <= shownFor {
		return last, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-reading:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	return c.last, nil
}

func (c *catalogues) again(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, readIn)
	defer cancel()
	read, err := c.read(ctx)
	last := &readCatalogue{Catalogue: read, at: c.now(), placeOf: c.placeOf}
	if err == nil {
		// Counted before anybody waits for them.
		last.facets = last.makeFacets()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(done)
	c.reading, c.err = nil, err
	if err == nil {
		c.last = last
	}
}
