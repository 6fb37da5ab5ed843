package iampolicy

import (
	"strings"
	"testing"
)

func TestRoomIn(t *testing.T) {
	for name, test := range map[string]struct {
		quota     Quota
		documents []string
		want      Room
	}{
		"a role's inline policies count together": {RoleInlineQuota, []string{`{ "a":1 }`, "{\n}"}, Room{RoleInlineQuota, 9, 10240, 10231}},
		"a user has less":                         {UserInlineQuota, []string{"{}"}, Room{UserInlineQuota, 2, 2048, 2046}},
		"a group has half of a role":              {GroupInlineQuota, []string{"{}"}, Room{GroupInlineQuota, 2, 5120, 5118}},
		"a managed policy without white space":    {ManagedQuota, []string{" \t{}\r\n"}, Room{ManagedQuota, 2, 6144, 6142}},
		"a trust policy can be full":              {TrustQuota, []string{strings.Repeat("x", 2048)}, Room{TrustQuota, 2048, 2048, 0}},
		"a trust policy can be too large":         {TrustQuota, []string{strings.Repeat("x", 2049)}, Room{TrustQuota, 2049, 2048, -1}},
		"a session policy's white space counts":   {SessionQuota, []string{"{ é }"}, Room{SessionQuota, 5, 2048, 2043}},
		"a bucket policy counts in bytes":         {BucketQuota, []string{"{ é }"}, Room{BucketQuota, 6, 20480, 20474}},
		"nothing uses nothing":                    {ManagedQuota, nil, Room{ManagedQuota, 0, 6144, 6144}},
	} {
		t.Run(name, func(t *testing.T) {
			documents := make([][]byte, 0, len(test.documents))
			for _, document := range test.documents {
				documents = append(documents, []byte(document))
			}
			got, err := RoomIn(test.quota, documents...)
			if err != nil || got != test.want {
				t.Errorf("RoomIn() = %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

func TestRoomInRefusesAQuotaThatDoesNotExist(t *testing.T) {
	if room, err := RoomIn("bigger", []byte("{}")); err == nil {
		t.Errorf("RoomIn() = %+v, want an error", room)
	}
}

func TestEveryKindHasAQuota(t *testing.T) {
	for kind, want := range map[Kind]Quota{
		IdentityPolicy: RoleInlineQuota, ResourcePolicy: BucketQuota, TrustPolicy: TrustQuota,
		BoundaryPolicy: ManagedQuota, SessionPolicy: SessionQuota, ManagedPolicy: ManagedQuota,
	} {
		if got := kind.Quota(); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
