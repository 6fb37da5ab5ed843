// Package hubjoin says how far a cluster has come in joining a hub of Open Cluster Management: it
// walks the links of the join in order, and names the first broken one with what mends it. It
// decides by what was seen of both clusters and of AWS, which is plain data.
package hubjoin

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tabard-dev/tabard/internal/core/hub"
	"github.com/tabard-dev/tabard/internal/core/ocmhook"
	"github.com/tabard-dev/tabard/internal/core/podstatus"
)

// Evidence is everything that one look has seen, at one instant. The shell fills it. What could
// not be read is evidence, too.
type Evidence struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string
	// Now is the instant of the look, by the clock of whoever looks.
	Now time.Time
	// HubARN is the hub as the person says; the zero value where they do not.
	HubARN hub.ARN

	Manager    Manager
	Controller Controller
	Managed    ManagedCluster
	Record     Record
	Lease      Lease
	Works      Works
	// AWS is what was seen there; nil if it was not looked at.
	AWS *AWS
	// Spoke is what was seen of the joining cluster; nil if it was not looked at.
	Spoke *Spoke
}

// Read says how the read of something ended. The zero value is that there is none.
type Read struct {
	// Exists says that it is there.
	Exists bool
	// Unserved says that the cluster does not know its kind.
	Unserved bool
	// Trouble says why it could not be read; empty for none. Then nothing else is known.
	Trouble string
	// Right is the right that the reader lacks, such as "get hubaccesses.identity.tabard.dev";
	// empty where another thing stood in the way.
	Right string
}

// Manager is the ClusterManager of the hub.
type Manager struct {
	Read

	// Name is its name, that of the first of several.
	Name string
	// Seen is it as Tabard's controller reads it.
	Seen hub.ClusterManager
}

// Controller is Tabard's controller of the hub.
type Controller struct {
	Read

	// Name is NAMESPACE/NAME of its Deployment.
	Name string
	// IAM is its flag for managed IAM: On, Off or empty.
	IAM hub.Switch
	// HubARN is the ARN of the hub that it is told; empty for none.
	HubARN string
}

// ManagedCluster is the cluster as the hub knows it.
type ManagedCluster struct {
	Read

	// Annotations are those of the package hub, at least.
	Annotations map[string]string
	// Accepted is spec.hubAcceptsClient.
	Accepted bool
	// Deleting says that it is being deleted, and Finalizers what holds it.
	Deleting   bool
	Finalizers []string
	// LeaseSeconds is spec.leaseDurationSeconds.
	LeaseSeconds int64
	// Conditions are those of its status.
	Conditions []metav1.Condition
}

// Record is the HubAccess of the cluster.
type Record struct {
	Read

	Conditions []metav1.Condition
}

// Lease is the one that the cluster's agent renews.
type Lease struct {
	Read

	// Renewed is when it was renewed last; zero for never.
	Renewed time.Time
}

// Works are the ManifestWorks in the cluster's namespace.
type Works struct {
	Read

	// Total is how many there are, Applied how many of them the agent has applied.
	Total, Applied int
	// First is one that is not applied, and Message what its condition says; empty for none.
	First, Message string
}

// AWS is what a person's own session has seen in the hub's account.
type AWS struct {
	// Trouble says why nothing could be seen; empty for none.
	Trouble string
	// Account is that of the session.
	Account string
	Role    Role
	Entry   Entry
}

// Role is the role of the cluster in the hub's account.
type Role struct {
	Exists bool
	// Trouble says why it could not be read.
	Trouble string
	// ID is its unique ID, and Trust its trust policy in JSON.
	ID, Trust string
}

// Entry is the access entry of the role.
type Entry struct {
	Exists bool
	// Trouble says why it could not be read.
	Trouble  string
	Username string
	Groups   []string
	// Type is such as STANDARD.
	Type string
	Tags map[string]string
}

// Spoke is what was seen of the joining cluster.
type Spoke struct {
	Klusterlet Klusterlet
	// Namespace is that of the agents, and Labelled says that it has the label by which the
	// admission hook is asked about them.
	Namespace Read
	Labelled  bool
	Secret    Secret
	// Pods are those of the agents.
	Pods     Read
	PodsSeen []Pod
}

// Klusterlet is the one of the joining cluster.
type Klusterlet struct {
	Read
	ocmhook.Klusterlet

	// Condition is Applied: whether their operator could make the agents; nil for none.
	Condition *metav1.Condition
}

// Secret is the one that awsIrsa.iamConfigSecret names. Only the names of its keys are here.
type Secret struct {
	Read

	Keys []string
}

// Pod is a pod of the agents.
type Pod struct {
	Name string
	// App is the value of its label app, which says which agent it is.
	App string
	// Phase is that of its status, and Ready its condition.
	Phase string
	Ready bool
	// Waiting are its containers that do not run.
	Waiting []podstatus.Waiting
	// Identity says that it has an identity of AWS: the variables of IRSA or of EKS Pod Identity, or
	// the files of iamConfigSecret.
	Identity bool
}
