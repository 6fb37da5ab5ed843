package instancetype

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/time/rate"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/cloud"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

// script answers what the local AWS never does: lists that do not end, types
// without a name.
type script struct {
	// list answers a page, by its number and token.
	list func(page int, token string) (*ec2.DescribeInstanceTypesOutput, error)
	// one answers about one type.
	one     func(name string) (*ec2.DescribeInstanceTypesOutput, error)
	pages   int
	regions func() (*ec2.DescribeRegionsOutput, error)
}

func (s *script) DescribeInstanceTypes(_ context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if len(in.InstanceTypes) > 0 {
		if in.MaxResults != nil {
			return nil, errors.New("names and a page size exclude each other")
		}
		return s.one(string(in.InstanceTypes[0]))
	}
	s.pages++
	return s.list(s.pages, aws.ToString(in.NextToken))
}

func (s *script) DescribeRegions(context.Context, *ec2.DescribeRegionsInput, ...func(*ec2.Options)) (*ec2.DescribeRegionsOutput, error) {
	return s.regions()
}

func info(name string) types.InstanceTypeInfo {
	return types.InstanceTypeInfo{
		InstanceType: types.InstanceType(name),
		VCpuInfo:     &types.VCpuInfo{DefaultVCpus: aws.Int32(2)},
		MemoryInfo:   &types.MemoryInfo{SizeInMiB: aws.Int64(4096)},
		ProcessorInfo: &types.ProcessorInfo{
			SupportedArchitectures: []types.ArchitectureType{types.ArchitectureTypeX8664},
		},
	}
}

func page(token *string, infos ...types.InstanceTypeInfo) *ec2.DescribeInstanceTypesOutput {
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: infos, NextToken: token}
}

func quick() *rate.Limiter { return rate.NewLimiter(1e6, 1000) }

func TestListsThatAreNone(t *testing.T) {
	tests := map[string]struct {
		list  func(int, string) (*ec2.DescribeInstanceTypesOutput, error)
		want  string
		pages int
	}{
		"empty": {
			func(int, string) (*ec2.DescribeInstanceTypesOutput, error) { return page(nil), nil },
			"EC2 DescribeInstanceTypes: unable to load EC2 Instance Type list: the list is empty", 1,
		},
		"in a circle": {
			func(n int, _ string) (*ec2.DescribeInstanceTypesOutput, error) {
				return page(aws.String(fmt.Sprint(n%3)), info("a")), nil
			},
			"EC2 DescribeInstanceTypes: unable to load EC2 Instance Type list: a page leads back to one before", 4,
		},
		"without an end": {
			func(n int, _ string) (*ec2.DescribeInstanceTypesOutput, error) {
				return page(aws.String(fmt.Sprint(n)), info("a")), nil
			},
			"EC2 DescribeInstanceTypes: unable to load EC2 Instance Type list: the list does not end after 200 pages", 200,
		},
		"broken off": {
			func(n int, _ string) (*ec2.DescribeInstanceTypesOutput, error) {
				if n == 7 {
					return nil, errors.New("broken off")
				}
				return page(aws.String(fmt.Sprint(n)), info("a")), nil
			},
			"broken off", 7,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &script{list: test.list}
			all, _, err := list(t.Context(), s, quick())
			if err == nil || err.Error() != test.want || all != nil || s.pages != test.pages {
				t.Errorf("got %d types, %v after %d pages; want %q after %d", len(all), err, s.pages, test.want, test.pages)
			}
		})
	}
}

func TestAnEmptyTokenEndsTheList(t *testing.T) {
	s := &script{list: func(n int, token string) (*ec2.DescribeInstanceTypesOutput, error) {
		if n == 1 {
			return page(aws.String("next"), info("a"), types.InstanceTypeInfo{}), nil
		}
		if token != "next" {
			t.Errorf("page %d is asked for with %q", n, token)
		}
		return page(aws.String(""), info("b"), types.InstanceTypeInfo{InstanceType: "c"}), nil
	}}
	all, skipped, err := list(t.Context(), s, quick())
	if err != nil || len(all) != 2 || skipped != 2 || s.pages != 2 {
		t.Errorf("got %v, %d skipped, %v after %d pages; want a and b, 2 skipped, after 2", all, skipped, err, s.pages)
	}
}

func TestFactsAreTakenFromEC2sAnswer(t *testing.T) {
	got := facts(&types.InstanceTypeInfo{
		InstanceType: "g6f.large",
		VCpuInfo:     &types.VCpuInfo{DefaultVCpus: aws.Int32(2), DefaultCores: aws.Int32(1)},
		MemoryInfo:   &types.MemoryInfo{SizeInMiB: aws.Int64(8192)},
		ProcessorInfo: &types.ProcessorInfo{
			SupportedArchitectures: []types.ArchitectureType{types.ArchitectureTypeI386, types.ArchitectureTypeX8664},
		},
		GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{
			{Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(0), LogicalGpuCount: aws.Int32(1)}, {},
		}},
		NeuronInfo: &types.NeuronInfo{NeuronDevices: []types.NeuronDeviceInfo{{Count: aws.Int32(6)}}},
	})
	want := instancetype.Facts{
		Name: "g6f.large", VCPUs: 2, MemoryMiB: 8192, Architectures: []string{"i386", "x86_64"},
		GPUs: []instancetype.Devices{{Maker: "NVIDIA", Logical: 1}, {}}, Neurons: []instancetype.Devices{{Count: 6}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if got := facts(&types.InstanceTypeInfo{VCpuInfo: &types.VCpuInfo{}, MemoryInfo: &types.MemoryInfo{}}); !cmp.Equal(got, instancetype.Facts{}) {
		t.Errorf("an empty answer: %+v, want nothing", got)
	}
}

// scripted are Types that ask a script, and the clock.
func scripted(s *script) (*Types, *time.Time) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	types := New(nil, Options{Rate: 1e6, Burst: 1000, Now: func() time.Time { return now }})
	types.connect = func(context.Context, identity.Identity) (client, string, error) { return s, "", nil }
	return types, &now
}

func only(name string) func(int, string) (*ec2.DescribeInstanceTypesOutput, error) {
	return func(int, string) (*ec2.DescribeInstanceTypesOutput, error) { return page(nil, info(name)), nil }
}

func TestWhatAWSSaysOfOneType(t *testing.T) {
	incomplete := info("m9.odd")
	incomplete.MemoryInfo = nil
	refusal := &smithy.GenericAPIError{Code: "InvalidInstanceType", Message: "no such type"}
	tests := map[string]struct {
		answer *ec2.DescribeInstanceTypesOutput
		err    error
		want   instancetype.State
		fault  fault.Class
	}{
		"it is there for this account": {page(nil, info("m9.odd")), nil, instancetype.Found, ""},
		"it says no memory":            {page(nil, incomplete), nil, instancetype.Incomplete, ""},
		"there is no such type":        {nil, refusal, instancetype.Unknown, ""},
		"nothing":                      {page(nil), nil, "", fault.Retry},
		"another type":                 {page(nil, info("m5.large")), nil, "", fault.Retry},
		"no answer":                    {nil, &net.OpError{Op: "dial", Err: errors.New("refused")}, "", fault.Retry},
		"a parameter is wrong":         {nil, &smithy.GenericAPIError{Code: "InvalidParameterValue"}, "", fault.Retry},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &script{list: only("m5.large"), one: func(string) (*ec2.DescribeInstanceTypesOutput, error) { return test.answer, test.err }}
			types, _ := scripted(s)
			got, err := types.Get(t.Context(), identity.Identity{}, instancetype.Question{Type: "m9.odd", Region: "us-east-1"})
			var known fault.Fault
			if errors.As(err, &known); got.State != test.want || known.Class != test.fault {
				t.Errorf("got %+v, %v; want %q, fault %q", got, err, test.want, test.fault)
			}
		})
	}
}

func TestARegionWithoutAHostIsLookedUp(t *testing.T) {
	s := &script{
		list: func(int, string) (*ec2.DescribeInstanceTypesOutput, error) {
			return nil, &net.DNSError{Name: "ec2.eu-west-1.amazonaws.com", IsNotFound: true}
		},
		regions: func() (*ec2.DescribeRegionsOutput, error) {
			return &ec2.DescribeRegionsOutput{Regions: []types.Region{{RegionName: aws.String("us-east-1"), OptInStatus: aws.String("opt-in-not-required")}, {}}}, nil
		},
	}
	all, _ := scripted(s)
	got, err := all.Get(t.Context(), identity.Identity{}, instancetype.Question{Type: "m5.large", Region: "eu-west-1"})
	if err != nil || got.State != instancetype.RegionInvalid {
		t.Errorf("got %+v, %v; want an invalid region", got, err)
	}
	got, err = all.Get(t.Context(), identity.Identity{}, instancetype.Question{Type: "m5.large", Region: "us-east-1"})
	var known fault.Fault
	if !errors.As(err, &known) || known.Class != fault.Retry || got != (instancetype.Answer{}) {
		t.Errorf("got %+v, %v; want the fault itself, since the region is there", got, err)
	}
}

func TestCachesAreBounded(t *testing.T) {
	s := &script{
		list: only("m5.large"),
		one: func(string) (*ec2.DescribeInstanceTypesOutput, error) {
			return nil, &smithy.GenericAPIError{Code: "InvalidInstanceType"}
		},
		regions: func() (*ec2.DescribeRegionsOutput, error) { return &ec2.DescribeRegionsOutput{}, nil },
	}
	all, now := scripted(s)
	all.connect = func(_ context.Context, id identity.Identity) (client, string, error) {
		return s, id.Roles.Roles()[0].ARN, nil
	}
	get := func(who, name, region string) {
		t.Helper()
		if _, err := all.Get(t.Context(), identity.Identity{Roles: identity.NewChain(identity.Role{ARN: who})}, instancetype.Question{Type: name, Region: region}); err != nil {
			t.Fatal(err)
		}
		*now = now.Add(time.Second)
	}
	for i := range maxEndpoints + 10 {
		get(fmt.Sprint(i), "m5.large", "us-east-1")
		get(fmt.Sprint(i), "m5.large", "us-foo-1")
	}
	for i := range maxLookups + 10 {
		get("last", fmt.Sprint(i), "us-east-1")
	}
	if len(all.shelves) != maxShelves || len(all.tables) > maxTables || len(all.endpoints) > maxEndpoints {
		t.Errorf("%d shelves, %d tables, %d endpoints; want %d, at most %d and %d",
			len(all.shelves), len(all.tables), len(all.endpoints), maxShelves, maxTables, maxEndpoints)
	}
	last := all.shelves[place{"last", "us-east-1"}]
	if last == nil || len(last.lookups) > maxLookups {
		t.Fatalf("the last shelf is %+v, want it there with at most %d types", last, maxLookups)
	}
	if _, kept := all.shelves[place{fmt.Sprint(maxEndpoints + 9), "us-east-1"}]; !kept {
		t.Error("a shelf that was asked lately is gone")
	}
	if _, kept := all.shelves[place{"0", "us-east-1"}]; kept {
		t.Error("the shelf that was not asked for longest is still there")
	}
}

func TestListsDoNotAgeTogether(t *testing.T) {
	seen := map[time.Duration]bool{}
	for _, region := range []string{"us-east-1", "us-east-2", "us-west-1", "us-west-2", "eu-west-1"} {
		got := spread(place{"", region}, 100*time.Hour)
		if got < 90*time.Hour || got > 110*time.Hour {
			t.Errorf("%s: %v, want about 100h", region, got)
		}
		seen[got] = true
	}
	if len(seen) < 3 {
		t.Errorf("five regions have %d ages, want them spread", len(seen))
	}
}

// TestRequestsAreSpaced: a pause saves requests up, as many as a burst and no more; who
// cannot be served in time hears so, as a fault that is tried again.
func TestRequestsAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := newShelf(place{"", "us-west-2"}, Options{Rate: 2, Burst: 3}).limiter
		begin := time.Now()
		waits := func(n int) (out []time.Duration) {
			for range n {
				if err := limit.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				out = append(out, time.Since(begin))
			}
			return out
		}
		if diff := cmp.Diff([]time.Duration{0, 0, 0, 500 * time.Millisecond, time.Second}, waits(5)); diff != "" {
			t.Errorf("requests go at (-want +got):\n%s", diff)
		}
		<-time.After(time.Minute)
		begin = time.Now()
		if diff := cmp.Diff([]time.Duration{0, 0, 0, 500 * time.Millisecond}, waits(4)); diff != "" {
			t.Errorf("a minute later they go at (-want +got):\n%s", diff)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := limit.Wait(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
		short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		_, _, err := list(short, nil, limit)
		if known := cloud.Classify(service, describeTypes, err); known == nil || known.Class != fault.Retry {
			t.Errorf("got %v, want a fault that is tried again", known)
		}
	})
}
