package ocmhook

import (
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/hub"
)

// RoleAnnotation is the annotation of a ServiceAccount with the role of its pods.
const RoleAnnotation = "eks.amazonaws.com/role-arn"

// creatorRole is what the name of the role ends with that Open Cluster Management's operator
// gives the hub controller (v1.2.1, clustermanager_controller.go).
const creatorRole = "_managed-cluster-identity-creator"

// AdmitServiceAccount decides about a ServiceAccount that is made or changed in a namespace, by
// its annotations. The role of a placeholder is in no account. The role that makes roles goes
// where managed IAM is off. Any other role is left.
func AdmitServiceAccount(annotations map[string]string, namespace string, w World) (d Decision) {
	role, is := identity.ParseRoleARN(annotations[RoleAnnotation])
	switch {
	case !is:
	case role.Account == placeholderAccount && strings.HasPrefix(role.Name, hub.SpokeRoleName("")),
		strings.HasSuffix(role.Name, creatorRole) && slices.ContainsFunc(w.Managers, func(m ClusterManager) bool {
			return m.ManagedIAMOff && m.Namespace == namespace
		}):
		d.add("remove", "/metadata/annotations/"+strings.ReplaceAll(RoleAnnotation, "/", "~1"), nil)
	}
	return d
}
