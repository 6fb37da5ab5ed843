package instancetype

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

const (
	describeRegions = "DescribeRegions"
	// notOptedIn is the status of a region that the account has not asked for
	// (Amazon EC2 API Reference, "Region").
	notOptedIn = "not-opted-in"
)

// tableKey is for whom a list of regions is good: accounts differ in what they
// have asked for.
type tableKey struct {
	who       identity.Identity
	partition string
}

// region says what is wrong with the question's region: RegionInvalid,
// RegionNotOptedIn, or nothing. The list is asked for within the region's own
// partition; credentials are good nowhere else, and must be shown nowhere else.
func (t *Types) region(ctx context.Context, id identity.Identity, q instancetype.Question) (instancetype.State, error) {
	id = id.In(instancetype.RegionToAsk(q.Region, q.Home))
	table := t.table(tableKey{id, identity.Partition(q.Region)})
	statuses, err := table.get(ctx, id, source[map[string]string]{
		now: t.options.Now,
		life: func(statuses map[string]string) life {
			good := t.options.Regions
			if regionState(statuses, q.Region) != "" {
				good /= 6
			}
			return life{good, good}
		},
		fetch: func(ctx context.Context) (map[string]string, error) {
			c, _, err := t.connect(ctx, id)
			if err != nil {
				return nil, err
			}
			return listRegions(ctx, id, c)
		},
	})
	if err != nil {
		return "", err
	}
	return regionState(statuses, q.Region), nil
}

func regionState(statuses map[string]string, region string) instancetype.State {
	switch status, there := statuses[region]; {
	case !there:
		return instancetype.RegionInvalid
	case status == notOptedIn:
		return instancetype.RegionNotOptedIn
	}
	return ""
}

func (t *Types) table(key tableKey) *kept[map[string]string] {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, there := t.tables[key]
	if !there {
		if len(t.tables) >= maxTables {
			clear(t.tables)
		}
		found = &kept[map[string]string]{}
		t.tables[key] = found
	}
	return found
}

// listRegions is the opt-in status of every region of the partition.
func listRegions(ctx context.Context, id identity.Identity, c client) (map[string]string, error) {
	out, err := c.DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)})
	if err != nil {
		return nil, problem(id, describeRegions, err)
	}
	statuses := map[string]string{}
	for _, one := range out.Regions {
		if name := aws.ToString(one.RegionName); name != "" {
			statuses[name] = aws.ToString(one.OptInStatus)
		}
	}
	return statuses, nil
}
