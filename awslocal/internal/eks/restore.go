package eks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
)

// Restore checks a snapshot and returns the function that replaces all clusters
// with it.
func (s *Service) Restore(from Snapshot, accounts []string) (replace func(), err error) {
	all := map[home]map[string]*cluster{}
	for _, one := range from.Clusters {
		where := s.home(one.Account, string(one.Region))
		made, err := restoreCluster(where, one)
		switch {
		case err != nil:
		case !slices.Contains(accounts, one.Account):
			err = fmt.Errorf("its account %q does not exist", one.Account)
		case all[where][one.Name] != nil:
			err = errors.New("it is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("the cluster %q: %w", one.Name, err)
		}
		if all[where] == nil {
			all[where] = map[string]*cluster{}
		}
		all[where][one.Name] = made
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clusters = all
	}, nil
}

func restoreCluster(where home, from ClusterSnapshot) (*cluster, error) {
	made := &cluster{
		home: where, name: from.Name, version: from.Version, roleARN: from.RoleARN, endpoint: from.Endpoint, authority: from.Authority,
		issuer: from.Issuer, keys: from.Keys, fetched: from.Fetched, mode: from.Mode, bootstrap: from.Bootstrap, network: from.Network,
		created: from.Created, request: from.Request, tags: newTags(from.Tags),
		entries: map[string]*entry{}, associations: map[string]*association{},
	}
	switch {
	case !clusterPattern.MatchString(from.Name):
		return nil, errors.New("that is no name of a cluster")
	case where.region == "" || partition.Of(where.region) != where.partition:
		return nil, fmt.Errorf("its region %q is not in the partition %s", where.region, where.partition)
	case from.Issuer == "" || !isMode(from.Mode):
		return nil, fmt.Errorf("its issuer is missing, or its authentication mode %q is none", from.Mode)
	}
	for _, key := range from.Keys {
		if !key.IsPublic() {
			return nil, fmt.Errorf("its key %q is no public key", key.KeyID)
		}
	}
	for _, one := range from.Entries {
		if err := made.restoreEntry(one); err != nil {
			return nil, fmt.Errorf("the access entry of %q: %w", one.PrincipalARN, err)
		}
	}
	for _, one := range from.Associations {
		if err := made.restoreAssociation(one); err != nil {
			return nil, fmt.Errorf("the pod identity association %q: %w", one.ID, err)
		}
	}
	return made, nil
}

func (c *cluster) restoreEntry(from EntrySnapshot) error {
	_, good := readPrincipal(from.PrincipalARN)
	switch {
	case !good || from.PrincipalID == "" || from.ARN == "":
		return errors.New("that is no user or role, or the entry's ARN or the principal's unique ID is missing")
	case c.entries[from.PrincipalARN] != nil:
		return errors.New("it is there twice")
	}
	made := &entry{
		arn: from.ARN, principal: from.PrincipalARN, principalID: from.PrincipalID, kind: from.Kind, username: from.Username, groups: from.Groups,
		created: from.Created, modified: from.Modified, request: from.Request, tags: newTags(from.Tags), policies: map[string]*grant{},
	}
	for _, one := range from.Policies {
		if !c.isAccessPolicy(one.PolicyARN) || made.policies[one.PolicyARN] != nil {
			return fmt.Errorf("its access policy %q does not exist, or is there twice", one.PolicyARN)
		}
		made.policies[one.PolicyARN] = &grant{one.PolicyARN, one.Scope, one.Created, one.Modified}
	}
	c.entries[from.PrincipalARN] = made
	return nil
}

func (c *cluster) restoreAssociation(from AssociationSnapshot) error {
	made := &association{
		arn: c.associationARN(c.name, from.ID), id: from.ID, namespace: from.Namespace, serviceAccount: from.ServiceAccount,
		role: from.RoleARN, target: from.TargetRoleARN, externalID: from.ExternalID, untagged: from.Untagged, policy: from.Policy,
		created: from.Created, modified: from.Modified, request: from.Request, tags: newTags(from.Tags),
	}
	switch {
	case from.ID == "" || c.associations[from.ID] != nil:
		return errors.New("its ID is empty or there twice")
	case c.find(from.Namespace, from.ServiceAccount) != nil:
		return fmt.Errorf("the service account %s/%s has another", from.Namespace, from.ServiceAccount)
	}
	if fault := c.checkForm(made); fault != nil {
		return fault
	}
	c.associations[from.ID] = made
	return nil
}
