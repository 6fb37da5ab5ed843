package region

import (
	"slices"
	"strings"
	"testing"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

func TestRegionsAreOrderedAndOfTheirPartition(t *testing.T) {
	if len(regions) != 8 {
		t.Errorf("%d partitions, want all 8", len(regions))
	}
	for name, all := range regions {
		if len(all) == 0 || !slices.IsSortedFunc(all, func(a, b Region) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("the regions of %s are none, or not ordered: %v", name, all)
		}
		for _, one := range all {
			if got := partition.Of(one.Name); got != name {
				t.Errorf("%s stands among the regions of %s and is one of %s", one.Name, name, got)
			}
		}
	}
	for _, name := range []string{"ap-east-2", "ap-southeast-6", "ap-southeast-7", "mx-central-1"} {
		if found, known := find(partition.Commercial, name); !known || !found.OptIn {
			t.Errorf("%s: %+v, want an opt-in region", name, found)
		}
	}
}

func TestAccountsDisableOptInRegionsOnly(t *testing.T) {
	cases := map[string]struct{ region, says string }{
		"an opt-in region":           {"af-south-1", ""},
		"a region that all have":     {"us-east-1", "the region us-east-1 needs no opt-in"},
		"no region":                  {"us-nowhere-1", `"us-nowhere-1" is no region of the partition aws`},
		"one of another partition":   {"cn-north-1", `"cn-north-1" is no region of the partition aws`},
		"nothing":                    {"", `"" is no region`},
		"a region of ours, misspelt": {"AF-SOUTH-1", "is no region"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			book := NewBook(partition.Commercial)
			err := book.Disable("111122223333", tc.region)
			if tc.says == "" {
				if err != nil || book.Enabled("111122223333", tc.region) || !book.Enabled("123456789012", tc.region) {
					t.Errorf("error %v, enabled %t, want it disabled for one account", err, book.Enabled("111122223333", tc.region))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || len(book.Snapshot()) != 0 {
				t.Errorf("error %v and %v disabled, want %q and none", err, book.Snapshot(), tc.says)
			}
		})
	}
}

func TestStatusFollowsTheChoice(t *testing.T) {
	book := NewBook(partition.Commercial)
	optIn, every := Region{"af-south-1", true}, Region{"us-east-1", false}
	want := func(r Region, status Status) {
		t.Helper()
		if got := book.Status("111122223333", r); got != status {
			t.Errorf("%s is %s, want %s", r.Name, got, status)
		}
	}
	want(every, OptInNotRequired)
	want(optIn, OptedIn)
	for _, step := range []struct {
		change func(account, region string) error
		status Status
	}{{book.Disable, NotOptedIn}, {book.Disable, NotOptedIn}, {book.Enable, OptedIn}, {book.Enable, OptedIn}} {
		if err := step.change("111122223333", optIn.Name); err != nil {
			t.Fatal(err)
		}
		want(optIn, step.status)
	}
	if err := book.Disable("111122223333", optIn.Name); err != nil {
		t.Fatal(err)
	}
	book.Reset()
	want(optIn, OptedIn)
	var none *Book
	if got := none.Status("111122223333", optIn); got != OptedIn {
		t.Errorf("without a book %s, want %s", got, OptedIn)
	}
}

func TestChoicesComeBack(t *testing.T) {
	accounts := []string{"111122223333", "123456789012"}
	book := NewBook(partition.Commercial)
	for _, choice := range []Choice{{"123456789012", "ap-east-1"}, {"123456789012", "af-south-1"}, {"111122223333", "me-south-1"}} {
		if err := book.Disable(choice.Account, choice.Region); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := book.Snapshot()
	if want := []Choice{{"111122223333", "me-south-1"}, {"123456789012", "af-south-1"}, {"123456789012", "ap-east-1"}}; !slices.Equal(snapshot, want) {
		t.Fatalf("snapshot %v, want %v", snapshot, want)
	}
	other := NewBook(partition.Commercial)
	replace, err := other.Restore(snapshot, accounts)
	if err != nil {
		t.Fatal(err)
	}
	if replace(); !slices.Equal(other.Snapshot(), snapshot) {
		t.Errorf("came back as %v, want %v", other.Snapshot(), snapshot)
	}
	for says, bad := range map[string][]Choice{
		"which does not exist": {{"999999999999", "af-south-1"}},
		"needs no opt-in":      {{"123456789012", "us-east-1"}},
		"is no region":         {{"123456789012", "x"}},
	} {
		if _, err := other.Restore(bad, accounts); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: error %v, want %q", bad, err, says)
		}
	}
}
