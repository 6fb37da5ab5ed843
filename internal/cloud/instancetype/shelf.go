package instancetype

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"golang.org/x/time/rate"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	// pageSize is EC2's largest page.
	pageSize = 100
	// maxPages ends a list that does not end; the longest has 14 pages today.
	maxPages = 200
	// maxLookups and maxName bound the types that are asked for by name.
	maxLookups = 1000
	maxName    = 128
	// codeUnknownType is how EC2 says that there is no such type (Amazon EC2 API
	// Reference, "Client error codes").
	codeUnknownType = "InvalidInstanceType"
)

// shelf keeps what is known of one region's types.
type shelf struct {
	region string
	life   life
	// limiter spaces requests, so that a start with many new types does not use up the
	// account's own allowance of requests.
	limiter *rate.Limiter
	types   kept[map[string]instancetype.Type]
	// asked is when somebody last asked; guarded by Types.mu.
	asked time.Time

	mu      sync.Mutex
	lookups map[lookup]*kept[instancetype.Answer]
}

// lookup is a type that is not in the list. A type may be there for one account
// and not for another.
type lookup struct {
	who  identity.Identity
	name string
}

func newShelf(where place, options Options) *shelf {
	return &shelf{
		region:  where.region,
		life:    life{spread(where, options.Soft), spread(where, options.Hard)},
		limiter: rate.NewLimiter(rate.Limit(options.Rate), options.Burst),
		lookups: map[lookup]*kept[instancetype.Answer]{},
	}
}

// spread is a time up to a tenth shorter or longer, the same for a place always.
func spread(where place, d time.Duration) time.Duration {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(where.endpoint + " " + where.region)) // a hash takes all
	return d - d/10 + d/5*time.Duration(sum.Sum32()%100)/100
}

// get looks into the list, then asks for the one type.
func (s *shelf) get(ctx context.Context, t *Types, id identity.Identity, q instancetype.Question) (instancetype.Answer, error) {
	name := q.Type
	all, err := s.types.get(ctx, id, source[map[string]instancetype.Type]{
		now:  t.options.Now,
		life: func(map[string]instancetype.Type) life { return s.life },
		fetch: func(ctx context.Context) (map[string]instancetype.Type, error) {
			return s.fetchAll(ctx, t, id)
		},
	})
	if err != nil {
		return instancetype.Answer{}, err
	}
	if found, there := all[name]; there {
		return instancetype.Answer{State: instancetype.Found, Type: found, Like: q.Like.In(maps.Values(all))}, nil
	}
	answer, err := s.lookup(lookup{id, name}).get(ctx, id, source[instancetype.Answer]{
		now: t.options.Now,
		life: func(a instancetype.Answer) life {
			if a.State == instancetype.Found {
				return life{s.life.soft, s.life.soft}
			}
			return life{t.options.Negative, t.options.Negative}
		},
		fetch: func(ctx context.Context) (instancetype.Answer, error) { return s.fetchOne(ctx, t, id, name) },
	})
	if answer.State == instancetype.Found {
		answer.Like = q.Like.In(maps.Values(all))
	}
	return answer, err
}

// lookup is where the answer about one type is kept. At the bound all are
// forgotten and asked for again; a name that is none is not kept at all.
func (s *shelf) lookup(key lookup) *kept[instancetype.Answer] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, there := s.lookups[key]; there {
		return found
	}
	made := &kept[instancetype.Answer]{}
	if len(key.name) > maxName {
		return made
	}
	if len(s.lookups) >= maxLookups {
		clear(s.lookups)
	}
	s.lookups[key] = made
	return made
}

func (s *shelf) fetchAll(ctx context.Context, t *Types, id identity.Identity) (map[string]instancetype.Type, error) {
	c, _, err := t.connect(ctx, id)
	var all map[string]instancetype.Type
	var skipped int
	if err == nil {
		all, skipped, err = list(ctx, c, s.limiter)
	}
	err = problem(id, describeTypes, err)
	t.options.Refreshed(Refresh{Region: s.region, Types: len(all), Skipped: skipped, Err: asFault(err)})
	return all, err
}

// list reads all pages. Types of which EC2 says too little are skipped: whoever
// asks for one gets EC2's word on it alone.
func list(ctx context.Context, c client, limit *rate.Limiter) (all map[string]instancetype.Type, skipped int, err error) {
	all = map[string]instancetype.Type{}
	input := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(pageSize)}
	seen := map[string]bool{}
	for range maxPages {
		if err := limit.Wait(ctx); err != nil {
			return nil, 0, err
		}
		page, err := c.DescribeInstanceTypes(ctx, input)
		if err != nil {
			return nil, 0, err
		}
		for i := range page.InstanceTypes {
			if known, ok := instancetype.Of(facts(&page.InstanceTypes[i])); ok {
				all[known.Name] = known
			} else {
				skipped++
			}
		}
		token := aws.ToString(page.NextToken)
		switch {
		case token == "" && len(all) == 0:
			return nil, 0, unusable("the list is empty")
		case token == "":
			return all, skipped, nil
		case seen[token]:
			return nil, 0, unusable("a page leads back to one before")
		}
		seen[token], input.NextToken = true, &token
	}
	return nil, 0, unusable(fmt.Sprintf("the list does not end after %d pages", maxPages))
}

// unusable is an answer that is none. It may be better the next time.
func unusable(why string) error {
	return fault.Fault{
		Class: fault.Retry, Service: service, Operation: describeTypes,
		Message: "unable to load EC2 Instance Type list: " + why,
	}
}

func (s *shelf) fetchOne(ctx context.Context, t *Types, id identity.Identity, name string) (instancetype.Answer, error) {
	c, _, err := t.connect(ctx, id)
	if err == nil {
		err = s.limiter.Wait(ctx)
	}
	if err != nil {
		return instancetype.Answer{}, problem(id, describeTypes, err)
	}
	out, err := c.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: []types.InstanceType{types.InstanceType(name)}})
	if err != nil {
		err = problem(id, describeTypes, err)
		if known := cloud.Classify(service, describeTypes, err); known.Code == codeUnknownType {
			return instancetype.Answer{State: instancetype.Unknown}, nil
		}
		return instancetype.Answer{}, err
	}
	for i := range out.InstanceTypes {
		said := facts(&out.InstanceTypes[i])
		if said.Name != name {
			continue
		}
		if known, ok := instancetype.Of(said); ok {
			return instancetype.Answer{State: instancetype.Found, Type: known}, nil
		}
		return instancetype.Answer{State: instancetype.Incomplete}, nil
	}
	return instancetype.Answer{}, unusable("the answer lacks the type that was asked for")
}

// failed is a fault that may come of the region.
type failed struct {
	fault.Fault
	// noHost says that the endpoint's name could not be resolved.
	noHost bool
}

// Unwrap is the fault alone.
func (f failed) Unwrap() error { return f.Fault }

// problem makes a failed of an error of an identity's call; nil stays nil. A
// certificate of nobody known is to be added where the identity's are.
func problem(id identity.Identity, operation string, err error) error {
	known := cloud.Classify(service, operation, err)
	if known == nil {
		return nil
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown && id.CABundle != (identity.BundleRef{}) {
		known.Message = fmt.Sprintf("the endpoint's certificate is signed by an unknown authority; add that authority to %s of the ConfigMap %s/%s",
			id.CABundle.Key, id.CABundle.Namespace, id.CABundle.Name)
	}
	var dns *net.DNSError
	return failed{Fault: *known, noHost: errors.As(err, &dns)}
}

// asFault is the fault.Fault of an error; nil stays nil.
func asFault(err error) error { return cloud.Error(service, describeTypes, err) }

// mayBeRegion says that the region may be why a call failed: an account that has
// not asked for it is refused there, and one that does not exist has no host.
func mayBeRegion(err error) bool {
	var why failed
	return errors.As(err, &why) && (why.noHost || why.Code == "OptInRequired" || why.Code == "AuthFailure")
}
