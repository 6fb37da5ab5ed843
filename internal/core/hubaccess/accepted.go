package hubaccess

import (
	"crypto/sha256"
	"fmt"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// noAnnotations is what a record remembers of a cluster without AWS annotations.
const noAnnotations = "None"

// remembered is what a record remembers of a cluster's AWS annotations. A digest will do,
// and is short however long they are.
func remembered(cluster *Cluster) string {
	arn, suffix := cluster.Annotations[hub.ARNAnnotation], cluster.Annotations[hub.SuffixAnnotation]
	if arn == "" && suffix == "" {
		return noAnnotations
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%q %q", arn, suffix)))
}

// wasOther says that the annotations of a cluster without access are not those that it was
// accepted with: they claim nothing. A record of an earlier version does not know them.
func wasOther(record *v1alpha1.HubAccess, cluster *Cluster) bool {
	was := record.Spec.AcceptedAnnotations
	return record.Spec.ClusterUID == cluster.UID && was != "" && was != remembered(cluster)
}

// laterAnnotations is the verdict on annotations that were written after the acceptance. The
// agent of an accepted cluster may write them, and nobody has accepted them.
func laterAnnotations(record *v1alpha1.HubAccess) condition.Verdict {
	had := "other AWS annotations than now"
	if record.Spec.AcceptedAnnotations == noAnnotations {
		had = "no AWS annotations"
	}
	return condition.No(ReasonAnnotationsChanged, "the cluster had %s when it was accepted, so it gets nothing for those that it has now; set spec.hubAcceptsClient of the ManagedCluster to false, and when this HubAccess is gone to true, if they are meant", had)
}
