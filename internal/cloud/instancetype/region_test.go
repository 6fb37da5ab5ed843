package instancetype_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabard-dev/tabard/awslocal"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/instancetype"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

func TestARegionIsLookedUpInItsOwnPartition(t *testing.T) {
	invalid := instancetype.Answer{State: instancetype.RegionInvalid}
	tests := map[string]struct {
		home     string
		question instancetype.Question
		want     []string
	}{
		"in AWS's own": {"us-east-1", ask("m5.large", "us-foo-9"), []string{"DescribeRegions@us-east-1"}},
		"at home":      {"us-east-1", instancetype.Question{Type: "m5.large", Region: "us-foo-9", Home: "eu-west-1"}, []string{"DescribeRegions@eu-west-1"}},
		"in GovCloud": {
			"us-gov-west-1", instancetype.Question{Type: "m5.large", Region: "us-gov-foo-9", Home: "eu-west-1"}, []string{"DescribeRegions@us-gov-west-1"},
		},
		"in China": {"cn-northwest-1", ask("m5.large", "cn-foo-9"), []string{"DescribeRegions@cn-north-1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, test.home)
			for range 2 {
				l.want(t, test.question, invalid)
			}
			if diff := cmp.Diff(test.want, l.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			l.advance(6 * time.Minute)
			l.want(t, test.question, invalid)
			if diff := cmp.Diff(test.want, l.calls()); diff != "" {
				t.Errorf("calls six minutes later (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKnownRegionsOfEveryPartitionAreAskedAlone(t *testing.T) {
	for home, region := range map[string]string{"us-gov-west-1": "us-gov-east-1", "cn-north-1": "cn-northwest-1", "us-east-1": "eu-central-1"} {
		l := newLab(t, home)
		l.want(t, ask("m5.large", region), large)
		for _, call := range l.calls() {
			if call != "DescribeInstanceTypes@"+region {
				t.Errorf("from %s: %s, want nothing but the types of %s", home, call, region)
			}
		}
	}
}

func TestWhatIsNoRegionIsNotTried(t *testing.T) {
	l := newLab(t, "us-east-1")
	for _, region := range []string{"", "US-EAST-1", "us-east-1.evil.example/", "us-east", "localhost"} {
		l.want(t, ask("m5.large", region), instancetype.Answer{State: instancetype.RegionInvalid})
	}
	if calls := l.calls(); len(calls) > 0 {
		t.Errorf("calls %v, want none", calls)
	}
}

func TestARegionThatTheAccountLacksIsNamed(t *testing.T) {
	l := newLab(t, "us-east-1")
	must.Do(t, l.aws.Admin().DisableRegion(account, "af-south-1"))
	l.want(t, ask("m5.large", "af-south-1"), instancetype.Answer{State: instancetype.RegionNotOptedIn})
	want := []string{"DescribeInstanceTypes@af-south-1", "DescribeRegions@us-east-1"}
	if diff := cmp.Diff(want, l.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	// In a region that the account has, a refusal is about the keys.
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Operation: "DescribeInstanceTypes", Code: "AuthFailure", Status: 401})
	got, err := l.types.Get(t.Context(), person, ask("m5.large", "eu-west-1"))
	wantFault(t, got, err, fault.Unauthenticated, "AuthFailure")
	// Without the right to look at regions, the refusal stands as well.
	l.advance(time.Hour)
	l.aws.Admin().Inject(awslocal.Fault{Service: "ec2", Operation: "DescribeRegions", Code: "UnauthorizedOperation", Status: 403})
	got, err = l.types.Get(t.Context(), person, ask("m5.large", "af-south-1"))
	wantFault(t, got, err, fault.Unauthenticated, "AuthFailure")
	// A region that must be looked up cannot be then.
	got, err = l.types.Get(t.Context(), person, ask("m5.large", "us-foo-9"))
	wantFault(t, got, err, fault.Denied, "UnauthorizedOperation")
}
