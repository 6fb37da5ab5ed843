package ec2

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/awslocal/internal/region"
	"github.com/tabard-dev/tabard/iampolicy"
)

// regionsOf are the names that an account without af-south-1 is shown, with their
// statuses where they are not opt-in-not-required.
func regionsOf(t *testing.T, from, query string) (names []string, code string) {
	t.Helper()
	book := region.NewBook(partition.Of(from))
	if partition.Of(from) == partition.Commercial {
		if err := book.Disable("123456789012", "af-south-1"); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, askIn(t, New(book), from, "Action=DescribeRegions&"+query, iampolicy.Allow))
	for _, one := range got.Region {
		name := one.Name
		if one.OptIn != "opt-in-not-required" {
			name += " " + one.OptIn
		}
		names = append(names, name)
	}
	return names, got.Code
}

func TestDescribeRegionsShowsWhatTheAccountHas(t *testing.T) {
	cases := map[string]struct {
		query string
		want  []string
		code  string
	}{
		"by name":                             {"RegionName.1=eu-west-1", []string{"eu-west-1"}, ""},
		"by name, whether it has them or not": {"RegionName.1=me-south-1&RegionName.2=af-south-1", []string{"af-south-1 not-opted-in", "me-south-1 opted-in"}, ""},
		"a region of another partition":       {"RegionName.1=cn-north-1", nil, "InvalidParameterValue"},
		"no region":                           {"RegionName.1=", nil, "InvalidParameterValue"},
		"filtered by name":                    {"Filter.1.Name=region-name&Filter.1.Value.1=mx-*&Filter.1.Value.2=ap-east-?", []string{"ap-east-1 opted-in", "ap-east-2 opted-in", "mx-central-1 opted-in"}, ""},
		"filtered by endpoint":                {"Filter.1.Name=endpoint&Filter.1.Value.1=*eu-north*", []string{"eu-north-1"}, ""},
		"those that it lacks are hidden":      {"Filter.1.Name=opt-in-status&Filter.1.Value.1=not-opted-in", nil, ""},
		"those that it lacks, asked for":      {"AllRegions=true&Filter.1.Name=opt-in-status&Filter.1.Value.1=not-opted-in", []string{"af-south-1 not-opted-in"}, ""},
		"an unknown filter":                   {"Filter.1.Name=geography&Filter.1.Value.1=x", nil, "InvalidParameterValue"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, code := regionsOf(t, "eu-central-1", tc.query); code != tc.code || !slices.Equal(got, tc.want) {
				t.Errorf("code %q, regions %q, want %q, %q", code, got, tc.code, tc.want)
			}
		})
	}
}

func TestAllRegionsAreThoseOfThePartition(t *testing.T) {
	own, _ := regionsOf(t, "eu-central-1", "")
	all, _ := regionsOf(t, "eu-central-1", "AllRegions=true")
	if without := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return strings.HasPrefix(name, "af-south-1") }); len(all) != 34 || !slices.Equal(own, without) || len(own) != 33 {
		t.Errorf("own %q, all %q, want all 34 but af-south-1", own, all)
	}
	for from, want := range map[string][]string{
		"cn-north-1": {"cn-north-1", "cn-northwest-1"}, "us-gov-west-1": {"us-gov-east-1", "us-gov-west-1"},
		"us-iso-east-1": {"us-iso-east-1", "us-iso-west-1"}, "us-isob-east-1": {"us-isob-east-1", "us-isob-west-1"},
		"eu-isoe-west-1": {"eu-isoe-west-1"}, "us-isof-south-1": {"us-isof-east-1", "us-isof-south-1"}, "eusc-de-east-1": {"eusc-de-east-1"},
	} {
		if got, _ := regionsOf(t, from, ""); !slices.Equal(got, want) {
			t.Errorf("from %s: %q, want %q", from, got, want)
		}
	}
	got := read(t, askIn(t, New(nil), "eusc-de-east-1", "Action=DescribeRegions", iampolicy.Allow)).Region
	if want := (regionItem{"eusc-de-east-1", "ec2.eusc-de-east-1.amazonaws.eu", "opt-in-not-required"}); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
