package credentials

import (
	"slices"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/core/iamname"
)

const (
	// maxGrantName bounds names of objects (Kubernetes: DNS subdomain names).
	maxGrantName = 253
	// maxPolicyName bounds names of policies (AWS: IAM name requirements).
	maxPolicyName = 128
	// grantHashLength is how many hexadecimal digits of a hash end the name of a grant.
	grantHashLength = 40
)

// GrantName is the name of the grant of a request. Two requests never have the same: a
// namespace holds no dot, and what is cut has a hash that nobody can meet on purpose,
// since a request that had the grant of another would end that one's life.
func GrantName(namespace, name string) string {
	full := namespace + "." + name
	if len(full) <= maxGrantName {
		return full
	}
	return iamname.Cut(full, maxGrantName, hexOf(namespace+"/"+name, grantHashLength))
}

// RequestName is how targets name a request: "<namespace>/<name>".
func RequestName(namespace, name string) string { return namespace + "/" + name }

// Owner is the value of OwnerTag: "<namespace>/<name>/<uid>", which is compared as a
// whole.
func Owner(request v1alpha1.RequestRef) string {
	return request.Namespace + "/" + request.Name + "/" + string(request.UID)
}

// RoleName is the name of the role of a request: "<infrastructure>-<name>" in Tabard's
// own namespaces; in others with a hash of namespace and name, so that two namespaces
// never mean the same role. What is cut has a hash of all of it. A role of a name that
// somebody else has is told by its tags, and left alone. A grant records the name: a role
// that was named by another rule keeps it, see RoleNameOf.
func RoleName(settings Settings, infrastructure, namespace, name string) string {
	full := infrastructure + "-" + name
	if !slices.Contains(settings.OwnNamespaces, namespace) {
		return iamname.Cut(full, iamname.MaxRole, hexOf(namespace+"/"+name, iamname.HashLength))
	}
	return iamname.Within(full, iamname.MaxRole)
}

// PolicyName is the name of the inline policy of a role.
func PolicyName(role string) string {
	name := role + "-policy"
	return name[:min(len(name), maxPolicyName)]
}
