package awslocal_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// accelerators are what three types have besides CPUs.
var accelerators = map[string]types.InstanceTypeInfo{
	"g6f.xlarge": {
		GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{
			Name: aws.String("L4"), Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(0), LogicalGpuCount: aws.Int32(1), GpuPartitionSize: aws.Float64(0.125),
		}}},
	},
	"inf1.24xlarge": {
		NeuronInfo: &types.NeuronInfo{
			NeuronDevices: []types.NeuronDeviceInfo{{
				Name: aws.String("Inferentia"), Count: aws.Int32(16), CoreInfo: &types.NeuronDeviceCoreInfo{Count: aws.Int32(4), Version: aws.Int32(1)},
				MemoryInfo: &types.NeuronDeviceMemoryInfo{SizeInMiB: aws.Int32(8192)},
			}},
			TotalNeuronDeviceMemoryInMiB: aws.Int32(131072),
		},
		InferenceAcceleratorInfo: &types.InferenceAcceleratorInfo{
			Accelerators: []types.InferenceDeviceInfo{{
				Name: aws.String("Inferentia"), Manufacturer: aws.String("AWS"), Count: aws.Int32(16), MemoryInfo: &types.InferenceDeviceMemoryInfo{SizeInMiB: aws.Int32(8192)},
			}},
			TotalInferenceMemoryInMiB: aws.Int32(131072),
		},
	},
	"trn2.48xlarge": {
		NeuronInfo: &types.NeuronInfo{
			NeuronDevices: []types.NeuronDeviceInfo{{
				Name: aws.String("Trainium2"), Count: aws.Int32(16), CoreInfo: &types.NeuronDeviceCoreInfo{Count: aws.Int32(8), Version: aws.Int32(3)},
				MemoryInfo: &types.NeuronDeviceMemoryInfo{SizeInMiB: aws.Int32(98304)},
			}},
			TotalNeuronDeviceMemoryInMiB: aws.Int32(1572864),
		},
	},
}

func wantAccelerators(t *testing.T, got []types.InstanceTypeInfo) {
	t.Helper()
	if len(got) != len(accelerators) {
		t.Errorf("%d types, want %d", len(got), len(accelerators))
	}
	for _, one := range got {
		seen := types.InstanceTypeInfo{GpuInfo: one.GpuInfo, NeuronInfo: one.NeuronInfo, InferenceAcceleratorInfo: one.InferenceAcceleratorInfo}
		options := cmpopts.IgnoreUnexported(
			types.InstanceTypeInfo{}, types.GpuInfo{}, types.GpuDeviceInfo{}, types.NeuronInfo{}, types.NeuronDeviceInfo{}, types.NeuronDeviceCoreInfo{},
			types.NeuronDeviceMemoryInfo{}, types.InferenceAcceleratorInfo{}, types.InferenceDeviceInfo{}, types.InferenceDeviceMemoryInfo{},
		)
		if diff := cmp.Diff(accelerators[string(one.InstanceType)], seen, options); diff != "" {
			t.Errorf("%s (-want +got):\n%s", one.InstanceType, diff)
		}
	}
}

func TestTheSDKReadsAccelerators(t *testing.T) {
	l := newLab(t)
	out := must.Get(ec2.NewFromConfig(l.administrator(account)).DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{
		InstanceTypes: []types.InstanceType{"g6f.xlarge", types.InstanceTypeInf124xlarge, types.InstanceTypeTrn248xlarge},
	}))(t)
	wantAccelerators(t, out.InstanceTypes)
}

func TestCommandLineReadsAccelerators(t *testing.T) {
	l := newLab(t)
	text, problem, _ := l.CommandLine(l.Administrator(account), inUSEast1, "ec2", "describe-instance-types", "--instance-types", "g6f.xlarge", "inf1.24xlarge", "trn2.48xlarge")
	if problem != "" {
		t.Fatal(problem)
	}
	var out struct{ InstanceTypes []types.InstanceTypeInfo }
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	wantAccelerators(t, out.InstanceTypes)
}

// The product knows regions too, by a list of its own.
func TestRegionsAreThoseThatTheProductKnows(t *testing.T) {
	for home, count := range map[string]int{
		"eu-central-1": 34, "cn-north-1": 2, "us-gov-west-1": 2, "us-iso-east-1": 2, "us-isob-east-1": 2, "eu-isoe-west-1": 1, "us-isof-south-1": 2, "eusc-de-east-1": 1,
	} {
		l := newLab(t, func(o *awslocal.Options) { o.Region = home })
		cfg := l.administrator(account)
		cfg.Region = home
		out := must.Get(ec2.NewFromConfig(cfg).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)}))(t)
		if len(out.Regions) != count {
			t.Errorf("%d regions of the partition of %s, want %d", len(out.Regions), home, count)
		}
		for _, one := range out.Regions {
			if name := *one.RegionName; !instancetype.IsKnownRegion(name) || identity.Partition(name) != identity.Partition(home) {
				t.Errorf("the product does not know %s as a region of the partition of %s", name, home)
			}
		}
	}
}

func TestADisabledRegionRefusesTheSDK(t *testing.T) {
	l := newLab(t, func(o *awslocal.Options) { o.Region = "af-south-1" })
	role, token := l.role("app", l.trust(l.provider())), l.sign(0, l.claims())
	cfg := l.administrator(account)
	cfg.Region = "af-south-1"
	calls := map[string]func() error{
		"EC2": func() error {
			return awstest.Err(ec2.NewFromConfig(cfg).DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5)}))
		},
		"STS": func() error {
			return awstest.Err(sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}))
		},
		"STS by a token": func() error {
			return awstest.Err(l.anonymous().AssumeRoleWithWebIdentity(t.Context(), &sts.AssumeRoleWithWebIdentityInput{
				RoleArn: &role, RoleSessionName: aws.String("one"), WebIdentityToken: &token,
			}))
		},
		"IAM": func() error { return awstest.Err(iam.NewFromConfig(cfg).ListRoles(t.Context(), &iam.ListRolesInput{})) },
	}
	status := func() types.Region {
		t.Helper()
		elsewhere := l.administrator(account)
		elsewhere.Region = awstest.Region
		out := must.Get(ec2.NewFromConfig(elsewhere).DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{RegionNames: []string{"af-south-1"}}))(t)
		return out.Regions[0]
	}
	want := map[string]string{
		"EC2":            "AuthFailure: AWS was not able to validate the provided access credentials",
		"STS":            "InvalidClientTokenId: The security token included in the request is invalid.",
		"STS by a token": "RegionDisabledException: STS is not activated in this region for account:" + account + ". Your account administrator can activate STS in this region using the IAM Console.",
	}
	for _, step := range []struct {
		choose func(account, region string) error
		want   map[string]string
		status string
	}{
		{l.Admin().EnableRegion, nil, "opted-in"},
		{l.Admin().DisableRegion, want, "not-opted-in"},
		{l.Admin().EnableRegion, nil, "opted-in"},
	} {
		must.Do(t, step.choose(account, "af-south-1"))
		for name, call := range calls {
			if got := awstest.Refusal(nil, call()); got != step.want[name] {
				t.Errorf("%s, %s: %q, want %q", name, step.status, got, step.want[name])
			}
		}
		if got := status(); *got.OptInStatus != step.status {
			t.Errorf("the status is %s, want %s", *got.OptInStatus, step.status)
		}
	}
}

func TestCommandLineListsRegions(t *testing.T) {
	l := newLab(t)
	must.Do(t, l.Admin().DisableRegion(account, "mx-central-1"))
	for filter, want := range map[string][]string{
		"":              {"ap-southeast-6", "ap-southeast-7"},
		"--all-regions": {"ap-southeast-6", "ap-southeast-7", "mx-central-1"},
	} {
		arguments := []string{"ec2", "describe-regions", "--filters", "Name=region-name,Values=mx-*,ap-southeast-6,ap-southeast-7", "--query", "Regions[].RegionName"}
		if filter != "" {
			arguments = append(arguments, filter)
		}
		text, problem, _ := l.CommandLine(l.Administrator(account), inUSEast1, arguments...)
		var got []string
		if err := json.Unmarshal([]byte(text), &got); problem != "" || err != nil || !slices.Equal(got, want) {
			t.Errorf("with %q: %s %s, want %s", filter, text, problem, strings.Join(want, " "))
		}
	}
}
