package iamrole

import (
	"testing"

	"github.com/tabard-dev/tabard/internal/cloud"
)

func TestUsageTakesNoMissingNumberForZero(t *testing.T) {
	for name, each := range map[string]struct {
		summary map[string]int32
		want    cloud.RoleUsage
		fails   bool
	}{
		"both":          {map[string]int32{"Roles": 3, "RolesQuota": 1000, "Users": 1}, cloud.RoleUsage{Roles: 3, Quota: 1000}, false},
		"no role":       {map[string]int32{"Roles": 0, "RolesQuota": 1000}, cloud.RoleUsage{Quota: 1000}, false},
		"without roles": {map[string]int32{"RolesQuota": 1000}, cloud.RoleUsage{}, true},
		"without quota": {map[string]int32{"Roles": 3}, cloud.RoleUsage{}, true},
		"nothing":       {nil, cloud.RoleUsage{}, true},
	} {
		if got, err := usageOf(each.summary); got != each.want || (err != nil) != each.fails {
			t.Errorf("%s: %+v and %v, want %+v", name, got, err, each.want)
		}
	}
}
