package fakeolm

// Failure is a way in which something fails.
type Failure string

// The ways of a version, in the order in which an install comes to them.
const (
	// NeverResolves leaves the Subscriptions of the namespace as they are, without a word.
	NeverResolves Failure = "NeverResolves"
	// Unsatisfiable is ResolutionFailed with the reason ConstraintsNotSatisfiable, on all Subscriptions
	// of the namespace.
	Unsatisfiable Failure = "Unsatisfiable"
	// Unpacks is BundleUnpacking that goes on.
	Unpacks Failure = "Unpacks"
	// UnpackFails is BundleUnpacking, and then BundleUnpackFailed.
	UnpackFails Failure = "UnpackFails"
	// PlanStays leaves an approved InstallPlan in Installing. With a message OLM says that it tries
	// again, as it does for ever when it lacks a right.
	PlanStays Failure = "PlanStays"
	// PlanFails is an InstallPlan that is Failed after it has made the ClusterServiceVersion, whose
	// requirements are never met then.
	PlanFails Failure = "PlanFails"
	// InstallFails is a ClusterServiceVersion that is Failed with InstallComponentFailedNoRetry.
	InstallFails Failure = "InstallFails"
	// CheckFails is a ClusterServiceVersion whose Deployments do not become available: it is Failed with
	// InstallCheckFailed, and installed again.
	CheckFails Failure = "CheckFails"
)

// CatalogueStops is the way of a CatalogSource: it is TRANSIENT_FAILURE, and no Subscription can be
// resolved: ResolutionFailed with the reason ErrorPreventedResolution.
const CatalogueStops Failure = "CatalogueStops"

// Fault is how something fails.
type Fault struct {
	How Failure
	// Message is what the fake says where OLM says the reason.
	Message string
	// Times is after how many failures CheckFails ends; 0 for never.
	Times int
}
