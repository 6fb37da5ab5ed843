package hub

import "github.com/tabard-dev/tabard/internal/core/iamname"

// The tags of a role and an access entry that Tabard made.
const (
	// HubTag has the ARN of the hub.
	HubTag = iamname.OwnTags + "hub"
	// ClusterTag has the name and the UID of the ManagedCluster: see OwnerOf.
	ClusterTag = iamname.OwnTags + "managed-cluster"
	// RoleTag, on an access entry alone, has the unique ID of the role for which it was
	// made. EKS binds an entry to that ID and does not tell it: an entry of a role that
	// was made anew looks right and gives no access.
	RoleTag = iamname.OwnTags + "role-id"
)

// OwnerOf is the value of ClusterTag: one ManagedCluster, and none of the same name
// before or after it.
func OwnerOf(cluster, uid string) string { return cluster + "/" + uid }
