package hub

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/ownrole"
)

// Change says what becomes of one object.
type Change string

// The changes that a plan may have.
const (
	ToCreate Change = "Create"
	ToKeep   Change = "Keep"
	// ToReplace is of an object that is there and differs.
	ToReplace Change = "Replace"
	ToDelete  Change = "Delete"
	// NotKnown is of an object that the session may not look at.
	NotKnown Change = "Unknown"
)

// Mark is the change in one character, before a line of a plan.
func (c Change) Mark() string {
	return map[Change]string{ToCreate: "+", ToKeep: "=", ToReplace: "~", ToDelete: "-", NotKnown: "?"}[c]
}

// Planned is one object of a plan.
type Planned struct {
	Change Change `json:"change"`
	Object string `json:"object"`
}

// ProviderSeen is an OIDC provider of the hub's account.
type ProviderSeen struct {
	Exists    bool
	Audiences []string
	// Trouble says why it could not be read; empty for none. Then nothing else is known.
	Trouble string
}

// RoleSeen is the controller's role, or what has its name.
type RoleSeen struct {
	Exists bool
	// ARN has its path.
	ARN           string
	Tags          map[string]string
	Trust, Policy string
	// Boundary is the ARN of its permissions boundary, empty for none.
	Boundary string
	// Trouble says why it could not be read; empty for none. Then nothing else is known.
	Trouble string
}

// Wish is what a person would have to choose for the role to be made as it is.
func (r RoleSeen) Wish() ownrole.Wish {
	role, _ := identity.ParseRoleARN(r.ARN)
	out := ownrole.Wish{Path: role.Path, Boundary: r.Boundary, Tags: map[string]string{}}
	for key, value := range r.Tags {
		if _, err := iamname.ParseTags([]string{key + "=" + value}); err == nil { // none of Tabard's or of AWS
			out.Tags[key] = value
		}
	}
	return out
}

// BootstrapSeen is what the decision about a bootstrap goes by.
type BootstrapSeen struct {
	// Account is that of the person's session.
	Account string
	// Stated is the ARN of the hub that the ClusterManager says, and Issuer the URL that the
	// API server's discovery document names; empty where nothing says it.
	Stated, Issuer string
	Provider       ProviderSeen
	Role           RoleSeen
	// Namespace says that the controller's namespace exists.
	Namespace bool
	// Lacks are rights in the cluster that the person's session does not have.
	Lacks []string
	// Config is the data of the controller's ConfigMap, empty for none.
	Config map[string]string
	// ReplaceRole says that the person allows another role to be replaced in the ConfigMap.
	ReplaceRole bool
}

// Bootstrap is what a bootstrap makes, in its order, and all reasons not to begin. It never
// takes a role that lacks the hub's tag.
func (c Controller) Bootstrap(seen BootstrapSeen) (plan []Planned, refusal error) {
	if seen.Account != c.Hub.Account {
		return nil, fmt.Errorf("your session is in account %s, and the hub %s in %s, where its role has to be: sign in there, or print it for another team with --print", seen.Account, c.Hub, c.Hub.Account)
	}
	refusal = errors.Join(c.otherHub(seen), c.checkProvider(seen.Provider), c.checkRole(seen.Role), c.checkCluster(seen))
	role, differs := changeOf(seen.Role.Exists, seen.Role.Trouble), c.differs(seen.Role)
	text := fmt.Sprintf("%s for the ServiceAccount %s/%s: it makes and removes the roles %s and their access entries", c.Role.Describe(ControllerRoleName(c.Hub)), c.Namespace, c.ServiceAccount, RoleName("*"))
	if role == ToKeep && len(differs) > 0 {
		role, text = ToReplace, text+"; its "+strings.Join(differs, " and its ")+" will be replaced"
	}
	config := Planned{ToCreate, fmt.Sprintf("ConfigMap %s/%s, which tells the controller its role", c.Namespace, ControllerName)}
	switch told, arn := seen.Config["roleARN"], c.ARN(seen); {
	case maps.Equal(seen.Config, c.Config(arn)):
		config.Change = ToKeep
	case told != "" && told != arn:
		config = Planned{ToReplace, config.Object + " in place of " + told}
	case len(seen.Config) > 0:
		config.Change = ToReplace
	}
	provider := Planned{changeOf(true, seen.Provider.Trouble), fmt.Sprintf("OIDC provider %s, which has to be there", c.Provider())}
	return []Planned{provider, {role, text}, config}, refusal
}

// ARN is the one that the role has after a bootstrap: a role that is there stays at its path.
func (c Controller) ARN(seen BootstrapSeen) string {
	switch told := seen.Config["roleARN"]; {
	case seen.Role.Exists && seen.Role.Trouble == "":
		return seen.Role.ARN
	case seen.Role.Trouble != "" && c.Role.Path == "" && isControllerRole(c.Hub, told):
		return told
	}
	return c.RoleARN()
}

func changeOf(exists bool, trouble string) Change {
	switch {
	case trouble != "":
		return NotKnown
	case exists:
		return ToKeep
	}
	return ToCreate
}

// differs are the parts of the role that are not as wanted.
func (c Controller) differs(role RoleSeen) (parts []string) {
	if !SamePolicy(role.Trust, c.Trust()) {
		parts = append(parts, "trust policy")
	}
	if !SamePolicy(role.Policy, Permissions(c.Hub).String()) {
		parts = append(parts, "permission policy")
	}
	if c.Role.Boundary != "" && c.Role.Boundary != role.Boundary {
		parts = append(parts, "permissions boundary")
	}
	for _, key := range c.Role.TagKeys() {
		if value, has := role.Tags[key]; !has || value != c.Role.Tags[key] {
			parts = append(parts, "tag "+key)
		}
	}
	return parts
}

// otherHub refuses what the cluster itself contradicts.
func (c Controller) otherHub(seen BootstrapSeen) error {
	var errs []error
	if seen.Stated != "" && seen.Stated != c.Hub.String() {
		errs = append(errs, fmt.Errorf("--hub-cluster-arn is %s, and the ClusterManager says %s, with which the controller would do nothing: correct one of both", c.Hub, quoted(seen.Stated)))
	}
	if seen.Issuer != "" && seen.Issuer != c.Issuer {
		errs = append(errs, fmt.Errorf("--issuer is %s, and the cluster's tokens name the issuer %s: AWS would refuse the controller's tokens; leave --issuer out, or choose the hub's cluster with --context", c.Issuer, quoted(seen.Issuer)))
	}
	return errors.Join(errs...)
}

// checkProvider refuses a role that nobody could become. A provider that the session may not
// look at may be there.
func (c Controller) checkProvider(seen ProviderSeen) error {
	switch {
	case seen.Trouble != "":
		return nil
	case !seen.Exists:
		return fmt.Errorf("account %s has no OIDC provider %s, by which AWS accepts the tokens of the hub's cluster: make it with aws iam create-open-id-connect-provider --url %s --client-id-list %s (for an issuer that an OIDCIssuer publishes: tabard issuer bootstrap), then run this again",
			c.Hub.Account, c.Provider(), c.Issuer, TokenAudience)
	case !slices.Contains(seen.Audiences, TokenAudience):
		return fmt.Errorf("the OIDC provider %s does not have the audience %s of the controller's tokens: add it with aws iam add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn %s --client-id %s, then run this again",
			c.Provider(), TokenAudience, c.Provider(), TokenAudience)
	}
	return nil
}

// checkRole refuses a role of somebody else's.
func (c Controller) checkRole(seen RoleSeen) error {
	switch {
	case !seen.Exists || seen.Trouble != "":
		return nil
	case seen.Tags[ControllerTag] != c.Hub.String():
		return fmt.Errorf("the role %s was not made by Tabard for this hub: its tag %s is %s, expected %s; it is left as it is; if nothing needs it, delete it yourself, then run this again",
			seen.ARN, ControllerTag, quoted(seen.Tags[ControllerTag]), c.Hub)
	case c.Role.Path != "" && seen.ARN != c.RoleARN():
		return fmt.Errorf("the role is %s, and --role-path %s would make %s: IAM moves no role; leave --role-path out, or delete the role, then run this again", seen.ARN, c.Role.Path, c.RoleARN())
	}
	return nil
}

// checkCluster refuses where the controller could not be told its role.
func (c Controller) checkCluster(seen BootstrapSeen) error {
	var errs []error
	if !seen.Namespace {
		errs = append(errs, fmt.Errorf("there is no namespace %s, in which the controller would be told its role: install Tabard first (helm install tabard charts/tabard --namespace %s --create-namespace), then run this again", c.Namespace, c.Namespace))
	}
	for _, right := range seen.Lacks {
		errs = append(errs, fmt.Errorf("your session in the cluster may not %s: ask whoever administers it, or use another kubeconfig", right))
	}
	if told := seen.Config["roleARN"]; told != "" && !isControllerRole(c.Hub, told) && !seen.ReplaceRole {
		errs = append(errs, fmt.Errorf("the controller is told the role %s, which this command would not make: add --replace-role if %s shall take its place", told, c.ARN(seen)))
	}
	return errors.Join(errs...)
}

// Removal is what the end of a bootstrap removes, in its order, and why it must not begin.
// It removes a role with the hub's tag, and a ConfigMap that a bootstrap wrote for this role;
// written says that one did.
func Removal(hub ARN, role RoleSeen, namespace string, config map[string]string, written bool) (plan []Planned, refusal error) {
	name := ControllerRoleName(hub)
	switch {
	case role.Trouble != "":
		return nil, fmt.Errorf("whose the role %s is cannot be told: %s", name, role.Trouble)
	case role.Exists && role.Tags[ControllerTag] != hub.String():
		return nil, fmt.Errorf("the role %s was not made by Tabard for this hub: its tag %s is %s, expected %s; if nothing needs it, delete it yourself",
			role.ARN, ControllerTag, quoted(role.Tags[ControllerTag]), hub)
	case role.Exists:
		plan = append(plan, Planned{ToDelete, "role " + role.ARN})
	default:
		plan = append(plan, Planned{ToKeep, "there is no role " + name})
	}
	object := "ConfigMap " + namespace + "/" + ControllerName
	switch {
	case len(config) == 0:
	case !written || !isControllerRole(hub, config["roleARN"]):
		plan = append(plan, Planned{ToKeep, fmt.Sprintf("%s was not written by a bootstrap of this hub, and stays: its roleARN is %s", object, quoted(config["roleARN"]))})
	default:
		plan = append(plan, Planned{ToDelete, object})
	}
	return plan, nil
}
