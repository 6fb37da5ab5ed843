package hubaccess

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/fault"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// World is everything that one pass has observed, at one instant. The shell fills it.
type World struct {
	// Name is that of the ManagedCluster and of its HubAccess.
	Name string
	// Setting says which hub it is, and whether roles are made at all.
	Setting hub.Setting
	// Tags are the administrator's, for roles and access entries.
	Tags map[string]string
	// Cluster is the ManagedCluster, nil if there is none.
	Cluster *Cluster
	// Record is the HubAccess, nil if there is none.
	Record *v1alpha1.HubAccess
	// Others are the other clusters that have, or claim, a suffix.
	Others []Other
	// Works is what of the cluster has to go before its access goes. It is filled where
	// IsOver says that the life of a record is over.
	Works Works
	// AWS is what was seen there: see Plan.Look.
	AWS AWS
	// Now is the instant of the pass.
	Now time.Time
}

// Cluster is a ManagedCluster.
type Cluster struct {
	UID     types.UID
	Created time.Time
	// Accepted is spec.hubAcceptsClient.
	Accepted bool
	// Deleting says that it is being deleted, Held that it has the Finalizer.
	Deleting, Held bool
	// Annotations are those of the package hub, at least.
	Annotations map[string]string
}

// Other is another cluster with a suffix.
type Other struct {
	// Name is the ManagedCluster's.
	Name string
	// Suffix is what its record has, or what it claims where it has no record with one.
	Suffix string
	// Recorded says that its record has the suffix.
	Recorded bool
}

// Works are the ManifestWorks and ManagedClusterAddOns in the cluster's namespace.
type Works struct {
	// Trouble says why they could not be read; empty for none.
	Trouble string
	// Items are those that there are.
	Items []Work
}

// Work is one of them.
type Work struct {
	// Name is KIND NAME.
	Name    string
	Created time.Time
	// AddOn says that it is a ManagedClusterAddOn. Programs make those for each cluster
	// that there is, so they go with their cluster and not with its acceptance.
	AddOn bool
}

// Look says what has to be seen in AWS.
type Look string

const (
	// LookNowhere is that nothing in AWS counts: no call is made.
	LookNowhere Look = ""
	// LookQuietly is for what was as wanted: the entry by itself, and the role in a list
	// of all roles that may be some time old and knows no tags.
	LookQuietly Look = "Quietly"
	// LookLive is at the role and the entry, each by itself, now.
	LookLive Look = "Live"
)

// AWS is what was seen there.
type AWS struct {
	// Look says how; LookNowhere if nothing was looked at.
	Look Look
	// Fault says why something could not be seen; then nothing else is known.
	Fault *fault.Fault
	// Role is the role that the record names, Entry its access entry.
	Role  Role
	Entry Entry
}

// Role is an IAM role. The zero value is none.
type Role struct {
	Exists bool
	// ID is its unique ID, which no other role has before or after it.
	ID string
	// Trust is the trust policy in JSON.
	Trust string
	// Tags are all of them; nil where the look was quiet.
	Tags map[string]string
}

// Entry is an access entry of EKS. The zero value is none.
type Entry struct {
	Exists bool
	// Username and Groups are what the role is on the hub.
	Username string
	Groups   []string
	// Type is such as STANDARD.
	Type string
	// Tags are all of them.
	Tags map[string]string
}

// Standard is the type of access entries of people and programs, which names groups.
const Standard = "STANDARD"

// IsOver says that the life of a record is over: the access that it names is to go.
func IsOver(record *v1alpha1.HubAccess, cluster *Cluster) bool {
	return cluster == nil || cluster.UID != record.Spec.ClusterUID || cluster.Deleting || !cluster.Accepted || !record.DeletionTimestamp.IsZero()
}

// owner is the value of hub.ClusterTag of what the record's cluster has.
func owner(record *v1alpha1.HubAccess) string {
	return hub.OwnerOf(record.Name, string(record.Spec.ClusterUID))
}

// isOurs says whether tags are those of what was made for the record.
func isOurs(record *v1alpha1.HubAccess, tags map[string]string) bool {
	return record.Spec.Access != nil && tags[hub.HubTag] == record.Spec.Access.HubARN && tags[hub.ClusterTag] == owner(record)
}

// tagsOf are the tags of what is made for a record.
func tagsOf(w World) map[string]string {
	out := maps.Clone(w.Tags)
	if out == nil {
		out = map[string]string{}
	}
	out[hub.HubTag], out[hub.ClusterTag] = w.Record.Spec.Access.HubARN, owner(w.Record)
	return out
}
