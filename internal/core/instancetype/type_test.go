package instancetype_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
)

func TestATypeIsReadFromItsFacts(t *testing.T) {
	type devices = []instancetype.Devices
	large := func(change func(*instancetype.Type)) instancetype.Type {
		out := instancetype.Type{Name: "x.large", VCPUs: 2, MemoryMiB: 5376, Architecture: "amd64"}
		change(&out)
		return out
	}
	tests := map[string]struct {
		architectures []string
		gpus, neurons devices
		want          instancetype.Type
	}{
		"one architecture": {
			[]string{"x86_64"}, nil, nil,
			large(func(*instancetype.Type) {}),
		},
		"an ARM type": {
			[]string{"arm64"}, nil, nil,
			large(func(w *instancetype.Type) { w.Architecture = "arm64" }),
		},
		"32 bit code is named first": {
			[]string{"i386", "x86_64"}, nil, nil,
			large(func(*instancetype.Type) {}),
		},
		"an ARM Mac": {
			[]string{"arm64_mac"}, nil, nil,
			large(func(w *instancetype.Type) { w.Architecture = "arm64" }),
		},
		"an Intel Mac": {
			[]string{"x86_64_mac"}, nil, nil,
			large(func(*instancetype.Type) {}),
		},
		"no architecture is assumed to be amd64": {
			nil, nil, nil,
			large(func(w *instancetype.Type) { w.ArchitectureAssumed = true }),
		},
		"an unknown architecture is assumed to be amd64": {
			[]string{"bogus"}, nil, nil,
			large(func(w *instancetype.Type) { w.ArchitectureAssumed = true }),
		},
		"GPUs of NVIDIA": {
			[]string{"x86_64"}, devices{{Maker: "NVIDIA", Count: 8, Logical: 8}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 8, "nvidia.com/gpu", 8 }),
		},
		"GPUs of AMD": {
			[]string{"x86_64"}, devices{{Maker: "AMD", Count: 4}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 4, "amd.com/gpu", 4 }),
		},
		"GPUs of Habana": {
			[]string{"x86_64"}, devices{{Maker: "Habana", Count: 8}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 8, "habana.ai/gaudi", 8 }),
		},
		"models of one maker add up": {
			[]string{"x86_64"}, devices{{Maker: "NVIDIA", Count: 1}, {Maker: "NVIDIA", Count: 2}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 3, "nvidia.com/gpu", 3 }),
		},
		"a share of a GPU counts as one": {
			[]string{"x86_64"}, devices{{Maker: "NVIDIA", Count: 0, Logical: 1}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 1, "nvidia.com/gpu", 1 }),
		},
		"an unknown maker has no resource": {
			[]string{"x86_64"}, devices{{Maker: "Nobody", Count: 2}}, nil,
			large(func(w *instancetype.Type) { w.GPUs = 2 }),
		},
		"two makers have no resource": {
			[]string{"x86_64"}, devices{{Maker: "NVIDIA", Count: 2}, {Maker: "AMD", Count: 1}}, nil,
			large(func(w *instancetype.Type) { w.GPUs = 3 }),
		},
		"an entry without devices has no say": {
			[]string{"x86_64"}, devices{{Maker: "NVIDIA", Count: 2}, {Maker: "AMD"}}, nil,
			large(func(w *instancetype.Type) { w.GPUs, w.Accelerator, w.Accelerators = 2, "nvidia.com/gpu", 2 }),
		},
		"Neuron devices are no GPUs": {
			[]string{"x86_64"}, nil, devices{{Count: 6}, {Count: 6}},
			large(func(w *instancetype.Type) { w.Accelerator, w.Accelerators = "aws.amazon.com/neuron", 12 }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := instancetype.Of(instancetype.Facts{
				Name: "x.large", VCPUs: 2, MemoryMiB: 5376,
				Architectures: test.architectures, GPUs: test.gpus, Neurons: test.neurons,
			})
			if diff := cmp.Diff(test.want, got); diff != "" || !ok {
				t.Errorf("ok is %v; type (-want +got):\n%s", ok, diff)
			}
		})
	}
}

func TestATypeWithoutCapacityIsNone(t *testing.T) {
	for name, facts := range map[string]instancetype.Facts{
		"no name":         {VCPUs: 2, MemoryMiB: 4},
		"no vCPUs":        {Name: "x", MemoryMiB: 4},
		"no memory":       {Name: "x", VCPUs: 2},
		"negative memory": {Name: "x", VCPUs: 2, MemoryMiB: -1},
	} {
		if got, ok := instancetype.Of(facts); ok || got != (instancetype.Type{}) {
			t.Errorf("%s: got %+v, %v; want none", name, got, ok)
		}
	}
}

func TestRegionsOfAPartition(t *testing.T) {
	tests := map[string]struct {
		partition, ask string
		known          bool
	}{
		"us-east-1":       {"aws", "us-east-1", true},
		"eu-central-1":    {"aws", "us-east-1", true},
		"us-foo-9":        {"aws", "us-east-1", false},
		"us-gov-east-1":   {"aws-us-gov", "us-gov-west-1", true},
		"us-gov-north-1":  {"aws-us-gov", "us-gov-west-1", false},
		"cn-northwest-1":  {"aws-cn", "cn-north-1", true},
		"us-iso-west-1":   {"aws-iso", "us-iso-east-1", true},
		"us-isob-east-1":  {"aws-iso-b", "us-isob-east-1", true},
		"eu-isoe-west-1":  {"aws-iso-e", "eu-isoe-west-1", true},
		"us-isof-east-1":  {"aws-iso-f", "us-isof-south-1", true},
		"eusc-de-east-1":  {"aws-eusc", "eusc-de-east-1", true},
		"eusc-de-south-1": {"aws-eusc", "eusc-de-east-1", false},
	}
	for region, want := range tests {
		if got := identity.Partition(region); got != want.partition {
			t.Errorf("partition of %s: got %s, want %s", region, got, want.partition)
		}
		if got := instancetype.IsKnownRegion(region); got != want.known {
			t.Errorf("%s is known: got %v, want %v", region, got, want.known)
		}
		if got := instancetype.RegionToAsk(region, ""); got != want.ask {
			t.Errorf("where to ask about %s: got %s, want %s", region, got, want.ask)
		}
		if !instancetype.IsRegionName(region) {
			t.Errorf("%s has not the shape of a region", region)
		}
	}
}

func TestTheListOfRegionsIsAskedForAtHome(t *testing.T) {
	tests := map[string]struct{ region, home, want string }{
		"in the home's partition":    {"us-foo-9", "eu-west-1", "eu-west-1"},
		"not in another's partition": {"us-gov-north-1", "eu-west-1", "us-gov-west-1"},
		"not at a home that is none": {"us-foo-9", "evil.example/", "us-east-1"},
		"without a home":             {"cn-foo-9", "", "cn-north-1"},
	}
	for name, test := range tests {
		if got := instancetype.RegionToAsk(test.region, test.home); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

func TestWhatIsNoRegionIsNeverTried(t *testing.T) {
	for _, text := range []string{
		"", "us", "us-east", "us-1", "us-east-1a", "US-EAST-1", "us-east-", "-east-1", "us--1", "us_east_1",
		"us-east-1.evil.example", "us-east-1/", " us-east-1", "us-ea st-1", "us-éast-1", "1-2-3",
		"us-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-1",
	} {
		if instancetype.IsRegionName(text) {
			t.Errorf("%q is taken for a region's name", text)
		}
	}
}
