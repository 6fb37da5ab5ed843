package iampolicy

import (
	"fmt"
	"unicode/utf8"
)

// Quota is a limit of AWS on the size of policy documents.
type Quota string

// The quotas. Those of inline policies count all of one owner's together.
const (
	RoleInlineQuota  Quota = "role inline"
	UserInlineQuota  Quota = "user inline"
	GroupInlineQuota Quota = "group inline"
	ManagedQuota     Quota = "managed"
	TrustQuota       Quota = "trust"
	// SessionQuota counts white space too.
	SessionQuota Quota = "session"
	// BucketQuota counts bytes, white space included.
	BucketQuota Quota = "bucket"
)

// quotas are AWS's limits (AWS: IAM and STS character limits; S3 bucket
// policies).
var quotas = map[Quota]struct {
	limit int
	count func(document []byte) int
}{
	RoleInlineQuota:  {10240, Size},
	UserInlineQuota:  {2048, Size},
	GroupInlineQuota: {5120, Size},
	ManagedQuota:     {6144, Size},
	TrustQuota:       {2048, Size},
	SessionQuota:     {2048, utf8.RuneCount},
	BucketQuota:      {20 << 10, func(document []byte) int { return len(document) }},
}

// Room is how much of a quota documents use.
type Room struct {
	Quota Quota `json:"quota"`
	// Used, Limit and Left are in characters as the quota counts them, bytes for
	// BucketQuota. Left is negative if the documents are too large.
	Used  int `json:"used"`
	Limit int `json:"limit"`
	Left  int `json:"left"`
}

// RoomIn measures documents that count together against a quota. AWS raises
// the quota of trust policies on request, up to 4096; this is the default. It
// fails for a quota that does not exist.
func RoomIn(quota Quota, documents ...[]byte) (Room, error) {
	q, ok := quotas[quota]
	if !ok {
		return Room{}, fmt.Errorf("there is no quota %q; use one of the constants of this package", quota)
	}
	room := Room{Quota: quota, Limit: q.limit}
	for _, document := range documents {
		room.Used += q.count(document)
	}
	room.Left = room.Limit - room.Used
	return room, nil
}

// Quota returns the quota of a single document of a kind, for identity policies
// that of a role. The quota of a resource policy is that of a bucket's.
func (k Kind) Quota() Quota {
	switch k {
	case TrustPolicy:
		return TrustQuota
	case ResourcePolicy:
		return BucketQuota
	case SessionPolicy:
		return SessionQuota
	case ManagedPolicy, BoundaryPolicy:
		return ManagedQuota
	default:
		return RoleInlineQuota
	}
}
