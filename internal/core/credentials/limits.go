package credentials

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/condition"
)

// AWS's limits of the tags of a role (AWS: IAM and STS quotas).
const (
	maxTags     = 50
	maxTagKey   = 128
	maxTagValue = 256
)

// withinLimits counts what AWS counts, before anything is made.
func withinLimits(w World, policy []byte) condition.Verdict {
	if room, _ := iampolicy.RoomIn(iampolicy.RoleInlineQuota, policy); room.Left < 0 {
		return condition.No(ReasonTooLong, "the statements make a policy of %d characters, expected at most %d: join statements, use fewer actions by wildcards, or split the request in two", room.Used, room.Limit)
	}
	// Whether there can be a trust policy is said by others: here it is counted.
	if trust, v := TrustPolicy(w); v.IsTrue() {
		if room, _ := iampolicy.RoomIn(iampolicy.TrustQuota, []byte(trust)); room.Left < 0 {
			return condition.No(ReasonTooLong, "the %d ServiceAccounts make a trust policy of %d characters, expected at most %d: name fewer in spec.serviceAccountNames", len(Subjects(w)), room.Used, room.Limit)
		}
	}
	tags := Tags(w)
	if len(tags) > maxTags {
		return condition.No(ReasonTooLong, "the role would have %d tags, expected at most %d: have an administrator set fewer for the controller or the Infrastructure", len(tags), maxTags)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if used := utf8.RuneCountInString(key); used > maxTagKey {
			return condition.No(ReasonTooLong, "the role's tag %s would have a key of %d characters, expected at most %d: shorten it, or the name of the cluster", key, used, maxTagKey)
		}
		if used := utf8.RuneCountInString(tags[key]); used > maxTagValue {
			return condition.No(ReasonTooLong, "the role's tag %s would have %d characters, expected at most %d: give the request a shorter name", key, used, maxTagValue)
		}
	}
	return condition.Yes(ReasonAccepted, "")
}
