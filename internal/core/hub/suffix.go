package hub

import (
	"crypto/md5" //nolint:gosec // the agents' programs compute names so; nothing is kept secret or proven by it
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Suffix is what the names of a spoke's roles end with: 32 hexadecimal digits. A spoke
// in EKS has one by its account and its name there, any other spoke, whose ARN is the
// zero value, by the name of its ManagedCluster (Open Cluster Management v1.2.1: the
// MD5 of "HUBACCOUNT#HUBNAME#SPOKEACCOUNT#SPOKENAME").
//
// The region is no part of it, so two spokes in EKS can have the same suffix.
func Suffix(hub, spoke ARN, cluster string) (string, error) {
	name := spoke.Name
	switch {
	case hub.IsZero():
		return "", errors.New("the ARN of the hub is not known, and the suffix of the roles begins with it; give it, such as arn:aws:eks:us-west-2:111111111111:cluster/eks-hub")
	case spoke.IsZero() && cluster == "":
		return "", errors.New("the spoke has neither an ARN nor a name of its ManagedCluster; give one of both")
	case spoke.IsZero():
		if wrong := validation.IsDNS1123Subdomain(cluster); len(wrong) > 0 {
			return "", fmt.Errorf("%s is not the name of a ManagedCluster: %s", quoted(cluster), strings.Join(wrong, "; "))
		}
		name = cluster
	}
	sum := md5.Sum([]byte(hub.Account + "#" + hub.Name + "#" + spoke.Account + "#" + name)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:]), nil
}

// IsSuffix says whether a text has the form of a suffix.
func IsSuffix(text string) bool {
	return len(text) == hex.EncodedLen(md5.Size) && strings.Trim(text, "0123456789abcdef") == ""
}

// RoleName is the name of a spoke's role in the hub's account.
func RoleName(suffix string) string { return "ocm-hub-" + suffix }

// SpokeRoleName is the name of the role of a spoke in EKS in its own account.
func SpokeRoleName(suffix string) string { return "ocm-managed-cluster-" + suffix }

// Group is the group of a spoke's agents on the hub, which Open Cluster Management
// gives its rights. Their username is the name of the ManagedCluster.
func Group(cluster string) string { return "open-cluster-management:" + cluster }
