package carm

import (
	"fmt"
	"strings"

	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Outcome says what becomes of a resource.
type Outcome string

// The outcomes. CARM knows the first four, selectors all but Blocked.
const (
	// Role is managed with a role.
	Role Outcome = "ROLE"
	// Default is managed with the identity that the controller runs as.
	Default Outcome = "DEFAULT"
	// Blocked waits for an entry in a config map; AWS is not called.
	Blocked Outcome = "BLOCKED"
	// Invalid is an error because what is configured is not the ARN of a role.
	Invalid Outcome = "INVALID"
	// Conflict waits because several selectors match.
	Conflict Outcome = "CONFLICT"
	// Denied waits because a selector says so; AWS is not called.
	Denied Outcome = "DENY"
)

// The causes of Blocked, as ACK words them.
const (
	causeNoMap      = "CARM configmap not found"
	causeNoKey      = "key not found in CARM configmap"
	causeEmptyValue = "role value is empty in CARM configmap"
)

// causeNotStarted is that of a controller that watches one namespace only. It is
// an error of which ACK writes nothing into the status.
const causeNotStarted = "CARM's caches are not started, because exactly one namespace is watched"

// Resolution is what CARM gives a resource.
type Resolution struct {
	Outcome Outcome
	// Role is the ARN; with Invalid the text that is none.
	Role string
	// Account is the one that the resource is expected to be in; empty if Blocked
	// or Invalid.
	Account string
	// Map and Key are what was looked up; empty if nothing was.
	Map, Key string
	// Entry is the key of the entry that gave Role: Key, or ALIAS.KEY.
	Entry string
	// Cause is why it is Blocked: one of ACK's three texts, or that CARM's caches
	// are not started.
	Cause string
}

// Message is what ACK puts into the condition of a resource that is Blocked;
// empty if it writes none. The controller looks again after 15 seconds.
func (r Resolution) Message() string {
	if r.Outcome != Blocked || r.Cause == causeNotStarted {
		return ""
	}
	return fmt.Sprintf("retrieving role ARN for account/team ID %q from %q configmap: %s", r.Key, r.Map, r.Cause)
}

// Answer is the resolution in one word: the ARN, or the outcome.
func (r Resolution) Answer() string { return answer(r.Outcome, r.Role) }

func answer(outcome Outcome, role string) string {
	if outcome == Role {
		return role
	}
	return string(outcome)
}

// Resolve says which role CARM gives a resource in a namespace. ownerAccount is
// the account in the resource's status, empty if it has none yet. maps are the
// config maps of the controller's system namespace.
//
// A team (with TeamLevelCARM) wins over an account; an account of the namespace
// wins over the one in the status, which is looked up only if it is not the
// controller's own. Any namespace that CARM ignores has no annotations.
func (c Controller) Resolve(maps Maps, namespace Namespace, ownerAccount string) Resolution {
	team, owner := c.ids(namespace)
	switch {
	case team != "":
		return c.lookup(TeamMap, maps.Teams, team)
	case owner != "":
		return c.lookup(AccountMap, maps.Accounts, owner)
	case ownerAccount == "" || ownerAccount == c.Account || c.DisableCARM:
		return Resolution{Outcome: Default, Account: c.Account}
	case !c.active():
		return Resolution{Outcome: Blocked, Map: AccountMap, Key: ownerAccount, Cause: causeNotStarted}
	default:
		return c.lookup(AccountMap, maps.Accounts, ownerAccount)
	}
}

// ids are the annotations of a namespace as the controller sees them.
func (c *Controller) ids(namespace Namespace) (team, owner string) {
	if !c.caches(namespace.Name) {
		return "", ""
	}
	if c.TeamLevelCARM {
		team = namespace.Annotations[TeamAnnotation]
	}
	return team, namespace.Annotations[OwnerAccountAnnotation]
}

// lookup reads a config map. An entry of the service alone wins; an empty one is
// passed over.
func (c *Controller) lookup(name string, entries map[string]string, key string) Resolution {
	result := Resolution{Outcome: Blocked, Map: name, Key: key}
	entry := key
	if own := c.Alias + "." + key; c.ServiceLevelCARM && entries[own] != "" {
		entry = own
	}
	role, there := entries[entry]
	switch {
	case identity.IsRoleARN(role):
		result.Outcome, result.Role, result.Entry, result.Account = Role, role, entry, accountOf(role)
	case role != "":
		result.Outcome, result.Role, result.Entry = Invalid, role, entry
	case entries == nil:
		result.Cause = causeNoMap
	case there:
		result.Cause = causeEmptyValue
	default:
		result.Cause = causeNoKey
	}
	return result
}

// Settings is what a controller takes from a namespace besides the role.
type Settings struct {
	// Region is that of a resource that is made now.
	Region string
	// Endpoint is the URL of the service; empty is AWS's own.
	Endpoint string
	// DeletionPolicy is delete, retain or empty, which is the controller's flag's
	// default.
	DeletionPolicy string
}

// Settings are those of a namespace under CARM. Where CARM does not know the
// namespace, the flags of the controller hold.
func (c Controller) Settings(namespace Namespace) Settings {
	return c.settings(namespace.Annotations, c.caches(namespace.Name))
}

// SelectorSettings are those of a namespace with the gate IAMRoleSelector on,
// where no namespace is ignored.
func (c Controller) SelectorSettings(namespace Namespace) Settings {
	return c.settings(namespace.Annotations, true)
}

func (c *Controller) settings(annotations map[string]string, known bool) Settings {
	s := Settings{Region: c.Region, Endpoint: c.Endpoint, DeletionPolicy: c.DeletionPolicy}
	if !known {
		return s
	}
	override(&s.Region, annotations[DefaultRegionAnnotation])
	override(&s.Endpoint, annotations[EndpointAnnotation])
	override(&s.DeletionPolicy, annotations[strings.ToLower(c.Alias)+DeletionPolicySuffix])
	return s
}

// Of are the settings of one resource, whose own annotations and status win.
func (s Settings) Of(resource Resource) Settings {
	override(&s.Region, resource.Annotations[RegionAnnotation])
	override(&s.Region, resource.Region)
	override(&s.DeletionPolicy, resource.Annotations[DeletionPolicyAnnotation])
	return s
}

func override(value *string, by string) {
	if by != "" {
		*value = by
	}
}
