// Package platform tells what kind of cluster this is, from objects that were read:
// OpenShift or not, on which cloud, by which name, with which issuer and credentials
// mode, and whether a Cloud Credential Operator is there. What cannot be told is never
// taken for the answer that gives more: an operator that may be there is there.
package platform

import (
	"fmt"
	"strings"
	"time"
)

// Cloud is where a cluster runs, as Infrastructure writes it. Other values than those
// below are other platforms of OpenShift's.
type Cloud string

// The clouds that credentials are given for.
const (
	AWS   Cloud = "AWS"
	Azure Cloud = "Azure"
	GCP   Cloud = "GCP"
)

// Mode is the effective credentials mode: that of the CloudCredential "cluster" and the
// legacy ConfigMap together.
type Mode string

// The modes.
const (
	// Default, Mint, Passthrough and Manual are the Cloud Credential Operator's.
	Default     Mode = "Default"
	Mint        Mode = "Mint"
	Passthrough Mode = "Passthrough"
	Manual      Mode = "Manual"
	// Conflict: CloudCredential and ConfigMap contradict each other, and the operator
	// does nothing until an administrator removes one.
	Conflict Mode = "Conflict"
	// Unknown: an object could not be read, does not exist, or says what no Cloud
	// Credential Operator knows.
	Unknown Mode = "Unknown"
)

// TopologyExternal is the ControlPlaneTopology of a cluster whose control plane runs in
// another cluster.
const TopologyExternal = "External"

// TopologySingleReplica is the topology of what has one replica, by both fields.
const TopologySingleReplica = "SingleReplica"

// Facts are what a cluster is. Two that are equal by reflect.DeepEqual ask for the same.
type Facts struct {
	// OpenShift says that config.openshift.io counts: it is served, or the flag says so.
	OpenShift bool
	// ClusterOwnsCRD says that the CredentialsRequest's CRD belongs to the cluster's
	// release, so that it must not be applied: config.openshift.io is served, or it is
	// not known whether it is. The flag does not change this.
	ClusterOwnsCRD bool
	// Cloud is the platform; empty on plain Kubernetes, and where it is not known: see
	// Has.
	Cloud Cloud
	// Infrastructure is the cluster's name in the cloud, with which names of roles begin.
	Infrastructure string
	// Region is the cluster's, on AWS and Google Cloud.
	Region string
	// ResourceTags are the administrator's for all that is made in AWS; nil for none.
	ResourceTags map[string]string
	// UniverseDomain is Google Cloud's, empty for googleapis.com.
	UniverseDomain string
	// ControlPlaneTopology and InfrastructureTopology are HighlyAvailable, SingleReplica
	// and so on; empty where they are not told.
	ControlPlaneTopology, InfrastructureTopology string
	// Issuer is the issuer of the cluster's tokens: by Authentication, on plain Kubernetes by
	// the API server's discovery document. It is empty where neither says one.
	Issuer string
	// Mode is the effective credentials mode, and ModeWhy says how it came to be.
	Mode    Mode
	ModeWhy string
	// Operator is the Cloud Credential Operator.
	Operator Operator
	// Missing are the objects that should say what the cluster is and do not, each with
	// what was seen: see Known.
	Missing []string
}

// Operator says whether a Cloud Credential Operator is there.
type Operator struct {
	// Live says that it is there or may be, so that requests for Secrets are its own.
	Live bool
	// Unseen says that it is live only because what would show it could not be read.
	Unseen bool
	// Why is what that was decided by, in one sentence.
	Why string
	// Until is when an operator that only its Lease shows is no longer live, unless the
	// Lease is renewed; zero where no time changes the answer.
	Until time.Time
}

// Known says whether platform, name, region and issuer are what the cluster has. Where
// they are not, Missing says why, and nothing may be made that depends on them.
func (f Facts) Known() bool { return len(f.Missing) == 0 }

// Has says whether credentials of a cloud are given in this cluster: those of its own on
// OpenShift, those of all three on plain Kubernetes, and none where the cluster's
// platform is not known.
func (f Facts) Has(cloud Cloud) bool {
	switch {
	case cloud != AWS && cloud != Azure && cloud != GCP:
		return false
	case f.OpenShift:
		return f.Cloud == cloud
	}
	return f.Known()
}

// String says what the cluster is, for logs and commands.
func (f Facts) String() string {
	where := "Kubernetes"
	if f.OpenShift {
		where = "OpenShift on " + orNone(string(f.Cloud))
	}
	out := fmt.Sprintf("%s, infrastructure name %s, region %s, issuer %s, credentials mode %s (%s); %s",
		where, orNone(f.Infrastructure), orNone(f.Region), orNone(f.Issuer), f.Mode, f.ModeWhy, f.Operator.Why)
	if !f.Known() {
		out += "; not known: " + strings.Join(f.Missing, "; ")
	}
	return out
}

func orNone(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
