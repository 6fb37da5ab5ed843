package hub

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/iampolicy"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/issuer"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

const (
	// ControllerTag is the tag of the controller's own role. It has the ARN of the hub, as
	// HubTag has it on the roles of clusters, which the controller may change and remove.
	ControllerTag = iamname.OwnTags + "hub-controller"
	// ControllerPolicyName is the name of the inline policy of the controller's role.
	ControllerPolicyName = "give-clusters-access"
	// ControllerDescription is that of the controller's role.
	ControllerDescription = "Makes the roles and access entries of the clusters of a hub (Tabard)"
	// ControllerName is what the controller's Deployment, its ServiceAccount and the ConfigMap
	// that tells it its role are called.
	ControllerName = "tabard-hub"
)

// longestRole is the length of a role's name at most (IAM API: CreateRole).
const longestRole = 64

// Controller is the controller hubaccess of one hub, as AWS knows it.
type Controller struct {
	Hub ARN
	// Issuer is the URL of the token issuer of the hub's cluster.
	Issuer string
	// Namespace and ServiceAccount are whose tokens it comes to AWS with.
	Namespace, ServiceAccount string
	// Role is what the person chose of its role; its Name is not looked at.
	Role ownrole.Wish
}

// Check refuses what would make a role that nobody can become.
func (c Controller) Check() error {
	var errs []error
	if err := issuer.ValidateForeignURL(c.Issuer); err != nil {
		errs = append(errs, fmt.Errorf("the issuer %s: %w", quoted(c.Issuer), err))
	}
	if wrong := slices.Concat(validation.IsDNS1123Label(c.Namespace), validation.IsDNS1123Subdomain(c.ServiceAccount)); len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("the controller's namespace is %s and its ServiceAccount %s: %s", quoted(c.Namespace), quoted(c.ServiceAccount), wrong[0]))
	}
	return errors.Join(errs...)
}

// ControllerRoleName is the name of the role of a hub's controller: another one for each ARN, so
// that hubs of one name in two regions have two roles, and at most 64 characters long.
func ControllerRoleName(hub ARN) string {
	sum := sha256.Sum256([]byte(hub.String()))
	suffix := "-" + hex.EncodeToString(sum[:4])
	name := ControllerName + "-" + hub.Name // which has letters, digits, hyphens and underscores alone
	return name[:min(len(name), longestRole-len(suffix))] + suffix
}

// RoleARN is the ARN of its role as it is made, which is in the hub's account.
func (c Controller) RoleARN() string {
	return c.Hub.RoleARN(strings.TrimPrefix(c.Role.Path, "/") + ControllerRoleName(c.Hub))
}

// isControllerRole says that an ARN is that of the role of the hub's controller, at whatever path.
func isControllerRole(hub ARN, text string) bool {
	role, ok := identity.ParseRoleARN(text)
	return ok && role.Partition == hub.Partition && role.Account == hub.Account && role.Name == ControllerRoleName(hub)
}

// Provider is the ARN of the OIDC provider of its issuer in the hub's account.
func (c Controller) Provider() string {
	return issuer.ProviderARN(c.Hub.Partition, c.Hub.Account, c.Issuer)
}

// Trust is the trust policy of its role: tokens of its ServiceAccount for STS, and no others.
func (c Controller) Trust() string {
	return iampolicy.Document{iampolicy.WebIdentity(c.Provider(), TokenAudience, "system:serviceaccount:"+c.Namespace+":"+c.ServiceAccount)}.String()
}

// Config is the data of the ConfigMap that the controller's Deployment reads, for the ARN that its
// role has.
func (c Controller) Config(roleARN string) map[string]string {
	return map[string]string{"roleARN": roleARN, "region": c.Hub.Region, "hubARN": c.Hub.String()}
}
