package hub

import (
	"encoding/json"
	"reflect"

	"github.com/tabard-dev/tabard/iampolicy"
)

// Trust is the trust policy of a spoke's role in the hub's account: the spoke's role of
// the same suffix may become it, with the tags that its account's administrator put on
// it. It is in the hub's partition: Claim.Verify has seen that the spoke is too.
func Trust(hub, spoke ARN, suffix string) string {
	conditions := map[string][]string{}
	for key, value := range trustTags(hub, spoke) {
		conditions["aws:PrincipalTag/"+key] = []string{value}
	}
	return iampolicy.Document{{
		Principals: map[iampolicy.PrincipalType][]string{iampolicy.TypeAWS: {iamRole(hub.Partition, spoke.Account, SpokeRoleName(suffix))}},
		Actions:    []string{"sts:AssumeRole"},
		Conditions: map[string]map[string][]string{"StringEquals": conditions},
	}}.String()
}

// trustTags are the tags of the role of a spoke in EKS.
func trustTags(hub, spoke ARN) map[string]string {
	return map[string]string{
		"hub_cluster_account_id":     hub.Account,
		"hub_cluster_name":           hub.Name,
		"managed_cluster_account_id": spoke.Account,
		"managed_cluster_name":       spoke.Name,
	}
}

// SamePolicy says whether two policy documents mean the same: spaces, the order of keys,
// and a list of one in the place of its element make no difference. What is not JSON is
// like nothing.
func SamePolicy(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(plain(x), plain(y))
}

// plain puts the element of a list of one in the list's place, at any depth.
func plain(value any) any {
	switch v := value.(type) {
	case []any:
		if len(v) == 1 {
			return plain(v[0])
		}
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return value
}
