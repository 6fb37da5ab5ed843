package hubaccess

import (
	"errors"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/condition"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// judge says what an accepted cluster may have, or why nothing.
func judge(w World) (*v1alpha1.ClusterAccess, condition.Verdict) {
	claim := hub.Classify(w.Cluster.Annotations)
	switch {
	case claim.Class == hub.Foreign:
		return nil, condition.Yes(ReasonNoAnnotations, "the cluster was accepted without AWS annotations, so nothing is made for it in AWS")
	case claim.Class == hub.Malformed:
		return nil, condition.No(ReasonAnnotationsMalformed, "%s", claim.Problem)
	case w.Setting.HubProblem != "":
		return nil, condition.No(ReasonHubARNMissing, "%s", w.Setting.HubProblem)
	}
	if err := claim.Verify(w.Setting.Hub, w.Name); err != nil {
		if _, mismatched := errors.AsType[*hub.MismatchError](err); mismatched {
			return nil, condition.No(ReasonAnnotationsMismatched, "%s", err.Error())
		}
		return nil, condition.No(ReasonAnnotationsMalformed, "%s", err.Error())
	}
	role := w.Setting.Hub.RoleARN(hub.RoleName(claim.Suffix))
	if claim.Class == hub.External {
		return nil, condition.Yes(ReasonExternal, "the cluster has no ARN, so people make its role %s and the access entry of that role, with username %s and group %s", role, w.Name, hub.Group(w.Name))
	}
	for _, other := range w.Others {
		switch {
		case other.Name == w.Name || other.Suffix != claim.Suffix:
		case other.Recorded:
			return nil, condition.No(ReasonSuffixInUse, "the ManagedCluster %s has the suffix %s, so its role would be this cluster's too; the suffix does not hold the region, so name one of both clusters differently in EKS, or delete the ManagedCluster that is not meant", other.Name, claim.Suffix)
		default:
			return nil, condition.No(ReasonSuffixInUse, "the accepted ManagedCluster %s says that it has the suffix %s too, so neither gets a role; deny or delete the one that is not meant", other.Name, claim.Suffix)
		}
	}
	return &v1alpha1.ClusterAccess{
		HubARN: w.Setting.Hub.String(), ManagedClusterARN: claim.Spoke.String(), Suffix: claim.Suffix, RoleARN: role, Username: w.Name,
	}, condition.Verdict{}
}

// OtherOf is what a cluster, or its record, is to the others: the suffix that its record
// has; else the one that it claims, if it is accepted and the claim could be true and is the
// one that it was accepted with. One of no suffix is none.
func OtherOf(name string, setting hub.Setting, cluster *Cluster, record *v1alpha1.HubAccess) (Other, bool) {
	if record != nil && record.Spec.Access != nil {
		return Other{name, record.Spec.Access.Suffix, true}, true
	}
	if cluster == nil || cluster.Deleting || !cluster.Accepted || record != nil && wasOther(record, cluster) {
		return Other{}, false
	}
	claim := hub.Classify(cluster.Annotations)
	if claim.Class != hub.Managed || claim.Verify(setting.Hub, name) != nil {
		return Other{}, false
	}
	return Other{name, claim.Suffix, false}, true
}

// gate says why nothing is looked at or done in AWS for a record; closed is false if
// nothing stands in the way.
func gate(w World) (v condition.Verdict, closed bool) {
	left := ""
	access := w.Record.Spec.Access
	if access != nil {
		left = "; the role " + access.RoleARN + " and its access entry on " + access.HubARN + " are left as they are"
	}
	switch {
	case w.Setting.ByOCM:
		return condition.Unknown(ReasonActedOnByOCM, "%s%s", w.Setting.Why, left), true
	case w.Setting.IAM == hub.Off:
		return condition.Unknown(ReasonManagedIAMDisabled, "%s%s", w.Setting.Why, left), true
	case w.Setting.IAM != hub.On:
		return condition.Unknown(ReasonManagedIAMUnknown, "%s%s", w.Setting.Why, left), true
	case access == nil:
		return condition.Verdict{}, false
	case w.Setting.HubProblem != "":
		return condition.Unknown(ReasonHubARNMissing, "%s%s", w.Setting.HubProblem, left), true
	case w.Setting.Hub.String() != access.HubARN:
		return condition.Unknown(ReasonHubChanged, "the hub is %s now%s; delete them by hand, then this HubAccess", w.Setting.Hub, left), true
	}
	return condition.Verdict{}, false
}
