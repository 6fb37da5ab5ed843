package eks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tabard-dev/tabard/awslocal/internal/snapshot"
)

// Snapshot is all that the service keeps, as plain data in a fixed order.
type Snapshot struct {
	Clusters []ClusterSnapshot `json:"clusters,omitempty"`
}

// ClusterSnapshot is a cluster.
type ClusterSnapshot struct {
	Account   string        `json:"account"`
	Region    snapshot.Text `json:"region"`
	Name      string        `json:"name"`
	Version   string        `json:"version"`
	RoleARN   string        `json:"roleArn,omitempty"`
	Endpoint  string        `json:"endpoint,omitempty"`
	Authority string        `json:"certificateAuthority,omitempty"`
	Issuer    string        `json:"issuer"`
	// Keys are the issuer's; Fetched says that they come from the issuer itself.
	Keys         []jose.JSONWebKey     `json:"keys,omitempty"`
	Fetched      bool                  `json:"keysFetched,omitempty"`
	Mode         string                `json:"authenticationMode"`
	Bootstrap    bool                  `json:"bootstrapClusterCreatorAdminPermissions,omitempty"`
	Network      vpcConfig             `json:"resourcesVpcConfig"`
	Created      time.Time             `json:"created"`
	Request      string                `json:"clientRequestToken,omitempty"`
	Tags         map[string]string     `json:"tags,omitempty"`
	Entries      []EntrySnapshot       `json:"accessEntries,omitempty"`
	Associations []AssociationSnapshot `json:"podIdentityAssociations,omitempty"`
}

// EntrySnapshot is an access entry. Its principal may be gone, and another may
// have come under its ARN: PrincipalID tells.
type EntrySnapshot struct {
	ARN          string            `json:"arn"`
	PrincipalARN string            `json:"principalArn"`
	PrincipalID  string            `json:"principalID"`
	Kind         string            `json:"type"`
	Username     string            `json:"username"`
	Groups       []string          `json:"kubernetesGroups"`
	Created      time.Time         `json:"created"`
	Modified     time.Time         `json:"modified"`
	Request      string            `json:"clientRequestToken,omitempty"`
	Tags         map[string]string `json:"tags,omitempty"`
	Policies     []GrantSnapshot   `json:"accessPolicies,omitempty"`
}

// GrantSnapshot is an access policy of an access entry.
type GrantSnapshot struct {
	PolicyARN string      `json:"policyArn"`
	Scope     accessScope `json:"accessScope"`
	Created   time.Time   `json:"created"`
	Modified  time.Time   `json:"modified"`
}

// AssociationSnapshot is a pod identity association. Its roles may be gone.
type AssociationSnapshot struct {
	ID             string            `json:"id"`
	Namespace      string            `json:"namespace"`
	ServiceAccount string            `json:"serviceAccount"`
	RoleARN        string            `json:"roleArn"`
	TargetRoleARN  string            `json:"targetRoleArn,omitempty"`
	ExternalID     string            `json:"externalID,omitempty"`
	Untagged       bool              `json:"disableSessionTags,omitempty"`
	Policy         string            `json:"policy,omitempty"`
	Created        time.Time         `json:"created"`
	Modified       time.Time         `json:"modified"`
	Request        string            `json:"clientRequestToken,omitempty"`
	Tags           map[string]string `json:"tags,omitempty"`
}

// Snapshot has the clusters, ordered by account, region and name.
func (s *Service) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out Snapshot
	for _, clusters := range s.clusters {
		for _, one := range clusters {
			out.Clusters = append(out.Clusters, one.snapshot())
		}
	}
	slices.SortFunc(out.Clusters, func(a, b ClusterSnapshot) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (c *cluster) snapshot() ClusterSnapshot {
	out := ClusterSnapshot{
		Account: c.account, Region: snapshot.Text(c.region), Name: c.name, Version: c.version, RoleARN: c.roleARN,
		Endpoint: c.endpoint, Authority: c.authority, Issuer: c.issuer, Keys: c.keys, Fetched: c.fetched,
		Mode: c.mode, Bootstrap: c.bootstrap, Network: c.network, Created: c.created, Request: c.request, Tags: c.tags,
	}
	for _, arn := range slices.Sorted(maps.Keys(c.entries)) {
		out.Entries = append(out.Entries, c.entries[arn].snapshot())
	}
	for _, id := range slices.Sorted(maps.Keys(c.associations)) {
		one := c.associations[id]
		out.Associations = append(out.Associations, AssociationSnapshot{
			ID: one.id, Namespace: one.namespace, ServiceAccount: one.serviceAccount,
			RoleARN: one.role, TargetRoleARN: one.target, ExternalID: one.externalID, Untagged: one.untagged, Policy: one.policy,
			Created: one.created, Modified: one.modified, Request: one.request, Tags: one.tags,
		})
	}
	return out
}

func (e *entry) snapshot() EntrySnapshot {
	out := EntrySnapshot{
		ARN: e.arn, PrincipalARN: e.principal, PrincipalID: e.principalID, Kind: e.kind, Username: e.username, Groups: e.groups,
		Created: e.created, Modified: e.modified, Request: e.request, Tags: e.tags,
	}
	for _, arn := range slices.Sorted(maps.Keys(e.policies)) {
		one := e.policies[arn]
		out.Policies = append(out.Policies, GrantSnapshot{one.arn, one.scope, one.created, one.modified})
	}
	return out
}
