package issuer

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
)

// longestGap is the time between two looks after which something may have gone
// unseen: API servers that were started with an old key, and with the new one again.
// It is longer than what an operator takes to start anew, and shorter than the hour by
// which retireKeysAfter is usually longer than the life of a token.
const longestGap = 30 * time.Minute

// prolong notes a look. After a gap, and after a clock that jumped, the record begins
// anew.
func prolong(record v1alpha1.KeyRecord, now metav1.Time) v1alpha1.KeyRecord {
	if record.Since == nil || record.LastLook == nil || record.Since.After(now.Time) ||
		record.LastLook.After(now.Add(clockSkew)) || now.Sub(record.LastLook.Time) > longestGap {
		return v1alpha1.KeyRecord{Since: &now, LastLook: &now}
	}
	if now.Sub(record.LastLook.Time) > seenGranularity {
		record.LastLook = &now
	}
	return record
}

// endOf is the end of the patience with a key that has been gone since a time: what
// was signed with it while nobody looked may live as long as what was signed last.
func (r ring) endOf(gone metav1.Time, w World) time.Time {
	from := gone.Time
	if r.record.Since != nil && r.record.Since.After(from) {
		from = r.record.Since.Time
	}
	return from.Add(cmp.Or(w.Issuer.Spec.RetireKeysAfter.Duration, usualRetirement))
}
