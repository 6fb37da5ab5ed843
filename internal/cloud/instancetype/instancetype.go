// Package instancetype asks EC2 what its instance types have, and keeps the
// answers: a region's whole list is fetched once in a day, however many objects
// ask and by whatever identity. While a list is renewed the old one is served.
// One region that does not answer holds up nobody who asks about another.
//
// What it asks of EC2, on "*": ec2:DescribeInstanceTypes, ec2:DescribeRegions.
package instancetype

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tabard-dev/tabard/awsauth"
	authfault "github.com/tabard-dev/tabard/awsauth/fault"
	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	// service names EC2 in faults.
	service       = "EC2"
	describeTypes = "DescribeInstanceTypes"
)

// Bounds of the caches. Regions and identities come from objects, which people
// write.
const (
	maxShelves = 64
	maxTables  = 64
	// maxEndpoints bounds the identities whose endpoint is remembered.
	maxEndpoints = 1024
)

// Options are the times and bounds. Each zero value has a default.
type Options struct {
	// Soft is after which age a list is renewed, Hard after which it is not
	// served any more; default 24 hours and 7 days. Both are up to a tenth
	// shorter or longer by region, so that regions do not renew together.
	Soft, Hard time.Duration
	// Negative is how long it is believed that there is no such type; default
	// 30 minutes.
	Negative time.Duration
	// Regions is how long a partition's list of regions is believed; default 30
	// minutes. That a region is not there is believed for a sixth of it.
	Regions time.Duration
	// Rate and Burst bound the requests to a region, a second and at once;
	// default 2 and 5.
	Rate  float64
	Burst int
	// Attempts is how often one request is made at most; default 5.
	Attempts int
	// Now is the clock by which answers age; nil is time.Now.
	Now func() time.Time
	// Refreshed, if not nil, is told of every list that was fetched, or not. It
	// must not wait.
	Refreshed func(Refresh)
}

// Refresh is one attempt to fetch a region's list.
type Refresh struct {
	Region string
	// Types is how many are kept, Skipped how many have no name, vCPUs or
	// memory.
	Types, Skipped int
	// Err is why there is none; nil for success.
	Err error
}

func (o Options) withDefaults() Options {
	positive := func(given, otherwise time.Duration) time.Duration {
		if given > 0 {
			return given
		}
		return otherwise
	}
	o.Soft = positive(o.Soft, 24*time.Hour)
	o.Hard = max(positive(o.Hard, 7*24*time.Hour), o.Soft)
	o.Negative = positive(o.Negative, 30*time.Minute)
	o.Regions = positive(o.Regions, 30*time.Minute)
	if o.Rate <= 0 {
		o.Rate = 2
	}
	if o.Burst <= 0 {
		o.Burst = 5
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Refreshed == nil {
		o.Refreshed = func(Refresh) {}
	}
	return o
}

// Types answers questions about instance types. It is safe for concurrent use.
type Types struct {
	options Options
	// connect makes a client; a test makes another.
	connect func(context.Context, identity.Identity) (client, string, error)

	// mu guards the maps, never a call.
	mu      sync.Mutex
	shelves map[place]*shelf
	tables  map[tableKey]*kept[map[string]string]
	// endpoints are what connect said, so that an answer that is there needs no
	// client.
	endpoints map[identity.Identity]string
}

// place is where a list is good for. All accounts of a partition have the same
// types; what sets an account apart is asked for by name.
type place struct{ endpoint, region string }

// New makes Types that get their identities from auth.
func New(auth *awsauth.Auth, options Options) *Types {
	options = options.withDefaults()
	return &Types{
		options:   options,
		connect:   connector(auth, options.Attempts),
		shelves:   map[place]*shelf{},
		tables:    map[tableKey]*kept[map[string]string]{},
		endpoints: map[identity.Identity]string{},
	}
}

// connector makes EC2 clients, and says to which endpoint they talk: empty is
// the region's own. No client is kept: a changed credential must take effect.
func connector(auth *awsauth.Auth, attempts int) func(context.Context, identity.Identity) (client, string, error) {
	return func(ctx context.Context, id identity.Identity) (client, string, error) {
		config, err := auth.Config(ctx, id)
		if err != nil {
			return nil, "", cloud.Error(service, describeTypes, err)
		}
		made := ec2.NewFromConfig(config, func(o *ec2.Options) { o.RetryMaxAttempts = attempts })
		return made, aws.ToString(made.Options().BaseEndpoint), nil
	}
}

// Get answers a question as an identity; the identity's own region does not
// count. It waits until there is an answer, at most until the context ends. What
// went wrong is a fault.Fault: then nothing is known of the type, least of all
// that there is none.
func (t *Types) Get(ctx context.Context, id identity.Identity, q instancetype.Question) (instancetype.Answer, error) {
	if !instancetype.IsRegionName(q.Region) {
		return instancetype.Answer{State: instancetype.RegionInvalid}, nil
	}
	if !instancetype.IsKnownRegion(q.Region) {
		state, err := t.region(ctx, id, q)
		if err != nil || state != "" {
			return instancetype.Answer{State: state}, asFault(err)
		}
	}
	id = id.In(q.Region)
	shelf, err := t.shelf(ctx, id)
	if err != nil {
		return instancetype.Answer{}, err
	}
	answer, err := shelf.get(ctx, t, id, q)
	if err == nil || !mayBeRegion(err) {
		return answer, asFault(err)
	}
	if state, regionErr := t.region(ctx, id, q); regionErr == nil && state != "" {
		return instancetype.Answer{State: state}, nil
	}
	return instancetype.Answer{}, asFault(err)
}

// Ages says how old each region's list is. Regions whose list was never there
// are missing; of two endpoints of a region the older counts.
func (t *Types) Ages() map[string]time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]time.Duration{}
	for where, shelf := range t.shelves {
		if age, there := shelf.types.age(t.options.Now()); there {
			out[where.region] = max(out[where.region], age)
		}
	}
	return out
}

// shelf returns the place where the answers of the identity's region are kept.
// The one that was not asked for longest goes when there are too many.
func (t *Types) shelf(ctx context.Context, id identity.Identity) (*shelf, error) {
	endpoint, err := t.endpoint(ctx, id)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	where := place{endpoint: endpoint, region: id.Region}
	found, there := t.shelves[where]
	if !there {
		if len(t.shelves) >= maxShelves {
			t.dropOldest()
		}
		found = newShelf(where, t.options)
		t.shelves[where] = found
	}
	found.asked = t.options.Now()
	return found, nil
}

// endpoint is where an identity's questions go. No lock is held while that is
// found out: a Secret or a bundle may have to be read. A Secret is read at each
// question, so that whoever relies on one that is gone or broken hears of it at once,
// and not when the list is fetched again. One that cannot be read just now is no
// reason not to answer.
func (t *Types) endpoint(ctx context.Context, id identity.Identity) (string, error) {
	t.mu.Lock()
	known, there := t.endpoints[id]
	t.mu.Unlock()
	if there && id.Base != identity.Secret {
		return known, nil
	}
	_, found, err := t.connect(ctx, id)
	if err != nil && there && !isSecretAmiss(err) {
		return known, nil
	}
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.endpoints) >= maxEndpoints {
		clear(t.endpoints)
	}
	t.endpoints[id] = found
	return found, nil
}

// isSecretAmiss says that a Secret is not there, or is none with credentials.
func isSecretAmiss(err error) bool {
	known, is := errors.AsType[fault.Fault](err)
	return is && (known.Code == authfault.CodeSecretNotFound || known.Code == authfault.CodeSecretInvalid)
}

func (t *Types) dropOldest() {
	var oldest place
	var since time.Time
	for where, shelf := range t.shelves {
		if since.IsZero() || shelf.asked.Before(since) {
			oldest, since = where, shelf.asked
		}
	}
	delete(t.shelves, oldest)
}
